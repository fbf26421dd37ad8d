/// @file fixed_order_test.cpp  Tree v1 on the CPU against a scalar program written from docs/order.md alone: every type, form and
/// executor to the last bit, at the edges that vectors, groups of tiles and threads bring. ctest runs it once for each instruction set
/// and for several sizes of the thread pool, and once linked as -ffast-math links a program (fast_math_test.cpp).

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "environment.hpp"

namespace onefold_test {
namespace {

using onefold::element_type;
using onefold::form;

// --- docs/order.md in scalars -----------------------------------------------------------------------------------------------------------

// Objects and no functions, which a compiler would call by a pointer for each element.
template <class A>
constexpr auto add = [](A a, A b) { return static_cast<A>(a + b); };
template <class A>
constexpr auto multiply = [](A a, A b) { return static_cast<A>(a * b); };
template <class A>
constexpr auto least = [](A a, A b) {
  if constexpr (std::is_floating_point_v<A>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<A>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
};
template <class A>
constexpr auto greatest = [](A a, A b) {
  if constexpr (std::is_floating_point_v<A>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<A>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
};

template <class A, class Value, class Combine>
A tree(std::size_t element_bytes, std::uint64_t count, Value value, Combine op) {
  const std::uint64_t lanes = 256 / element_bytes;
  std::vector<A> level, lane(lanes);
  for (std::uint64_t begin = 0; begin < count; begin += 16 * lanes) {
    const std::uint64_t end = std::min(count, begin + 16 * lanes);
    std::uint64_t there = std::min(lanes, end - begin);  // lanes that have an element: the first ones
    for (std::uint64_t j = 0; j < there; ++j) lane[j] = value(begin + j);
    for (std::uint64_t row = begin + lanes; row < end; row += lanes)
      for (std::uint64_t i = row; i < std::min(end, row + lanes); ++i) lane[i - row] = op(lane[i - row], value(i));
    for (std::uint64_t h = lanes / 2; h > 0; h /= 2) {
      for (std::uint64_t j = 0; j + h < there; ++j) lane[j] = op(lane[j], lane[j + h]);
      there = std::min(there, h);
    }
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<A> next;
    for (std::size_t i = 0; i < level.size(); i += 2) next.push_back(i + 1 < level.size() ? op(level[i], level[i + 1]) : level[i]);
    level = std::move(next);
  }
  return level[0];
}

template <class R>
std::uint64_t bits_of(R value) {
  if constexpr (std::is_floating_point_v<R>)
    if (std::isnan(value)) return sizeof(R) == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

double norm2_of_doubles(const double* x, std::uint64_t count) {
  const auto class_tree = [&](auto wanted, double scale) {
    return tree<double>(
        8, count,
        [&](std::uint64_t i) {
          const double scaled = x[i] * scale;
          return wanted(std::fabs(x[i])) ? scaled * scaled : 0.0;
        },
        add<double>);
  };
  const double s = class_tree([](double size) { return size < 0x1p-480; }, 0x1p600);
  const double b = class_tree([](double size) { return size >= 0x1p480; }, 0x1p-600);
  const double m = class_tree([](double size) { return !(size < 0x1p-480) && !(size >= 0x1p480); }, 1.0);
  if (b != 0) {
    const double root = std::sqrt(b + (m * 0x1p-600) * 0x1p-600);
    return root >= 0x1p424 && root <= 0x1p424 + 0x1p377 ? std::numeric_limits<double>::max() : root * 0x1p600;
  }
  if (m != 0) return std::sqrt(m + (s * 0x1p-600) * 0x1p-600);
  return std::sqrt(s) * 0x1p-600;
}

template <class E, class A>
std::uint64_t expected(form what, const E* x, const E* y, std::uint64_t n) {
  using U = std::conditional_t<std::is_integral_v<A>, std::make_unsigned_t<std::conditional_t<std::is_integral_v<A>, A, int>>, A>;
  using M = std::conditional_t<std::is_integral_v<E>, double, A>;
  const auto magnitude = [&](std::uint64_t i) {
    if constexpr (std::is_integral_v<E>)
      return x[i] < 0 ? static_cast<U>(U{0} - static_cast<U>(x[i])) : static_cast<U>(x[i]);
    else
      return static_cast<A>(std::fabs(static_cast<A>(x[i])));
  };
  const auto size = sizeof(E);
  switch (what) {
    case form::sum:
      return n == 0 ? 0
                    : bits_of(tree<U>(
                          size, n, [&](auto i) { return static_cast<U>(x[i]); }, add<U>));
    case form::prod:
      return n == 0 ? bits_of(A(1))
                    : bits_of(tree<U>(
                          size, n, [&](auto i) { return static_cast<U>(x[i]); }, multiply<U>));
    case form::min:
      if (n == 0) return bits_of(std::is_integral_v<A> ? std::numeric_limits<A>::max() : std::numeric_limits<A>::infinity());
      return bits_of(tree<A>(
          size, n, [&](auto i) { return static_cast<A>(x[i]); }, least<A>));
    case form::max:
      if (n == 0) return bits_of(std::is_integral_v<A> ? std::numeric_limits<A>::lowest() : -std::numeric_limits<A>::infinity());
      return bits_of(tree<A>(
          size, n, [&](auto i) { return static_cast<A>(x[i]); }, greatest<A>));
    case form::dot:
      if (n == 0) return 0;
      return bits_of(tree<U>(
          size, n, [&](auto i) { return multiply<U>(static_cast<U>(x[i]), static_cast<U>(y[i])); }, add<U>));
    case form::sum_of_squares:
      if (n == 0) return 0;
      return bits_of(tree<U>(
          size, n, [&](auto i) { return multiply<U>(static_cast<U>(x[i]), static_cast<U>(x[i])); }, add<U>));
    case form::norm1:
      return n == 0 ? 0 : bits_of(tree<decltype(magnitude(0))>(size, n, magnitude, add<decltype(magnitude(0))>));
    case form::norm_inf:
      return n == 0 ? 0 : bits_of(tree<decltype(magnitude(0))>(size, n, magnitude, greatest<decltype(magnitude(0))>));
    case form::mean:
      if (n == 0) return bits_of(std::numeric_limits<M>::quiet_NaN());
      return bits_of(tree<M>(
                         size, n, [&](auto i) { return static_cast<M>(x[i]); }, add<M>) /
                     static_cast<M>(n));
    case form::min_number:
    case form::max_number: {
      const bool is_min = what == form::min_number;
      if (n == 0) return expected<E, A>(is_min ? form::min : form::max, x, y, 0);
      std::vector<E> numbers;
      for (std::uint64_t i = 0; i < n; ++i)
        if (x[i] == x[i]) numbers.push_back(x[i]);
      if (numbers.empty()) return bits_of(std::numeric_limits<A>::quiet_NaN());
      return expected<E, A>(is_min ? form::min : form::max, numbers.data(), y, numbers.size());
    }
    case form::count:
      return static_cast<std::uint64_t>(std::count_if(x, x + n, [](E e) { return e != E(0); }));
    case form::all:
      return std::all_of(x, x + n, [](E e) { return e != E(0); }) ? 1 : 0;
    case form::any:
      return std::any_of(x, x + n, [](E e) { return e != E(0); }) ? 1 : 0;
    case form::none:
      return std::none_of(x, x + n, [](E e) { return e != E(0); }) ? 1 : 0;
    case form::bit_and:
    case form::bit_or:
    case form::bit_xor:
      if constexpr (std::is_integral_v<E>) {
        U all = what == form::bit_and ? static_cast<U>(~U{0}) : U{0};
        for (std::uint64_t i = 0; i < n; ++i) {
          const U here = static_cast<U>(x[i]);
          all = what == form::bit_and ? all & here : what == form::bit_or ? all | here : all ^ here;
        }
        return bits_of(all);
      }
      break;
    default:  // norm2
      break;
  }
  if (n == 0) return 0;
  if constexpr (std::is_same_v<E, double>) {
    return bits_of(norm2_of_doubles(x, n));
  } else {
    const double sum = tree<double>(
        size, n, [&](auto i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); }, add<double>);
    if constexpr (std::is_same_v<A, float>) return bits_of(static_cast<float>(std::sqrt(sum)));
    return bits_of(std::sqrt(sum));
  }
}

std::uint64_t expected(element_type type, form what, bool wide, const void* x, const void* y, std::uint64_t n) {
  std::fenv_t callers;
  std::fegetenv(&callers);
  std::fesetenv(FE_DFL_ENV);  // clears flush-to-zero too
  std::uint64_t bits = 0;
  const auto with_type = [&]<class E>(E) {
    using wider = onefold::accumulator_t<E, true>;
    if constexpr (!std::is_same_v<E, wider>)
      if (wide) return expected<E, wider>(what, static_cast<const E*>(x), static_cast<const E*>(y), n);
    return expected<E, E>(what, static_cast<const E*>(x), static_cast<const E*>(y), n);
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    bits = with_type(T{});    \
    break;
#include <onefold/types.def>
    default:
      break;
  }
  std::fesetenv(&callers);
  return bits;
}

// --- data -----------------------------------------------------------------------------------------------------------------------------------

// An array that ends where memory ends: a read beyond it is a fault.
class fenced_array {
 public:
  explicit fenced_array(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    whole_ = (bytes + page - 1) / page * page + page;
    base_ = static_cast<std::byte*>(mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + whole_ - page, page, PROT_NONE);
    end_ = base_ + whole_ - page;
  }
  ~fenced_array() { munmap(base_, whole_); }
  fenced_array(const fenced_array&) = delete;
  fenced_array& operator=(const fenced_array&) = delete;
  [[nodiscard]] std::byte* last(std::size_t bytes) const { return end_ - bytes; }

 private:
  std::byte* base_;
  std::byte* end_;
  std::size_t whole_;
};

enum class contents {
  plain,
  any_exponent,
  zeros,
  negative_zeros,
  tiny,
  one_nan,
  two_infinities,
  hostile,
  medium_and_zeros,
  huge,
  few
};
constexpr int kinds = static_cast<int>(contents::few);

template <class T>
T element(contents kind, std::uint64_t i, std::uint64_t count, const random_numbers& random) {
  const std::uint64_t r = random.at(i);
  if constexpr (std::is_integral_v<T>) {
    if (kind == contents::zeros) return static_cast<T>(r % 2 - 1);
    if (r % 16 == 0) return r % 32 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return static_cast<T>(r);
  } else {
    using bits_type = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int fraction = std::numeric_limits<T>::digits - 1;
    constexpr bits_type exponents = (bits_type{1} << (8 * sizeof(T) - 1)) - (bits_type{1} << fraction);
    const auto make = [](bits_type bits) {
      T value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    };
    const auto raw = static_cast<bits_type>(r);
    const bits_type sign = static_cast<bits_type>(r >> 32) << (8 * sizeof(T) - 1);
    const auto with_exponent = [&](int e) {  // 2^e <= |x| < 2^(e+1)
      return make(sign | static_cast<bits_type>(std::numeric_limits<T>::max_exponent - 1 + e) << fraction |
                  (raw & ((bits_type{1} << fraction) - 1)));
    };
    const bool finite = (raw & exponents) != exponents;
    switch (kind) {
      case contents::plain:
        return with_exponent(static_cast<int>(random.at(i + count) % 6) - 3);
      case contents::any_exponent:
        return finite ? make(raw) : T(1);
      case contents::zeros:
        return r % 3 == 0 ? T(0) : -T(0);
      case contents::negative_zeros:
        return -T(0);
      case contents::tiny:
        return make(raw & ~exponents);  // subnormal
      case contents::one_nan:
        return i == random.at(0) % count ? make(sign | exponents | 0x1234) : with_exponent(0);
      case contents::two_infinities:
        if (i == random.at(0) % count) return make(exponents);
        return i == random.at(1) % count ? -make(exponents) : with_exponent(0);
      case contents::hostile:
        if (r % 8 == 0) return make(sign | exponents | static_cast<bits_type>(r >> 40));  // NaN of all kinds, infinities
        return make(raw);
      case contents::medium_and_zeros:
        return r % 100 == 0 ? T(0) : with_exponent(0);
      case contents::huge:
        return with_exponent(std::numeric_limits<T>::max_exponent - 1 - static_cast<int>(r % 4));
      case contents::few:
        break;
    }
    return T(0);
  }
}

template <class T>
void fill(std::byte* at, contents kind, std::uint64_t count, std::uint64_t seed) {
  const random_numbers random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const T value = element<T>(kind, i, count, random);
    std::memcpy(at + i * sizeof(T), &value, sizeof(T));
  }
}

void fill(element_type type, std::byte* at, contents kind, std::uint64_t count, std::uint64_t seed) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return fill<T>(at, kind, count, seed);
#include <onefold/types.def>
    default:
      break;
  }
}

// --- calls ----------------------------------------------------------------------------------------------------------------------------------

struct asked {
  element_type type;
  form what;
  bool wide;
};

std::vector<asked> everything() {
  std::vector<asked> all;
  for (int type = 0; type < onefold::full_type_count; ++type)
    for (int what = 0; what < onefold::form_count; ++what)
      for (const bool wide : {false, true})
        if (onefold::takes_type(static_cast<form>(what), static_cast<element_type>(type)) &&
            (!wide || onefold::can_be_wide(static_cast<element_type>(type), static_cast<form>(what))))
          all.push_back({static_cast<element_type>(type), static_cast<form>(what), wide});
  return all;
}

int pool() {
  static const int threads = [] {
    for (const auto& known : onefold::backends())
      if (known.where == onefold::backend::openmp && known.usable) return known.threads;
    return 0;
  }();
  return threads;
}

std::vector<onefold::executor> executors() {
  std::vector<onefold::executor> all{onefold::serial()};
  if (pool() >= 1) all.insert(all.end(), {onefold::openmp(1), onefold::openmp()});
  if (pool() > 2) all.push_back(onefold::openmp(2));
  return all;
}

std::uint64_t call(const onefold::executor& where, const asked& one, const void* x, const void* y, std::uint64_t n) {
  std::uint64_t bits = 0;
  onefold::detail::run({where, one.type, one.what, x, n, &bits, true, one.what == form::dot ? y : nullptr, one.wide}, {});
  return bits;
}

::testing::AssertionResult right_everywhere(const asked& one, const void* x, const void* y, std::uint64_t n) {
  const std::uint64_t right = expected(one.type, one.what, one.wide, x, y, n);
  for (const auto& where : executors())
    if (const std::uint64_t got = call(where, one, x, y, n); got != right)
      return ::testing::AssertionFailure() << std::hex << "got 0x" << got << ", expected 0x" << right << std::dec << ": "
                                           << onefold::name(one.what) << " of " << n << " " << onefold::name(one.type)
                                           << (one.wide ? " in a wider type" : "") << " on " << onefold::name(where.backend())
                                           << "(" << where.threads() << ")";
  return ::testing::AssertionSuccess();
}

// `how_many` elements of each input, filled once; prefixes of them end at a fence.
class inputs {
 public:
  inputs(element_type type, contents kind, std::uint64_t how_many, std::uint64_t seed)
      : size_(onefold::size_of(type)), x_(how_many * size_), y_(how_many * size_) {
    fill(type, x_.last(how_many * size_), kind, how_many, seed);
    fill(type, y_.last(how_many * size_), kind, how_many, ~seed);
  }
  [[nodiscard]] const void* x(std::uint64_t count) const { return x_.last(count * size_); }
  [[nodiscard]] const void* y(std::uint64_t count) const { return y_.last(count * size_); }

