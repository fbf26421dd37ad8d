#pragma once
/// @file warp.cuh  A warp in numbers, its registers, and values that its threads exchange.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/maybe.hpp>

namespace onefold::device {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// threadIdx.x and blockIdx.x, read anew. What is computed from them again behind the loads need not be kept in registers while those are
/// on their way. A register that is spilled is a write to memory, of every thread of every block: 4 to 6 % of the whole time.
__device__ inline unsigned thread_of_block() {
#ifdef __CUDA_ARCH__
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return threadIdx.x;  // of a test's
#endif
}
__device__ inline unsigned block_of_grid() {
  unsigned block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

template <class A>
__device__ inline A exchange(const A& value,
                             int distance);  // called by its whole name: the caller's types may bring std::exchange along

namespace detail {

template <class A>
struct exchanged {
  static __device__ A with(const A& value, int distance) {
    if constexpr (std::is_arithmetic_v<A> && sizeof(A) >= 4) {
      return __shfl_xor_sync(whole_warp, value, distance);
    } else {
      constexpr int words = static_cast<int>((sizeof(A) + 3) / 4);
      std::uint32_t word[words] = {};
      memcpy(word, &value, sizeof(A));
#pragma unroll
      for (int w = 0; w < words; ++w) word[w] = __shfl_xor_sync(whole_warp, word[w], distance);
      A other;
      memcpy(&other, word, sizeof(A));
      return other;
    }
  }
};

template <class A>
struct exchanged<maybe<A>> {
  static __device__ maybe<A> with(const maybe<A>& value, int distance) {
    maybe<A> other;
    other.value = device::exchange(value.value, distance);
    other.present = __shfl_xor_sync(whole_warp, static_cast<int>(value.present), distance) != 0;
    return other;
  }
};

}  // namespace detail

/// The value of the thread whose number in the warp differs by exclusive or with `distance`. All 32 threads must call it together. Cost: a
/// shuffle for each 4 bytes.
template <class A>
__device__ inline A exchange(const A& value, int distance) {
  return detail::exchanged<A>::with(value, distance);
}

/// The least of the numbers that the threads of a warp have, which must call it together.
__device__ inline std::uint32_t least_of_warp(std::uint32_t number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(whole_warp, number);
#else
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    const std::uint32_t other = device::exchange(number, distance);
    number = other < number ? other : number;
  }
  return number;
#endif
}

namespace detail {

// The halving over one value of each thread of a warp.
template <class Fold>
__device__ inline typename Fold::accumulator halved(const Fold& fold, typename Fold::accumulator value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) value = fold.combine(value, device::exchange(value, distance));
  return value;
}

}  // namespace detail

}  // namespace onefold::device
