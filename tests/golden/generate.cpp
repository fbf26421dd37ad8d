// Prints a golden table of tree v1: results of reductions, to the bit, as docs/order.md says them. Without an argument it is the table of the
// forms with one result, with the argument "records" that of the forms with several, with "operators" that of the forms whose bits are the
// same in any order, with "small" that of every form of types of 1 and 2 bytes, and with "further" what came with those for the other types.
//
// This program was written from docs/order.md alone and shares no code with the library, so that the two can be held against each
// other. It is slow and plain on purpose: one scalar operation after the other, and an absent lane is an empty std::optional, never
// a padding value. README.md beside it says what the data are and how to make the table.

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

static_assert(FLT_EVAL_METHOD == 0, "every operation has to be rounded to its own format");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

namespace {

// ---------------------------------------------------------------------------------------------------------------------------------
// One operation (docs/order.md, "One operation")
// ---------------------------------------------------------------------------------------------------------------------------------

template <class T>
concept integer = std::is_integral_v<T>;

// An element of f16 or bf16: its bits, with this many stored in the significand. Nothing is computed in it; it becomes a float or a double.
template <int Significand, int Bias>
struct half {
  std::uint16_t bits;
  static constexpr int significand_bits = Significand;
  static constexpr int bias = Bias;
  static constexpr std::uint16_t exponent_mask = static_cast<std::uint16_t>(0x7fff >> Significand << Significand);
  static constexpr std::uint16_t quiet_nan = static_cast<std::uint16_t>(exponent_mask | 1 << (Significand - 1));

  explicit operator double() const {
    const int field = (bits & exponent_mask) >> Significand;
    const int digits = bits & ((1 << Significand) - 1);
    double size = 0;
    if (bits % 0x8000 >= exponent_mask) {
      size = digits == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (field == 0) {
      size = std::ldexp(digits, 1 - Bias - Significand);
    } else {
      size = std::ldexp((1 << Significand) + digits, field - Bias - Significand);
    }
    return bits >= 0x8000 ? -size : size;
  }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }  // exact
};
using binary16 = half<10, 15>;
using brain16 = half<7, 127>;

template <class T>
concept half_float = std::is_same_v<T, binary16> || std::is_same_v<T, brain16>;

template <class T>
concept small = sizeof(T) <= 2;

// The float to nearest, ties to even, with a NaN's bits as docs/order.md has them.
template <half_float H>
H rounded(float value) {
  if (std::isnan(value)) return {H::quiet_nan};
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(static_cast<double>(value));
  if (std::isinf(size)) return {static_cast<std::uint16_t>(sign | H::exponent_mask)};
  const int lowest = 1 - H::bias;
  const int exponent = size == 0 || std::ilogb(size) < lowest ? lowest : std::ilogb(size);
  // In units of the last place. With the exponent behind it a carry goes where it belongs: up to the next size, and to infinity.
  const int digits = static_cast<int>(std::nearbyint(std::ldexp(size, H::significand_bits - exponent)));
  const int bits = digits + ((exponent - lowest) << H::significand_bits);
  return {static_cast<std::uint16_t>(sign | (bits < H::exponent_mask ? bits : H::exponent_mask))};
}

// "Small types": what sums are taken in, T; of the other types the elements' own.
template <class E>
struct sum_of {
  using type = E;
};
template <integer E>
requires small<E>
struct sum_of<E> {
  using type = std::conditional_t<std::is_signed_v<E>, std::int64_t, std::uint64_t>;
};
template <half_float E>
struct sum_of<E> {
  using type = float;
};
template <class E>
using accumulated = typename sum_of<E>::type;

// What elements are compared in: themselves, or floats. An integer that is converted to 64 bits and compared there is the same integer.
template <class E>
using compared = std::conditional_t<half_float<E>, float, E>;

template <class A>
A add(A a, A b) {
  if constexpr (integer<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(static_cast<U>(a) + static_cast<U>(b));  // wraps
  } else {
    return a + b;
  }
}

template <class A>
A multiply(A a, A b) {
  if constexpr (integer<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(1U * static_cast<U>(a) * static_cast<U>(b));  // wraps; small ones would become int
  } else {
    return a * b;
  }
}

template <class A>
A minimum(A a, A b) {
  if constexpr (!integer<A>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;  // -0 < +0
  }
  return a < b ? a : b;
}

template <class A>
A maximum(A a, A b) {
  if constexpr (!integer<A>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;  // -0 < +0
  }
  return a > b ? a : b;
}

// minimumNumber and maximumNumber: of a NaN and a number the number, of two NaN a NaN.
template <class A>
A minimum_number(A a, A b) {
  if constexpr (!integer<A>) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
  }
  return minimum(a, b);
}

template <class A>
A maximum_number(A a, A b) {
  if constexpr (!integer<A>) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
  }
  return maximum(a, b);
}

template <integer A>
A and_of_bits(A a, A b) {
  return static_cast<A>(a & b);
}

template <integer A>
A or_of_bits(A a, A b) {
  return static_cast<A>(a | b);
}

template <integer A>
A xor_of_bits(A a, A b) {
  return static_cast<A>(a ^ b);
}

// The exact absolute value, of an integer as an unsigned number; that of -2^31 is 2^31.
template <class T>
auto absolute(T x) {
  if constexpr (integer<T>) {
    using U = std::make_unsigned_t<T>;
    const bool negative = std::is_signed_v<T> && x < T{0};
    return static_cast<U>(negative ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x));
  } else {
    return std::fabs(x);
  }
}

// ---------------------------------------------------------------------------------------------------------------------------------
// The tree (docs/order.md, "The tree")
// ---------------------------------------------------------------------------------------------------------------------------------

template <class A>
using operation = A (*)(A, A);

constexpr std::size_t row_bytes = 256;
constexpr std::size_t rows_per_tile = 16;

template <class E>
constexpr std::size_t lane_count = row_bytes / sizeof(E);

// The result of an operation with one absent operand is the other operand; of two absent ones it is absent.
template <class A>
std::optional<A> combine(operation<A> op, std::optional<A> a, std::optional<A> b) {
  if (!a) return b;
  if (!b) return a;
  return op(*a, *b);
}

// Step 2: the value of a tile whose lanes have these values.
template <class A>
std::optional<A> halved(operation<A> op, std::vector<std::optional<A>> lane) {
  for (std::size_t h = lane.size() / 2; h >= 1; h /= 2) {
    for (std::size_t j = 0; j < h; ++j) lane[j] = combine(op, lane[j], lane[j + h]);
  }
  return lane[0];
}

// Steps 1 and 2: the value of tile k.
template <class E, class A>
std::optional<A> tile_value(operation<A> op, const std::vector<A>& m, std::size_t k) {
  const std::size_t L = lane_count<E>;
  std::vector<std::optional<A>> lane(L);
  for (std::size_t j = 0; j < L; ++j) {
    for (std::size_t r = 0; r < rows_per_tile; ++r) {
      const std::size_t i = rows_per_tile * L * k + L * r + j;
      if (i < m.size()) lane[j] = lane[j] ? op(*lane[j], m[i]) : m[i];
    }
  }
  return halved(op, lane);
}

// Step 3 over the values of all tiles. Step 4, no tile: an empty optional.
template <class A>
std::optional<A> root(operation<A> op, std::vector<std::optional<A>> level) {
  if (level.empty()) return std::nullopt;
  while (level.size() > 1) {
    std::vector<std::optional<A>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      if (i + 1 < level.size()) {
        next.push_back(combine(op, level[i], level[i + 1]));
      } else {
        next.push_back(level[i]);
      }
    }
    level = next;
  }
  return level[0];
}

// Steps 1 to 3 over the values m: one for each element of type E, in the type A.
template <class E, class A>
std::optional<A> tree(operation<A> op, const std::vector<A>& m) {
  const std::size_t tile = rows_per_tile * lane_count<E>;
  const std::size_t tile_count = (m.size() + tile - 1) / tile;
  std::vector<std::optional<A>> level;
  for (std::size_t k = 0; k < tile_count; ++k) level.push_back(tile_value<E, A>(op, m, k));
  return root(op, level);
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Forms (docs/order.md, "Forms")
// ---------------------------------------------------------------------------------------------------------------------------------

enum class form_id {
  sum,
  prod,
  min,
  max,
  dot,
  sum_of_squares,
  norm1,
  norm_inf,
  mean,
  norm2,
  min_number,
  max_number,
  bit_and,
  bit_or,
  bit_xor,
  count,
  all,
  any,
  none
};

// The forms of the page's first table; those of its second one are in rows_of_operators.
constexpr form_id all_forms[] = {form_id::sum,  form_id::prod,           form_id::min,   form_id::max,
                                 form_id::dot,  form_id::sum_of_squares, form_id::norm1, form_id::norm_inf,
                                 form_id::mean, form_id::norm2};

const char* name_of(form_id form) {
  constexpr const char* names[] = {"sum",      "prod",  "min",   "max",        "dot",        "sum_of_squares", "norm1",
                                   "norm_inf", "mean",  "norm2", "min_number", "max_number", "bit_and",        "bit_or",
                                   "bit_xor",  "count", "all",   "any",        "none"};
  return names[static_cast<std::size_t>(form)];
}

// The bits of a result as the table prints them. A NaN is the quiet NaN with sign 0 and no payload.
template <class R>
std::string bits_of(R result) {
  std::uint64_t bits = 0;
  if constexpr (std::is_same_v<R, float>) {
    bits = std::isnan(result) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(result);
  } else if constexpr (std::is_same_v<R, double>) {
    bits = std::isnan(result) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(result);
  } else if constexpr (half_float<R>) {
    bits = std::isnan(static_cast<float>(result)) ? R::quiet_nan : result.bits;
  } else {
    bits = static_cast<std::make_unsigned_t<R>>(result);
  }
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * sizeof(R)), static_cast<unsigned long long>(bits));
  return text;
}

