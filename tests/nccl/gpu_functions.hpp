#pragma once
/// @file gpu_functions.hpp  Functions of the index over the ranks of an NCCL communicator; the calls are in a unit for nvcc.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdint>
#include <vector>

#include "../support/both_sides.hpp"

namespace onefold_test {

/// The results that one rank gets, where rank r has the values cuts[r] .. cuts[r + 1] - 1 of all, and those of one core.
std::vector<both_results> functions_over_nccl_on_both_sides(ncclComm_t comm, int rank, cudaStream_t stream,
                                                            const std::vector<std::uint64_t>& cuts);

/// The same, recorded in a graph that is launched again and again with other elements.
std::vector<both_results> functions_over_nccl_in_a_graph(ncclComm_t comm, int rank, cudaStream_t stream,
                                                         const std::vector<std::uint64_t>& cuts);

}  // namespace onefold_test
