#pragma once
/// @file gpu.hpp  Timing on the GPU: arrays that rotate, a gate that keeps the host's speed out of the figures, CUDA events.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <onefold/onefold.hpp>

#include "samples.hpp"

namespace onefold::perf {

enum class cache { cold, hot };

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

/// A GPU with a test array on it.
class gpu_bench {
 public:
  /// Fills enough device memory for arrays of `count` elements that together exceed the cache many times. Throws std::runtime_error.
  /// There are at least `arrays` of them.
  gpu_bench(int device, element_type type, operation op, std::uint64_t count, std::size_t arrays = 1);
  ~gpu_bench();
  gpu_bench(const gpu_bench&) = delete;
  gpu_bench& operator=(const gpu_bench&) = delete;

  /// The executor to time on: a stream of this bench's own.
  [[nodiscard]] executor where() const;
  [[nodiscard]] int device() const { return clock_.device(); }
  [[nodiscard]] void* stream() const { return clock_.stream(); }
  /// Array number i, taken in turn; `hot` is always the first.
  [[nodiscard]] const void* input(std::size_t i) const;
  /// The second input that goes with a first: an array of the same contents, half of all arrays away.
  [[nodiscard]] const void* partner(const void* input) const;
  [[nodiscard]] void* output() const { return output_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  /// As those of gpu_clock, of `work(input)` on arrays in turn, or on one.
  [[nodiscard]] samples in_stream(const std::function<void(const void*)>& work, cache state, int repeats) const;
  [[nodiscard]] samples to_host(const std::function<void(const void*)>& work, cache state, int repeats) const;
  [[nodiscard]] samples round_trip(int repeats) const { return clock_.round_trip(repeats); }

  /// Enqueues a bare read of the array with 16-byte loads: the practical limit of memory speed.
  void read(const void* input) const;
  /// The `size` bytes at output(), zero-extended; 0 for an element's.
  [[nodiscard]] std::uint64_t result_bits(std::size_t size = 0) const;
  /// The first `size` bytes there, at most output_bytes.
  void copy_result(void* to, std::size_t size) const;
  static constexpr std::size_t output_bytes = 64;

 private:
  gpu_clock clock_;
  element_type type_;
  std::uint64_t count_;
  std::uint64_t bytes_;
  std::uint64_t slot_bytes_;
  std::size_t slots_;
  unsigned char* arena_ = nullptr;
  void* output_ = nullptr;
};

}  // namespace onefold::perf