// The bits of a value that is one of the elements, or of their absolute values, in the elements' format.
template <class E, class V>
std::string bits_as_element(V value) {
  if constexpr (half_float<E>) {
    return bits_of(rounded<E>(value));
  } else {
    return bits_of(value);
  }
}

// The values of all elements, each made by m.
template <class A, class E, class M>
std::vector<A> values(const std::vector<E>& x, M m) {
  std::vector<A> made;
  for (const E& element : x) made.push_back(m(element));
  return made;
}

template <class A, class E>
std::vector<A> converted(const std::vector<E>& x) {
  return values<A>(x, [](E e) { return static_cast<A>(e); });
}

template <class A, class E>
std::vector<A> squares(const std::vector<E>& x) {
  return values<A>(x, [](E e) { return multiply(static_cast<A>(e), static_cast<A>(e)); });
}

template <class A, class E>
std::vector<A> products(const std::vector<E>& x, const std::vector<E>& y) {
  std::vector<A> made;
  for (std::size_t i = 0; i < x.size(); ++i) made.push_back(multiply(static_cast<A>(x[i]), static_cast<A>(y[i])));
  return made;
}

// Identity of min: +infinity or the largest integer.
template <class A>
A highest() {
  return integer<A> ? std::numeric_limits<A>::max() : std::numeric_limits<A>::infinity();
}

// Identity of max: -infinity or the smallest integer.
template <class A>
A lowest() {
  return integer<A> ? std::numeric_limits<A>::lowest() : static_cast<A>(-std::numeric_limits<A>::infinity());
}

// abs x in the type it is accumulated in: of an integer the unsigned A, of a float A, after the conversion.
template <class A, class E>
auto absolutes(const std::vector<E>& x) {
  if constexpr (integer<E>) {
    return values<std::make_unsigned_t<A>>(x, [](E e) { return absolute(static_cast<A>(e)); });
  } else {
    return values<A>(x, [](E e) { return absolute(static_cast<A>(e)); });
  }
}

template <class A, class E>
std::string norm1(const std::vector<E>& x) {
  const auto magnitudes = absolutes<A>(x);
  using U = typename decltype(magnitudes)::value_type;
  return bits_of(tree<E, U>(add, magnitudes).value_or(U{0}));
}

template <class E>
std::string norm_inf(const std::vector<E>& x) {
  const auto magnitudes = absolutes<compared<E>>(x);
  using U = typename decltype(magnitudes)::value_type;
  return bits_as_element<E>(tree<E, U>(maximum, magnitudes).value_or(U{0}));
}

template <class A, class E>
std::string mean(const std::vector<E>& x) {
  using M = std::conditional_t<integer<E>, double, A>;
  using S = std::conditional_t<integer<E> && small<E>, A, M>;  // small integers are added as such
  const std::optional<S> sum = tree<E, S>(add, converted<S>(x));
  if (!sum) return bits_of(std::numeric_limits<M>::quiet_NaN());
  return bits_of(static_cast<M>(*sum) / static_cast<M>(x.size()));
}

// norm2 of all types but f64: squares and tree in f64. For f32, f16 and bf16 without accumulate_as<double> the root is converted to f32.
template <class A, class E>
std::string norm2(const std::vector<E>& x) {
  const double root = std::sqrt(tree<E, double>(add, squares<double>(x)).value_or(0.0));
  if constexpr (std::is_same_v<A, float>) {
    return bits_of(static_cast<float>(root));
  } else {
    return bits_of(root);
  }
}

// norm2 of f64: three classes, each with a tree over all elements.
template <>
std::string norm2<double, double>(const std::vector<double>& x) {
  const auto is_small = [](double e) { return std::fabs(e) < 0x1p-480; };
  const auto is_big = [](double e) { return std::fabs(e) >= 0x1p480; };
  const auto small = [&](double e) { return is_small(e) ? (e * 0x1p600) * (e * 0x1p600) : 0.0; };
  const auto medium = [&](double e) { return !is_small(e) && !is_big(e) ? e * e : 0.0; };
  const auto big = [&](double e) { return is_big(e) ? (e * 0x1p-600) * (e * 0x1p-600) : 0.0; };
  const double s = tree<double, double>(add, values<double>(x, small)).value_or(0.0);
  const double m = tree<double, double>(add, values<double>(x, medium)).value_or(0.0);
  const double b = tree<double, double>(add, values<double>(x, big)).value_or(0.0);
  if (b != 0) {
    const double root = std::sqrt(b + (m * 0x1p-600) * 0x1p-600);
    if (0x1p424 <= root && root <= 0x1.000000000002p424) return bits_of(std::numeric_limits<double>::max());
    return bits_of(root * 0x1p600);
  }
  if (m != 0) return bits_of(std::sqrt(m + (s * 0x1p-600) * 0x1p-600));
  return bits_of(std::sqrt(s) * 0x1p-600);
}

// -0 is zero; a NaN is not.
template <class E>
bool is_zero(E e) {
  return static_cast<compared<E>>(e) == compared<E>{0};
}

template <class E>
std::string count(const std::vector<E>& x) {
  const auto one_or_none = [](E e) { return is_zero(e) ? std::uint64_t{0} : std::uint64_t{1}; };
  return bits_of(tree<E, std::uint64_t>(add, values<std::uint64_t>(x, one_or_none)).value_or(0));
}

// all, any and none: of bytes that say of each element whether it is not zero.
template <class E>
std::string truth(form_id form, const std::vector<E>& x) {
  using byte = std::uint8_t;
  const std::vector<byte> is_set = values<byte>(x, [](E e) { return is_zero(e) ? byte{0} : byte{1}; });
  if (form == form_id::all) return bits_of(tree<E, byte>(and_of_bits, is_set).value_or(1));
  const byte one_is = tree<E, byte>(or_of_bits, is_set).value_or(0);
  return bits_of(form == form_id::any ? one_is : static_cast<byte>(1 - one_is));
}

// The operator that picks one of the elements, as a result of their type. The identity is that of no elements.
template <class E>
std::string picked(operation<compared<E>> op, const std::vector<E>& x, compared<E> identity) {
  return bits_as_element<E>(tree<E, compared<E>>(op, converted<compared<E>>(x)).value_or(identity));
}

// A form of bits, with its result for no elements. Floats have none.
template <integer E>
std::string combined_bits(form_id form, const std::vector<E>& x) {
  switch (form) {
    case form_id::bit_and:
      return bits_of(tree<E, E>(and_of_bits, x).value_or(static_cast<E>(-1)));
    case form_id::bit_or:
      return bits_of(tree<E, E>(or_of_bits, x).value_or(E{0}));
    case form_id::bit_xor:
      return bits_of(tree<E, E>(xor_of_bits, x).value_or(E{0}));
    default:
      std::abort();
  }
}

