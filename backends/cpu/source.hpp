#pragma once
/// @file source.hpp  A reduction of values that a function of the caller's gives, in blocks that stay in the first-level cache.

#include <atomic>
#include <cstdint>

#include "fold.hpp"
#include "parts.hpp"

namespace onefold::cpu {

struct alignas(128) source_fold {
  const detail::value_source* source;
  decltype(detail::request::lanes) lanes;  ///< not null: the lanes' sums are asked for, a group at a time, and not the values
  const kernel_table* kernels;
  parts what;
  int block_tiles;  ///< of each result, a power of two: a subtree
  alignas(128) std::atomic<int> failure{0};

  /// Of a request with a source. `kernels` reads the values from memory of its own, on cache lines.
  source_fold(const detail::request& asked, const kernel_table& kernels);
  /// As data, for the driver; refers to this object.
  [[nodiscard]] cpu_fold fold();
};

}  // namespace onefold::cpu
