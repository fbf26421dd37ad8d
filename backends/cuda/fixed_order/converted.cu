/// @file converted.cu  The second kernel of batches.

#include "converted.cuh"

#include <onefold/device/dependent.cuh>

namespace onefold::cuda_backend {

namespace {

// Several reductions of arrays of any type in one launch. It may begin while the kernel ahead of it ends, or, where it collects leaves, while that is at
// work: as the first kernel does.
__global__ void __launch_bounds__(device::most_warps* device::warp_size, 1)
    fixed_order_converted_kernel(const __grid_constant__ batched_table table) {
  __shared__ detail::converted_memory shared;
  if (!table.follows_leaves)
    device::wait_for_previous_kernel();
  else
    __threadfence();  // all that stood in memory when the leaves' kernel began can be seen
  run_converted_block(table, blockIdx.x, shared);
  if (table.follows_leaves) device::wait_for_previous_kernel();
}

}  // namespace

const void* converted_kernel() noexcept { return reinterpret_cast<const void*>(fixed_order_converted_kernel); }

}  // namespace onefold::cuda_backend