// The result's bits. A is what sums are taken in: accumulated<E>, or what accumulate_as names; the forms that work in another type pick that
// themselves.
template <class E, class A>
std::string result(form_id form, const std::vector<E>& x, const std::vector<E>& y) {
  using V = compared<E>;
  switch (form) {
    case form_id::sum:
      return bits_of(tree<E, A>(add, converted<A>(x)).value_or(A{0}));
    case form_id::prod:
      return bits_of(tree<E, A>(multiply, converted<A>(x)).value_or(A{1}));
    case form_id::min:
      return picked<E>(minimum, x, highest<V>());
    case form_id::max:
      return picked<E>(maximum, x, lowest<V>());
    case form_id::dot:
      return bits_of(tree<E, A>(add, products<A>(x, y)).value_or(A{0}));
    case form_id::sum_of_squares:
      return bits_of(tree<E, A>(add, squares<A>(x)).value_or(A{0}));
    case form_id::norm1:
      return norm1<A>(x);
    case form_id::norm_inf:
      return norm_inf(x);
    case form_id::mean:
      return mean<A>(x);
    case form_id::norm2:
      return norm2<A>(x);
    case form_id::min_number:
      return picked<E>(minimum_number, x, highest<V>());
    case form_id::max_number:
      return picked<E>(maximum_number, x, lowest<V>());
    case form_id::bit_and:
    case form_id::bit_or:
    case form_id::bit_xor:
      if constexpr (integer<E>) return combined_bits(form, x);
      break;
    case form_id::count:
      return count(x);
    case form_id::all:
    case form_id::any:
    case form_id::none:
      return truth(form, x);
  }
  std::abort();
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Several results and larger states (docs/order.md, "Several results and larger states")
// ---------------------------------------------------------------------------------------------------------------------------------

enum class record_id { argmin, argmax, minmax, mean_variance, argmin_magnitude, argmax_magnitude, argminmax };

const char* name_of(record_id record) {
  constexpr const char* names[] = {"argmin",           "argmax",           "minmax",   "mean_variance",
                                   "argmin_magnitude", "argmax_magnitude", "argminmax"};
  return names[static_cast<std::size_t>(record)];
}

// Results as the table prints them.
using texts = std::vector<std::string>;

// The value is that of min or max; the index that of the first value which is that one: to the bit, or NaN as that is.
template <class E, class V>
texts value_and_index(operation<V> op, const std::vector<V>& x) {
  const V value = *tree<E, V>(op, x);
  const auto is_value = [value](V e) {
    if constexpr (!integer<V>) {
      if (std::isnan(value)) return std::isnan(e);
      return e == value && std::signbit(e) == std::signbit(value);
    } else {
      return e == value;
    }
  };
  std::uint64_t index = 0;
  while (!is_value(x[index])) ++index;
  return {bits_as_element<E>(value), bits_of(index)};
}

// Both of elements as they are, and then the index of the second.
texts joined(texts first, const texts& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A state of mean_variance: N, M and D.
struct moments {
  std::uint64_t N;
  double M;
  double D;
};

double of_count(std::uint64_t count) { return static_cast<double>(count); }

// A lane with the elements v, at least one.
moments moments_of_lane(const std::vector<double>& v) {
  const double c = std::isfinite(v[0]) ? v[0] : 0.0;
  const std::uint64_t m = v.size();
  double d = v[0] - c;
  double s = d;
  double q = d * d;
  for (std::size_t r = 1; r < m; ++r) {
    d = v[r] - c;
    s = s + d;
    const double product = d * d;
    q = q + product;
  }
  const double e = s / of_count(m);
  const double product = s * e;
  double D = q - product;
  if (D < 0) D = 0.0;
  return {m, c + e, D};
}

moments merged(moments a, moments b) {
  const std::uint64_t N = a.N + b.N;
  if (a.N == b.N) {
    const double d = b.M - a.M;
    const double w = of_count(a.N) * 0.5;
    const double half_a = a.M * 0.5, half_b = b.M * 0.5;
    const double square = d * d;
    const double between = square * w;
    return {N, half_a + half_b, (a.D + b.D) + between};
  }
  const moments S = a.N < b.N ? a : b;
  const moments B = a.N < b.N ? b : a;
  const double d = S.M - B.M;
  const double f = of_count(S.N) / of_count(N);
  double M = 0;
  if (std::isfinite(d)) {
    const double step = d * f;
    M = B.M + step;
  } else {
    const double part_of_B = B.M * (of_count(B.N) / of_count(N));
    const double part_of_S = S.M * f;
    M = part_of_B + part_of_S;
  }
  const double square = d * d;
  const double weight = of_count(B.N) * f;
  const double between = square * weight;
  return {N, M, (B.D + S.D) + between};
}

// The tree over states: the lanes make them, and steps 2 and 3 are those of every form.
template <class E>
std::optional<moments> tree_of_moments(const std::vector<double>& v) {
  const std::size_t L = lane_count<E>;
  const std::size_t tile = rows_per_tile * L;
  std::vector<std::optional<moments>> level;
  for (std::size_t start = 0; start < v.size(); start += tile) {
    std::vector<std::optional<moments>> lane(L);
    for (std::size_t j = 0; j < L; ++j) {
      std::vector<double> of_lane;
      for (std::size_t r = 0; r < rows_per_tile; ++r) {
        const std::size_t i = start + L * r + j;
        if (i < v.size()) of_lane.push_back(v[i]);
      }
      if (!of_lane.empty()) lane[j] = moments_of_lane(of_lane);
    }
    level.push_back(halved<moments>(merged, lane));
  }
  return root<moments>(merged, level);
}

// R is float for f32, f16 and bf16 in their own width, and double otherwise.
template <class R, class E>
texts mean_and_variance(const std::vector<E>& x, std::int64_t ddof) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::optional<moments> all = tree_of_moments<E>(converted<double>(x));
  double mean = nan, variance = nan;
  if (all) {
    mean = all->M;
    const std::int64_t freedom = static_cast<std::int64_t>(all->N) - ddof;
    if (freedom > 0) variance = all->D / static_cast<double>(freedom);
  }
  return {bits_of(static_cast<R>(mean)), bits_of(static_cast<R>(variance))};
}

template <class E, class A>
texts results(record_id record, const std::vector<E>& x, std::int64_t ddof) {
  using V = compared<E>;
  switch (record) {
    case record_id::argmin:
      return value_and_index<E, V>(minimum, converted<V>(x));
    case record_id::argmax:
      return value_and_index<E, V>(maximum, converted<V>(x));
    case record_id::argmin_magnitude: {
      const auto magnitudes = absolutes<V>(x);
      return value_and_index<E, typename decltype(magnitudes)::value_type>(minimum, magnitudes);
    }
    case record_id::argmax_magnitude: {
      const auto magnitudes = absolutes<V>(x);
      return value_and_index<E, typename decltype(magnitudes)::value_type>(maximum, magnitudes);
    }
    case record_id::argminmax:
      return joined(value_and_index<E, V>(minimum, converted<V>(x)), value_and_index<E, V>(maximum, converted<V>(x)));
    case record_id::minmax:
      return {picked<E>(minimum, x, highest<V>()), picked<E>(maximum, x, lowest<V>())};
    case record_id::mean_variance:
      return mean_and_variance<std::conditional_t<std::is_same_v<A, float>, float, double>>(x, ddof);
  }
  std::abort();
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Data (README.md, "The data")
// ---------------------------------------------------------------------------------------------------------------------------------

enum class family_id {
  uniform,
  wide,
  factors,
  extremes,
  bits,
  subnormal,
  zeros,
  minus_zero,
  one_nan,
  one_infinity,
  both_infinities,
  tiny,
  huge,
  edge_small,
  edge_big,
  mixed_classes,
  brink,
  equal,
  offset,
  few,
  two_nans,
  blank,
  lone,
  hole
};

const char* name_of(family_id family) {
  constexpr const char* names[] = {
      "uniform", "wide",         "factors",         "extremes", "bits",     "subnormal",  "zeros",    "minus_zero",
      "one_nan", "one_infinity", "both_infinities", "tiny",     "huge",     "edge_small", "edge_big", "mixed_classes",
      "brink",   "equal",        "offset",          "few",      "two_nans", "blank",      "lone",     "hole"};
  return names[static_cast<std::size_t>(family)];
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// An integer element from r.
template <integer E>
E element_of(family_id family, std::uint64_t r) {
  const E low = static_cast<E>(r);  // modulo 2^W
  switch (family) {
    case family_id::uniform:
      return low;
    case family_id::wide:
      return static_cast<E>(low >> (r % (8 * sizeof(E))));  // a signed shift keeps the sign
    case family_id::factors:
      return static_cast<E>(low | E{1});
    case family_id::extremes:
      switch (r % 5) {
        case 0:
          return E{0};
        case 1:
          return E{1};
        case 2:
          return static_cast<E>(-1);
        case 3:
          return std::numeric_limits<E>::max();
        default:
          return std::numeric_limits<E>::min();
      }
    case family_id::offset:
      return static_cast<E>((E{1} << (8 * sizeof(E) - 2)) + static_cast<E>(r % (std::uint64_t{1} << (2 * sizeof(E)))));
    case family_id::few:
      return static_cast<E>(static_cast<E>(r % 7) - (std::is_signed_v<E> ? E{3} : E{0}));
    default:
      std::abort();
  }
}

// What differs between the formats of floats.
template <class E>
struct format;

template <half_float E>
struct format<E> {
  using bits_type = std::uint16_t;
  static constexpr int significand_bits = E::significand_bits;
  static constexpr int bias = E::bias;
  static constexpr bits_type exponent_mask = E::exponent_mask;
  static constexpr bits_type highest_exponent_bit = 0x4000U;
  static constexpr bits_type nan = static_cast<bits_type>(E::quiet_nan | 0x8012U);  // sign and payload
};

template <>
struct format<float> {
  using bits_type = std::uint32_t;
  static constexpr int significand_bits = 23;
  static constexpr int bias = 127;
  static constexpr bits_type exponent_mask = 0x7f800000U;
  static constexpr bits_type highest_exponent_bit = 0x40000000U;
  static constexpr bits_type nan = 0xffc01234U;  // sign and payload
};

template <>
struct format<double> {
  using bits_type = std::uint64_t;
  static constexpr int significand_bits = 52;
  static constexpr int bias = 1023;
  static constexpr bits_type exponent_mask = 0x7ff0000000000000U;
  static constexpr bits_type highest_exponent_bit = 0x4000000000000000U;
  static constexpr bits_type nan = 0xfff8000000001234U;  // sign and payload
};

// Bit 63 of r as the sign, the low bits of r as the stored significand, and the biased exponent.
template <class E>
E assemble(std::uint64_t r, int biased_exponent) {
  using B = typename format<E>::bits_type;
  constexpr int significand_bits = format<E>::significand_bits;
  const B sign = static_cast<B>((r >> 63) << (8 * sizeof(E) - 1));
  const B exponent = static_cast<B>(static_cast<std::uint64_t>(biased_exponent) << significand_bits);
  const B significand = static_cast<B>(r & ((std::uint64_t{1} << significand_bits) - 1));
  return std::bit_cast<E>(static_cast<B>(sign | exponent | significand));
}

// +-significand * 2^exponent with an exponent from first .. first + count - 1, picked by bits 52 to 62 of r.
template <class E>
E with_exponent(std::uint64_t r, int first, int count) {
  const int k = static_cast<int>((r >> 52) & 0x7ff);
  return assemble<E>(r, first + k % count + format<E>::bias);
}

template <class E>
E mixed_classes_element(std::uint64_t r) {
  const int k = static_cast<int>((r >> 52) & 0x7ff) % 24;
  const int exponent = k < 8 ? -484 + k : k < 16 ? -4 + (k - 8) : 476 + (k - 16);
  return assemble<E>(r, exponent + format<E>::bias);
}

template <class E>
E uniform_element(std::uint64_t r) {
  const double exact = 2.0 * (static_cast<double>(r >> 11) * 0x1p-53) - 1.0;
  if constexpr (half_float<E>) {
    return rounded<E>(static_cast<float>(exact));
  } else {
    return static_cast<E>(exact);
  }
}

// A value that E has exactly.
template <class E>
E from_value(compared<E> value) {
  if constexpr (half_float<E>) {
    return rounded<E>(value);
  } else {
    return value;
  }
}

template <class E>
E factors_element(std::uint64_t r) {
  using V = compared<E>;
  V magnitude = 0;
  if constexpr (std::is_same_v<E, binary16>) {
    magnitude = 1.0F + static_cast<float>(static_cast<int>(r >> 60) - 8) * 0x1p-10F;
  } else if constexpr (std::is_same_v<E, brain16>) {
    magnitude = 1.0F + static_cast<float>(static_cast<int>((r >> 32) % 3) - 1) * 0x1p-7F;
  } else if constexpr (std::is_same_v<E, float>) {
    const int k = static_cast<int>(r >> 48);  // 16 bits
    magnitude = 1.0F + static_cast<float>(k - 0x8000) * 0x1p-22F;
  } else {
    const std::int64_t k = static_cast<std::int64_t>(r >> 20);  // 44 bits
    magnitude = 1.0 + static_cast<double>(k - 0x80000000000) * 0x1p-50;
  }
  return from_value<E>(r % 2 == 1 ? -magnitude : magnitude);
}

template <class E>
E bits_element(std::uint64_t r) {
  using B = typename format<E>::bits_type;
  B bits = static_cast<B>(r);
  if ((bits & format<E>::exponent_mask) == format<E>::exponent_mask) bits &= static_cast<B>(~format<E>::highest_exponent_bit);
  return std::bit_cast<E>(bits);
}

template <class E>
E signed_zero(std::uint64_t sign) {
  using V = compared<E>;
  return from_value<E>(sign != 0 ? static_cast<V>(-0.0) : V{0});
}

// From 4096 or 2^30 on, over a width of 2, and of small types over a width that they have room for: exact.
template <class E>
E offset_element(std::uint64_t r) {
  if constexpr (std::is_same_v<E, binary16>) {
    return rounded<E>(1024.0F + static_cast<float>(r >> 60));
  } else if constexpr (std::is_same_v<E, brain16>) {
    return rounded<E>(128.0F + static_cast<float>(r >> 61));
  } else if constexpr (std::is_same_v<E, float>) {
    return 4096.0F + static_cast<float>(r >> 52) * 0x1p-11F;
  } else {
    return 0x1p30 + static_cast<double>(r >> 41) * 0x1p-22;
  }
}

// A whole number from -3 to 3; a zero has bit 63 of r as its sign.
template <class E>
E few_element(std::uint64_t r) {
  const int value = static_cast<int>(r % 7) - 3;
  return value == 0 ? signed_zero<E>(r >> 63) : from_value<E>(static_cast<compared<E>>(value));
}

template <class E>
E subnormal_element(std::uint64_t r) {
  if (((r >> 52) & 15) == 0) return signed_zero<E>(r >> 63);
  return assemble<E>(r, 0);
}

// A floating-point element from r. The families with special indices are uniform here; see special_indices.
template <class E>
E element_of(family_id family, std::uint64_t r) {
  constexpr bool is_f16 = std::is_same_v<E, binary16>;
  constexpr bool is_f32 = std::is_same_v<E, float> || std::is_same_v<E, brain16>;  // the exponents of f32, too
  switch (family) {
    case family_id::uniform:
    case family_id::one_nan:
    case family_id::two_nans:
    case family_id::one_infinity:
    case family_id::both_infinities:
      return uniform_element<E>(r);
    case family_id::wide:
      if constexpr (is_f16) return with_exponent<E>(r, -14, 30);
      return is_f32 ? with_exponent<E>(r, -40, 80) : with_exponent<E>(r, -300, 600);
    case family_id::factors:
      return factors_element<E>(r);
    case family_id::bits:
      return bits_element<E>(r);
    case family_id::subnormal:
      return subnormal_element<E>(r);
    case family_id::zeros:
      return signed_zero<E>(r >> 63);
    case family_id::minus_zero:
      return signed_zero<E>(1);
    case family_id::tiny:
      if constexpr (is_f16) return with_exponent<E>(r, -14, 4);
      return is_f32 ? with_exponent<E>(r, -120, 20) : with_exponent<E>(r, -700, 100);
    case family_id::huge:
      if constexpr (is_f16) return with_exponent<E>(r, 10, 6);
      return is_f32 ? with_exponent<E>(r, 100, 20) : with_exponent<E>(r, 601, 100);
    case family_id::edge_small:
      return with_exponent<E>(r, -482, 4);
    case family_id::edge_big:
      return with_exponent<E>(r, 478, 4);
    case family_id::mixed_classes:
      return mixed_classes_element<E>(r);
    case family_id::brink:
      return assemble<E>((r >> 63 << 63) | 0x05af103491a32, 1020 + format<E>::bias);
    case family_id::offset:
      return offset_element<E>(r);
    case family_id::few:
      return few_element<E>(r);
    default:
      std::abort();
  }
}

// A float with these bits.
template <class E>
E with_bits(std::uint64_t bits) {
  return std::bit_cast<E>(static_cast<typename format<E>::bits_type>(bits));
}

// Puts the NaN or the infinities of the families that have one into x.
template <class E>
void special_indices(family_id family, std::uint64_t seed, std::vector<E>& x) {
  if (x.empty()) return;
  using F = format<E>;
  constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(E) - 1);
  const std::size_t n = x.size();
  const std::size_t p = static_cast<std::size_t>((seed * 7919) % n);
  const std::size_t other = (p + n / 2) % n;
  if (family == family_id::one_nan || family == family_id::two_nans) x[p] = with_bits<E>(F::nan);
  if (family == family_id::two_nans) x[other] = with_bits<E>(F::exponent_mask | std::uint64_t{1} << (F::significand_bits - 1));
  if (family == family_id::one_infinity || family == family_id::both_infinities) x[p] = with_bits<E>(F::exponent_mask);
  if (family == family_id::both_infinities && n > 1) x[other] = with_bits<E>(sign | F::exponent_mask);
}

// The families in which it matters what is zero: all are; all but the one at p; none but that.
template <class E>
std::vector<E> zeros_and_others(family_id family, std::uint64_t seed, std::size_t n) {
  E zero{}, other{};
  if constexpr (integer<E>) {
    other = static_cast<E>(std::uint64_t{1} << (8 * sizeof(E) - 1));
  } else {
    zero = signed_zero<E>(family == family_id::hole ? 1 : 0);
    other = with_bits<E>((std::uint64_t{1} << (8 * sizeof(E) - 1)) | 1);  // the smallest one below 0
  }
  std::vector<E> x(n, zero);
  for (std::size_t i = 0; i < n && family == family_id::hole; ++i) x[i] = element_of<E>(family_id::factors, random_bits(seed, i));
  const std::size_t p = n == 0 ? 0 : static_cast<std::size_t>((seed * 7919) % n);
  if (n != 0 && family == family_id::lone) x[p] = other;
  if (n != 0 && family == family_id::hole) x[p] = zero;
  return x;
}

template <class E>
std::vector<E> data(family_id family, std::uint64_t seed, std::size_t n) {
  std::vector<E> x;
  if (family == family_id::equal) return std::vector<E>(n, element_of<E>(family_id::uniform, random_bits(seed, 0)));
  if (family == family_id::blank || family == family_id::lone || family == family_id::hole)
    return zeros_and_others<E>(family, seed, n);
  for (std::size_t i = 0; i < n; ++i) x.push_back(element_of<E>(family, random_bits(seed, i)));
  if constexpr (!integer<E>) special_indices(family, seed, x);
  return x;
}

// ---------------------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t second_seed = 1000;  // what dot adds to the seed for its second array

// What the column "accumulate" says.
template <class E, class A>
const char* accumulation() {
  if (std::is_same_v<A, accumulated<E>>) return "own";
  if (std::is_same_v<A, double>) return "f64";
  const bool is_signed = std::is_signed_v<A>;
  return sizeof(A) == 1 ? is_signed ? "i8" : "u8" : sizeof(A) == 2 ? is_signed ? "i16" : "u16" : is_signed ? "i64" : "u64";
}

// The rows of one type, form and accumulation. The seed counts them.
template <class E, class A>
struct printer {
  const char* type;
  form_id form;
  std::uint64_t seed = 0;

  void row(family_id family, std::size_t n) {
    ++seed;
    const std::vector<E> x = data<E>(family, seed, n);
    const std::vector<E> y = form == form_id::dot ? data<E>(family, seed + second_seed, n) : std::vector<E>{};
    std::printf("ONEFOLD_GOLDEN(%s, %s, %s, %s, %llu, %zu, %s)\n", type, name_of(form), accumulation<E, A>(), name_of(family),
                static_cast<unsigned long long>(seed), n, result<E, A>(form, x, y).c_str());
  }

  void rows(family_id family, const std::vector<std::size_t>& sizes) {
    for (const std::size_t n : sizes) row(family, n);
  }
};

constexpr std::size_t largest = (std::size_t{1} << 20) + 13;

// Sizes 0 and 1 are in every selection and not in this list.
template <class E>
std::vector<std::size_t> all_sizes() {
  std::vector<std::size_t> sizes = {2, 3, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4097};
  const std::vector<std::size_t> tile_counts = {3, 5, 7, 9, 15, 17, 31, 33};
  for (const std::size_t tiles : tile_counts) {
    const std::size_t n = tiles * rows_per_tile * lane_count<E>;
    sizes.insert(sizes.end(), {n - 1, n, n + 1});
  }
  sizes.insert(sizes.end(), {100, 777, 5000, 12345, 54321, 99991, 131072, largest});
  return sizes;
}

bool is_one_of(form_id form, std::initializer_list<form_id> forms) {
  for (const form_id f : forms) {
    if (f == form) return true;
  }
  return false;
}

// All sizes for sum, dot and norm2 of f32 and f64 in their own type. Otherwise every stride-th size, beginning one later with each
// form, so that the forms of a type have all sizes together; the largest size only for sum.
template <class E, class A>
std::vector<std::size_t> sizes_for(form_id form) {
  const bool every = !integer<E> && std::is_same_v<E, A> && is_one_of(form, {form_id::sum, form_id::dot, form_id::norm2});
  const std::size_t stride = every ? 1 : integer<E> ? 8 : 6;
  const std::vector<std::size_t> all = all_sizes<E>();
  std::vector<std::size_t> chosen = {1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool selected = all[i] == largest ? every || form == form_id::sum : i % stride == static_cast<std::size_t>(form) % stride;
    if (selected) chosen.push_back(all[i]);
  }
  return chosen;
}

template <class E, class A>
void integer_families(printer<E, A>& out) {
  out.rows(family_id::wide, {65, 5000});
  out.rows(family_id::extremes, {3, 1025});
}

template <class E, class A>
void floating_families(printer<E, A>& out) {
  if (out.form != form_id::prod) out.rows(family_id::wide, {1025, 5000});
  out.rows(family_id::bits, {2, 65, 5000});
  out.rows(family_id::subnormal, {1, 1025});
  out.rows(family_id::minus_zero, {1, 1025});
  out.rows(family_id::one_nan, {1, 5000});
  out.rows(family_id::one_infinity, {65});
  out.rows(family_id::both_infinities, {1025});
  if (is_one_of(out.form, {form_id::sum, form_id::prod, form_id::min, form_id::max})) out.rows(family_id::zeros, {2, 3, 65, 1025});
  if (is_one_of(out.form, {form_id::dot, form_id::sum_of_squares})) {
    out.rows(family_id::tiny, {65});
    out.rows(family_id::huge, {65});
  }
  if (out.form != form_id::norm2) return;
  out.rows(family_id::tiny, {1, 65, 5000});
  out.rows(family_id::huge, {1, 65, 5000});
  if constexpr (std::is_same_v<E, double>) {
    out.rows(family_id::one_infinity, {1, 5000});
    out.rows(family_id::edge_small, {1, 2, 3, 33, 65, 777, 1025, 5000});
    out.rows(family_id::edge_big, {1, 2, 3, 33, 65, 777, 1025, 5000});
    out.rows(family_id::mixed_classes, {1, 2, 3, 65, 1025, 5000});
    out.rows(family_id::brink, {244, 245, 246});
  }
}

template <class E, class A>
void rows_of_form(const char* type, form_id form) {
  printer<E, A> out{type, form};
  out.row(family_id::uniform, 0);
  // The product of many uniform elements is 0: factors are for prod what uniform is for the others.
  if (form == form_id::prod) out.rows(family_id::uniform, {3, 33});
  out.rows(form == form_id::prod ? family_id::factors : family_id::uniform, sizes_for<E, A>(form));
  if constexpr (integer<E>) {
    integer_families(out);
  } else {
    floating_families(out);
  }
}

template <class E>
void rows_of_type(const char* type) {
  for (const form_id form : all_forms) rows_of_form<E, E>(type, form);
}

void rows_of_f32_accumulated_in_f64() {
  for (const form_id form : all_forms) {
    if (!is_one_of(form, {form_id::min, form_id::max, form_id::norm_inf})) rows_of_form<float, double>("f32", form);
  }
}

// --- of the forms with several results

// The rows of one type, record and accumulation. The seed counts the data.
template <class E, class A>
struct record_printer {
  const char* type;
  record_id record;
  std::uint64_t seed = 0;

  void row(family_id family, std::size_t n) {
    ++seed;
    const std::vector<E> x = data<E>(family, seed, n);
    const bool has_ddof = record == record_id::mean_variance;
    const std::int64_t ddof = has_ddof ? static_cast<std::int64_t>(seed % 2) : 0;
    print(family, x, ddof);
    if (has_ddof && n <= 3) print(family, x, 1 - ddof);  // where it decides whether there is a variance
  }

  void print(family_id family, const std::vector<E>& x, std::int64_t ddof) const {
    const texts all = results<E, A>(record, x, ddof);
    const auto seed_printed = static_cast<unsigned long long>(seed);
    if (all.size() == 4) {
      std::printf("ONEFOLD_GOLDEN_FOUR(%s, %s, %s, %s, %llu, %zu, %s, %s, %s, %s)\n", type, name_of(record), accumulation<E, A>(),
                  name_of(family), seed_printed, x.size(), all[0].c_str(), all[1].c_str(), all[2].c_str(), all[3].c_str());
      return;
    }
    std::printf("ONEFOLD_GOLDEN_RECORD(%s, %s, %s, %s, %llu, %zu, %d, %s, %s)\n", type, name_of(record), accumulation<E, A>(),
                name_of(family), seed_printed, x.size(), static_cast<int>(ddof), all[0].c_str(), all[1].c_str());
  }

  void rows(family_id family, const std::vector<std::size_t>& sizes) {
    for (const std::size_t n : sizes) row(family, n);
  }
};

// All sizes for argmin and mean_variance of f32 and f64. Otherwise every stride-th size, beginning one later with each record; the largest
// size only for argmin and mean_variance.
template <class E, class A>
std::vector<std::size_t> sizes_for(record_id record) {
  const bool first = record == record_id::argmin || record == record_id::mean_variance;
  const bool every = !integer<E> && std::is_same_v<E, A> && first;
  const std::size_t stride = every ? 1 : 4;
  const std::vector<std::size_t> all = all_sizes<E>();
  std::vector<std::size_t> chosen = {1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool selected = all[i] == largest ? first : i % stride == static_cast<std::size_t>(record) % stride;
    if (selected) chosen.push_back(all[i]);
  }
  return chosen;
}

template <class E, class A>
void rows_of_record(const char* type, record_id record) {
  record_printer<E, A> out{type, record};
  if (record == record_id::minmax || record == record_id::mean_variance) out.row(family_id::uniform, 0);
  out.rows(family_id::uniform, sizes_for<E, A>(record));
  out.rows(family_id::equal, {1, 2, 33, 65, 1025, 5000, 12345});
  out.rows(family_id::offset, {2, 3, 65, 513, 1025, 5000, 54321});
  out.rows(family_id::few, {3, 33, 1025, 5000});
  out.rows(family_id::wide, {65, 1025, 5000});
  if constexpr (integer<E>) {
    out.rows(family_id::extremes, {3, 65, 1025, 5000});
  } else {
    out.rows(family_id::bits, {2, 65, 5000});
    out.rows(family_id::subnormal, {1, 65, 1025});
    out.rows(family_id::zeros, {2, 3, 65, 1025, 5000});
    out.rows(family_id::minus_zero, {1, 1025});
    out.rows(family_id::one_nan, {1, 65, 5000});
    out.rows(family_id::two_nans, {2, 65, 1025, 5000});
    out.rows(family_id::one_infinity, {1, 2, 65, 1025, 5000});
    out.rows(family_id::both_infinities, {2, 65, 1025, 5000});
    out.rows(family_id::huge, {2, 65, 1025});
    out.rows(family_id::tiny, {2, 65, 1025});
  }
}

template <class E>
void records_of_type(const char* type) {
  for (const record_id record : {record_id::argmin, record_id::argmax, record_id::minmax, record_id::mean_variance})
    rows_of_record<E, E>(type, record);
}

// --- of the forms whose bits are the same in any order

// Every third size for floats, which have three of these forms, and every sixth for integers, which have six. The numbers of the forms
// differ modulo three and six, so that they have all sizes together. The largest size only for count.
template <class E>
std::vector<std::size_t> sizes_for_operator(form_id form) {
  const std::size_t stride = integer<E> ? 6 : 3;
  const std::vector<std::size_t> all = all_sizes<E>();
  std::vector<std::size_t> chosen = {1};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool selected = all[i] == largest ? form == form_id::count : i % stride == static_cast<std::size_t>(form) % stride;
    if (selected) chosen.push_back(all[i]);
  }
  return chosen;
}

// The families take turns over the sizes, because the bits of many uniform elements are 0 under bit_and and all set under bit_or.
template <class E>
void integer_operator_families(printer<E, E>& out) {
  constexpr family_id turns[] = {family_id::uniform, family_id::wide,    family_id::extremes,
                                 family_id::few,     family_id::factors, family_id::equal};
  std::size_t turn = static_cast<std::size_t>(out.form);
  for (const std::size_t n : sizes_for_operator<E>(out.form)) out.row(turns[turn++ % std::size(turns)], n);
  out.rows(family_id::equal, {4097});   // an odd number of them: bit_xor is not 0
  out.rows(family_id::offset, {5000});  // neither bit_and nor bit_or is 0 or has all bits set
}

template <class E>
void floating_operator_families(printer<E, E>& out) {
  out.rows(family_id::uniform, sizes_for_operator<E>(out.form));
  out.rows(family_id::bits, {65});
  out.rows(family_id::subnormal, {1025});
  out.rows(family_id::minus_zero, {65});
  out.rows(family_id::zeros, {2, 1025});
  out.rows(family_id::one_nan, {1, 5000});
  out.rows(family_id::two_nans, {1, 2, 54321});  // of one element and of two all are NaN
  out.rows(family_id::one_infinity, {65});
  out.rows(family_id::few, {5000});
  if (out.form == form_id::count) return;
  out.rows(family_id::wide, {5000});
  out.rows(family_id::both_infinities, {1025});
  // An operator that treats its operands differently: with the NaN, and each of the two zeros, on either side of it. Of two elements it is
  // the seed that decides; of 7919 the first one is the NaN, which is the left operand all the way up.
  out.rows(family_id::zeros, {2, 2, 2, 2});
  out.rows(family_id::one_nan, {2, 2, 7919});
}

template <class E>
void rows_of_operators(const char* type) {
  for (const form_id form :
       {form_id::min_number, form_id::max_number, form_id::bit_and, form_id::bit_or, form_id::bit_xor, form_id::count}) {
    if (!integer<E> && is_one_of(form, {form_id::bit_and, form_id::bit_or, form_id::bit_xor})) continue;
    printer<E, E> out{type, form};
    out.row(family_id::uniform, 0);
    if constexpr (integer<E>) {
      integer_operator_families(out);
    } else {
      floating_operator_families(out);
    }
  }
}

// --- of types of 1 and 2 bytes, and what came with them

// Around lanes, tiles and levels of the tree of this type.
template <class E>
std::vector<std::size_t> few_sizes() {
  const std::size_t L = lane_count<E>, tile = rows_per_tile * L;
  return {2,
          L - 1,
          tile + 1,
          3,
          L,
          16 * tile - 1,
          L + 1,
          tile - 1,
          3 * tile + 1,
          5 * L + 3,
          tile,
          16 * tile + 1,
          777,
          2 * tile - 1,
          17 * tile + 5,
          5000,
          2 * tile,
          15 * tile,
          33 * tile - 1,
          5 * tile - 1,
          99991,
          4 * tile,
          7 * tile + 3,
          16 * tile};
}

// `few` of them that begin at another place with every number, so that those of a type have all sizes together.
template <class E>
std::vector<std::size_t> turn_of(std::size_t number, std::size_t few) {
  const std::vector<std::size_t> all = few_sizes<E>();
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < few; ++i) chosen.push_back(all[(number * few + i) % all.size()]);
  return chosen;
}

