#pragma once
/// @file fused_calls.hpp  Calls with functions and operators of the caller's on the GPU and on the CPU, from a unit that nvcc compiles.

#include <cstdint>
#include <string>
#include <vector>

namespace onefold_test {

/// What one call gave.
struct both_results {
  std::string call;
  std::vector<unsigned char> gpu;
  std::vector<unsigned char> cpu;
  std::string problem;  ///< the sentence of an error on one side; empty where both gave a result
};

/// Every kind of call over `count` elements.
std::vector<both_results> fused_calls(std::uint64_t count);

/// The sentence of the error of a sum of none with an operator of the caller's on cuda(); empty where there was none.
std::string refusal_of_nothing();

/// The bits of a sum of a function on a stream of its own, with a workspace, first called and then three times from a captured graph.
std::vector<std::uint64_t> captured_sums(std::uint64_t count);

}  // namespace onefold_test
