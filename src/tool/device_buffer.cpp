#include "device_buffer.hpp"

#include <fmt/format.h>

#include <onefold/error.hpp>

#ifdef ONEFOLD_HAVE_CUDA
#include <cuda_runtime_api.h>

#include <chrono>
#endif

namespace onefold::tool {

#ifdef ONEFOLD_HAVE_CUDA

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw error(errc::device_error, fmt::format("{} failed: {}", call, cudaGetErrorString(status)));
}

void* allocate(int device, std::uint64_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status != cudaErrorMemoryAllocation) {
    check(status, "cudaMalloc");
    return memory;
  }
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  throw error(errc::out_of_memory,
              fmt::format("the data take {} bytes and GPU {} has {} of {} free: use --backend openmp, or a part of the data", bytes,
                          device, free, total));
}

}  // namespace

device_buffer::device_buffer(int device, const void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  check(cudaSetDevice(device), "cudaSetDevice");
  memory_ = allocate(device, bytes);
  const auto begin = std::chrono::steady_clock::now();
  cudaError_t status = cudaMemcpy(memory_, data, bytes, cudaMemcpyHostToDevice);
  if (status == cudaSuccess)
    status = cudaDeviceSynchronize();  // a copy from pageable memory may return before its last part has landed
  copy_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (status != cudaSuccess) cudaFree(memory_);
  check(status, "the copy to the GPU");
}

device_buffer::~device_buffer() { cudaFree(memory_); }  // null is allowed, and a failure here has no one to report to

#else

device_buffer::device_buffer(int, const void*, std::uint64_t) {
  throw error(errc::backend_not_built,
              "this tool was built without CUDA: build onefold with -DONEFOLD_CUDA=ON, or use --backend openmp");
}

device_buffer::~device_buffer() = default;

#endif

}  // namespace onefold::tool
