/// @file batched.cu  The kernel of batches.

#include "batched.cuh"

#include <onefold/device/dependent.cuh>

#include "batched_folds.hpp"

namespace onefold::cuda_backend {

namespace {

// Several reductions in one launch. It may begin while the kernel ahead of it ends.
__global__ void __launch_bounds__(device::most_warps* device::warp_size, 1)
    fixed_order_batched_kernel(const __grid_constant__ batched_table table) {
  __shared__ detail::batched_memory shared;
  device::wait_for_previous_kernel();
  run_batched_block(batched_folds{}, table, blockIdx.x, shared);
}

}  // namespace

const void* batched_kernel() noexcept { return reinterpret_cast<const void*>(fixed_order_batched_kernel); }

}  // namespace onefold::cuda_backend
