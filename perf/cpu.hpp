#pragma once
/// @file cpu.hpp  Timing on the CPU, and the peers there: a plain loop, std::reduce, and a bare read as the limit.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "samples.hpp"

namespace onefold::perf {

/// One peer of the CPU ladder: a name and what it does with `count` elements; returns the result's bits.
struct cpu_peer {
  std::string name;
  int threads;
  std::function<std::uint64_t(const void* input, std::uint64_t count)> run;
};

/// A test array in host memory, touched first by the threads that will read it.
class cpu_bench {
 public:
  cpu_bench(element_type type, operation op, std::uint64_t count);
  [[nodiscard]] const void* input() const { return data_.get(); }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return count_ * size_of(type_); }
  /// Time on the host's clock.
  [[nodiscard]] samples time(const std::function<void()>& work, int repeats) const;
  /// Reads the array with `threads` threads and does next to nothing with it.
  void read(int threads) const;

 private:
  element_type type_;
  std::uint64_t count_;
  std::unique_ptr<std::byte[]> data_;
};

/// Reads whole words of 8 bytes with `threads` threads and does next to nothing with them.
void read_words(const void* begin, std::uint64_t bytes, int threads);

/// Plain loop, std::reduce, and onefold's backends with 1, 2, ... all threads.
std::vector<cpu_peer> cpu_peers(element_type type, operation op);

/// The bytes of an array of element_at(0..count).
std::vector<std::byte> host_copy(element_type type, std::uint64_t count);

/// The expected result for element_at(0..count), as bits: a plain loop over the same data, exact in every order.
std::uint64_t expected_bits(element_type type, operation op, std::uint64_t count);

}  // namespace onefold::perf
