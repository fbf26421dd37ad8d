#pragma once
/// @file scratch.hpp  A copy of the input for the variants that work in place: the user's array is never changed.

#include "variant.hpp"

namespace onefold::cuda_backend {

/// Copies the call's input to device memory from the device's stream-ordered pool, and gives the memory back, in stream order, at the
/// end of the scope. Cost: count reads and writes. The report says how large it was. Throws out_of_memory.
class scratch_copy {
 public:
  scratch_copy(call& now, std::size_t element_bytes) : stream_(now.work.stream) {
    const std::size_t bytes = static_cast<std::size_t>(now.count) * element_bytes;
    check(calls().malloc_async(&data_, bytes, stream_), "cudaMallocAsync");
    now.ran.scratch_bytes = bytes;
    const cudaError_t copied = calls().memcpy_async(data_, now.input, bytes, cudaMemcpyDeviceToDevice, stream_);
    if (copied == cudaSuccess) return;
    forget(calls().free_async(data_, stream_));
    check(copied, "cudaMemcpyAsync");
  }
  ~scratch_copy() { forget(calls().free_async(data_, stream_)); }  // a failure here is a lost device, which the next call reports
  scratch_copy(const scratch_copy&) = delete;
  scratch_copy& operator=(const scratch_copy&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

}  // namespace onefold::cuda_backend
