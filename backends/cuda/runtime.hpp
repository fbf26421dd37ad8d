#pragma once
/// @file runtime.hpp  The CUDA runtime calls that onefold makes: the seam that tests replace to make any of them fail.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace onefold::cuda_backend {

struct runtime {
  cudaError_t (*get_device_count)(int* count);
  cudaError_t (*get_device)(int* device);
  cudaError_t (*set_device)(int device);
  cudaError_t (*get_properties)(cudaDeviceProp* properties, int device);
  cudaError_t (*get_driver_version)(int* version);
  cudaError_t (*get_last_error)();
  cudaError_t (*device_synchronize)();
  cudaError_t (*pool_create)(cudaMemPool_t* pool, int device);
  cudaError_t (*pool_trim)(cudaMemPool_t pool, std::size_t bytes_to_keep);
  cudaError_t (*malloc_from_pool_async)(void** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
  cudaError_t (*malloc)(void** pointer, std::size_t bytes);
  cudaError_t (*free)(void* pointer);
  cudaError_t (*malloc_async)(void** pointer, std::size_t bytes, cudaStream_t stream);
  cudaError_t (*free_async)(void* pointer, cudaStream_t stream);
  cudaError_t (*host_alloc)(void** pointer, std::size_t bytes, unsigned flags);
  cudaError_t (*free_host)(void* pointer);
  cudaError_t (*host_get_device_pointer)(void** device_pointer, void* host_pointer, unsigned flags);
  cudaError_t (*memcpy_async)(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
  cudaError_t (*memset_async)(void* pointer, int value, std::size_t bytes, cudaStream_t stream);
  cudaError_t (*stream_create)(cudaStream_t* stream);
  cudaError_t (*stream_synchronize)(cudaStream_t stream);
  cudaError_t (*stream_get_id)(cudaStream_t stream, unsigned long long* id);
  cudaError_t (*stream_is_capturing)(cudaStream_t stream, cudaStreamCaptureStatus* status);
  cudaError_t (*pointer_get_attributes)(cudaPointerAttributes* attributes, const void* pointer);
  cudaError_t (*launch_kernel)(const cudaLaunchConfig_t* config, const void* kernel, void** arguments);
  /// The driver's handle of a kernel on the current device; null where launch_function() cannot be had.
  cudaError_t (*get_function)(cudaFunction_t* function, const void* kernel);
  cudaError_t (*launch_function)(const cudaLaunchConfig_t* config, cudaFunction_t function, void** arguments);
  cudaError_t (*max_active_blocks)(int* blocks, const void* kernel, int block_size, std::size_t shared_bytes);
  cudaError_t (*func_get_attributes)(cudaFuncAttributes* attributes, const void* kernel);
  cudaError_t (*func_set_attribute)(const void* kernel, cudaFuncAttribute attribute, int value);
  /// No call of CUDA's: whether a kernel has written this word of pinned memory, with `call_number` in its high 32 bits. Where launches do
  /// nothing it can be said to have.
  bool (*has_arrived)(const volatile unsigned long long* word, unsigned call_number);
};

/// The calls in use: the real ones, unless a test has put others there. Not to be changed while a call of onefold's is under way.
runtime& calls() noexcept;

/// The CUDA runtime's own.
const runtime& real_runtime() noexcept;

/// Throws onefold::error unless `status` is success: out_of_memory, backend_unavailable, device_lost for the errors that CUDA never
/// recovers from, else device_error. Clears the runtime's record of a recoverable error, so that the next call works.
/// `call` names the runtime function in the sentence.
void check(cudaError_t status, const char* call);

/// Puts the caller's current device back when it goes out of scope.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace onefold::cuda_backend
