#include "golden.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <onefold/error.hpp>

#include "aligned_buffer.hpp"
#include "any_form.hpp"
#include "device_buffer.hpp"

namespace onefold::tool {

namespace {

constexpr golden_row table[] = {
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits}},
#define ONEFOLD_GOLDEN_RECORD(type, what, accumulate, data, seed, count, ddof, first, second) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {first, second}},
#define ONEFOLD_GOLDEN_FOUR(type, what, accumulate, data, seed, count, first, second, third, fourth) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {first, second, third, fourth}},
#include "../../tests/golden/further.inc"
#include "../../tests/golden/operators.inc"
#include "../../tests/golden/records.inc"
#include "../../tests/golden/small.inc"
#include "../../tests/golden/table.inc"
#undef ONEFOLD_GOLDEN_RECORD
#undef ONEFOLD_GOLDEN_FOUR
#define ONEFOLD_GOLDEN_TWO(type, what, accumulate, data, seed, count, real, imaginary) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {real, imaginary}},
#define ONEFOLD_GOLDEN_THREE(type, what, accumulate, data, seed, count, ddof, real, imaginary, variance) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {real, imaginary, variance}},
#include "../../tests/golden/complex.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_TWO
#undef ONEFOLD_GOLDEN_THREE
#define ONEFOLD_GOLDEN(type, what, accumulate, data, seed, count, bits) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {bits}, true},
#define ONEFOLD_GOLDEN_RECORD(type, what, accumulate, data, seed, count, ddof, first, second) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, {first, second}, true},
#define ONEFOLD_GOLDEN_STATE(type, what, data, seed, count, hash)  // for the tests: no command shows a state's words
#define ONEFOLD_GOLDEN_COMPLEX(type, what, accumulate, data, seed, count, real, imaginary) \
  {element_type::type, form::what, std::string_view(#accumulate) != "own", #data, seed, count, 0, {real, imaginary}, true},
#define ONEFOLD_GOLDEN_THREE(type, what, accumulate, data, seed, count, ddof, real, imaginary, variance)      \
  {element_type::type,          form::what, std::string_view(#accumulate) != "own", #data, seed, count, ddof, \
   {real, imaginary, variance}, true},
#define ONEFOLD_GOLDEN_MIXED(type, second, what, accumulate, data, seed, count, bits)  // nor takes one arrays of two types
#include "../../tests/golden/exact.inc"
#undef ONEFOLD_GOLDEN
#undef ONEFOLD_GOLDEN_RECORD
#undef ONEFOLD_GOLDEN_STATE
#undef ONEFOLD_GOLDEN_COMPLEX
#undef ONEFOLD_GOLDEN_THREE
#undef ONEFOLD_GOLDEN_MIXED
};

constexpr std::uint64_t seed_of_second = 1000;  // dot's y has the seed of x and so much more

// Elements between a boundary of 64 bytes and the first element: together, apart, and neither.
struct offsets {
  std::size_t x, y;
};
constexpr offsets alignments[] = {{0, 0}, {1, 0}, {0, 1}, {3, 2}};

// --- the data, from tests/golden/README.md

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The families' names are compared once for each array, not for each of its elements.
enum class family_name {
  uniform,
  wide,
  factors,
  offset,
  few,
  extremes,
  tiny,
  huge,
  edge_small,
  edge_big,
  brink,
  mixed_classes,
  bits,
  subnormal,
  zeros,
  minus_zero,
  one_nan,
  two_nans,
  one_infinity,
  both_infinities,
  blank,
  lone,
  hole,
  ties,
  wide_ties,
  edges,
  square_ties,
  root_ties,
  square_edges,
  root_edges
};
constexpr std::string_view family_names[] = {
    "uniform",    "wide",     "factors",      "offset",          "few",          "extremes",  "tiny",  "huge",
    "edge_small", "edge_big", "brink",        "mixed_classes",   "bits",         "subnormal", "zeros", "minus_zero",
    "one_nan",    "two_nans", "one_infinity", "both_infinities", "blank",        "lone",      "hole",  "ties",
    "wide_ties",  "edges",    "square_ties",  "root_ties",       "square_edges", "root_edges"};
static_assert(std::size(family_names) == static_cast<std::size_t>(family_name::root_edges) + 1);

[[noreturn]] void refuse_family(element_type type, std::string_view family) {
  throw std::invalid_argument(
      fmt::format("the golden table has a family \"{}\" of {} that this tool does not know", family, name(type)));
}
[[noreturn]] void refuse_family(element_type type, family_name family) {
  refuse_family(type, family_names[static_cast<std::size_t>(family)]);
}

family_name family_called(element_type type, std::string_view name) {
  const auto* const found = std::ranges::find(family_names, name);
  if (found == std::end(family_names)) refuse_family(type, name);
  return static_cast<family_name>(found - std::begin(family_names));
}

template <class T>
std::uint64_t integer(family_name family, std::uint64_t r) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  const T low = static_cast<T>(static_cast<U>(r));
  const auto bits = [](T value) -> std::uint64_t { return static_cast<U>(value); };
  if (family == family_name::uniform) return bits(low);
  if (family == family_name::wide) return bits(static_cast<T>(low >> r % width));  // of a signed number the shift copies the sign
  if (family == family_name::factors) return bits(low) | 1;
  if (family == family_name::offset) return (std::uint64_t{1} << (width - 2)) + r % (std::uint64_t{1} << width / 4);
  if (family == family_name::few) return bits(static_cast<T>(static_cast<T>(r % 7) - static_cast<T>(std::is_signed_v<T> ? 3 : 0)));
  if (family == family_name::extremes) {
    using limits = std::numeric_limits<T>;
    const T values[] = {0, 1, static_cast<T>(-1), limits::max(), limits::min()};
    return bits(values[r % 5]);
  }
  refuse_family(element_type_of<T>, family);
}

// Sizes 2^first up to 2^(first + count).
struct sizes {
  std::int64_t first, count;
};

// What the page says of each type alone.
template <class T>
struct layout;
template <>
struct layout<float> {
  static constexpr int significand = 23, bias = 127, width = 32;
  static constexpr std::uint64_t marked_nan = 0xffc01234u;
  static constexpr sizes wide{-40, 80}, tiny{-120, 20}, huge{100, 20};
  static double excess_of_factor(std::uint64_t r) { return (static_cast<double>(r >> 48) - 0x1p15) * 0x1p-22; }
  static double offset(std::uint64_t r) { return 4096 + static_cast<double>(r >> 52) * 0x1p-11; }
};
template <>
struct layout<double> {
  static constexpr int significand = 52, bias = 1023, width = 64;
  static constexpr std::uint64_t marked_nan = 0xfff8000000001234u;
  static constexpr sizes wide{-300, 600}, tiny{-700, 100}, huge{601, 100};
  static double excess_of_factor(std::uint64_t r) { return (static_cast<double>(r >> 20) - 0x1p43) * 0x1p-50; }
  static double offset(std::uint64_t r) { return 0x1p30 + static_cast<double>(r >> 41) * 0x1p-22; }
};
template <>
struct layout<float16> {
  static constexpr int significand = 10, bias = 15, width = 16;
  static constexpr std::uint64_t marked_nan = 0xfe12u;
  static constexpr sizes wide{-14, 30}, tiny{-14, 4}, huge{10, 6};
  static double excess_of_factor(std::uint64_t r) { return (static_cast<double>(r >> 60) - 8) * 0x1p-10; }
  static double offset(std::uint64_t r) { return 1024 + static_cast<double>(r >> 60); }
};
template <>
struct layout<bfloat16> {
  static constexpr int significand = 7, bias = 127, width = 16;
  static constexpr std::uint64_t marked_nan = 0xffd2u;
  static constexpr sizes wide = layout<float>::wide, tiny = layout<float>::tiny, huge = layout<float>::huge;
  static double excess_of_factor(std::uint64_t r) { return (static_cast<double>((r >> 32) % 3) - 1) * 0x1p-7; }
  static double offset(std::uint64_t r) { return 128 + static_cast<double>(r >> 61); }
};

// Elements as the lowest bits of 64.
template <class T>
class floats {
  using of = layout<T>;
  using bits = std::uint64_t;
  static constexpr bits sign = bits{1} << (of::width - 1);
  static constexpr bits significand_mask = (bits{1} << of::significand) - 1;
  static constexpr bits exponent_mask = (sign - 1) & ~significand_mask;
  static constexpr bits quiet_nan = exponent_mask | (bits{1} << (of::significand - 1));
  static constexpr bool is_double = of::width == 64;

  static bits bits_of(double value) {
    if constexpr (is_double)
      return std::bit_cast<bits>(value);
    else if constexpr (of::width == 32)
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    else
      return T(static_cast<float>(value)).bits();
  }
  static constexpr bits sign_of(std::uint64_t r) { return (r >> 63) != 0 ? sign : bits{0}; }
  // F(r, e) of the page, and with an exponent field of 0 its subnormal sister.
  static constexpr bits with_field(std::uint64_t r, std::uint64_t field) {
    return sign_of(r) | field << of::significand | (r & significand_mask);
  }
  static constexpr bits with_exponent(std::uint64_t r, std::int64_t e) {
    return with_field(r, static_cast<std::uint64_t>(e + of::bias));
  }
  static bits uniform(std::uint64_t r) { return bits_of(2 * (static_cast<double>(r >> 11) * 0x1p-53) - 1); }
  static bits factor(std::uint64_t r) {
    const double value = 1 + of::excess_of_factor(r);
    return bits_of((r & 1) != 0 ? -value : value);
  }
  static bits any_bits(std::uint64_t r) {
    const bits low = r & (sign | (sign - 1));
    return (low & exponent_mask) == exponent_mask ? low & ~(sign >> 1) : low;
  }
  static bits one_of_few(std::uint64_t r) {
    const int value = static_cast<int>(r % 7) - 3;
    return value == 0 ? sign_of(r) : bits_of(value);
  }
  static std::optional<bits> of_one_size(family_name family, std::uint64_t r) {
    const auto k = static_cast<std::int64_t>((r >> 52) & 0x7ff);
    if (family == family_name::wide) return with_exponent(r, of::wide.first + k % of::wide.count);
    if (family == family_name::tiny) return with_exponent(r, of::tiny.first + k % of::tiny.count);
    if (family == family_name::huge) return with_exponent(r, of::huge.first + k % of::huge.count);
    if (!is_double) return std::nullopt;
    if (family == family_name::edge_small) return with_exponent(r, -482 + k % 4);
    if (family == family_name::edge_big) return with_exponent(r, 478 + k % 4);
    if (family == family_name::brink) return with_exponent((r >> 63 << 63) | 0x05af103491a32u, 1020);
    if (family != family_name::mixed_classes) return std::nullopt;
    const std::int64_t group = k % 24;
    return with_exponent(r, group < 8 ? -484 + group : group < 16 ? -4 + group - 8 : 476 + group - 16);
  }

 public:
  // `special`: the element at p; `second`: that half of the array behind it.
  static bits element(family_name family, std::uint64_t r, bool special, bool second) {
    if (family == family_name::uniform) return uniform(r);
    if (family == family_name::factors) return factor(r);
    if (family == family_name::bits) return any_bits(r);
    if (family == family_name::subnormal) return (r >> 52 & 0xf) == 0 ? sign_of(r) : with_field(r, 0);
    if (family == family_name::zeros) return sign_of(r);
    if (family == family_name::minus_zero) return sign;
    if (family == family_name::offset) return bits_of(of::offset(r));
    if (family == family_name::few) return one_of_few(r);
    if (const auto value = of_one_size(family, r)) return *value;
    // Special elements among uniform ones.
    if (family == family_name::one_nan) return special ? of::marked_nan : uniform(r);
    if (family == family_name::two_nans) return second ? quiet_nan : special ? of::marked_nan : uniform(r);
    if (family == family_name::one_infinity) return special ? exponent_mask : uniform(r);
    if (family != family_name::both_infinities) refuse_family(element_type_of<T>, family);
    return special ? exponent_mask : second ? exponent_mask | sign : uniform(r);
  }

  // Of the families where the place decides.
  static bits element_at(family_name family, std::uint64_t seed, std::uint64_t i, std::uint64_t count) {
    const int own = is_double ? 53 : 24;
    if (family == family_name::ties) return of_ties(own, seed, i, count);
    if (family == family_name::wide_ties && !is_double && bias == 127) return of_ties(53, seed, i, count);
    if (family == family_name::square_ties) return of_square_ties(own, seed, i);
    if (family == family_name::root_ties) return of_root_ties(own, seed, i);
    if (bias >= 127) {  // else no sum of as few elements is as great as a result can be
      if (family == family_name::edges) return of_edges(own, seed, i, count);
      if (family == family_name::square_edges) return of_square_edges(own, seed, i);
      if (family == family_name::root_edges) return of_root_edges(own, seed, i);
    }
    refuse_family(element_type_of<T>, family);
  }

 private:
  static constexpr int bias = of::bias, stored = of::significand;

  // digits 2^exponent with the sign of r
  static bits scaled(std::uint64_t r, int exponent, int digits = 1) {
    return sign_of(r) | bits_of(std::ldexp(static_cast<double>(digits), exponent));
  }
  // value(k) of the nearer end, once with its sign and once with the other one, and 0 between.
  template <class F>
  static bits mirrored(std::uint64_t i, std::uint64_t last, F&& value) {
    return 2 * i == last ? 0 : 2 * i < last ? value(i) : value(last - i) ^ sign;
  }

  static bits of_ties(int digits, std::uint64_t seed, std::uint64_t i, std::uint64_t count) {
    const std::uint64_t from_end = count - 1 - i, first = random_bits(seed, 0);
    const auto uniform_at = [&](std::uint64_t k) { return uniform(random_bits(seed, k)); };
    if (seed >= seed_of_second)
      return std::min(i, from_end) < 2 ? scaled(0, static_cast<int>(seed % 5)) : uniform_at(std::min(i, from_end));
    const auto e = static_cast<int>((first >> 52 & 0x7ff) % 12);
    if (i == 0) return with_exponent(first | bits{1} << (stored - 1), e);  // no power of two, below which numbers are closer
    if (from_end == 0) return scaled(random_bits(seed, i), e - digits);
    if (i == 1) return sign_of(random_bits(seed, 1)) != 0 ? scaled(first, e - digits + 1) : 0;
    return from_end == 1 ? 0 : mirrored(i, count - 1, uniform_at);
  }

  static bits of_edges(int digits, std::uint64_t seed, std::uint64_t i, std::uint64_t count) {
    const auto pieces = static_cast<std::uint64_t>(digits / (stored + 1));  // that make the largest result
    const std::uint64_t r = random_bits(seed, i), last = count - 1 + pieces, chosen = seed % 4, towards = random_bits(seed, 0);
    if (seed >= seed_of_second)
      return i <= pieces || i == count - 1 ? scaled(0, 0) : uniform(random_bits(seed, std::min(i, last - i)));
    if (i < pieces) return chosen == 3 ? 0 : sign_of(towards) | (exponent_mask - 1 - (i * (stored + 1) << stored));
    if (i == pieces) return chosen == 3 ? sign_of(towards) | (r & significand_mask) : scaled(towards, bias - digits);
    if (i == count - 1) return chosen == 0 ? sign_of(~towards) | 1 : chosen == 2 ? sign_of(towards) | 1 : 0;
    return mirrored(i, last, [&](std::uint64_t k) {
      const std::uint64_t of_k = random_bits(seed, k);
      return with_exponent(of_k, bias - static_cast<std::int64_t>(of_k % 4));
    });
  }

  // 1 of odd numbers of digits, else 0.
  static std::uint64_t parity(int digits) { return static_cast<std::uint64_t>(digits) % 2; }

  static bits of_square_ties(int digits, std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t r = random_bits(seed, i), roots = 1 + parity(digits), ones = 1 + 2 * (seed % 8);
    const int scale = static_cast<int>(seed % 5) - 2;
    return i < roots ? scaled(r, digits / 2 + scale) : i < roots + ones ? scaled(r, scale) : 0;
  }

  static bits of_root_ties(int digits, std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t r = random_bits(seed, i), t = 1 + 2 * (seed % 8), middle = t * (2 - parity(digits));
    const int scale = -10 - static_cast<int>(seed % 3);
    if (i == 0) return scaled(r, digits + scale);
    if (i <= middle) return scaled(r, (digits + 1) / 2 + scale);
    return i == middle + 1 ? scaled(r, scale, static_cast<int>(t)) : 0;
  }

  // What is left of the first element.
  static bits first_of_edges(std::uint64_t seed, bits first) { return first - 1 + seed % 2; }
  static bits of_square_edges(int digits, std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t j = (i + 1 - parity(digits)) / 3;
    if (j > static_cast<std::uint64_t>(digits / 2)) return 0;
    const bits power = scaled(random_bits(seed, i), (bias - digits) / 2 + static_cast<int>(j));
    return i == 0 ? first_of_edges(seed, power) : power;
  }
  static bits of_root_edges(int digits, std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t r = random_bits(seed, i);
    if (i == 0) return first_of_edges(seed, scaled(r, bias - digits));
    const std::uint64_t j = static_cast<std::uint64_t>(digits + 2) / 2 + (i - 1 + parity(digits)) / 3;
    return j > static_cast<std::uint64_t>(digits) ? 0 : scaled(r, bias - digits + static_cast<int>(j));
  }
};

// `p` is 7919 seed modulo count.
template <class T>
std::uint64_t element(family_name family, std::uint64_t seed, std::uint64_t i, std::uint64_t p, std::uint64_t count) {
  const std::uint64_t r = random_bits(seed, i);
  const bool special = i == p, second = i == (p + count / 2) % count;
  constexpr std::uint64_t highest = std::uint64_t{1} << (8 * sizeof(T) - 1);
  constexpr bool is_integer = std::is_integral_v<T>;
  if (family == family_name::blank) return 0;
  if (family == family_name::lone) return special ? highest | (is_integer ? 0 : 1) : 0;
  if (family == family_name::hole && special) return is_integer ? 0 : highest;
  const family_name plain = family == family_name::hole ? family_name::factors : family;
  if constexpr (is_integer) {
    return integer<T>(plain, r);
  } else {
    if (family >= family_name::ties) return floats<T>::element_at(family, seed, i, count);
    return floats<T>::element(plain, r, special, second);
  }
}

// --- the comparison

// The low bytes of each, one behind the other.
void copy_elements(std::size_t size, std::span<const std::uint64_t> bits, std::byte* to) {
  const auto copy = [&]<class Word>(std::type_identity<Word>) {
    for (const std::uint64_t one : bits) {
      const auto word = static_cast<Word>(one);
      std::memcpy(to, &word, sizeof(Word));
      to += sizeof(Word);
    }
  };
  if (size == 1) return copy(std::type_identity<std::uint8_t>{});
  if (size == 2) return copy(std::type_identity<std::uint16_t>{});
  if (size == 4) return copy(std::type_identity<std::uint32_t>{});
  copy(std::type_identity<std::uint64_t>{});
}

// An input at its offset behind a boundary of 64 bytes, where the executor can read it. Around it all bits are set: NaN, or -1.
class placed_input {
 public:
  // `bits`: as golden_data() gives them.
  placed_input(const executor& where, element_type type, std::span<const std::uint64_t> bits, std::size_t offset)
      : host_(offset * size_of(type) + bits.size() * size_of(part_type(type)) + margin), start_(offset * size_of(type)) {
    const std::size_t size = size_of(part_type(type)), bytes = start_ + bits.size() * size + margin;
    std::memset(host_.data(), 0xff, bytes);
    copy_elements(size, bits, host_.data() + start_);
    if (where.backend() == backend::cuda) device_.emplace(where.device(), host_.data(), bytes);
  }
  [[nodiscard]] const void* data() const {
    return (device_ ? static_cast<const std::byte*>(device_->data()) : host_.data()) + start_;
  }

 private:
  static constexpr std::size_t margin = 64;  // bytes
  aligned_buffer host_;
  std::size_t start_;
  std::optional<device_buffer> device_;
};

std::string place_text(const executor& where) {
  switch (where.backend()) {
    case backend::serial:
      return "serial";
    case backend::openmp:
      return fmt::format("openmp, {} thread{}", where.threads(), where.threads() == 1 ? "" : "s");
    case backend::cuda:
      return fmt::format("cuda, device {}", where.device());
  }
  return {};
}

}  // namespace

std::span<const golden_row> golden_table() noexcept { return table; }

std::vector<std::uint64_t> golden_data(element_type type, std::string_view family, std::uint64_t seed, std::uint64_t count) {
  if (is_complex(type)) return golden_data(part_type(type), family, seed, 2 * count);
  std::vector<std::uint64_t> all(count);
  if (family == "equal") {
    if (count != 0) std::ranges::fill(all, golden_data(type, "uniform", seed, 1)[0]);
    return all;
  }
  const family_name known = family_called(type, family);
  switch (type) {
#define ONEFOLD_TYPE(name, T)                                                                                  \
  case element_type::name:                                                                                     \
    for (std::uint64_t i = 0; i < count; ++i) all[i] = element<T>(known, seed, i, 7919 * seed % count, count); \
    break;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return all;
}

golden_outcome compare(std::span<const golden_row> rows, const executor& where) {
  golden_outcome outcome;
  outcome.place = place_text(where);
  for (const golden_row& row : rows) {
    const bool two = row.form == form::dot;
    const auto x = golden_data(row.type, row.data, row.seed, row.count);
    const auto y = two ? golden_data(row.type, row.data, row.seed + seed_of_second, row.count) : std::vector<std::uint64_t>();
    const std::size_t before = outcome.differences.size();
    for (const auto& [offset_x, offset_y] : alignments) {
      if (!two && offset_x == 0 && offset_y != 0) continue;  // differs from the first in y only
      const placed_input at_x(where, row.type, x, offset_x);
      std::optional<placed_input> at_y;
      if (two) at_y.emplace(where, row.type, y, offset_y);
      ++outcome.cases;
      try {
        const result_bits got =
            reduce_bits(where, {row.type, row.form, row.wide, at_x.data(), two ? at_y->data() : nullptr, row.count, row.ddof},
                        {.guarantee = row.exact ? guarantee::exact : guarantee::fixed});
        if (got != row.bits) outcome.differences.push_back({row, offset_x, offset_y, got, {}});
      } catch (const std::bad_alloc&) {
        throw;  // says nothing about the bits
      } catch (const error& problem) {
        if (problem.code() == errc::out_of_memory) throw;
        outcome.differences.push_back({row, offset_x, offset_y, {}, problem.what()});
      } catch (const std::exception& problem) {
        outcome.differences.push_back({row, offset_x, offset_y, {}, problem.what()});
      }
    }
    ++outcome.rows;
    if (outcome.differences.size() == before) ++outcome.agreeing_rows;
  }
  return outcome;
}

std::vector<executor> golden_places() {
  std::vector<executor> places;
  for (const backend_info& known : backends()) {
    if (!known.usable) continue;
    if (known.where == backend::serial) places.push_back(serial());
    if (known.where == backend::openmp) {
      places.push_back(openmp(1));
      if (known.threads >= 2) places.push_back(openmp(2));
      if (known.threads >= 3) places.push_back(openmp(known.threads));
    }
    for (const device_info& device : known.devices) places.push_back(cuda(device.number));
  }
  return places;
}

}  // namespace onefold::tool
