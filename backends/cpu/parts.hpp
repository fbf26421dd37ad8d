#pragma once
/// @file parts.hpp  What one read gives: a form's state, or those of several side by side.

#include <cstddef>
#include <cstdint>

#include "fold.hpp"
#include "forms.hpp"

namespace onefold::cpu {

/// One state in the common one, and one result among the results.
struct part {
  const form_row* row;
  fold_groups kernel;
  std::uint32_t state_offset;
  std::uint32_t result_offset;
};

/// The parts of a request of a form. All read elements of one type.
struct parts {
  int count;
  std::uint32_t state_bytes;
  part each[most_results];

  /// Kernels are chosen later: choose().
  explicit parts(const detail::request& what);
  void choose(const kernel_table& kernels) {
    for (int k = 0; k < count; ++k) each[k].kernel = kernels.*each[k].row->kernel;
  }
  [[nodiscard]] std::uint32_t element_bytes() const { return each[0].row->element_bytes; }
  /// Whether the kernel's states are the common ones, so that it may store those of many groups side by side.
  [[nodiscard]] bool is_one_kernel() const { return count == 1 && !each[0].row->has_index(); }

  /// cpu_fold::level.
  void level(void* states, std::uint64_t how_many) const {
    for (int k = 0; k < count; ++k)
      each[k].row->level(static_cast<std::byte*>(states) + each[k].state_offset, how_many, state_bytes);
  }
  /// Stores the results of the tree's state.
  void conclude(const detail::request& what, const void* state) const;
};

}  // namespace onefold::cpu
