#pragma once
/// @file forms.hpp  The forms as data: for each type, form and width the kernel, how states are combined, and what becomes of the last one.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/request.hpp>
#include <onefold/types.hpp>

#include "../forms.hpp"
#include "kernels/table.hpp"

namespace onefold::cpu {

struct form_row {
  fold_groups kernel_table::*kernel = nullptr;
  std::uint32_t element_bytes = 0;
  std::uint32_t state_bytes = 0;
  int inputs = 1;
  bool is_light = false;           ///< narrow_is_faster()
  std::uint32_t result_bytes = 0;  ///< of its result, or of its results
  detail::conclusion how = detail::conclusion::none;
  /// One level up, in place, of states that lie `stride` bytes apart.
  void (*level)(void* states, std::uint64_t count, std::size_t stride) = nullptr;
  /// Stores the result of the state of `count` elements.
  void (*conclude)(const form_row& row, const void* state, std::uint64_t count, std::int64_t ddof, void* result) = nullptr;

  // argmin and argmax, whose kernel finds the value alone, and whose state has an index behind it.
  find_element kernel_table::*find = nullptr;
  find_element kernel_table::*find_nan = nullptr;  ///< null for integers
  bool (*is_before)(const void* a, const void* b) = nullptr;

  [[nodiscard]] bool has_index() const noexcept { return find != nullptr; }
};

/// Of every form but reduce_together, which is several.
const form_row& row_of(element_type type, form what, bool wide) noexcept;

/// Where in a state of argmin and argmax the index lies, behind a value of any type.
inline constexpr std::size_t index_offset = sizeof(std::uint64_t);

/// The index of the first of `count` elements at x that is a state's value. There must be one.
std::uint64_t find_value(const form_row& row, const kernel_table& kernels, const void* x, std::uint64_t count, const void* value);

}  // namespace onefold::cpu
