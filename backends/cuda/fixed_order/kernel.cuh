#pragma once
/// @file kernel.cuh  The kernel of variant fixed_order and its launch. The .cu files beside it make one for each fold.

#include <algorithm>
#include <bit>

#include "../building_blocks/cluster.cuh"
#include "../building_blocks/dependent.cuh"
#include "../building_blocks/slots.cuh"
#include "../building_blocks/tree.cuh"
#include "../launch.cuh"
#include "plan.hpp"

namespace onefold::cuda_backend {

/// Where the result goes.
struct destination {
  onefold::detail::conclusion how;
  int bytes;                       ///< of the result
  void* output;                    ///< device memory or mapped host memory; null when host_words are given
  unsigned long long* host_words;  ///< two words of mapped host memory: each half of the result and, above it, `call_number`
  unsigned call_number;
};

/// What stands ahead of the slots.
struct slot_header {
  unsigned long long launches;  ///< that have ended
};

namespace fixed_order_detail {

// Means and roots. Out of line, with their divisions and their table of jumps, which everyone else would wait for.
template <class A>
__device__ __noinline__ std::uint64_t other_conclusion(onefold::detail::conclusion how, A value, std::uint64_t count) {
  return onefold::detail::conclude(how, value, count);
}

template <class A>
__device__ inline void deliver(const A& value, std::uint64_t count, const destination& to) {
  std::uint64_t bits = 0;
  if (to.how == onefold::detail::conclusion::none) [[likely]]
    bits = onefold::detail::conclude(onefold::detail::conclusion::none, value, count);
  else
    bits = other_conclusion(to.how, value, count);
  if (to.output != nullptr) [[likely]] {
    if (to.bytes == 4)
      *static_cast<std::uint32_t*>(to.output) = static_cast<std::uint32_t>(bits);
    else
      *static_cast<std::uint64_t*>(to.output) = bits;
    return;
  }
  // A word is one store, and carries the proof that it has arrived: no fence, and a host that polls sees the result at once.
  const unsigned long long tag = static_cast<unsigned long long>(to.call_number) << 32;
  auto* words = const_cast<volatile unsigned long long*>(to.host_words);
  words[0] = tag | (bits & 0xffffffffu);
  words[1] = tag | (bits >> 32);
}

// What the warps of a block share.
template <class Fold>
struct gathering {
  using A = typename Fold::accumulator;
  // Fine groups: every warp's value of every group that the block takes, until the end. Coarse ones: those of one group, in one of two halves
  // in turn; the warp that brings the last one folds them and goes on. So no warp ever waits at a barrier.
  unsigned char values[2][(most_warps << log_step) * sizeof(A)];
  unsigned char
      waiting[log_step * most_phases * sizeof(A)];  ///< complete subtrees of a group of parts, as a binary number has ones
  unsigned arrived[2];
  unsigned folded;  ///< parts

  __device__ A* place(unsigned part) { return reinterpret_cast<A*>(values[part % 2]); }
  // Until the values of the part before the last, which were in the same place, have been folded.
  __device__ void wait_for_place(unsigned part) const {
    if (part < 2) return;
    if (threadIdx.x % warp_size == 0)
      while (*const_cast<const volatile unsigned*>(&folded) + 1 < part) __nanosleep(20);
    __syncwarp();
  }
  // Whether the calling warp is the last of `warps`. What those before it have stored can be read then.
  __device__ bool is_last(unsigned part, unsigned warps) {
    unsigned before = 0;
    __syncwarp();
    if (threadIdx.x % warp_size == 0) {
      const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&arrived[part % 2]));
      asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], 1;" : "=r"(before) : "r"(address) : "memory");
    }
    return __shfl_sync(whole_warp, before, 0) + 1 == warps;
  }
};
static_assert(most_fine_rounds <= 2 << log_step, "the fine groups' values fit where the coarse ones' were");

// The tree over 2^log_count values in shared memory, which it overwrites, by one warp; the root is in all lanes.
template <class Fold>
__device__ inline typename Fold::accumulator tree_of(typename Fold::accumulator* values, int log_count) {
  const unsigned lane = threadIdx.x % warp_size;
  for (; log_count > log_step; log_count -= log_step) {
    for (unsigned i = 0; i < 1u << (log_count - log_step); ++i) {
      const auto node = neighbours_node<Fold>(values[i * warp_size + lane], warp_size);
      __syncwarp();
      if (lane == 0) values[i] = node;  // over values that have been read
      __syncwarp();
    }
  }
  return neighbours_node<Fold>(lane < 1u << log_count ? values[lane] : Fold::neutral(), 1 << log_count);
}

