#pragma once
/// @file range_header.hpp  What the state of a range says that it is of: docs/order.md, "As bytes". Free of input and output, so that it can be fuzzed.

#include <cstddef>
#include <span>
#include <string>

#include <onefold/types.hpp>

namespace onefold::tool {

/// What a state is a state of.
struct range_kind {
  element_type type;
  onefold::form form;
  bool wide;  ///< accumulated in accumulator_type(type, true)

  friend bool operator==(const range_kind&, const range_kind&) = default;
};

/// "sum of f32", "sum of f32 accumulated in f64".
[[nodiscard]] std::string text_of(const range_kind& kind);

/// Whether bytes begin like the state of a range.
[[nodiscard]] bool looks_like_range(std::span<const std::byte> bytes) noexcept;

/// Reads what a state is of, and leaves to the library whether the rest of it is whole.
///
/// Errors   input_error: no state of a range, cut off, of another version, or of what has no such state.
[[nodiscard]] range_kind parse_range_header(std::span<const std::byte> bytes);

}  // namespace onefold::tool
