#pragma once
/// @file load.cuh  Reading elements from global memory in as few instructions as their alignment allows. Each is read once, so the lines are
/// marked first to be evicted.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/order.hpp>

namespace onefold::device {

/// As many elements as fit 16 bytes, the widest load of one thread.
template <class T>
struct alignas(16) pack {
  static constexpr int size = 16 / static_cast<int>(sizeof(T));
  T element[size];
};

/// Reads 16 aligned bytes in one load.
template <class T>
__device__ inline pack<T> load_pack(const pack<T>* from) {
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(from));
  pack<T> value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

namespace detail {

template <class Word, class T>
__device__ inline T load_words(const T* from) {
  constexpr int words = static_cast<int>(sizeof(T) / sizeof(Word));
  Word word[words];
#pragma unroll
  for (int w = 0; w < words; ++w) word[w] = __ldcs(reinterpret_cast<const Word*>(from) + w);
  T value;
  memcpy(&value, word, sizeof(T));
  return value;
}

}  // namespace detail

/// Reads one element of any size that lies on a boundary of `Alignment` bytes.
template <std::size_t Alignment, class T>
__device__ inline T load_element(const T* from) {
  static_assert(std::is_trivially_copyable<T>::value, "elements are copied byte by byte");
  if constexpr (sizeof(T) % 16 == 0 && Alignment % 16 == 0)
    return detail::load_words<int4>(from);
  else if constexpr (sizeof(T) % 8 == 0 && Alignment % 8 == 0)
    return detail::load_words<long long>(from);
  else if constexpr (sizeof(T) % 4 == 0 && Alignment % 4 == 0)
    return detail::load_words<int>(from);
  else if constexpr (sizeof(T) % 2 == 0 && Alignment % 2 == 0)
    return detail::load_words<short>(from);
  else
    return detail::load_words<char>(from);
}

namespace detail {

// Reads a byte of each sector of a tile: all of it is on its way together then, and is found in the nearest cache. (A prefetch did not do that: a cut tile of
// bytes took 15 us. What is read stays unused.)
template <class E>
__device__ inline void ask_for_tile([[maybe_unused]] const void* input, [[maybe_unused]] std::uint64_t begin,
                                    [[maybe_unused]] std::uint64_t end) {
#ifdef __CUDA_ARCH__
  constexpr unsigned warp_size = 32;
  constexpr unsigned sector = 32;
  const auto* const bytes = static_cast<const unsigned char*>(input);
  const std::uint64_t size = (end - begin) * sizeof(E);
#pragma unroll
  for (unsigned k = 0; k < order::tile_rows * order::row_bytes / sector / warp_size; ++k) {
    const std::uint64_t at = (k * warp_size + threadIdx.x % warp_size) * sector;
    unsigned ignored;
    if (at < size) asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(ignored) : "l"(bytes + begin * sizeof(E) + at));
  }
#endif
}

}  // namespace detail

}  // namespace onefold::device