constexpr form_id forms_of_truth[] = {form_id::all, form_id::any, form_id::none};

template <class E>
void rows_of_truth(const char* type) {
  for (const form_id form : forms_of_truth) {
    printer<E, accumulated<E>> out{type, form};
    out.rows(family_id::blank, {0, 1025});
    out.rows(family_id::lone, turn_of<E>(static_cast<std::size_t>(form), 2));
    out.rows(family_id::hole, turn_of<E>(static_cast<std::size_t>(form) + 1, 2));
    out.rows(family_id::factors, {1, 5000});
    if constexpr (!integer<E>) {
      out.rows(family_id::minus_zero, {65});
      out.rows(family_id::one_nan, {1});
    }
  }
}

// Many elements of any size: sums that an accumulator of 32 bits does not hold, and floats whose order shows.
template <class E, class A>
void rows_of_small_form(const char* type, form_id form) {
  printer<E, A> out{type, form};
  out.row(family_id::uniform, 0);
  const bool own = std::is_same_v<A, accumulated<E>>;
  const bool every = half_float<E> && own && is_one_of(form, {form_id::sum, form_id::dot});
  const auto sizes = every ? few_sizes<E>() : turn_of<E>(static_cast<std::size_t>(form), 2);
  out.rows(form == form_id::prod ? family_id::factors : family_id::uniform, sizes);
  if constexpr (integer<E>) {
    out.rows(family_id::extremes, {5000});
    out.rows(family_id::wide, {65});
    if (form == form_id::bit_xor) out.rows(family_id::equal, {4097});  // not 0
    if (form == form_id::bit_and) out.rows(family_id::offset, {777});  // neither
    if (small<E> && is_one_of(form, {form_id::sum, form_id::dot, form_id::norm1, form_id::sum_of_squares}))
      out.rows(family_id::factors, {largest});
  } else {
    if (form != form_id::prod) out.rows(family_id::wide, {5000});
    if (every) out.rows(family_id::wide, {largest});
    if (own) out.rows(family_id::bits, {65});
    if (own) out.rows(family_id::subnormal, {1025});
    if (own && is_one_of(form, {form_id::sum, form_id::prod, form_id::dot, form_id::norm1})) out.rows(family_id::minus_zero, {3});
    out.rows(family_id::one_nan, {5000});
    if (is_one_of(form, {form_id::min_number, form_id::max_number})) out.rows(family_id::two_nans, {2});
    if (own && is_one_of(form, {form_id::min, form_id::max, form_id::min_number, form_id::max_number}))
      out.rows(family_id::zeros, {2, 65});
    if (form == form_id::norm2) out.rows(family_id::huge, {1025});
    out.rows(family_id::both_infinities, {1025});
  }
}

