#pragma once
/// @file device.cuh  What the studies need of CUDA: checked calls, memory that cleans up after itself, and arrays that are in no cache.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../cuda_check.hpp"
#include "../gpu_clock.hpp"
#include "study.hpp"

namespace onefold::perf::memory {

/// To be asked behind each <<<>>>.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

inline cudaStream_t stream_of(const gpu_clock& clock) { return static_cast<cudaStream_t>(clock.stream()); }

inline void wait_for(const gpu_clock& clock) { check(cudaStreamSynchronize(stream_of(clock)), "cudaStreamSynchronize"); }

inline int attribute(const gpu_clock& clock, cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, clock.device()), "cudaDeviceGetAttribute");
  return value;
}

/// Blocks of `threads` for `count` threads.
inline unsigned blocks_for(std::uint64_t count, unsigned threads) { return static_cast<unsigned>((count + threads - 1) / threads); }

/// Device memory of `count` elements, without contents.
template <class T>
class device_array {
 public:
  explicit device_array(std::uint64_t count) : count_(count) {
    check(cudaMalloc(&data_, std::max<std::uint64_t>(count, 1) * sizeof(T)), "cudaMalloc");
  }
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  T* data_ = nullptr;
  std::uint64_t count_;
};

/// Copies between host and device, behind what is on the clock's stream, and waits.
template <class T>
void copy_in(const gpu_clock& clock, T* to, std::span<const T> from) {
  check(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream_of(clock)), "cudaMemcpyAsync");
  wait_for(clock);
}
template <class T>
std::vector<T> copy_out(const gpu_clock& clock, const T* from, std::uint64_t count) {
  std::vector<T> to(count);
  check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_of(clock)), "cudaMemcpyAsync");
  wait_for(clock);
  return to;
}

/// So many bytes in turn are in no cache when their turn comes again: 20 times the second level, at least 1 GiB. 1 MiB for a small setting.
inline std::uint64_t cold_bytes(const gpu_clock& clock, const setting& how) {
  if (how.small) return std::uint64_t{1} << 20;
  return std::max(std::uint64_t{1} << 30, std::uint64_t{20} * static_cast<std::uint64_t>(attribute(clock, cudaDevAttrL2CacheSize)));
}

/// Arrays of the same size in one piece of memory, taken in turn. Each begins at a multiple of 512 bytes.
template <class T>
class rotating_arrays {
 public:
  /// `slots` arrays of `count` elements, set to zero.
  rotating_arrays(const gpu_clock& clock, std::uint64_t count, std::uint64_t slots)
      : step_((count + step_multiple - 1) / step_multiple * step_multiple),
        slots_(std::max<std::uint64_t>(slots, 1)),
        memory_(step_ * slots_) {
    check(cudaMemsetAsync(memory_.data(), 0, step_ * slots_ * sizeof(T), stream_of(clock)), "cudaMemsetAsync");
    wait_for(clock);
  }
  [[nodiscard]] T* operator[](std::size_t turn) const { return memory_.data() + turn % slots_ * step_; }
  [[nodiscard]] std::uint64_t slots() const { return slots_; }

 private:
  static constexpr std::uint64_t step_multiple = 512;
  std::uint64_t step_;
  std::uint64_t slots_;
  device_array<T> memory_;
};

}  // namespace onefold::perf::memory
