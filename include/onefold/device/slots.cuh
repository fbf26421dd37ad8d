#pragma once
/// @file slots.cuh  Handing a value from one block to another within a launch, without a fence and without an atomic.
///
/// A slot has 16 bytes for each 8 of the value: the bytes, and the number of the launch. They are written and read as one, so whoever
/// reads this launch's number has this launch's value. Against a ticket that the blocks take with an atomic that saves two trips to the
/// second-level cache: the fence between the value and the ticket, and the reading of the values after it.

#include <cstdint>
#include <cstring>

namespace onefold::device {

/// What stands ahead of the slots.
struct alignas(16) slot_header {
  unsigned long long launches;  ///< that have ended
  unsigned ended;  ///< reductions of the batch under way that have read `launches` in all their blocks; 0 between launches
};

struct alignas(16) slot_word {
  unsigned long long bits;
  unsigned long long launch;
};

namespace detail {

// One access of 128 bits each (sm_70 and PTX 8.3 on), which nothing can come between. On the host, for tests, blocks run one after the other.
__device__ inline void store_word(slot_word* to, unsigned long long bits, unsigned long long launch) {
#ifdef __CUDA_ARCH__
  asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.global.b128 [%0], both; }" ::"l"(to), "l"(bits),
               "l"(launch)
               : "memory");
#else
  *to = {bits, launch};
#endif
}
__device__ inline slot_word load_word(const slot_word* from) {
#ifdef __CUDA_ARCH__
  slot_word word;
  asm volatile("{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
               : "=l"(word.bits), "=l"(word.launch)
               : "l"(from)
               : "memory");
  return word;
#else
  return *from;
#endif
}

template <class A>
inline constexpr int words_of = static_cast<int>((sizeof(A) + 7) / 8);

}  // namespace detail

/// Writes slot number `slot`.
template <class A>
__device__ inline void hand_to_slot(slot_word* slots, std::uint32_t slot, const A& value, unsigned long long launch) {
  unsigned long long bits[detail::words_of<A>] = {};
  memcpy(bits, &value, sizeof(A));
#pragma unroll
  for (int w = 0; w < detail::words_of<A>; ++w)
    detail::store_word(slots + std::uint64_t{slot} * detail::words_of<A> + w, bits[w], launch);
}

/// What a slot held when it was asked for.
template <class A>
struct slot_answer {
  slot_word word[detail::words_of<A>];
};

/// Asks for slot number `slot`, without waiting for the answer: several can be on their way.
template <class A>
__device__ inline slot_answer<A> ask_slot(const slot_word* slots, std::uint32_t slot) {
  slot_answer<A> found;
#pragma unroll
  for (int w = 0; w < detail::words_of<A>; ++w)
    found.word[w] = detail::load_word(slots + std::uint64_t{slot} * detail::words_of<A> + w);
  return found;
}

/// Whether launch number `launch` had written the slot. One that it has not is asked for again until it has: only blocks that wait for no
/// other may be waited for.
template <class A>
__device__ inline bool is_answer(const slot_answer<A>& found, unsigned long long launch) {
  bool all = true;
#pragma unroll
  for (int w = 0; w < detail::words_of<A>; ++w) all = all && found.word[w].launch == launch;
  return all;
}

/// The value that an answer holds.
template <class A>
__device__ inline A value_of(const slot_answer<A>& found) {
  unsigned long long bits[detail::words_of<A>];
#pragma unroll
  for (int w = 0; w < detail::words_of<A>; ++w) bits[w] = found.word[w].bits;
  A value;
  memcpy(&value, bits, sizeof(A));
  return value;
}

}  // namespace onefold::device
