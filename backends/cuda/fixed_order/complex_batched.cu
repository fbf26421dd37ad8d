/// @file complex_batched.cu  The third kernel of batches.

#include "complex_batched.cuh"

#include <onefold/device/dependent.cuh>

namespace onefold::cuda_backend {

namespace {

// Several reductions of complex numbers in one launch. It may begin while the kernel ahead of it ends.
__global__ void __launch_bounds__(device::most_warps* device::warp_size, 1)
    fixed_order_complex_batched_kernel(const __grid_constant__ batched_table table) {
  __shared__ detail::complex_memory shared;
  device::wait_for_previous_kernel();
  run_complex_block(table, blockIdx.x, shared);
}

}  // namespace

const void* complex_batched_kernel() noexcept { return reinterpret_cast<const void*>(fixed_order_complex_batched_kernel); }

}  // namespace onefold::cuda_backend
