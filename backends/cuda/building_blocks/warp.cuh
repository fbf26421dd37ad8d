#pragma once
/// @file warp.cuh  Reductions within a warp, through registers.

#include <onefold/device/warp.cuh>

namespace onefold::cuda_backend {

using device::warp_size;
using device::whole_warp;

/// Combines one value per lane; the result is in lane 0. All 32 lanes must call it together. Depth 5, no shared memory.
template <class Op, class T>
__device__ inline T warp_reduce(T value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Op::combine(value, __shfl_down_sync(whole_warp, value, distance));
  return value;
}

}  // namespace onefold::cuda_backend
