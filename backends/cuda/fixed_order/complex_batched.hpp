#pragma once
/// @file complex_batched.hpp  The third kernel of batches, of complex numbers, which takes the same table as the first (batched.hpp): which of its folds a form
/// means. Plain C++.

#include <bit>
#include <cstddef>
#include <cstdint>

#include <onefold/order.hpp>
#include <onefold/types.hpp>

#include "batched.hpp"

namespace onefold::cuda_backend {

/// Number k of the folds of one of the two types; complex_batched.cuh says what each is. The first four are there once more, for c64 accumulated in c128.
enum class complex_fold_number : std::uint8_t { sum, prod, dot, norm1, norm_inf, nonzero, moments, squares, norm2, number };

/// The fold of a form of complex numbers, of whatever type.
constexpr complex_fold_number complex_fold_of(form what) noexcept {
  using enum complex_fold_number;
  switch (what) {
    case form::prod:
      return prod;
    case form::dot:
      return dot;
    case form::norm1:
      return norm1;
    case form::norm_inf:
      return norm_inf;
    case form::count:
    case form::all:
    case form::any:
    case form::none:
      return nonzero;
    case form::mean_variance:
      return moments;
    case form::sum_of_squares:
      return squares;
    case form::norm2:
      return norm2;
    default:
      return sum;  // and mean
  }
}

/// Elements that a warp takes at a time, as a power of two.
constexpr int log_complex_unit(element_type type, form what) noexcept {
  const std::size_t part = size_of(part_type(type));
  std::size_t value = 2 * part;  // what a tile's lanes are counted by
  switch (complex_fold_of(what)) {
    case complex_fold_number::norm1:
    case complex_fold_number::norm_inf:
    case complex_fold_number::moments:
      value = part;
      break;
    case complex_fold_number::nonzero:
      value = sizeof(std::uint64_t);
      break;
    default:
      break;
  }
  // A tile of 16 lanes is half a warp's. Of parts in a row, which are twice as many, a tile is as many bytes.
  const bool is_of_parts = what == form::sum_of_squares || what == form::norm2;
  const int lanes = order::lanes_of_bytes(static_cast<std::uint32_t>(value));
  return std::countr_zero(static_cast<unsigned>(order::tile_rows * (lanes < 32 && !is_of_parts ? 32 : lanes)));
}

inline constexpr int wide_complex_folds = 4;

/// batched_item::fold of the third kernel. Squares of floats that are added in double are those of norm2.
constexpr std::uint8_t complex_batched_fold(element_type type, form what, bool wide) noexcept {
  constexpr int number = static_cast<int>(complex_fold_number::number);
  const complex_fold_number fold = complex_fold_of(what);
  int first = type == element_type::c64 ? 0 : number;
  if (wide && fold == complex_fold_number::squares) return static_cast<std::uint8_t>(complex_fold_number::norm2);
  if (wide && static_cast<int>(fold) < wide_complex_folds) first = 2 * number;
  return static_cast<std::uint8_t>(first + static_cast<int>(fold));
}
static_assert(2 * static_cast<int>(complex_fold_number::number) + wide_complex_folds <= batched_item::copied);

/// Whether the numbers that a fold of the third kernel reads are c64.
constexpr bool reads_single(unsigned fold) noexcept {
  constexpr unsigned number = static_cast<unsigned>(complex_fold_number::number);
  return fold < number || fold >= 2 * number;
}

/// Of batched_item::how of the third kernel: the form, and whether c64 is accumulated in c128.
inline constexpr std::uint8_t complex_form_bits = 0x1f;
inline constexpr std::uint8_t complex_is_wide = 0x20;
static_assert(form_count + record_count <= complex_form_bits + 1);

inline constexpr std::size_t most_complex_state_bytes = 48;  ///< of the moments of both parts
inline constexpr std::size_t complex_slot_bytes = device::slot_bytes_of(most_complex_state_bytes);

/// The kernel's symbol.
const void* complex_batched_kernel() noexcept;

}  // namespace onefold::cuda_backend
