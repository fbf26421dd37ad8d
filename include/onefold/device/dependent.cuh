#pragma once
/// @file dependent.cuh  The device's side of a launch that begins while the kernel ahead of it ends (launch_kind::early, sm_90).

namespace onefold::device {

/// Lets the kernel behind this one, which only waits for it, start while the last blocks are still at work (sm_90).
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the kernel before this one is done and its writes can be seen (sm_90; before it, the launch waits).
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace onefold::device
