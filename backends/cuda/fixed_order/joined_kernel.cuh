#pragma once
/// @file joined_kernel.cuh  A kernel that puts images together, of some of the folds. They are several since ptxas takes a hundred seconds for one that has all.

#include <onefold/device/dependent.cuh>

#include "joined.cuh"

namespace onefold::cuda_backend {

/// One block. It may begin while the kernel ahead of it ends.
template <class Families>
__global__ void __launch_bounds__(16 * device::warp_size, 1) fixed_order_joined_kernel(const __grid_constant__ joined_table table) {
  __shared__ detail::joined_memory shared;
  device::let_next_kernel_start();  // it waits for this one's end, whenever it starts
  run_joined_block(Families{}, table, shared, [] { device::wait_for_previous_kernel(); });
}

namespace detail {

template <class Families>
const void* joined_kernel_of() noexcept {
  return reinterpret_cast<const void*>(fixed_order_joined_kernel<Families>);
}

}  // namespace detail

}  // namespace onefold::cuda_backend
