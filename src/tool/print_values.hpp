#pragma once
/// @file print_values.hpp  What text and JSON share: values as text, and what is said of a reduction in both.

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden.hpp"
#include "print.hpp"

namespace onefold::tool {

/// Calls f with the value as its own type: floats of two bytes as float, integers of less than 32 bits as int or unsigned, which print as numbers.
template <class F>
auto with_value(scalar value, F&& f) {
  const auto low = static_cast<std::uint32_t>(value.bits);
  const auto half = static_cast<std::uint16_t>(value.bits);
  if (value.is_truth) return f(value.bits != 0);
  switch (value.type) {
    case element_type::f32:
      return f(std::bit_cast<float>(low));
    case element_type::f64:
      return f(std::bit_cast<double>(value.bits));
    case element_type::i32:
      return f(std::bit_cast<std::int32_t>(low));
    case element_type::u32:
      return f(low);
    case element_type::i64:
      return f(std::bit_cast<std::int64_t>(value.bits));
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) \
  case element_type::name:                            \
    return f(int{static_cast<T>(value.bits)});        \
  case element_type::magnitude:                       \
    return f(low);
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  case element_type::name:                   \
    return f(float{T::from_bits(half)});
#include <onefold/types.def>
    default:  // u64
      break;
  }
  return f(value.bits);
}

/// A result under the names that it and its bits are printed with.
struct printed_part {
  std::string name;             ///< "value", "mean", "index"
  std::string bits_name;        ///< "bits"; of several results "mean_bits"; empty for an index, which its digits say to the bit
  std::optional<scalar> value;  ///< none where there is no result: of a range that is no whole array
  std::string ulps_name;        ///< "ulps", "mean_ulps"; empty for an index
  std::optional<scalar> fixed = {};  ///< of an exact result, which there is then: the default's
  [[nodiscard]] std::optional<std::uint64_t> ulps() const { return ulps_between(value->type, value->bits, fixed->bits); }
};
[[nodiscard]] std::vector<printed_part> printed_parts(const reduction& done);
[[nodiscard]] std::vector<printed_part> printed_parts(const merging& done);

/// The bits of all results of a golden row.
[[nodiscard]] std::vector<std::string> bits_texts(const golden_row& row, const result_bits& bits);

/// Bytes of input over the median time, in units of 10^9 per second; nothing where that has no meaning.
[[nodiscard]] std::optional<double> gigabytes_per_second(const reduction& done);

/// The type that elements of this type are accumulated in, "f64", or "own": as --accumulate takes it.
[[nodiscard]] std::string_view accumulation(element_type type, bool wide) noexcept;

}  // namespace onefold::tool
