#pragma once
/// @file launch.cuh  Where variants start their kernels (the peer `cub` starts its own).

#include <cstdint>
#include <string>
#include <type_traits>

#include <onefold/error.hpp>

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
inline bool is_code_for_sm_90(const call& now) { return code_capability(now.gpu.number) >= 90; }

namespace detail {

// By `function` if it is not null, the handle of the same kernel.
// `is_for_sm_90`: what the kernel was compiled for.
inline void start(call& now, const void* kernel, cudaFunction_t function, const shape& how, launch_kind kind, bool is_for_sm_90,
                  void** arguments) {
  if (how.grid > 0x7fffffff)
    throw error(errc::unsupported, std::to_string(now.count) + " elements need more blocks of " + std::to_string(how.block) +
                                       " threads than one launch can have: choose a larger block_size or another variant");
  if (how.shared_bytes > shared_bytes_without_opt_in)
    check(calls().func_set_attribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(how.shared_bytes)),
          "cudaFuncSetAttribute");
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (kind == launch_kind::cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = 1;
  } else if (kind != launch_kind::ordinary && is_for_sm_90) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (kind == launch_kind::early_cluster) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = static_cast<unsigned>(how.grid);
    attributes[count].val.clusterDim.y = 1;
    attributes[count++].val.clusterDim.z = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(how.grid));
  config.blockDim = dim3(static_cast<unsigned>(how.block));
  config.dynamicSmemBytes = how.shared_bytes;
  config.stream = now.work.stream;
  config.attrs = attributes;
  config.numAttrs = count;
  if (function != nullptr)
    check(calls().launch_function(&config, function, arguments), "cuLaunchKernelEx");
  else
    check(calls().launch_kernel(&config, kernel, arguments), "cudaLaunchKernelExC");
  if (now.ran.launches++ == 0) {
    now.ran.grid_size = how.grid;
    now.ran.block_size = how.block;
    now.ran.shared_bytes = how.shared_bytes;
  }
}

}  // namespace detail

/// Starts `kernel` on the call's stream. Throws what check() throws.
template <launch_kind Kind = launch_kind::ordinary, class... Parameters>
void launch(call& now, void (*kernel)(Parameters...), const shape& how, std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments...};
  detail::start(now, reinterpret_cast<const void*>(kernel), nullptr, how, Kind, is_code_for_sm_90(now), addresses);
}

/// Blocks of `kernel` that the whole device holds at once.
inline std::int64_t resident_blocks(const call& now, const void* kernel, int block, std::size_t shared_bytes) {
  int per_multiprocessor = 0;
  check(calls().max_active_blocks(&per_multiprocessor, kernel, block, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::int64_t{per_multiprocessor} * now.gpu.multiprocessors;
}
template <class... Parameters>
std::int64_t resident_blocks(const call& now, void (*kernel)(Parameters...), int block, std::size_t shared_bytes) {
  return resident_blocks(now, reinterpret_cast<const void*>(kernel), block, shared_bytes);
}

}  // namespace onefold::cuda_backend
