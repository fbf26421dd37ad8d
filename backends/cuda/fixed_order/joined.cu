/// @file joined.cu  The kernel that puts images together.

#include "joined.cuh"

#include <onefold/device/dependent.cuh>

namespace onefold::cuda_backend {

namespace {

// One block. It may begin while the kernel ahead of it ends.
__global__ void __launch_bounds__(16 * device::warp_size, 1) fixed_order_joined_kernel(const __grid_constant__ joined_table table) {
  __shared__ detail::joined_memory shared;
  device::let_next_kernel_start();  // it waits for this one's end, whenever it starts
  run_joined_block(joined_folds{}, table, shared, [] { device::wait_for_previous_kernel(); });
}

}  // namespace

const void* joined_kernel() noexcept { return reinterpret_cast<const void*>(fixed_order_joined_kernel); }

}  // namespace onefold::cuda_backend
