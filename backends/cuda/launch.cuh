#pragma once
/// @file launch.cuh  Where variants start their kernels (the peer `cub` starts its own).

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "variant.hpp"

namespace onefold::cuda_backend {

/// Shape of one launch.
struct shape {
  std::int64_t grid;             ///< blocks
  int block;                     ///< threads per block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block
};

/// Largest dynamic shared memory that every device gives without being asked: 48 KiB, less what kernels have as static shared memory.
inline constexpr std::size_t shared_bytes_without_opt_in = std::size_t{47} * 1024;

/// How a launch stands to the others.
enum class launch_kind {
  ordinary,
  cooperative,    ///< with a grid-wide barrier: every block must be resident at once; see resident_blocks()
  early,          ///< may start before the kernel ahead of it is done (sm_90): it begins with wait_for_previous_kernel()
  early_cluster,  ///< the same, with the whole grid as one cluster: where is_code_for_sm_90()
};

/// Whether the kernels that this device runs were compiled for compute capability 9.0 or more. Only then can they wait for the kernel ahead of
/// them, and reach the shared memory of other blocks of their cluster.
bool is_code_for_sm_90(const call& now);

namespace detail {

/// By `function` if it is not null, the handle of the same kernel. `is_for_sm_90`: what the kernel was compiled for.
void start(call& now, const void* kernel, cudaFunction_t function, const shape& how, launch_kind kind, bool is_for_sm_90,
           void** arguments);

}  // namespace detail

/// Starts `kernel` on the call's stream. Throws what check() throws.
template <launch_kind Kind = launch_kind::ordinary, class... Parameters>
void launch(call& now, void (*kernel)(Parameters...), const shape& how, std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments...};
  detail::start(now, reinterpret_cast<const void*>(kernel), nullptr, how, Kind, is_code_for_sm_90(now), addresses);
}

/// Blocks of `kernel` that the whole device holds at once.
std::int64_t resident_blocks(const call& now, const void* kernel, int block, std::size_t shared_bytes);
template <class... Parameters>
std::int64_t resident_blocks(const call& now, void (*kernel)(Parameters...), int block, std::size_t shared_bytes) {
  return resident_blocks(now, reinterpret_cast<const void*>(kernel), block, shared_bytes);
}

}  // namespace onefold::cuda_backend
