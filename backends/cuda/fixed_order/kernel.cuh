#pragma once
/// @file kernel.cuh  The kernel of variant fixed_order and its launch. The .cu files beside it make one for each fold.

#include <cuda_pipeline.h>

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
struct alignas(16) slot_header {
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

// The tree over 2^log_count values in shared memory, which it overwrites, by one warp; the root is in all lanes.
template <class Fold>
__device__ inline typename Fold::accumulator tree_of(typename Fold::accumulator* values, int log_count) {
  constexpr int log_warp = 5;
  const unsigned lane = thread_of_block() % warp_size;
  for (; log_count > log_warp; log_count -= log_warp) {
    for (unsigned i = 0; i < 1u << (log_count - log_warp); ++i) {
      const auto node = neighbours_node<Fold>(values[i * warp_size + lane], warp_size);
      __syncwarp();
      if (lane == 0) values[i] = node;  // over values that have been read
      __syncwarp();
    }
  }
  return neighbours_node<Fold>(lane < 1u << log_count ? values[lane] : Fold::neutral(), 1 << log_count);
}

// What the warps of a block share.
template <class Fold>
struct shared_values {
  using A = typename Fold::accumulator;
  static constexpr int log_most = 9;  ///< values of units that are folded together
  static_assert(most_warps <= 1 << log_most && 1 << (log_section + 1 - log_part) <= 1 << log_most);
  alignas(16) unsigned char memory[(sizeof(A) << log_most) + 32 * sizeof(A)];
  slot_header before;

