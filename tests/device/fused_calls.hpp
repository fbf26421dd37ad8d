#pragma once
/// @file fused_calls.hpp  Calls with functions and operators of the caller's on the GPU and on the CPU, from a unit that nvcc compiles.

#include <cstdint>
#include <string>
#include <vector>

#include "../support/both_sides.hpp"

namespace onefold_test {

/// Every kind of call over `count` elements.
std::vector<both_results> fused_calls(std::uint64_t count);

/// A call that has to be refused.
struct refused_call {
  std::string call;
  std::string sentence;  ///< of its error; empty where there was none
  std::string expected;  ///< what stands in it
};
std::vector<refused_call> refused_calls();

/// Where a reduction of `count` elements in memory of the GPU ran on best(), and whether it had the bits of cuda().
struct best_run {
  std::string backend;
  bool same_bits;
};
best_run best_of_device_memory(std::uint64_t count);

/// The bits of a sum of a function on a stream of its own, with a workspace, first called and then three times from a captured graph.
std::vector<std::uint64_t> captured_sums(std::uint64_t count);

}  // namespace onefold_test
