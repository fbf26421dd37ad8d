#pragma once
/// @file fold.hpp  A reduction as data, for the driver on the CPU: all that it knows of one, whether it is a form's, of values that are called
/// for, or of the caller's own.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/request.hpp>

namespace onefold::cpu {

/// Two functions and three numbers. The functions are called from several threads at once, and return 0, or another number to say that they
/// have failed: the reduction then ends.
///
/// A state is `state_bytes` bytes, 1 to detail::most_state_bytes, a node of the tree that can be copied. States lie side by side, the first
/// of them on a cache line, so that any alignment that divides state_bytes is kept.
struct cpu_fold {
  void* context;
  std::uint64_t group_elements;  ///< of the leaves that the driver gives out: order::group_tiles tiles; a power of two
  std::uint32_t state_bytes;
  /// Stores the states of the groups that `count` elements from number `first` on, which begins a group, fill: the last one perhaps in part.
  int (*groups)(void* context, std::uint64_t first, std::uint64_t count, void* states);
  /// One level up, in place: state i becomes state 2i (+) state 2i + 1; one without a right sibling moves as it is.
  int (*level)(void* context, void* states, std::uint64_t count);
};

/// All levels up: `count` neighbouring states, at least one, become one, the first.
inline int combine_all(const cpu_fold& fold, void* states, std::uint64_t count) {
  for (; count > 1; count = (count + 1) / 2)
    if (const int failed = fold.level(fold.context, states, count); failed != 0) return failed;
  return 0;
}

}  // namespace onefold::cpu
