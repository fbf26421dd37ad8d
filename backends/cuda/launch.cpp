#include "launch.cuh"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/options.hpp>

#include "device.hpp"
#include "runtime.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

namespace {

// Never less than any call has asked for on the device: a launch of another thread's, between its own call of this and its start, needs that still.
void allow_shared_memory(const void* kernel, std::size_t bytes, int device) {
  if (bytes <= shared_bytes_without_opt_in) return;
  // Not destroyed: calls may come from other objects' destructors at exit.
  static std::mutex& lock = *new std::mutex;
  static auto& most_asked = *new std::map<std::pair<int, const void*>, std::size_t>;
  const std::lock_guard<std::mutex> guard(lock);
  std::size_t& most = most_asked[{device, kernel}];
  const std::size_t asked = std::max(most, bytes);
  check(calls().func_set_attribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(asked)),
        "cudaFuncSetAttribute");
  most = asked;  // what a device has refused is not asked for again
}

}  // namespace

bool is_code_for_sm_90(const call& now) { return code_capability(now.gpu.number) >= 90; }

namespace detail {

void start(call& now, const void* kernel, cudaFunction_t function, const shape& how, launch_kind kind, bool is_for_sm_90,
           void** arguments) {
  if (how.grid > 0x7fffffff)
    throw error(errc::unsupported, std::to_string(now.count) + " elements need more blocks of " + std::to_string(how.block) +
                                       " threads than one launch can have: choose a larger block_size or another variant");
  if (function == nullptr)
    allow_shared_memory(kernel, how.shared_bytes, now.gpu.number);  // who has a handle has asked for that too
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

std::int64_t resident_blocks(const call& now, const void* kernel, int block, std::size_t shared_bytes) {
  allow_shared_memory(kernel, shared_bytes, now.gpu.number);  // or a multiprocessor has no room for it
  int per_multiprocessor = 0;
  check(calls().max_active_blocks(&per_multiprocessor, kernel, block, shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return std::int64_t{per_multiprocessor} * now.gpu.multiprocessors;
}

}  // namespace onefold::cuda_backend