 private:
  std::size_t size_;
  fenced_array x_, y_;
};

// Made once for all forms of a type, one behind the other: to make them takes as long as to reduce them.
const inputs& inputs_of(element_type type, contents kind, std::uint64_t how_many, std::uint64_t seed) {
  static std::map<std::pair<contents, std::uint64_t>, inputs> made;
  static std::pair<element_type, std::uint64_t> made_for{type, seed};
  if (made_for != std::pair(type, seed)) made.clear();
  made_for = {type, seed};
  return made.try_emplace({kind, how_many}, type, kind, how_many, seed).first->second;
}

TEST(fixed_order, has_the_bits_of_the_specification_at_every_small_size) {
  for (const auto& one : everything()) {
    const inputs& data = inputs_of(one.type, contents::plain, 130, current_seed());
    for (std::uint64_t n = 0; n <= 130; ++n) ASSERT_TRUE(right_everywhere(one, data.x(n), data.y(n), n));
  }
}

TEST(fixed_order, has_the_bits_of_the_specification_at_the_edges_of_tiles_and_groups) {
  for (const auto& one : everything()) {
    const std::uint64_t tile = 4096 / onefold::size_of(one.type);
    std::vector<std::uint64_t> sizes;
    for (const std::uint64_t tiles : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 24u, 31u, 32u, 33u, 48u, 64u, 112u, 128u})
      for (const std::uint64_t n : {tiles * tile - 1, tiles * tile, tiles * tile + 1}) sizes.push_back(n);
    const inputs& data = inputs_of(one.type, contents::plain, sizes.back(), current_seed());
    for (const std::uint64_t n : sizes) ASSERT_TRUE(right_everywhere(one, data.x(n), data.y(n), n));
  }
}