  __device__ A* values() { return reinterpret_cast<A*>(memory); }
  // Complete subtrees of a leaf that is too large to be folded at once, as a binary number has ones.
  __device__ A* waiting() { return values() + (1 << log_most); }
};

// The leaf that the calling block reads, or how.leaves + s if it collects section s. Behind the leaves of each section but the first and the
// last stands, in the order of the blocks, the one that collects the section before it.
__device__ inline std::uint32_t place_of_block(const plan& how) {
  const std::uint32_t block = block_of_grid();
  if (how.sections <= 2 || block < section_leaves) return block;
  const std::uint32_t section = (block - section_leaves) / (section_leaves + 1) + 1;
  const std::uint32_t in_section = (block - section_leaves) % (section_leaves + 1);
  return in_section == section_leaves ? how.leaves + section - 1 : section * section_leaves + in_section;
}

// A leaf that is too large to be folded at once is taken in parts of 2^log_values units. This is the number of unit `i` of the block's `part`th.
__device__ inline std::uint64_t unit_of_part(const plan& how, std::uint32_t part, int log_values, unsigned i) {
  return (std::uint64_t{place_of_block(how)} << how.log_leaf) + (std::uint64_t{part} << log_values) + i;
}

// The node over the block's leaf, in the first lane of the first warp. What the array does not have of it counts as absent.
template <class Fold, reading How>
__device__ inline typename Fold::accumulator leaf_node(const tree_input<Fold>& in, const plan& how, shared_values<Fold>& shared) {
  using A = typename Fold::accumulator;
  const int log_values = min(how.log_leaf, shared_values<Fold>::log_most);
  const unsigned warps = 1u << how.log_warps;
  std::uint32_t part = 0;
  for (;;) {
    // Whole ones in a loop of their own. Little but `i` is kept while the loads are on their way.
    unsigned i = thread_of_block() / warp_size;
    for (; i < 1u << log_values; i += 1u << how.log_warps) {
      const std::uint64_t unit = unit_of_part(how, part, log_values, i);
      A node;
      if constexpr (How == reading::single) {
        if (unit >= in.whole_tiles()) break;
        node = tile_node<Fold, true>(in, unit);
      } else {
        if (!in.is_packed(unit)) break;
        node = packed_pair_node<Fold, How>(in, unit);
      }
      if (thread_of_block() % warp_size == 0) shared.values()[i] = node;
    }
    for (; i < 1u << log_values; i += warps) {
      const std::uint64_t unit = unit_of_part(how, part, log_values, i);
      A node = Fold::neutral();
      if constexpr (How == reading::single) {
        if (unit < in.end_tile) node = tile_node<Fold, false>(in, unit);
      } else {
        if (2 * unit < in.end_tile) node = any_pair_node<Fold>(in, unit);
      }
      if (threadIdx.x % warp_size == 0) shared.values()[i] = node;
    }
    __syncthreads();
    A value = Fold::neutral();
    if (thread_of_block() < warp_size) value = tree_of<Fold>(shared.values(), log_values);
    if (how.log_leaf == log_values) [[likely]]
      return value;
    if (threadIdx.x == 0) {
      int level = 0;
      for (; (part >> level & 1) != 0; ++level) value = Fold::combine(shared.waiting()[level], value);
      shared.waiting()[level] = value;
    }
    __syncthreads();  // the next part's values take the place of this one's
    if (++part == 1u << (how.log_leaf - log_values)) return value;
  }
}

// The value of slot number `begin` + k, as soon as it is there, for all k that `exists` names.
template <int Each, class Fold, class Exists>
__device__ inline void wait_for_slots(const slot_word* slots, std::uint32_t begin, unsigned long long launch, const Exists& exists,
                                      typename Fold::accumulator (&value)[Each]) {
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
  for (int k = 0; k < Each; ++k) value[k] = exists(k) ? value_of(found[k]) : Fold::neutral();
}

// The node over `count` leaves (1 to 2^log_part) from number `first` on, by one warp; it is in all lanes.
template <class Fold>
__device__ inline typename Fold::accumulator part_node(const slot_word* slots, std::uint32_t first, std::uint32_t count,
                                                       unsigned long long launch) {
  constexpr int each = (1 << log_part) / warp_size;
  typename Fold::accumulator value[each];
  int levels = 0;
  while (count > static_cast<std::uint32_t>(warp_size) << levels) ++levels;
  const std::uint32_t begin = (threadIdx.x % warp_size) << levels;
  wait_for_slots<each, Fold>(
      slots, first + begin, launch, [&](int k) { return k < 1 << levels && begin + static_cast<std::uint32_t>(k) < count; }, value);
#pragma unroll
  for (int span = 1; span < each; span *= 2)
#pragma unroll
    for (int k = 0; k < each; k += 2 * span) value[k] = Fold::combine(value[k], value[k + span]);
  __syncwarp();
  return neighbours_node<Fold>(value[0], warp_size);
}

// The nodes over the parts of leaves `first` to `end`, at most 8, into shared memory by all warps. Behind a barrier, they can be read.
template <class Fold>
__device__ inline void part_nodes(const slot_word* slots, std::uint32_t first, std::uint32_t end, unsigned long long launch,
                                  typename Fold::accumulator* values) {
  const std::uint32_t warps = blockDim.x / warp_size;
  for (std::uint32_t part = threadIdx.x / warp_size; first + (part << log_part) < end; part += warps) {
    const std::uint32_t begin = first + (part << log_part);
    const auto node = part_node<Fold>(slots, begin, min(end - begin, 1u << log_part), launch);
    if (threadIdx.x % warp_size == 0) values[part] = node;
  }
  __syncthreads();
}

inline constexpr int log_section_parts = log_section - log_part;

// The work of a block that collects section number `section`.
template <class Fold>
__device__ inline void collect_section(const plan& how, slot_word* slots, std::uint32_t section, unsigned long long launch,
                                       typename Fold::accumulator* values) {
  part_nodes<Fold>(slots, section << log_section, (section + 1) << log_section, launch, values);
  if (threadIdx.x >= warp_size) return;
  const auto value = tree_of<Fold>(values, log_section_parts);
  if (threadIdx.x == 0) hand_to_slot(slots, how.leaves + section, value, launch);
}

// The last block's work: the last two sections' leaves, and the root over all sections.
template <class Fold>
__device__ inline void collect_all(const plan& how, const slot_word* slots, unsigned long long launch, std::uint64_t elements,
                                   const destination& to, typename Fold::accumulator* values) {
  using A = typename Fold::accumulator;
  const unsigned lane = threadIdx.x;
  const std::uint32_t collected = how.collectors();
  A value;
  if (how.leaves <= 1u << log_part) {
    if (threadIdx.x >= warp_size) return;
    value = part_node<Fold>(slots, 0, how.leaves, launch);
  } else {
    A of_section[1] = {Fold::neutral()};
    if (collected > 0 && threadIdx.x < warp_size)  // first, because these have long been there
      wait_for_slots<1, Fold>(
          slots, how.leaves + lane, launch, [&](int) { return lane < collected; }, of_section);
    const std::uint32_t first = collected << log_section;
    part_nodes<Fold>(slots, first, how.leaves, launch, values);
    if (threadIdx.x >= warp_size) return;
    const std::uint32_t parts = (how.leaves - first + (1u << log_part) - 1) >> log_part;
    value = neighbours_node<Fold>(lane < parts ? values[lane] : Fold::neutral(), 1 << log_section_parts);
    if (collected > 0) {
      __syncwarp();
      if (lane % (1u << log_section_parts) == 0) values[lane >> log_section_parts] = value;
      __syncwarp();
      if (lane >= collected && lane < how.sections) of_section[0] = values[lane - collected];
      value = neighbours_node<Fold>(of_section[0], warp_size);
    } else {
      value = Fold::combine(value, onefold::cuda_backend::detail::exchange(value, 1 << log_section_parts));
    }
  }
  if (threadIdx.x == 0) deliver(value, elements, to);
}

// Out of line: the others would wait for its instructions.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_tile_node(const tree_input<Fold>& in, std::uint64_t tile) {
  return tile_node<Fold, false>(in, tile);
}

}  // namespace fixed_order_detail

