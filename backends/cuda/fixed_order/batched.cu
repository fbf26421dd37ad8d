/// @file batched.cu  The kernel of batches.

#include "batched.cuh"

#include <onefold/device/dependent.cuh>

#include "batched_folds.hpp"

namespace onefold::cuda_backend {

namespace {

// Several reductions in one launch. It may begin while the kernel ahead of it ends, and where it collects leaves, while that is at work: then its own
// end is behind that of the one ahead.
__global__ void __launch_bounds__(device::most_warps* device::warp_size, 1)
    fixed_order_batched_kernel(const __grid_constant__ batched_table table) {
  __shared__ detail::batched_memory shared;
  if (!table.follows_leaves)
    device::wait_for_previous_kernel();
  else
    __threadfence();  // all that stood in memory when the leaves' kernel began can be seen
  run_batched_block(batched_folds{}, table, blockIdx.x, shared);
  if (table.follows_leaves) device::wait_for_previous_kernel();
}

}  // namespace

const void* batched_kernel() noexcept { return reinterpret_cast<const void*>(fixed_order_batched_kernel); }

}  // namespace onefold::cuda_backend