TEST(fixed_order, has_the_bits_of_the_specification_for_large_inputs) {
  for (const auto& one : everything()) {
    const std::uint64_t largest = (std::uint64_t{1} << 20) + 4321;
    const inputs& data = inputs_of(one.type, contents::plain, largest, current_seed());
    for (const std::uint64_t n : {std::uint64_t{300'001}, std::uint64_t{1} << 20, largest})
      ASSERT_TRUE(right_everywhere(one, data.x(n), data.y(n), n));
  }
}

// Beyond 24 MiB memory is read otherwise than caches are: some lines are asked for ahead, or four parts of a chunk are read in turn.
TEST(fixed_order, has_the_bits_of_the_specification_from_memory) {
  for (const auto& one : everything()) {
    const bool is_float = one.type == element_type::f32 || one.type == element_type::f64;
    const bool is_sum =
        one.what == form::sum || one.what == form::norm1 || one.what == form::sum_of_squares || one.what == form::dot;
    const bool asks_ahead = is_float && (one.what == form::norm2 || one.what == form::count);
    const bool is_small = one.type == element_type::u8 && one.what == form::sum;
    if (!(is_float && is_sum) && !asks_ahead && !is_small) continue;
#ifdef ONEFOLD_TEST_SANITIZED  // where an element takes the scalar program ten times as long
    if (one.type != element_type::f64 || one.what != form::dot) continue;
#endif
    const std::uint64_t size = onefold::size_of(one.type);
    const std::uint64_t n = (std::uint64_t{25} << 20) / size + 3 * 4096 / size + 77;
    const inputs& data = inputs_of(one.type, contents::plain, n, current_seed());
    ASSERT_TRUE(right_everywhere(one, data.x(n), data.y(n), n));
  }
}

TEST(fixed_order, has_the_bits_of_the_specification_for_hostile_elements) {
  for (const auto& one : everything())
    for (int kind = 0; kind < kinds; ++kind) {
      const inputs& data = inputs_of(one.type, static_cast<contents>(kind), 140'000, current_seed());
      for (const std::uint64_t n : {1u, 3u, 63u, 64u, 65u, 511u, 513u, 1000u, 2500u, 16'383u, 16'384u, 40'001u, 140'000u})
        ASSERT_TRUE(right_everywhere(one, data.x(n), data.y(n), n)) << "contents " << kind;
    }
}

// A NaN, an infinity or a zero that decides, in every lane and row of a tile, and in the tiles of a short group.
TEST(fixed_order, sees_one_odd_element_wherever_it_is) {
  for (const auto& one : everything()) {
    if (one.type != element_type::f32 && one.type != element_type::f64) continue;
    const std::uint64_t size = onefold::size_of(one.type);
    const std::uint64_t n = 2 * 4096 / size + 77;
    std::vector<std::byte> x(n * size), y(n * size);
    const auto put = [&](std::uint64_t i, double value) {
      const auto narrow = static_cast<float>(value);
      std::memcpy(x.data() + i * size, size == 4 ? static_cast<const void*>(&narrow) : &value, size);
    };
    for (const auto& [odd, other] : {std::pair(std::nan(""), 1.0), std::pair(-HUGE_VAL, 1.0), std::pair(HUGE_VAL, -HUGE_VAL),
                                     std::pair(-0.0, 0.0), std::pair(0.0, -0.0), std::pair(1e-300, 2.0), std::pair(1e300, 2.0)}) {
      for (std::uint64_t i = 0; i < n; ++i) put(i, other);
      fill(one.type, y.data(), contents::plain, n, current_seed());
      for (std::uint64_t i = 0; i < n; i += 13) {
        put(i, odd);
        const std::uint64_t right = expected(one.type, one.what, one.wide, x.data(), y.data(), n);
        ASSERT_EQ(call(onefold::serial(), one, x.data(), y.data(), n), right)
            << onefold::name(one.what) << " of " << onefold::name(one.type) << ": " << odd << " at " << i << " among " << other;
        put(i, other);
      }
    }
  }
}

// Every class of element that norm2 of doubles knows, alone and mixed, with the borders themselves.
TEST(fixed_order, sorts_the_elements_of_norm2_into_their_classes) {
  const double some[] = {0.0,           -0.0,        0x1p-1074,
                         0x1p-1022,     0x1p-481,    std::nextafter(0x1p-480, 0.0),
                         0x1p-480,      -0x1p-480,   1.0,
                         -3.0,          0x1.8p479,   std::nextafter(0x1p480, 0.0),
                         0x1p480,       -0x1.7p1000, 0x1.fffffffffffffp1023,
                         -0x1.234p-490, HUGE_VAL,    std::nan("")};
  const asked norm2{element_type::f64, form::norm2, false};
  random_numbers random(current_seed());
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t n = 1 + random.below(5000);
    const std::uint64_t base = random.below(18), rare = random.below(18), every = 1 + random.below(2000);
    std::vector<double> x(n);
    for (std::uint64_t i = 0; i < n; ++i)
      x[i] = random.below(every) == 0 ? some[rare] : some[base] * (1 + 0x1p-20 * static_cast<double>(i));
    ASSERT_TRUE(right_everywhere(norm2, x.data(), nullptr, n)) << some[base] << " and " << some[rare];
  }
}

TEST(fixed_order, has_the_same_bits_at_every_alignment) {
  for (const auto& one : everything()) {
    const std::uint64_t size = onefold::size_of(one.type);
    const std::uint64_t n = 3 * 4096 / size + 77;
    std::vector<std::byte> x((n + 64) * size + 64), y((n + 64) * size + 64);
    std::vector<std::byte> first_x(n * size), first_y(n * size);
    fill(one.type, first_x.data(), contents::plain, n, current_seed());
    fill(one.type, first_y.data(), contents::plain, n, ~current_seed());
    const std::uint64_t right = expected(one.type, one.what, one.wide, first_x.data(), first_y.data(), n);
    for (std::uint64_t at = 0; at < 64; ++at)
      for (const std::uint64_t other : {at, (at * 37 + 11) % 64, std::uint64_t{0}, std::uint64_t{63} - at}) {
        std::byte* const here = x.data() + at * size;
        std::byte* const there = y.data() + other * size;
        std::memcpy(here, first_x.data(), n * size);
        std::memcpy(there, first_y.data(), n * size);
        ASSERT_EQ(call(onefold::serial(), one, here, there, n), right)
            << onefold::name(one.what) << " of " << onefold::name(one.type) << ", offsets " << at << " and " << other;
        if (one.what != form::dot) break;
      }
  }
}

// --- the instruction set, the threads, the environment -----------------------------------------------------------------------------------------

onefold::report report_of(const onefold::executor& where, std::size_t count) {
  const std::vector<float> x(count, 1.0f);
  onefold::report ran;
  EXPECT_EQ(onefold::sum(where, x, {.report = &ran}), static_cast<float>(count));
  return ran;
}

TEST(the_instruction_set, is_the_one_that_was_asked_for_or_else_the_best_here) {
  std::string best = "portable";
#ifdef ONEFOLD_X86_KERNELS
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  best = avx512 ? "avx512" : avx2 ? "avx2" : "baseline";
#endif
  const char* variable = std::getenv("ONEFOLD_INSTRUCTION_SET");
  const std::string wanted = variable == nullptr ? "" : variable;
  EXPECT_EQ(report_of(onefold::serial(), 5).implementation, "fixed_order/" + (wanted.empty() ? best : wanted));
}

TEST(threads, are_those_that_worked) {
  EXPECT_EQ(report_of(onefold::serial(), std::size_t{1} << 22).threads, 1);
  if (pool() == 0) GTEST_SKIP() << "the openmp backend is not usable";
  EXPECT_EQ(report_of(onefold::openmp(), 1000).threads, 1) << "a small input is not worth a second thread";
  for (int threads = 1; threads <= pool(); ++threads)
    EXPECT_EQ(report_of(onefold::openmp(threads), std::size_t{1} << 22).threads, threads);
}

// Sets the floating-point control of all threads of the pool, then of this one.
template <class Set>
void on_every_thread(Set set) {
#ifdef _OPENMP
#pragma omp parallel num_threads(pool() > 0 ? pool() : 1)
  set();
#endif
  set();
}

}  // namespace

void expect_right_in_this_environment() {
  for (const auto& one : everything())
    for (const contents kind : {contents::plain, contents::tiny, contents::any_exponent}) {
      const inputs& data = inputs_of(one.type, kind, 300'001, current_seed());
      ASSERT_TRUE(right_everywhere(one, data.x(300'001), data.y(300'001), 300'001));
      ASSERT_TRUE(right_everywhere(one, data.x(77), data.y(77), 77));
    }
}

namespace {

TEST(the_rounding_mode, of_no_thread_changes_the_bits) {
  on_every_thread([] { std::fesetround(FE_UPWARD); });
  expect_right_in_this_environment();
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  on_every_thread([] { std::fesetround(FE_TONEAREST); });
}

#ifdef __SSE2__
TEST(flush_to_zero, of_no_thread_changes_the_bits) {
  constexpr unsigned flush = 0x8040;  // results and operands
  const unsigned before = _mm_getcsr();
  on_every_thread([] { _mm_setcsr(_mm_getcsr() | flush); });
  expect_right_in_this_environment();
  EXPECT_EQ(_mm_getcsr() & flush, flush);
  on_every_thread([=] { _mm_setcsr(before); });
}
#endif

TEST(the_exception_flags, of_the_caller_are_left_alone) {
  const std::vector<float> x(5000, 3e38f);  // overflows, and is not exact
  std::feclearexcept(FE_ALL_EXCEPT);
  static_cast<void>(onefold::sum(onefold::serial(), x));
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  std::feraiseexcept(FE_DIVBYZERO);
  static_cast<void>(onefold::sum(onefold::serial(), x));
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
}  // namespace onefold_test
