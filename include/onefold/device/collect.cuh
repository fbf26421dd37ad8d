#pragma once
/// @file collect.cuh  From values of units and of blocks to their common node, by one warp: out of shared memory, or out of slots.

#include <onefold/device/plan.hpp>
#include <onefold/device/slots.cuh>
#include <onefold/device/tree.cuh>

namespace onefold::device {

namespace detail {

// The tree over 2^log_count values in shared memory, which it overwrites, by one warp; the root is in all threads.
template <class Fold>
__device__ inline typename Fold::accumulator tree_of(const Fold& fold, typename Fold::accumulator* values, int log_count) {
  constexpr int log_warp = 5;
  const unsigned warp_lane = thread_of_block() % warp_size;
  for (; log_count > log_warp; log_count -= log_warp) {
    for (unsigned i = 0; i < 1u << (log_count - log_warp); ++i) {
      const auto node = neighbours_node(fold, values[i * warp_size + warp_lane], warp_size);
      __syncwarp();
      if (warp_lane == 0) values[i] = node;  // over values that have been read
      __syncwarp();
    }
  }
  return neighbours_node(fold, warp_lane < 1u << log_count ? values[warp_lane] : fold.neutral(), 1 << log_count);
}

// The value of slot number `begin` + k, as soon as it is there, for all k that `exists` names.
template <int Each, class Fold, class Exists>
__device__ inline void wait_for_slots(const Fold& fold, const slot_word* slots, std::uint32_t begin, unsigned long long launch,
                                      const Exists& exists, typename Fold::accumulator (&value)[Each]) {
  using A = typename Fold::accumulator;
  slot_answer<A> found[Each];
  // All that are missing are asked for together, again and again: one after the other, the last to come would be followed by as many trips to
  // the second-level cache as a thread takes values (3 us of 245 at 2^28 floats).
  bool waits = true;
  for (bool again = false; waits; again = true) {
#pragma unroll
    for (int k = 0; k < Each; ++k)
      if (exists(k) && !(again && is_answer(found[k], launch)))
        found[k] = ask_slot<A>(slots, begin + static_cast<std::uint32_t>(k));
    waits = false;
#pragma unroll
    for (int k = 0; k < Each; ++k) waits = waits || (exists(k) && !is_answer(found[k], launch));
  }
#pragma unroll
  for (int k = 0; k < Each; ++k) value[k] = exists(k) ? value_of(found[k]) : fold.neutral();
}

// The node over `count` leaves (1 to 2^log_part) from number `first` on, by one warp; it is in all threads.
template <class Fold>
__device__ inline typename Fold::accumulator part_node(const Fold& fold, const slot_word* slots, std::uint32_t first,
                                                       std::uint32_t count, unsigned long long launch) {
  constexpr int each = (1 << log_part) / warp_size;
  using A = typename Fold::accumulator;
  int levels = 0;
  while (count > static_cast<std::uint32_t>(warp_size) << levels) ++levels;
  const std::uint32_t begin = (threadIdx.x % warp_size) << levels;
  const auto exists = [&](int k) { return k < 1 << levels && begin + static_cast<std::uint32_t>(k) < count; };
  A node;
  // As many together as a thread can hold beside their answers.
  constexpr int together = sizeof(A) <= 16 || std::is_same<A, onefold::detail::squares>::value ? each : sizeof(A) <= 32 ? 4 : 1;
  const auto first_of = [&](int k) {
    A value[together];
    wait_for_slots<together>(
        fold, slots, first + begin + static_cast<std::uint32_t>(k), launch, [&](int i) { return exists(k + i); }, value);
#pragma unroll
    for (int span = 1; span < together; span *= 2)
#pragma unroll
      for (int i = 0; i < together; i += 2 * span) value[i] = fold.combine(value[i], value[i + span]);
    return value[0];
  };
  if constexpr (together == each) {
    node = first_of(0);
  } else if constexpr (2 * together == each) {
    const A low = first_of(0);
    node = fold.combine(low, first_of(together));
  } else {
    A waiting[4];
#pragma unroll 1
    for (int k = 0; k < each; ++k) {
      node = first_of(k);
      int level = 0;
      for (; (k >> level & 1) != 0; ++level) node = fold.combine(waiting[level], node);
      waiting[level] = node;
    }
  }
  __syncwarp();
  return neighbours_node(fold, node, warp_size);
}

// The same out of line, once for all who ask.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator part_node_once(const slot_word* slots, std::uint32_t first, std::uint32_t count,
                                                                  unsigned long long launch) {
  return part_node(typename Fold::combination{}, slots, first, count, launch);
}
template <class Fold>
__device__ inline typename Fold::accumulator any_part_node(const Fold& fold, const slot_word* slots, std::uint32_t first,
                                                           std::uint32_t count, unsigned long long launch) {
  if constexpr (is_family<Fold>)
    return part_node_once<Fold>(slots, first, count, launch);
  else
    return part_node(fold, slots, first, count, launch);
}

}  // namespace detail

}  // namespace onefold::device
