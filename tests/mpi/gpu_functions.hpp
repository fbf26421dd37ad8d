#pragma once
/// @file gpu_functions.hpp  Functions and operators of the caller's over ranks, on the GPU and on the CPU, from a unit that nvcc compiles.

#include <cstdint>
#include <vector>

#include "../support/both_sides.hpp"

namespace onefold_test {

/// Collective. Every kind of call on functions over ranks of which this one has `count` values.
std::vector<both_results> functions_over_ranks_on_both_sides(std::uint64_t count);

}  // namespace onefold_test