template <class E, class A>
void rows_of_small_record(const char* type, record_id record) {
  record_printer<E, A> out{type, record};
  if (record == record_id::minmax || record == record_id::mean_variance) out.row(family_id::uniform, 0);
  out.rows(family_id::uniform, turn_of<E>(static_cast<std::size_t>(record), 2));
  out.rows(family_id::few, {1025});
  if constexpr (integer<E>) {
    out.rows(family_id::extremes, {65, 5000});
  } else {
    out.rows(family_id::zeros, {65});
    out.rows(family_id::wide, {5000});
    out.rows(family_id::two_nans, {1025});
    out.rows(family_id::both_infinities, {65});
  }
  if (record == record_id::mean_variance) out.rows(family_id::offset, {1, 54321});
}

constexpr record_id all_records[] = {record_id::argmin,        record_id::argmax,           record_id::minmax,
                                     record_id::mean_variance, record_id::argmin_magnitude, record_id::argmax_magnitude,
                                     record_id::argminmax};

template <integer E>
void rows_of_small_integers(const char* type) {
  for (const form_id form : all_forms) rows_of_small_form<E, accumulated<E>>(type, form);
  for (const form_id form :
       {form_id::min_number, form_id::max_number, form_id::bit_and, form_id::bit_or, form_id::bit_xor, form_id::count})
    rows_of_small_form<E, accumulated<E>>(type, form);
  rows_of_truth<E>(type);
  for (const record_id record : all_records) rows_of_small_record<E, accumulated<E>>(type, record);
}