// The coarse groups, which only large arrays have.
template <class Fold>
__device__ inline void walk_coarse(const tree_input<Fold>& in, const plan& how, gathering<Fold>& shared, slot_word* slots,
                                   unsigned long long launch) {
  using A = typename Fold::accumulator;
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  unsigned part = 0;  // of this block, in all phases together
  for (int p = 0; p + 1 < how.phases; ++p) {
    const phase& now = how.of[p];
    const int log_values = log_step + how.log_warps;
    for (std::uint32_t group = blockIdx.x; group < now.groups; group += gridDim.x) {
      for (unsigned in_group = 0; in_group < 1u << now.log_parts; ++in_group, ++part) {
        shared.wait_for_place(part);
        A* const values = shared.place(part);
        const std::uint64_t first = now.first_pair + (((std::uint64_t{group} << now.log_parts) + in_group) << log_values);
        for (unsigned i = warp; i < 1u << log_values; i += 1u << how.log_warps) {
          const A value = pair_node<Fold>(in, first + i);
          if (lane == 0) values[i] = value;
        }
        if (!shared.is_last(part, 1u << how.log_warps)) continue;
        A value = tree_of<Fold>(values, log_values);
        if (lane == 0) {
          if (now.log_parts > 0) {
            A* const waiting = reinterpret_cast<A*>(shared.waiting);
            int level = 0;
            for (; (in_group >> level & 1) != 0; ++level) value = Fold::combine(waiting[level], value);
            waiting[level] = value;
          }
          if (in_group + 1 == 1u << now.log_parts) hand_to_slot(slots, now.first_slot + group, value, launch);
          shared.arrived[part % 2] = 0;
          __threadfence_block();
          *const_cast<volatile unsigned*>(&shared.folded) = part + 1;
        }
        __syncwarp();
      }
    }
  }
  __syncthreads();  // the fine groups take the place of the coarse ones' values
}

// The last block's work: the tree over all slots, whose values come while it waits for them.
template <class Fold>
__device__ inline void collect(const plan& how, const slot_word* slots, unsigned long long launch, std::uint64_t elements,
                               const destination& to) {
  using A = typename Fold::accumulator;
  constexpr std::uint32_t most_made = most_blocks + most_blocks / 8;  // 32 rounds of every block, and a rest, in groups of 32
  __shared__ alignas(16) unsigned char made_memory[2][most_made * sizeof(A)];
  __shared__ alignas(16) unsigned char of_warp_memory[most_warps * sizeof(A)];
  constexpr int log_each = 3;  // values that a thread takes at once
  constexpr int each = 1 << log_each;
  const unsigned lane = threadIdx.x % warp_size;

  // Fine phases first: 32 of their nodes make one of the phase before them. The nodes made so far follow those in the slots.
  int p = how.phases - 1;
  std::uint32_t in_slots = how.of[p].groups;
  std::uint32_t count = in_slots;
  for (int turn = 0;; turn = 1 - turn) {
    const A* const made = reinterpret_cast<const A*>(made_memory[turn]);
    A* const next = reinterpret_cast<A*>(made_memory[1 - turn]);
    const slot_word* const from = slots + std::uint64_t{how.of[p].first_slot} * detail::words_of<A>;
    const bool is_root = p == 0 && count <= blockDim.x << log_each;
    int levels = is_root ? 0 : log_each;
    while (is_root && count > blockDim.x << levels) ++levels;
    for (std::uint32_t first = 0; first << levels < count; first += blockDim.x) {
      const std::uint32_t begin = (first + threadIdx.x) << levels;
      const auto exists = [&](int k) { return k < 1 << levels && begin + static_cast<std::uint32_t>(k) < count; };
      const auto in_slot = [&](int k) { return k < 1 << levels && begin + static_cast<std::uint32_t>(k) < in_slots; };
      A value[each];
      slot_answer<A> found[each];
      // All that are missing are asked for together, again and again: one after the other, the last to come would be followed by as many
      // trips to the second-level cache as a thread takes values (3 us of 245 at 2^28 floats).
      bool waits = true;
      for (bool again = false; waits; again = true) {
#pragma unroll
        for (int k = 0; k < each; ++k)
          if (in_slot(k) && !(again && is_answer(found[k], launch)))
            found[k] = ask_slot<A>(from, begin + static_cast<std::uint32_t>(k));
        waits = false;
#pragma unroll
        for (int k = 0; k < each; ++k) waits = waits || (in_slot(k) && !is_answer(found[k], launch));
      }
#pragma unroll
      for (int k = 0; k < each; ++k) {
        if (in_slot(k))
          value[k] = value_of(found[k]);
        else
          value[k] = exists(k) ? made[begin + static_cast<std::uint32_t>(k) - in_slots] : Fold::neutral();
      }
#pragma unroll
      for (int span = 1; span < each; span *= 2)
#pragma unroll
        for (int k = 0; k < each; k += 2 * span) value[k] = Fold::combine(value[k], value[k + span]);
      __syncwarp();
      if (is_root) {
        value[0] = neighbours_node<Fold>(value[0], warp_size);
        if (count > static_cast<std::uint32_t>(warp_size) << levels) {
          A* const of_warp = reinterpret_cast<A*>(of_warp_memory);
          if (lane == 0) of_warp[threadIdx.x / warp_size] = value[0];
          __syncthreads();
          if (threadIdx.x >= warp_size) return;
          value[0] = neighbours_node<Fold>(lane < 1u << how.log_warps ? of_warp[lane] : Fold::neutral(), 1 << how.log_warps);
        }
        if (threadIdx.x == 0) deliver(value[0], elements, to);
        return;
      }
      constexpr int together = warp_size >> log_each;
      value[0] = neighbours_node<Fold>(value[0], together);
      if (threadIdx.x % together == 0 && begin < count) next[begin / warp_size] = value[0];
    }
    __syncthreads();
    count = (count + warp_size - 1) / warp_size;
    in_slots = 0;
    if (p > 0) {
      --p;
      in_slots = how.of[p].groups;
      count += in_slots;
    }
  }
}

}  // namespace fixed_order_detail

