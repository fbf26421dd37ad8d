#pragma once
/// @file runtime.hpp  The CUDA runtime calls that onefold makes: the seam that tests replace to make any of them fail.

#include <cuda_runtime_api.h>

#include <cstddef>

struct CUctx_st;  // of cuda.h

namespace onefold::cuda_backend {

/// The driver's context, CUcontext.
using context = CUctx_st*;

struct runtime {
  cudaError_t (*get_device_count)(int* count);
  /// The driver's: the calling thread's context, null where it has none; putting another there; a device's primary context, which is the
  /// runtime's; that of a stream; that of device memory, null where the memory belongs to none. And the allocation that device memory is a part of.
  cudaError_t (*get_context)(context* current);
  cudaError_t (*set_context)(context wanted);
  cudaError_t (*retain_primary_context)(context* primary, int device);
  cudaError_t (*context_of_stream)(cudaStream_t stream, context* found);
  cudaError_t (*context_of_memory)(context* found, const void* pointer);
  cudaError_t (*allocation_of)(const void** begin, std::size_t* bytes, const void* pointer);
  cudaError_t (*exchange_capture_mode)(cudaStreamCaptureMode* mode);
  cudaError_t (*get_attribute)(int* value, cudaDeviceAttr attribute, int device);
  cudaError_t (*get_properties)(cudaDeviceProp* properties, int device);
  cudaError_t (*get_driver_version)(int* version);
  cudaError_t (*get_last_error)();
  cudaError_t (*pool_create)(cudaMemPool_t* pool, int device);
  cudaError_t (*pool_trim)(cudaMemPool_t pool, std::size_t bytes_to_keep);
  /// Whether a device reaches the memory of another one, and lets it reach what is had from a pool there.
  cudaError_t (*can_access_peer)(int* can, int device, int peer);
  cudaError_t (*pool_share)(cudaMemPool_t pool, int device);
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
  cudaError_t (*stream_create)(cudaStream_t* stream, unsigned flags);
  cudaError_t (*stream_synchronize)(cudaStream_t stream);
  cudaError_t (*stream_wait_event)(cudaStream_t stream, cudaEvent_t event);
  cudaError_t (*stream_get_id)(cudaStream_t stream, unsigned long long* id);
  cudaError_t (*stream_is_capturing)(cudaStream_t stream, cudaStreamCaptureStatus* status);
  /// The graph that a stream which is being captured is recorded into.
  cudaError_t (*stream_get_graph)(cudaStream_t stream, cudaGraph_t* graph);
  /// An object that calls `when_gone` with `value` once nobody holds it any more. The caller holds it once.
  cudaError_t (*user_object_create)(cudaUserObject_t* object, void* value, cudaHostFn_t when_gone);
  cudaError_t (*user_object_release)(cudaUserObject_t object);
  /// Gives the caller's hold to the graph: what is made from it, and launches under way, hold the object too.
  cudaError_t (*graph_take_user_object)(cudaGraph_t graph, cudaUserObject_t object);
  cudaError_t (*event_create)(cudaEvent_t* event);
  cudaError_t (*event_record)(cudaEvent_t event, cudaStream_t stream);
  cudaError_t (*event_query)(cudaEvent_t event);
  cudaError_t (*event_destroy)(cudaEvent_t event);
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
  /// Nor this: whether kernels that have counted themselves in device memory, `ended` of them, are all that were launched.
  bool (*have_ended)(unsigned long long ended, unsigned long long launched);
};

/// The calls in use: the real ones, unless a test has put others there. Not to be changed while a call of onefold's is under way.
runtime& calls() noexcept;

/// The CUDA runtime's own.
const runtime& real_runtime() noexcept;

/// Throws onefold::error unless `status` is success: out_of_memory, backend_unavailable, device_lost for the errors that CUDA never
/// recovers from, else device_error. Clears the runtime's record of a recoverable error, so that the next call works.
/// `call` names the runtime function in the sentence.
void check(cudaError_t status, const char* call);

/// For calls whose failure has nobody to be told: takes the error out of the runtime's record, where the application would find it as its own.
void forget(cudaError_t status) noexcept;

/// For as long as it lives a device's primary context is current, the one that the runtime works in, and the calling thread may do what
/// would fail, and spoil captures, while some stream of the process is being captured in one of the stricter modes. Then the caller's context is
/// back, whichever it was, or none.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

  /// Whether the caller's own context is another one, so that streams and memory may be of that.
  [[nodiscard]] bool is_foreign() const noexcept { return before_ != nullptr && before_ != primary_; }
  [[nodiscard]] context primary() const noexcept { return primary_; }

 private:
  context before_ = nullptr;
  context primary_ = nullptr;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // the caller's, once ours is set
};

}  // namespace onefold::cuda_backend
