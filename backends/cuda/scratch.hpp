#pragma once
/// @file scratch.hpp  A copy of the input for the variants that work in place: the user's array is never changed.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "variant.hpp"

namespace onefold::cuda_backend {

/// Copies the call's input to device memory from a stream-ordered pool, where the device has such, and gives the memory back, in stream order, at the
/// end of the scope. Cost: count reads and writes. The report says how large it was. Throws out_of_memory.
class scratch_copy {
 public:
  scratch_copy(call& now, std::size_t element_bytes);
  ~scratch_copy();
  scratch_copy(const scratch_copy&) = delete;
  scratch_copy& operator=(const scratch_copy&) = delete;

  [[nodiscard]] void* data() const { return data_; }

 private:
  void release() noexcept;

  cudaStream_t stream_;
  void* data_ = nullptr;
  bool is_plain_ = false;  ///< not of a pool
};

}  // namespace onefold::cuda_backend
