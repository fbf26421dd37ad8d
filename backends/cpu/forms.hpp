#pragma once
/// @file forms.hpp  The forms as data: for each type, form and width the kernel, how states are combined, and what becomes of the last one.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/conclusions.hpp>
#include <onefold/detail/places.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/types.hpp>

#include "kernels/table.hpp"

namespace onefold::cpu {

/// One of the numbers that a state is made of. What lies between them is not specified.
struct state_field {
  std::uint8_t offset;
  std::uint8_t bytes;
  bool is_float;
};

struct form_row {
  fold_groups kernel_table::*kernel = nullptr;
  std::uint32_t element_bytes = 0;
  std::uint32_t state_bytes = 0;
  int inputs = 1;
  bool is_light = false;           ///< narrow_is_faster()
  bool has_streams = false;        ///< streams_are_faster(), from memory
  std::uint32_t result_bytes = 0;  ///< of its result, or of its results
  std::uint32_t result_alignment = 0;
  detail::conclusion how = detail::conclusion::none;
  /// One level up, in place, of states that lie `stride` bytes apart.
  void (*level)(void* states, std::uint64_t count, std::size_t stride) = nullptr;
  /// Stores the result of the state of `count` elements.
  void (*conclude)(const form_row& row, const void* state, std::uint64_t count, std::int64_t ddof, void* result) = nullptr;

  // Where values have an index: the kernel finds the values alone, side by side, and the state has each with an index behind it.
  int args = 0;  ///< 1, or 2 of argminmax
  find_element kernel_table::*find = nullptr;
  find_element kernel_table::*find_nan = nullptr;           ///< null for integers
  bool (*is_before[2])(const void* a, const void* b) = {};  ///< of each value

  int field_count = 0;
  state_field fields[6] = {};

  [[nodiscard]] bool has_index() const noexcept { return args != 0; }
};

/// Of the states of all forms.
inline constexpr std::uint32_t most_form_bytes = sizeof(detail::two_args<double>);
static_assert(sizeof(detail::moments) <= most_form_bytes && sizeof(detail::squares) <= most_form_bytes);

/// The same, and those that states of ranges of complex numbers have beside them: moments of two parts.
inline constexpr std::uint32_t most_node_bytes = 2 * sizeof(detail::moments);
static_assert(most_form_bytes <= most_node_bytes);

/// Of every form but reduce_together, which is several. Of complex numbers for what follows a kernel: how states are combined, and what becomes of the
/// last one. They have no kernels of their own.
const form_row& row_of(element_type type, form what, bool wide) noexcept;

/// A value with an index in a state, and where the index lies: behind a value of any type.
inline constexpr std::size_t arg_bytes = 2 * sizeof(std::uint64_t);
inline constexpr std::size_t index_offset = sizeof(std::uint64_t);

/// Adds to the indices of a state, if it has any: those of a part of an array become those of the whole.
void shift_indices(const form_row& row, std::byte* state, std::uint64_t by);

/// Every NaN of a state becomes the canonical one. Which of two it is that an addition gives is not specified, and no result has it.
void make_canonical(const form_row& row, std::byte* state);

/// The state of a tree over `count` elements, made of what a GPU shows of it: of moments the mean and the squared deviation, else all.
void take_shown_state(const form_row& row, form what, std::uint64_t count, const std::byte* shown, std::byte* state) noexcept;

/// What a kernel has stored, `args` values, becomes a state in which all have this index.
void place_values(const form_row& row, std::byte* state, std::uint64_t index);

/// The index of the first of `count` elements at x that is this value of a state. There must be one.
std::uint64_t find_value(const form_row& row, const kernel_table& kernels, const void* x, std::uint64_t count, const void* value);

}  // namespace onefold::cpu
