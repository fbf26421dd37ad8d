#pragma once
/// @file device_buffer.hpp  A copy of host data in the memory of a GPU: the only CUDA calls of the tool.

#include <cstddef>
#include <cstdint>

namespace onefold::tool {

/// Device memory that holds a copy of host memory until the object goes.
class device_buffer {
 public:
  /// Allocates on the device and copies; waits until the copy is done.
  ///
  /// @param device  CUDA's number of the GPU
  /// @param data    `bytes` bytes of host memory, pageable or mapped from a file
  /// Errors   onefold::error: backend_not_built, out_of_memory, device_error.
  device_buffer(int device, const void* data, std::uint64_t bytes);
  /// Allocates, and leaves what is in the memory to put(). Errors as above.
  device_buffer(int device, std::uint64_t bytes);
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer();  // NOLINT(performance-trivially-destructible): with CUDA it frees memory

  /// Copies `bytes` bytes of host memory to byte `at`; waits until the copy is done. Errors: onefold::error: device_error.
  void put(std::uint64_t at, const void* data, std::uint64_t bytes);

  /// Null when there are no bytes.
  [[nodiscard]] const void* data() const noexcept { return memory_; }
  /// Wall time of the copies, reading the file where it is mapped included; without the allocation.
  [[nodiscard]] double copy_seconds() const noexcept { return copy_seconds_; }

 private:
  std::byte* memory_ = nullptr;
  double copy_seconds_ = 0;
};

}  // namespace onefold::tool
