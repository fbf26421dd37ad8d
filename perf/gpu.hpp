#pragma once
/// @file gpu.hpp  Timing on the GPU: arrays that rotate.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <onefold/onefold.hpp>

#include "gpu_clock.hpp"
#include "samples.hpp"

namespace onefold::perf {

enum class cache { cold, hot };

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
