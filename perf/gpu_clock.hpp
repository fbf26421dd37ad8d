#pragma once
/// @file gpu_clock.hpp  Timing on a GPU's stream: a gate that keeps the host's speed out of the figures, CUDA events. Nothing of onefold is in it, which nvcc
/// would read for each study.

#include <cstddef>
#include <functional>

#include "samples.hpp"

namespace onefold::perf {

/// A stream of a GPU, and the means to time what is put on it. Every function throws std::runtime_error where CUDA fails.
class gpu_clock {
 public:
  explicit gpu_clock(int device);
  ~gpu_clock();
  gpu_clock(const gpu_clock&) = delete;
  gpu_clock& operator=(const gpu_clock&) = delete;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  [[nodiscard]] void* stream() const { return stream_; }

  /// Time in stream of `work(turn)`, which only enqueues: calls one behind the other between two events, over their number. Everything is
  /// enqueued before the GPU may begin, so the host's speed does not count.
  [[nodiscard]] samples in_stream(const std::function<void(std::size_t turn)>& work, int repeats) const;
  /// Time on the host's clock of `work(turn)`, which waits for what it enqueues. The first two turns warm up and do not count.
  [[nodiscard]] samples to_host(const std::function<void(std::size_t turn)>& work, int repeats) const;
  /// Time on the host's clock from the launch of a kernel that does nothing but write a word to the host's memory, to the moment when the
  /// host sees it: what launching and answering alone take. By its symbol; by the driver's handle (decision 0016) it is 0.1 us less.
  [[nodiscard]] samples round_trip(int repeats) const;

 private:
  int device_;
  int multiprocessors_ = 0;
  void* stream_ = nullptr;
  unsigned* gate_ = nullptr;  // pinned host memory: 0 closed, 1 open; behind it the word of round_trip()
};

}  // namespace onefold::perf
