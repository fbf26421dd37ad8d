#pragma once
/// @file complex_joined.hpp  Which kernel puts images of complex numbers together (joined.hpp), and as which of its folds. Plain C++.
///
/// Squares are those of the parts in a row, and the images are those of twice as many real numbers.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/range_parts.hpp>
#include <onefold/types.hpp>

#include "batched_folds.hpp"
#include "complex_batched.hpp"
#include "joined.hpp"

namespace onefold::cuda_backend {

namespace detail {

// Each the folds of complex_fold_number, up to `moments`; of the last as many as there are for c64 that is accumulated in c128.
struct joined_complex_singles;
struct joined_complex_doubles;
struct joined_wide_complex;

}  // namespace detail

using complex_joined_lists = fold_list<detail::joined_complex_singles, detail::joined_complex_doubles, detail::joined_wide_complex>;

/// Whether a form of complex numbers is that of the parts in a row.
constexpr bool is_of_parts_in_a_row(form what) noexcept { return what == form::sum_of_squares || what == form::norm2; }

/// As joined_fold(); the kernel is one of complex_joined_lists.
constexpr joined_place complex_joined_fold(element_type type, form what, bool wide) noexcept {
  const auto fold = static_cast<int>(complex_fold_of(what));
  if (!is_complex(type) || !takes_type(what, type) || is_of_parts_in_a_row(what)) return {-1, -1};
  if (wide && !can_be_wide(type, what)) return {-1, -1};
  if (wide && fold < wide_complex_folds) return {2, fold};
  return {type == element_type::c64 ? 0 : 1, fold};
}

/// Elements of a tile of images, as a power of two: of what lies in a row of the tree.
constexpr int log_complex_joined_tile(element_type type, form what) noexcept {
  return log_tile_of_bytes(onefold::detail::row_bytes_of(type, what));
}

/// The bytes of a state, or a few more.
constexpr std::size_t complex_joined_state_bytes(form what) noexcept {
  if (what == form::mean_variance) return most_complex_state_bytes;
  return what == form::prod ? 24 : 16;  // a product, and whether there is one
}

/// The symbol of a kernel, by joined_place::kernel.
const void* complex_joined_kernel(int number) noexcept;

}  // namespace onefold::cuda_backend