/// One launch from the input to the result. The last block, which the hardware starts last and which therefore keeps none of those that it
/// waits for from running, collects. Like the kernels below it may begin while the kernel ahead of it ends, which saves 1 us.
template <class Fold>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    fixed_order_kernel(const __grid_constant__ tree_input<Fold> in, const __grid_constant__ plan how, slot_header* header,
                       const __grid_constant__ destination to) {
  using A = typename Fold::accumulator;
  namespace detail = fixed_order_detail;
  __shared__ alignas(16) unsigned char gathering_memory[sizeof(detail::gathering<Fold>)];
  auto& shared = *reinterpret_cast<detail::gathering<Fold>*>(gathering_memory);
  wait_for_previous_kernel();
  // Read early, needed late: it arrives in the shadow of the input.
  const unsigned long long launch = header->launches + 1;
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  auto* const slots = reinterpret_cast<slot_word*>(reinterpret_cast<unsigned char*>(header) + slot_header_bytes);
  if (how.phases > 1) {
    if (threadIdx.x < 2) shared.arrived[threadIdx.x] = 0;
    if (threadIdx.x == 2) shared.folded = 0;
    __syncthreads();
    detail::walk_coarse<Fold>(in, how, shared, slots, launch);
  }

  A* const values = shared.place(0);
  const phase& fine = how.of[how.phases - 1];
  unsigned at = warp;
  for (std::uint32_t group = blockIdx.x; group < fine.groups; group += gridDim.x) {
    const std::uint64_t pair = fine.first_pair + (std::uint64_t{group} << how.log_warps) + warp;
    const A value = pair < how.pairs ? pair_node<Fold>(in, pair) : Fold::neutral();
    if (lane == 0) values[at] = value;
    at += 1u << how.log_warps;
  }
  __syncthreads();
  // A thread for each value, as many groups as a warp has room for at once.
  const unsigned end = at - warp;
  for (unsigned first = warp * warp_size; first < end; first += blockDim.x) {
    const unsigned i = first + lane;
    const A value = neighbours_node<Fold>(i < end ? values[i] : Fold::neutral(), 1 << how.log_warps);
    if (i < end && i % (1u << how.log_warps) == 0)
      hand_to_slot(slots, fine.first_slot + blockIdx.x + (i >> how.log_warps) * gridDim.x, value, launch);
  }
  if (blockIdx.x + 1 != gridDim.x) return;
  detail::collect<Fold>(how, slots, launch, in.count, to);
  if (threadIdx.x == 0) header->launches = launch;
}

