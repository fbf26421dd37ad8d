#include "scratch.hpp"

#include <onefold/options.hpp>

#include "runtime.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

scratch_copy::scratch_copy(call& now, std::size_t element_bytes) : stream_(now.work.stream) {
  const std::size_t bytes = static_cast<std::size_t>(now.count) * element_bytes;
  check(calls().malloc_async(&data_, bytes, stream_), "cudaMallocAsync");
  now.ran.scratch_bytes = bytes;
  const cudaError_t copied = calls().memcpy_async(data_, now.input, bytes, cudaMemcpyDeviceToDevice, stream_);
  if (copied == cudaSuccess) return;
  forget(calls().free_async(data_, stream_));
  check(copied, "cudaMemcpyAsync");
}

scratch_copy::~scratch_copy() {
  forget(calls().free_async(data_, stream_));
}  // a failure here is a lost device, which the next call reports

}  // namespace onefold::cuda_backend
