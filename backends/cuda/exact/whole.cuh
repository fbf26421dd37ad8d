#pragma once
/// @file whole.cuh  Exact sums of arrays of integers, and of their squares, for means, norms and variances (decision 0062), in registers
/// (onefold/device/exact_whole.cuh). tests/device runs it on threads of the host.

#include <cstdint>

#include <onefold/device/exact_whole.cuh>
#include <onefold/device/warp.cuh>

#include "memory.hpp"
#include "reading.cuh"

namespace onefold::cuda_backend::exact_sums {

using namespace device::exact_sums;

template <class E>
__device__ inline E element_of_pack(const pack& from, int c) {
  if constexpr (sizeof(E) == 8) {
    return static_cast<E>(static_cast<unsigned long long>(from.of[2 * c + 1]) << 32 | from.of[2 * c]);
  } else {
    constexpr int of_word = 4 / static_cast<int>(sizeof(E));
    return static_cast<E>(from.of[c / of_word] >> (8 * static_cast<int>(sizeof(E)) * (c % of_word)));
  }
}

template <class E, bool Squares>
__device__ inline void add_pack(whole_sum<E, Squares>& to, const pack& from) {
  constexpr int count = 16 / static_cast<int>(sizeof(E));
  constexpr bool fits_32 = sizeof(E) == 1 || (sizeof(E) == 2 && !Squares);  // what a pack adds to the sum
  [[maybe_unused]] int sum = 0;
#pragma unroll
  for (int c = 0; c < count; ++c) {
    const E x = element_of_pack<E>(from, c);
    if constexpr (fits_32)
      sum += Squares ? int{x} * int{x} : int{x};
    else
      to.add(x);
  }
  if constexpr (fits_32) to.piece[0] += sum;
}

template <class E>
__device__ inline void add_pack(whole_moments<E>& to, const pack& from) {
  add_pack(to.elements, from);
  add_pack(to.squares, from);
}

/// Adds the elements that fall to a thread of a block of `threads` to its sum. By all threads of the block.
template <class Sum, int Packs>
__device__ inline void add_whole(const exact_launch& how, std::uint64_t block, std::uint64_t blocks, unsigned threads, Sum& sum) {
  using E = typename Sum::type;
  const shares<E, Packs> given(how.x, count_of(how));
  const std::uint64_t warps = blocks * (threads / warp_size);
  const std::uint64_t warp = block * (threads / warp_size) + threadIdx.x / warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
  const E* const x = static_cast<const E*>(how.x);
  const auto* const body = reinterpret_cast<const pack*>(x + given.head);
#pragma unroll 1
  for (std::uint64_t unit = warp; unit < given.units; unit += warps) {
    pack now[Packs];
    load_packs(body, unit, warp_lane, now);
#pragma unroll
    for (int k = 0; k < Packs; ++k) add_pack(sum, now[k]);
  }
  if (warp != given.units % warps) return;
  for (std::uint64_t i = warp_lane; i < given.edge; i += warp_size) sum.add(x[given.at_edge(i)]);
}

}  // namespace onefold::cuda_backend::exact_sums