/// The same for an array of few tiles, each of which a warp of its own reads, in one block or in one cluster of blocks (sm_90), which hands
/// its values over in shared memory. Kernels of their own, because with so little to do every instruction ahead of the first load and behind
/// the last shuffle is seen in the time.
template <class Fold, bool Cluster>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    fixed_order_few_kernel(const __grid_constant__ tree_input<Fold> in, const __grid_constant__ destination to) {
  using A = typename Fold::accumulator;
  __shared__ alignas(16) unsigned char memory[most_few_tiles * sizeof(A)];
  A* const of_tile = reinterpret_cast<A*>(memory);
  const unsigned warps = blockDim.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const unsigned tile = (Cluster ? blockIdx.x * warps : 0) + threadIdx.x / warp_size;
  const unsigned tiles = Cluster ? gridDim.x * warps : warps;  // the last ones may be behind the array's end
  [[maybe_unused]] __shared__ cluster_mailbox mailbox;
  if constexpr (Cluster) mailbox.open(tiles * static_cast<unsigned>(sizeof(A)));
  wait_for_previous_kernel();
  A value = tile_node<Fold>(in, tile);
  if (tiles > 1) {
    if constexpr (Cluster) {
      mailbox.wait_until_open();
      if (lane == 0) mailbox.send_to_first_block(of_tile + tile, value);
      if (tile != 0) return;
      mailbox.wait_for_all();
    } else {
      if (lane == 0) of_tile[tile] = value;
      __syncthreads();
      if (tile != 0) return;
    }
    // Four neighbours for each lane: their loads overlap, which two more shuffles would not.
    const auto at = [&](unsigned k) { return 4 * lane + k < tiles ? of_tile[4 * lane + k] : Fold::neutral(); };
    static_assert(most_few_tiles <= 4 * warp_size);
    value = Fold::combine(Fold::combine(at(0), at(1)), Fold::combine(at(2), at(3)));
    value = neighbours_node<Fold>(value, static_cast<int>(tiles + 3) / 4);
  }
  if (lane == 0) fixed_order_detail::deliver(value, in.count, to);
}

/// The shape of the main kernel that measured best on an H200 for this many pairs (perf/results). Mid-sized arrays are a matter of latency: 32
/// blocks, whose values one warp collects; then one block for each multiprocessor, with as many warps as registers allow, since many loads
/// on their way are what keeps the memory busy.
inline plan choose_plan(std::uint64_t pairs, int multiprocessors, int asked_warps, std::int64_t asked_blocks) {
  std::uint64_t most = static_cast<std::uint64_t>(std::min(multiprocessors, most_blocks));
  if (pairs <= 8 * warp_size) most = std::min<std::uint64_t>(most, warp_size);
  if (asked_blocks != 0) most = static_cast<std::uint64_t>(asked_blocks);
  std::uint64_t warps = static_cast<std::uint64_t>(asked_warps);
  if (warps == 0) warps = std::min<std::uint64_t>(std::bit_ceil((pairs + most - 1) / most), most_warps);
  const std::uint64_t blocks = asked_blocks != 0 ? most : std::min(most, (pairs + warps - 1) / warps);
  return make_plan(pairs, std::countr_zero(warps), blocks);
}

/// Threads of a block of fixed_order_few_kernel for so many tiles: one of the variant's block sizes, some of whose warps may have nothing to do.
inline int few_tiles_block(std::uint64_t tiles) { return static_cast<int>(std::bit_ceil(tiles)) * warp_size; }

template <class Fold>
void run_fixed_order(call& now) {
  using E = typename Fold::element;
  const std::uint64_t tiles = order::tiles<E>(now.count);
  destination to{};
  to.how = onefold::detail::conclusion_of(now.type, now.form, now.wide);
  to.bytes = static_cast<int>(size_of(result_type(now.type, now.form, now.wide)));
  to.output = now.output;
  to.host_words = now.host_words;
  to.call_number = now.call_number;
  const tree_input<Fold> in(now.input, now.second, now.count);
  const bool free_shape = now.block_size == 0 && now.grid_size == 0;
  if (free_shape && tiles <= most_warps) {
    static kept_kernel kernel(fixed_order_few_kernel<Fold, false>);
    kernel.template launch<launch_kind::early>(now, {1, few_tiles_block(tiles)}, in, to);
    return;
  }
  if (free_shape && tiles <= most_few_tiles && is_code_for_sm_90(now)) {
    static kept_kernel kernel(fixed_order_few_kernel<Fold, true>);
    const std::uint64_t of_block = (tiles + most_cluster_blocks - 1) / most_cluster_blocks;
    kernel.template launch<launch_kind::early_cluster>(now, {most_cluster_blocks, few_tiles_block(of_block)}, in, to);
    return;
  }
  const plan how = choose_plan((tiles + 1) / 2, now.gpu.multiprocessors, now.block_size / warp_size, now.grid_size);
  auto* header = static_cast<slot_header*>(
      now.slots_of(slot_header_bytes + std::size_t{how.slots} * ((sizeof(typename Fold::accumulator) + 7) / 8) * slot_word_bytes));
  static kept_kernel kernel(fixed_order_kernel<Fold>);
  kernel.template launch<launch_kind::early>(now, {how.blocks, warp_size << how.log_warps}, in, how, header, to);
}

}  // namespace onefold::cuda_backend
