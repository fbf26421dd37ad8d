#pragma once
/// @file whole.cuh  Exact sums of integers, and of their squares, for means, norms and variances (decision 0062). tests/device runs it on threads of the host.
///
/// Whole numbers have no exponents, so there are no bins: a thread has an integer of 64 bits for each 32 binary digits of what it adds, in registers. The sums of
/// a warp go into the block's limbs, at the place of 1, where the states of doubles have whole numbers too.

#include <cstdint>
#include <type_traits>

#include <onefold/device/exact_bins.cuh>
#include <onefold/device/warp.cuh>

#include "memory.hpp"
#include "reading.cuh"

namespace onefold::cuda_backend::exact_sums {

using namespace device::exact_sums;

/// The sum that a thread has of elements, or of their squares.
template <class E, bool Squares>
struct whole_sum {
  using type = E;
  static constexpr bool is_wide = sizeof(E) == 8;
  /// Integers, of which number i counts 2^(32 i): squares of 4 bytes have 64 digits, those of 8 have 128.
  static constexpr int pieces = Squares ? (is_wide ? 4 : sizeof(E) == 4 ? 2 : 1) : is_wide ? 2 : 1;
  /// Elements that a thread may add: each adds three times 32 digits to a piece at most, and a warp's are added up to 57.
  static constexpr std::uint64_t most_of_thread = std::uint64_t{1} << 18;

  long long piece[pieces];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < pieces; ++i) piece[i] = 0;
  }

  __device__ void add(E x) {
    if constexpr (!Squares && is_wide) {
      piece[0] += static_cast<unsigned>(x);
      piece[1] += static_cast<long long>(x >> 32);  // which has the sign
    } else if constexpr (!Squares) {
      piece[0] += x;
    } else if constexpr (is_wide) {
      const auto size = magnitude_of(x);
      const auto low = static_cast<unsigned>(size);
      const auto high = static_cast<unsigned>(size >> 32);
      const unsigned long long middle = product(low, high);
      add_halves<0>(product(low, low));
      add_halves<1>(middle);
      add_halves<1>(middle);
      add_halves<2>(product(high, high));
    } else if constexpr (sizeof(E) == 4) {
      add_halves<0>(product(magnitude_of(x), magnitude_of(x)));
    } else {
      piece[0] += static_cast<long long>(product(magnitude_of(x), magnitude_of(x)));
    }
  }

  __device__ void add(const pack& from) {
    constexpr int count = 16 / static_cast<int>(sizeof(E));
    constexpr bool fits_32 = sizeof(E) == 1 || (sizeof(E) == 2 && !Squares);  // what a pack adds to the sum
    [[maybe_unused]] int sum = 0;
#pragma unroll
    for (int c = 0; c < count; ++c) {
      const E x = element_of(from, c);
      if constexpr (fits_32)
        sum += Squares ? int{x} * int{x} : int{x};
      else
        add(x);
    }
    if constexpr (fits_32) piece[0] += sum;
  }

  /// Adds the sums of a warp to limbs whose unit is 2^unit. By the whole warp.
  __device__ void flush(int unit, long long* limbs) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const long long sum = sum_of_warp(piece[i]);
      if (threadIdx.x % warp_size == 0 && sum != 0) add_integer(limbs, sum, 32 * i - unit);
    }
  }

 private:
  static __device__ E element_of(const pack& from, int c) {
    if constexpr (is_wide) {
      return static_cast<E>(static_cast<unsigned long long>(from.of[2 * c + 1]) << 32 | from.of[2 * c]);
    } else {
      constexpr int of_word = 4 / static_cast<int>(sizeof(E));
      return static_cast<E>(from.of[c / of_word] >> (8 * static_cast<int>(sizeof(E)) * (c % of_word)));
    }
  }
  static __device__ auto magnitude_of(E x) {
    using magnitude = std::conditional_t<is_wide, unsigned long long, unsigned>;
    if constexpr (std::is_signed_v<E>)
      return x < 0 ? 0 - static_cast<magnitude>(x) : static_cast<magnitude>(x);
    else
      return static_cast<magnitude>(x);
  }
  static __device__ unsigned long long product(unsigned a, unsigned b) { return static_cast<unsigned long long>(a) * b; }
  template <int First>
  __device__ void add_halves(unsigned long long v) {
    piece[First] += static_cast<unsigned>(v);
    piece[First + 1] += static_cast<long long>(v >> 32);
  }
};

/// Adds the elements that fall to a thread of a block of `threads` to its sum. By all threads of the block.
template <class Sum, int Packs>
__device__ inline void add_whole(const exact_launch& how, std::uint64_t block, std::uint64_t blocks, unsigned threads, Sum& sum) {
  using E = typename Sum::type;
  const shares<E, Packs> given(how.x, how.count);
  const std::uint64_t warps = blocks * (threads / warp_size);
  const std::uint64_t warp = block * (threads / warp_size) + threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const E* const x = static_cast<const E*>(how.x);
  const auto* const body = reinterpret_cast<const pack*>(x + given.head);
#pragma unroll 1
  for (std::uint64_t unit = warp; unit < given.units; unit += warps) {
    pack now[Packs];
    load_packs(body, unit, lane, now);
#pragma unroll
    for (int k = 0; k < Packs; ++k) sum.add(now[k]);
  }
  if (warp != given.units % warps) return;
  for (std::uint64_t i = lane; i < given.edge(how.count); i += warp_size) sum.add(x[given.at_edge(i)]);
}

}  // namespace onefold::cuda_backend::exact_sums