template <half_float E>
void rows_of_small_floats(const char* type) {
  for (const form_id form : all_forms) rows_of_small_form<E, float>(type, form);
  for (const form_id form : {form_id::min_number, form_id::max_number, form_id::count}) rows_of_small_form<E, float>(type, form);
  rows_of_truth<E>(type);
  for (const record_id record : all_records) rows_of_small_record<E, float>(type, record);
  for (const form_id form : all_forms) {
    if (!is_one_of(form, {form_id::min, form_id::max, form_id::norm_inf})) rows_of_small_form<E, double>(type, form);
  }
  rows_of_small_record<E, double>(type, record_id::mean_variance);
}

template <class E>
void rows_of_further_forms(const char* type) {
  rows_of_truth<E>(type);
  for (const record_id record : {record_id::argmin_magnitude, record_id::argmax_magnitude, record_id::argminmax})
    rows_of_small_record<E, E>(type, record);
}

// Of the forms that add or multiply.
template <class E, class A>
void rows_accumulated_in(const char* type) {
  for (const form_id form : {form_id::sum, form_id::prod, form_id::dot, form_id::sum_of_squares, form_id::norm1})
    rows_of_small_form<E, A>(type, form);
}

void print_head(const char* of, const char* table) {
  std::printf("// Golden results of tree v1 (docs/order.md) of %s. Columns and data: README.md beside this file.\n", of);
  std::puts("// Made in this folder by");
  std::puts("//   g++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wconversion generate.cpp -o /tmp/golden");
  std::printf("//   /tmp/golden %s > %s.inc\n", table, table);
  std::puts("// ONEFOLD_GOLDEN(type, form, accumulate, data, seed, n, bits)");
  std::puts("// ONEFOLD_GOLDEN_RECORD(type, form, accumulate, data, seed, n, ddof, first bits, second bits)");
  std::puts("// ONEFOLD_GOLDEN_FOUR(type, form, accumulate, data, seed, n, first bits, second bits, third bits, fourth bits)");
}