/// One launch from the input to the result. A block waits only for such that the hardware has started before it. Like the kernels below it
/// may begin while the kernel ahead of it ends, which saves 1 us. For each reading a kernel of its own, because what one needs in registers, the
/// other would lack.
template <class Fold, reading How>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    fixed_order_kernel(const __grid_constant__ tree_input<Fold> in, const __grid_constant__ plan how, slot_header* header,
                       const __grid_constant__ destination to) {
  namespace detail = fixed_order_detail;
  __shared__ detail::shared_values<Fold> shared;
  if (!how.one_wave) let_next_kernel_start();  // it waits in its turn, with its first blocks in place
  wait_for_previous_kernel();
  // Read early, needed late: it arrives in the shadow of the input. By a copy that needs no register: one that is spilled would have to be
  // waited for ahead of the input (7 % of a dot product's time).
  if (threadIdx.x == 0) {
    __pipeline_memcpy_async(&shared.before, header, sizeof(shared.before));
    __pipeline_commit();
  }
  auto* const slots = reinterpret_cast<slot_word*>(reinterpret_cast<unsigned char*>(header) + slot_header_bytes);
  const std::uint32_t place = detail::place_of_block(how);
  if (place >= how.leaves) {
    const std::uint32_t section = place - how.leaves;
    if (section >= how.collectors()) return;  // more blocks were asked for than there is work
    if (threadIdx.x == 0) __pipeline_wait_prior(0);
    __syncthreads();
    return detail::collect_section<Fold>(how, slots, section, shared.before.launches + 1, shared.values());
  }
  const auto value = detail::leaf_node<Fold, How>(in, how, shared);
  // Now that most blocks have ended, those of the next kernel are spread evenly over the multiprocessors. While all were at work, they would
  // have gone wherever one ended first, three to the first multiprocessors and one to the last (a sixth of the time of 2^21 floats in the cache).
  if (how.one_wave) let_next_kernel_start();
  const std::uint32_t leaf = detail::place_of_block(how);
  if (threadIdx.x == 0) {
    __pipeline_wait_prior(0);
    hand_to_slot(slots, leaf, value, shared.before.launches + 1);
  }
  if (leaf + 1 != how.leaves) return;
  __syncthreads();  // the leaf's values have been read
  const unsigned long long launch = shared.before.launches + 1;
  detail::collect_all<Fold>(how, slots, launch, in.count, to, shared.values());
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
  A value = Fold::neutral();
  if (tile < in.whole_tiles()) [[likely]]
    value = tile_node<Fold, true>(in, tile);
  else if (tile < in.end_tile)
    value = fixed_order_detail::cut_tile_node<Fold>(in, tile);
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

/// Whether accumulators are larger than elements.
template <class Fold>
inline constexpr bool has_large_accumulators = sizeof(typename Fold::accumulator) > sizeof(typename Fold::element);

/// Pairs in packs are fewer instructions for each byte. A tile by single elements is a shorter wait, needs half of the registers,
/// and does not care where an array begins or ends. So it is what two inputs have of which one is not aligned, and, as long as a
/// multiprocessor has few tiles (fixed_order_policy::single_tiles), what large accumulators have: mostly 2 to 6 % less time, and 15 to
/// 35 % less for some arrays that end within a tile. Who asks for a shape gets packs.
template <class Fold>
reading choose_reading(const call& now, const tree_input<Fold>& in, bool free_shape) {
  if (Fold::inputs == 2 && !in.aligned()) return reading::single;
  const std::uint64_t few = static_cast<std::uint64_t>(now.tree.single_tiles) * static_cast<std::uint64_t>(now.gpu.multiprocessors);
  if (has_large_accumulators<Fold> && free_shape && in.end_tile <= few) return reading::single;
  return in.aligned() ? reading::aligned : reading::shifted;
}

/// Threads of a block of fixed_order_few_kernel for so many tiles: one of the variant's block sizes, some of whose warps may have nothing to do.
inline int few_tiles_block(std::uint64_t tiles) { return static_cast<int>(std::bit_ceil(tiles)) * warp_size; }

/// A plan whose blocks are all resident at once, for where none may wait for a block that might not have been started. It is launched as a
/// cooperative one, which fails rather than start with fewer. Larger leaves, and nobody who only collects: 1 to 5 % slower.
template <class Fold>
plan resident_plan(const call& now, reading chosen, std::uint64_t units, const plan& how) {
  std::int64_t most = 1;
  const auto ask = [&](auto* kernel) { most = resident_blocks(now, kernel, warp_size << how.log_warps, 0); };
  if (chosen == reading::aligned) ask(fixed_order_kernel<Fold, reading::aligned>);
  if constexpr (Fold::inputs == 1) {
    if (chosen == reading::shifted) ask(fixed_order_kernel<Fold, reading::shifted>);
  }
  if constexpr (Fold::inputs == 2 || has_large_accumulators<Fold>) {
    if (chosen == reading::single) ask(fixed_order_kernel<Fold, reading::single>);
  }
  most = std::min<std::int64_t>(most, most_asked_leaves);
  if (now.grid_size > most)
    throw error(errc::unsupported, "fixed_order needs all its blocks on this device at once, and it holds " + std::to_string(most) +
                                       " of this size: leave grid_size alone or ask for fewer");
  if (how.blocks() <= static_cast<std::uint64_t>(most)) return how;
  return choose_plan(now.tree, units, now.gpu.multiprocessors, 1 << how.log_warps, static_cast<std::uint64_t>(most));
}

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
  if (free_shape && tiles <= static_cast<std::uint64_t>(now.tree.one_block_tiles)) {
    static kept_kernel kernel(fixed_order_few_kernel<Fold, false>);
    kernel.template launch<launch_kind::early>(now, {1, few_tiles_block(tiles)}, in, to);
    return;
  }
  if (free_shape && tiles <= static_cast<std::uint64_t>(now.tree.cluster_tiles) && is_code_for_sm_90(now)) {
    static kept_kernel kernel(fixed_order_few_kernel<Fold, true>);
    const std::uint64_t of_block = (tiles + most_cluster_blocks - 1) / most_cluster_blocks;
    kernel.template launch<launch_kind::early_cluster>(now, {most_cluster_blocks, few_tiles_block(of_block)}, in, to);
    return;
  }
  const reading chosen = choose_reading(now, in, free_shape);
  const std::uint64_t units = chosen == reading::single ? tiles : (tiles + 1) / 2;
  plan how =
      choose_plan(now.tree, units, now.gpu.multiprocessors, now.block_size / warp_size, static_cast<std::uint64_t>(now.grid_size));
  if (!now.gpu.blocks_start_in_order) how = resident_plan<Fold>(now, chosen, units, how);
  auto* header = static_cast<slot_header*>(now.slots_of(
      slot_header_bytes + std::size_t{how.blocks()} * ((sizeof(typename Fold::accumulator) + 7) / 8) * slot_word_bytes));
  const std::int64_t blocks = now.grid_size != 0 ? now.grid_size : how.blocks();
  const auto launch = [&](auto& kernel) {
    const shape as_planned{blocks, warp_size << how.log_warps};
    if (now.gpu.blocks_start_in_order) return kernel.template launch<launch_kind::early>(now, as_planned, in, how, header, to);
    kernel.template launch<launch_kind::cooperative>(now, as_planned, in, how, header, to);
  };
  if (chosen == reading::aligned) {
    static kept_kernel kernel(fixed_order_kernel<Fold, reading::aligned>);
    return launch(kernel);
  }
  if constexpr (Fold::inputs == 1) {
    if (chosen == reading::shifted) {
      static kept_kernel kernel(fixed_order_kernel<Fold, reading::shifted>);
      return launch(kernel);
    }
  }
  if constexpr (Fold::inputs == 2 || has_large_accumulators<Fold>) {
    static kept_kernel kernel(fixed_order_kernel<Fold, reading::single>);
    launch(kernel);
  }
}

}  // namespace onefold::cuda_backend
