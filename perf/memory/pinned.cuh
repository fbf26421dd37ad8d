#pragma once
/// @file pinned.cuh  Pinned host memory, and how often something slow is repeated: for the studies of transfers.

#include <algorithm>

#include "device.cuh"

namespace onefold::perf::memory {

/// Pinned host memory of `count` elements, without contents.
template <class T>
class pinned_array {
 public:
  explicit pinned_array(std::uint64_t count) : count_(count) {
    check(cudaMallocHost(&data_, std::max<std::uint64_t>(count, 1) * sizeof(T)), "cudaMallocHost");
  }
  ~pinned_array() { cudaFreeHost(data_); }
  pinned_array(const pinned_array&) = delete;
  pinned_array& operator=(const pinned_array&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  T* data_ = nullptr;
  std::uint64_t count_;
};

/// Timed calls of `seconds` each, `most` of them or as many as half a second holds, but three: a GiB through the bus takes its
/// time.
inline int repeats_within_budget(double seconds, int most) {
  constexpr double budget_s = 0.5;
  return std::min(most, std::max(3, static_cast<int>(std::min(budget_s / seconds, 1e6))));
}

}  // namespace onefold::perf::memory
