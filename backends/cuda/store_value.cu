/// @file store_value.cu  Writes a value that the host knows to device memory, in stream order: the result for no elements.

#include <cstddef>
#include <cstring>

#include "runtime.hpp"

namespace onefold::cuda_backend {

namespace {

// As many bytes as a result can have, as a kernel's parameter. Results of small types lie on any boundary.
struct bytes_of_result {
  unsigned char of[128];
};

__global__ void store(unsigned char* output, const __grid_constant__ bytes_of_result value) {
  output[threadIdx.x] = value.of[threadIdx.x];
}

}  // namespace

void store_value(void* output, const void* value, std::size_t bytes, cudaStream_t stream) {
  auto* place = static_cast<unsigned char*>(output);
  bytes_of_result bits;
  std::memcpy(bits.of, value, bytes);
  void* arguments[] = {&place, &bits};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(static_cast<unsigned>(bytes));
  config.stream = stream;
  check(calls().launch_kernel(&config, reinterpret_cast<const void*>(&store), arguments), "cudaLaunchKernelExC");
}

// For questions about how the library's kernels were compiled, which have the same answer for all.
const void* any_kernel() { return reinterpret_cast<const void*>(&store); }

}  // namespace onefold::cuda_backend
