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

/// Calls f with the value as its own type.
template <class F>
auto with_value(scalar value, F&& f) {
  const auto low = static_cast<std::uint32_t>(value.bits);
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
    case element_type::u64:
      break;
  }
  return f(value.bits);
}

/// A result under the names that it and its bits are printed with.
struct printed_part {
  std::string name;       ///< "value", "mean", "index"
  std::string bits_name;  ///< "bits"; of two results "mean_bits"; empty for an index, which its digits say to the bit
  scalar value;
};
[[nodiscard]] std::vector<printed_part> printed_parts(const reduction& done);

/// The bits of all results of a golden row.
[[nodiscard]] std::vector<std::string> bits_texts(const golden_row& row, const result_bits& bits);

/// Bytes of input over the median time, in units of 10^9 per second; nothing where that has no meaning.
[[nodiscard]] std::optional<double> gigabytes_per_second(const reduction& done);

/// "f64" or "own": as --accumulate takes it.
[[nodiscard]] std::string_view accumulation(bool wide) noexcept;

}  // namespace onefold::tool
