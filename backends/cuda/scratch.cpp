#include "scratch.hpp"

#include <string>

#include <onefold/error.hpp>
#include <onefold/options.hpp>

#include "captures.hpp"
#include "device.hpp"
#include "runtime.hpp"
#include "stream_memory.hpp"

namespace onefold::cuda_backend {

// From the library's pool; in a graph, and beside a workspace of the caller's, from the device's; without pools by itself.
scratch_copy::scratch_copy(call& now, std::size_t element_bytes) : stream_(now.work.stream) {
  const std::size_t bytes = static_cast<std::size_t>(now.count) * element_bytes;
  if (now.work.pool != nullptr && now.work.memory_stream == stream_) {
    check(calls().malloc_from_pool_async(&data_, bytes, now.work.pool, stream_), "cudaMallocFromPoolAsync");
  } else if (const cudaError_t made = calls().malloc_async(&data_, bytes, stream_); made == cudaErrorNotSupported) {
    calls().get_last_error();
    if (now.work.memory_stream != stream_ && is_capturing(stream_))
      throw error(
          errc::unsupported,
          now.gpu.name +
              " has no memory in stream order, so a graph cannot hold the copy that this variant reduces: take fixed_order");
    check(calls().malloc(&data_, bytes), "cudaMalloc");
    is_plain_ = true;
  } else {
    check(made, "cudaMallocAsync");
  }
  now.ran.scratch_bytes = bytes;
  const cudaError_t copied = calls().memcpy_async(data_, now.input, bytes, cudaMemcpyDeviceToDevice, stream_);
  if (copied == cudaSuccess) return;
  release();
  check(copied, "cudaMemcpyAsync");
}

scratch_copy::~scratch_copy() { release(); }

// A failure here is a lost device, which the next call reports. Plain memory is freed when the kernels that use it have ended.
void scratch_copy::release() noexcept { forget(is_plain_ ? calls().free(data_) : calls().free_async(data_, stream_)); }

}  // namespace onefold::cuda_backend
