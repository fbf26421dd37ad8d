#pragma once
/// @file store.cuh  Parts of a result into the caller's memory, or on their way to a host that waits for them.

#include <cstdint>
#include <cstring>

#include <onefold/device/destination.hpp>

namespace onefold::device {

namespace detail {

// One word of a result on its way to the host. It is one store, and carries the proof that it has arrived: no fence, and a host that polls sees
// the result at once.
__device__ inline void send_word(const destination& to, int word, std::uint32_t bits) {
  const unsigned long long tag = static_cast<unsigned long long>(to.call_number) << 32;
  const_cast<volatile unsigned long long*>(to.host_words)[word] = tag | bits;
}

// Stores a part of the result, at `place` bytes from its beginning: a multiple of 4 where the host waits.
template <class T>
__device__ inline void store_part(const destination& to, int place, const T& value) {
  if (to.output != nullptr) {
    *reinterpret_cast<T*>(static_cast<unsigned char*>(to.output) + place) = value;
    return;
  }
  constexpr int words = static_cast<int>((sizeof(T) + 3) / 4);
  std::uint32_t word[words] = {};
  memcpy(word, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < words; ++w) send_word(to, place / 4 + w, word[w]);
}

// The lowest `size` (1, 2, 4 or 8) bytes of bits, at `place` bytes from the result's beginning.
__device__ inline void store_bits(const destination& to, int place, std::uint64_t bits, int size) {
  if (to.output == nullptr) {
    send_word(to, place / 4, static_cast<std::uint32_t>(bits));
    if (size > 4) send_word(to, place / 4 + 1, static_cast<std::uint32_t>(bits >> 32));
    return;
  }
  unsigned char* const output = static_cast<unsigned char*>(to.output) + place;
  if (size == 1)
    *output = static_cast<unsigned char>(bits);
  else if (size == 2)
    *reinterpret_cast<std::uint16_t*>(output) = static_cast<std::uint16_t>(bits);
  else if (size == 4)
    *reinterpret_cast<std::uint32_t*>(output) = static_cast<std::uint32_t>(bits);
  else
    *reinterpret_cast<std::uint64_t*>(output) = bits;
}

}  // namespace detail

}  // namespace onefold::device
