#pragma once
/// @file results.hpp  A call's result on the host: its size, what it is of no elements, and how it is waited for.

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <onefold/detail/request.hpp>

#include "variant.hpp"

namespace onefold::cuda_backend {

std::size_t bytes_of_result(const onefold::detail::request& what);

/// The results for no elements.
std::array<std::byte, most_results * sizeof(std::uint64_t)> empty_results(const onefold::detail::request& what);

/// Writes a result of `bytes` bytes, at most sixteen words of 8, from the host's `value` to device memory, in stream order (store_value.cu).
void store_value(void* output, const void* value, std::size_t bytes, cudaStream_t stream);

/// The wait for results that kernels on one stream send as words of pinned memory, 4 bytes of a result and above them the number of the call. The
/// host asks for them again and again, and lets the driver wait when that has taken long: then a lost device is noticed, too.
class wait_for_words {
 public:
  wait_for_words(int device, cudaStream_t stream) : device_(device), stream_(stream) {}
  /// A result of `bytes` bytes. Throws device_error and device_lost.
  void receive(const volatile unsigned long long* words, std::byte* result, std::size_t bytes, unsigned call_number);

 private:
  int device_;
  cudaStream_t stream_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool asked_driver_ = false;
};

/// Waits for the result of a call that waits, and puts it where the caller wants it. Throws device_error and device_lost.
void wait_for_result(const call& now, void* output, std::size_t bytes);

}  // namespace onefold::cuda_backend
