#pragma once
/// @file cuda.hpp  The CUDA runtime as the tests use it: failures as exceptions, memory, streams and graphs that clean up.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace onefold_test {

inline void expect_success(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("the test's ") + call + " failed: " + cudaGetErrorString(status));
}

/// Copies to the GPU, and waits until it is there: of up to 64 KiB of pageable memory cudaMemcpy returns as soon as it has read them, and a stream that
/// does not wait for the default one would not wait for them either.
inline void copy_to_device(void* to, const void* from, std::size_t bytes) {
  expect_success(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  expect_success(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
}

/// Memory of the GPU, and 64 bytes more.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes) { expect_success(cudaMalloc(&data_, bytes + 64), "cudaMalloc"); }
  ~device_memory() { cudaFree(data_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// A stream of the test's own that does not wait for the default stream.
class stream {
 public:
  stream() { expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~stream() { cudaStreamDestroy(stream_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void synchronize() const { expect_success(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// What was put on a stream between the construction and end(), to be launched again and again.
class recording {
 public:
  /// The strictest mode: any call that could not be recorded fails and spoils the recording.
  explicit recording(cudaStream_t on) : on_(on) {
    expect_success(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  }
  ~recording() {
    if (recording_) {
      cudaStreamEndCapture(on_, &graph_);
      cudaGetLastError();  // a spoilt recording is an error here, and said elsewhere
    }
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  void end() {
    recording_ = false;
    expect_success(cudaStreamEndCapture(on_, &graph_), "cudaStreamEndCapture");
    expect_success(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  void replay() const { expect_success(cudaGraphLaunch(executable_, on_), "cudaGraphLaunch"); }

 private:
  cudaStream_t on_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  bool recording_ = true;
};

/// What a graph stores at `result`, when the word at `place`, which it reads, is the one at `word`: both in the GPU's memory, where the stream puts it ahead of
/// the replay.
template <class Result, class Word>
Result replayed_with(const recording& graph, const stream& on, Word* place, const Word* word, const Result* result) {
  expect_success(cudaMemcpyAsync(place, word, sizeof(Word), cudaMemcpyDeviceToDevice, on.get()), "cudaMemcpyAsync");
  graph.replay();
  Result found;
  expect_success(cudaMemcpyAsync(&found, result, sizeof(found), cudaMemcpyDeviceToHost, on.get()), "cudaMemcpyAsync");
  on.synchronize();
  return found;
}

}  // namespace onefold_test
