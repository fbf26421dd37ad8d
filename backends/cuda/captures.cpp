#include "captures.hpp"

#include <onefold/error.hpp>

namespace onefold::cuda_backend {

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(calls().stream_is_capturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

void refuse_unusable_stream(const executor& where) {
  if (where.has_stream()) static_cast<void>(is_capturing(where.stream()));
}

void give_to_graph(in_graphs& work, cudaStream_t stream) {
  cudaUserObject_t object = nullptr;
  const auto give_up = [](void* held) { static_cast<in_graphs*>(held)->is_recorded.store(false, std::memory_order_release); };
  const cudaError_t made = calls().user_object_create(&object, &work, give_up);
  if (made != cudaSuccess) give_up(&work);
  check(made, "cudaUserObjectCreate");
  cudaGraph_t graph = nullptr;
  try {
    check(calls().stream_get_graph(stream, &graph), "cudaStreamGetCaptureInfo");
    check(calls().graph_take_user_object(graph, object), "cudaGraphRetainUserObject");
  } catch (...) {
    forget(calls().user_object_release(object));  // which gives up
    throw;
  }
}

}  // namespace onefold::cuda_backend