// --- of complex numbers, whose parts are T

template <class T>
constexpr const char* complex_type = sizeof(T) == 4 ? "c64" : "c128";

// The column "accumulate" of numbers whose parts are T, accumulated in A.
template <class T, class A>
constexpr const char* complex_accumulator = sizeof(T) == sizeof(A) ? "own" : complex_type<A>;

// 1 for each number that is not zero in one part at least, else 0.
template <class T>
std::vector<std::uint64_t> nonzero_numbers(const std::vector<T>& parts) {
  std::vector<std::uint64_t> is_set;
  for (std::size_t i = 0; i < parts.size(); i += 2) is_set.push_back(is_zero(parts[i]) && is_zero(parts[i + 1]) ? 0 : 1);
  return is_set;
}

template <class T>
void row_of_zeros(form_id form, family_id family, std::uint64_t seed, std::size_t n) {
  const std::vector<T> parts = data<T>(family, seed, 2 * n);
  std::uint64_t nonzero = 0;
  for (const std::uint64_t one : nonzero_numbers(parts)) nonzero += one;
  std::string bits = bits_of(nonzero);
  if (form != form_id::count) {
    const bool holds = form == form_id::all ? nonzero == n : form == form_id::any ? nonzero > 0 : nonzero == 0;
    bits = bits_of(static_cast<std::uint8_t>(holds ? 1 : 0));
  }
  std::printf("ONEFOLD_GOLDEN(%s, %s, own, %s, %llu, %zu, %s)\n", complex_type<T>, name_of(form), name_of(family),
              static_cast<unsigned long long>(seed), n, bits.c_str());
}

// The moments of each part, an array of its own of T, in f64; then converted to A.
template <class T, class A = T>
void row_of_moments(family_id family, std::uint64_t seed, std::size_t n, std::int64_t ddof) {
  const std::vector<T> parts = data<T>(family, seed, 2 * n);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  double mean[2] = {nan, nan}, variance[2] = {nan, nan};
  for (std::size_t part = 0; part < 2; ++part) {
    std::vector<double> of_part;
    for (std::size_t i = part; i < parts.size(); i += 2) of_part.push_back(static_cast<double>(parts[i]));
    const std::optional<moments> all = tree_of_moments<T>(of_part);
    if (!all) continue;
    mean[part] = all->M;
    const std::int64_t freedom = static_cast<std::int64_t>(all->N) - ddof;
    if (freedom > 0) variance[part] = all->D / static_cast<double>(freedom);
  }
  const double both = variance[0] + variance[1];
  std::printf("ONEFOLD_GOLDEN_THREE(%s, mean_variance, %s, %s, %llu, %zu, %d, %s, %s, %s)\n", complex_type<T>,
              complex_accumulator<T, A>, name_of(family), static_cast<unsigned long long>(seed), n, static_cast<int>(ddof),
              bits_of(static_cast<A>(mean[0])).c_str(), bits_of(static_cast<A>(mean[1])).c_str(),
              bits_of(static_cast<A>(both)).c_str());
}

