#pragma once
/// @file in_place.cuh  What variants share that have their tree in a copy of the input: all its levels in one kernel, or the result behind a kernel for each.

#include <algorithm>
#include <cstdint>
#include <string>

#include <onefold/error.hpp>

#include "building_blocks/load.cuh"
#include "passes.cuh"
#include "scratch.hpp"

namespace onefold::cuda_backend {

/// Stores the root of the tree, the first value.
template <class T>
__global__ void root_kernel(const T* values, T* result) {
  if (threadIdx.x == 0) *result = canonical(*values);
}

/// Launches kernel(values, count, result) on a copy of the input, cooperatively: with the caller's grid, or as many blocks as have a pair of elements
/// each and stay on the GPU together. Throws unsupported where a caller's grid does not, and what scratch_copy throws.
template <class T>
void run_in_one_grid(call& now, void (*kernel)(T*, std::uint64_t, T*), const char* name) {
  const std::int64_t resident = resident_blocks(now, kernel, now.block_size, 0);
  if (now.grid_size > resident)
    throw error(errc::unsupported, std::string(name) + " needs all " + std::to_string(now.grid_size) +
                                       " blocks on the device at once, and it holds " + std::to_string(resident));
  const std::int64_t useful = blocks_for((now.count + 1) / 2, static_cast<std::uint64_t>(now.block_size));
  const scratch_copy copy(now, sizeof(T));
  launch<launch_kind::cooperative>(
      now, kernel,
      {now.grid_size != 0 ? now.grid_size : std::min(useful, chosen_blocks(now, reinterpret_cast<const void*>(kernel))),
       now.block_size},
      static_cast<T*>(copy.data()), now.count, static_cast<T*>(now.output));
}

}  // namespace onefold::cuda_backend
