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
  throw error(
      errc::out_of_memory,
      fmt::format("the data take {} bytes and GPU {} has {} of {} free: use --backend openmp or a part of the data, or leave "
                  "--repeat and --variant out (it then goes through the GPU in pieces)",
                  bytes, device, free, total));
}

}  // namespace

device_buffer::device_buffer(int device, std::uint64_t bytes) {
  if (bytes == 0) return;
  check(cudaSetDevice(device), "cudaSetDevice");
  memory_ = static_cast<std::byte*>(allocate(device, bytes));
}

device_buffer::device_buffer(int device, const void* data, std::uint64_t bytes) : device_buffer(device, bytes) {
  put(0, data, bytes);
}

void device_buffer::put(std::uint64_t at, const void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto begin = std::chrono::steady_clock::now();
  check(cudaMemcpy(memory_ + at, data, bytes, cudaMemcpyHostToDevice), "the copy to the GPU");
  // A copy from pageable memory may return before its last part has landed.
  check(cudaDeviceSynchronize(), "the copy to the GPU");
  copy_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

device_buffer::~device_buffer() { cudaFree(memory_); }  // null is allowed, and a failure here has no one to report to

#else

device_buffer::device_buffer(int device, const void*, std::uint64_t bytes) : device_buffer(device, bytes) {}

device_buffer::device_buffer(int, std::uint64_t) {
  throw error(errc::backend_not_built,
              "this tool was built without CUDA: build onefold with -DONEFOLD_CUDA=ON, or use --backend openmp");
}

void device_buffer::put(std::uint64_t, const void*, std::uint64_t) {}

device_buffer::~device_buffer() = default;

#endif

}  // namespace onefold::tool