// A number, whose parts are T.
template <class T>
struct number {
  T real, imaginary;
};
template <class A, class T>
std::vector<number<A>> numbers_of(const std::vector<T>& parts) {
  std::vector<number<A>> all;
  for (std::size_t i = 0; i < parts.size(); i += 2) all.push_back({static_cast<A>(parts[i]), static_cast<A>(parts[i + 1])});
  return all;
}
template <class T>
number<T> add_numbers(number<T> a, number<T> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}
template <class T>
number<T> multiply_numbers(number<T> a, number<T> b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

float absolute_of(number<float> z) {
  const double a = z.real, b = z.imaginary;
  return static_cast<float>(std::sqrt(a * a + b * b));
}
double absolute_of(number<double> z) {
  const double a = std::fabs(z.real), b = std::fabs(z.imaginary);
  double s = 1, over_s = 1;
  if (a >= 0x1p480 || b >= 0x1p480) {
    s = 0x1p-600, over_s = 0x1p600;
  } else if (a < 0x1p-480 && b < 0x1p-480) {
    s = 0x1p600, over_s = 0x1p-600;
  }
  return std::sqrt((a * s) * (a * s) + (b * s) * (b * s)) * over_s;
}

// sum, prod, dot and mean, whose results are complex; and what has a real one. dot's second array is that of the seed and 1000 more. Parts are T, and are
// converted to A before anything else.
template <class T, class A = T>
void row_of_numbers(form_id form, family_id family, std::uint64_t seed, std::size_t n) {
  using E = number<T>;
  using Z = number<A>;
  const std::vector<T> parts = data<T>(family, seed, 2 * n);
  const std::vector<Z> z = numbers_of<A>(parts);
  const auto print = [&](const char* macro, const std::string& bits) {
    std::printf("%s(%s, %s, %s, %s, %llu, %zu, %s)\n", macro, complex_type<T>, name_of(form), complex_accumulator<T, A>,
                name_of(family), static_cast<unsigned long long>(seed), n, bits.c_str());
  };
  const auto print_both = [&](Z result) { print("ONEFOLD_GOLDEN_TWO", bits_of(result.real) + ", " + bits_of(result.imaginary)); };
  if (form == form_id::sum) return print_both(tree<E, Z>(add_numbers<A>, z).value_or(Z{0, 0}));
  if (form == form_id::prod) return print_both(tree<E, Z>(multiply_numbers<A>, z).value_or(Z{1, 0}));
  if (form == form_id::mean) {
    const std::optional<Z> sum = tree<E, Z>(add_numbers<A>, z);
    constexpr A nan = std::numeric_limits<A>::quiet_NaN();
    return print_both(sum ? Z{sum->real / static_cast<A>(n), sum->imaginary / static_cast<A>(n)} : Z{nan, nan});
  }
  if (form == form_id::dot) {
    const std::vector<Z> y = numbers_of<A>(data<T>(family, seed + 1000, 2 * n));
    std::vector<Z> products;
    for (std::size_t i = 0; i < n; ++i)
      products.push_back(
          {z[i].real * y[i].real + z[i].imaginary * y[i].imaginary, z[i].real * y[i].imaginary - z[i].imaginary * y[i].real});
    return print_both(tree<E, Z>(add_numbers<A>, products).value_or(Z{0, 0}));
  }
  if (form == form_id::norm2) return print("ONEFOLD_GOLDEN", norm2<A>(parts));
  if (form == form_id::sum_of_squares) return print("ONEFOLD_GOLDEN", bits_of(tree<T, A>(add, squares<A>(parts)).value_or(A{0})));
  std::vector<A> magnitudes;
  for (const Z one : z) magnitudes.push_back(absolute_of(one));
  print("ONEFOLD_GOLDEN", bits_of(tree<T, A>(form == form_id::norm1 ? add<A> : maximum<A>, magnitudes).value_or(A{0})));
}

template <class T>
void rows_of_numbers() {
  for (const form_id form : {form_id::sum, form_id::prod, form_id::dot, form_id::mean, form_id::norm1, form_id::norm_inf,
                             form_id::norm2, form_id::sum_of_squares}) {
    std::uint64_t seed = 0;
    const auto rows = [&](family_id family, const std::vector<std::size_t>& sizes) {
      for (const std::size_t n : sizes) row_of_numbers<T>(form, family, ++seed, n);
    };
    rows(family_id::uniform, {0, 1, 2, 3, 33});
    rows(form == form_id::prod ? family_id::factors : family_id::uniform, few_sizes<T>());
    rows(family_id::wide, {1, 65, 5000});
    rows(family_id::bits, {2, 777});
    rows(family_id::zeros, {65, 1025});
    rows(family_id::minus_zero, {1, 777});
    rows(family_id::subnormal, {1, 1025});
    rows(family_id::tiny, {1, 65});
    rows(family_id::huge, {1, 65, 777});
    rows(family_id::one_nan, {1, 5000});
    rows(family_id::one_infinity, {65});
    rows(family_id::both_infinities, {1025});
    if (form == form_id::sum || form == form_id::dot) rows(family_id::uniform, {(std::size_t{1} << 18) + 5});
    if constexpr (std::is_same_v<T, double>) {
      rows(family_id::edge_small, {1, 3, 777});
      rows(family_id::edge_big, {1, 3, 777});
      rows(family_id::mixed_classes, {1, 65, 5000});
    }
  }
}

// c64 accumulated in c128.
void rows_of_wide_numbers() {
  for (const form_id form :
       {form_id::sum, form_id::prod, form_id::dot, form_id::mean, form_id::norm1, form_id::norm2, form_id::sum_of_squares}) {
    std::uint64_t seed = 0;
    const auto rows = [&](family_id family, const std::vector<std::size_t>& sizes) {
      for (const std::size_t n : sizes) row_of_numbers<float, double>(form, family, ++seed, n);
    };
    const bool every = form == form_id::sum || form == form_id::dot;
    rows(family_id::uniform, {0, 1, 3});
    rows(form == form_id::prod ? family_id::factors : family_id::uniform,
         every ? few_sizes<float>() : turn_of<float>(static_cast<std::size_t>(form), 2));
    rows(family_id::wide, {1, 5000});
    rows(family_id::bits, {777});
    rows(family_id::zeros, {65});
    rows(family_id::minus_zero, {777});
    rows(family_id::subnormal, {1, 1025});
    rows(family_id::huge, {65, 777});
    rows(family_id::one_nan, {5000});
    rows(family_id::one_infinity, {65});
    rows(family_id::both_infinities, {1025});
    if (every) rows(family_id::uniform, {(std::size_t{1} << 18) + 5});
  }
  std::uint64_t seed = 0;
  const auto rows = [&](family_id family, const std::vector<std::size_t>& sizes) {
    for (const std::size_t n : sizes) {
      ++seed;
      row_of_moments<float, double>(family, seed, n, static_cast<std::int64_t>(seed % 2));
    }
  };
  rows(family_id::uniform, {0, 1, 2, 3});
  rows(family_id::uniform, turn_of<float>(0, 2));
  rows(family_id::huge, {777});
  rows(family_id::offset, {513, 54321});
  rows(family_id::one_nan, {5000});
}

template <class T>
void rows_of_complex() {
  for (const form_id form : {form_id::count, form_id::all, form_id::any, form_id::none}) {
    std::uint64_t seed = 0;
    const auto rows = [&](family_id family, const std::vector<std::size_t>& sizes) {
      for (const std::size_t n : sizes) row_of_zeros<T>(form, family, ++seed, n);
    };
    rows(family_id::blank, {0, 1, 1025});
    rows(family_id::minus_zero, {1, 777});
    rows(family_id::lone, turn_of<T>(static_cast<std::size_t>(form), 4));
    rows(family_id::hole, turn_of<T>(static_cast<std::size_t>(form) + 1, 3));
    rows(family_id::zeros, {65, 5000});
    rows(family_id::few, turn_of<T>(static_cast<std::size_t>(form) + 2, 3));
    rows(family_id::subnormal, {1, 1025});
    rows(family_id::one_nan, {1, 5000});
    if (form == form_id::count) rows(family_id::few, {(std::size_t{1} << 18) + 5});
  }
  std::uint64_t seed = 0;
  const auto rows = [&](family_id family, const std::vector<std::size_t>& sizes) {
    for (const std::size_t n : sizes) {
      ++seed;
      const auto ddof = static_cast<std::int64_t>(seed % 2);
      row_of_moments<T>(family, seed, n, ddof);
      if (n <= 3) row_of_moments<T>(family, seed, n, 1 - ddof);
    }
  };
  rows(family_id::uniform, {0, 1});
  rows(family_id::uniform, few_sizes<T>());
  rows(family_id::uniform, {(std::size_t{1} << 18) + 5});
  rows(family_id::wide, {1, 65, 5000});
  rows(family_id::zeros, {65});
  rows(family_id::minus_zero, {3});
  rows(family_id::subnormal, {1025});
  rows(family_id::huge, {2, 777});
  rows(family_id::offset, {1, 513, 54321});
  rows(family_id::one_nan, {1, 5000});
  rows(family_id::one_infinity, {1025});
  rows(family_id::both_infinities, {65, 5000});
  rows(family_id::equal, {1025});
}

void print_complex() {
  std::puts("// Golden results of tree v1 (docs/order.md) of complex numbers. Columns and data: README.md beside this file.");
  std::puts("// Made in this folder by");
  std::puts("//   g++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wconversion generate.cpp -o /tmp/golden");
  std::puts("//   /tmp/golden complex > complex.inc");
  std::puts("// ONEFOLD_GOLDEN(type, form, accumulate, data, seed, n, bits)");
  std::puts("// ONEFOLD_GOLDEN_TWO(type, form, accumulate, data, seed, n, real bits, imaginary bits)");
  std::puts("// ONEFOLD_GOLDEN_THREE(type, form, accumulate, data, seed, n, ddof, real bits, imaginary bits, variance bits)");
  rows_of_numbers<float>();
  rows_of_numbers<double>();
  rows_of_complex<float>();
  rows_of_complex<double>();
  rows_of_wide_numbers();
}

void print_small() {
  print_head("types of 1 and 2 bytes", "small");
  rows_of_small_integers<std::int8_t>("i8");
  rows_of_small_integers<std::uint8_t>("u8");
  rows_of_small_integers<std::int16_t>("i16");
  rows_of_small_integers<std::uint16_t>("u16");
  rows_of_small_floats<binary16>("f16");
  rows_of_small_floats<brain16>("bf16");
}

void print_further() {
  print_head("forms that came with the small types", "further");
  rows_of_further_forms<float>("f32");
  rows_of_further_forms<double>("f64");
  rows_of_further_forms<std::int32_t>("i32");
  rows_accumulated_in<std::int32_t, std::int64_t>("i32");
  rows_of_further_forms<std::uint32_t>("u32");
  rows_accumulated_in<std::uint32_t, std::uint64_t>("u32");
  rows_of_further_forms<std::int64_t>("i64");
  rows_of_further_forms<std::uint64_t>("u64");
  rows_accumulated_in<std::int8_t, std::int8_t>("i8");
  rows_accumulated_in<std::uint8_t, std::uint8_t>("u8");
  rows_accumulated_in<std::int16_t, std::int16_t>("i16");
  rows_accumulated_in<std::uint16_t, std::uint16_t>("u16");
}

void print_forms() {
  std::puts("// Golden results of tree v1 (docs/order.md). Columns and data: README.md beside this file. Made in this folder by");
  std::puts("//   g++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wconversion generate.cpp -o /tmp/golden");
  std::puts("//   /tmp/golden > table.inc");
  std::puts("// ONEFOLD_GOLDEN(type, form, accumulate, data, seed, n, bits)");
  rows_of_type<float>("f32");
  rows_of_f32_accumulated_in_f64();
  rows_of_type<double>("f64");
  rows_of_type<std::int32_t>("i32");
  rows_of_type<std::uint32_t>("u32");
  rows_of_type<std::int64_t>("i64");
  rows_of_type<std::uint64_t>("u64");
}

void print_records() {
  std::puts(
      "// Golden results of tree v1 (docs/order.md) with two parts. Columns and data: README.md beside this file. Made in this "
      "folder by");
  std::puts("//   g++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wconversion generate.cpp -o /tmp/golden");
  std::puts("//   /tmp/golden records > records.inc");
  std::puts("// ONEFOLD_GOLDEN_RECORD(type, form, accumulate, data, seed, n, ddof, first bits, second bits)");
  records_of_type<float>("f32");
  rows_of_record<float, double>("f32", record_id::mean_variance);
  records_of_type<double>("f64");
  records_of_type<std::int32_t>("i32");
  records_of_type<std::uint32_t>("u32");
  records_of_type<std::int64_t>("i64");
  records_of_type<std::uint64_t>("u64");
}

void print_operators() {
  std::puts(
      "// Golden results of tree v1 (docs/order.md) of the forms whose bits are the same in any order. Columns and data: README.md "
      "beside "
      "this file.");
  std::puts("// Made in this folder by");
  std::puts("//   g++ -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Wconversion generate.cpp -o /tmp/golden");
  std::puts("//   /tmp/golden operators > operators.inc");
  std::puts("// ONEFOLD_GOLDEN(type, form, accumulate, data, seed, n, bits)");
  rows_of_operators<float>("f32");
  rows_of_operators<double>("f64");
  rows_of_operators<std::int32_t>("i32");
  rows_of_operators<std::uint32_t>("u32");
  rows_of_operators<std::int64_t>("i64");
  rows_of_operators<std::uint64_t>("u64");
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> tables[] = {{"records", print_records},
                                                       {"operators", print_operators},
                                                       {"small", print_small},
                                                       {"further", print_further},
                                                       {"complex", print_complex}};
  if (argc == 1) {
    print_forms();
    return 0;
  }
  for (const auto& [name, print] : tables) {
    if (argc == 2 && std::strcmp(argv[1], name) == 0) {
      print();
      return 0;
    }
  }
  std::fputs("usage: generate [records | operators | small | further | complex]\n", stderr);
  return 2;
}
