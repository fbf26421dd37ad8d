#pragma once
/// @file kernel.cuh  The kernels of variant fixed_order, for a fold of any kind.

#include <cuda_pipeline.h>

#include <onefold/device/cluster.cuh>
#include <onefold/device/collect.cuh>
#include <onefold/device/conclude.cuh>
#include <onefold/device/dependent.cuh>
#include <onefold/device/plan.hpp>
#include <onefold/device/slots.cuh>
#include <onefold/device/units.cuh>

namespace onefold::device {

namespace detail {

// What the warps of a block share.
template <class Fold>
struct shared_values {
  using A = typename Fold::accumulator;
  static constexpr int most_levels = 32;  ///< of parts of a leaf
  static constexpr int log_values_of(std::size_t bytes) noexcept {
    int log = 9;
    while (((std::size_t{1} << log) + most_levels) * bytes > 47 * 1024) --log;
    return log;
  }
  static constexpr int log_most = log_values_of(sizeof(A));  ///< values of units that are folded together
  static_assert(1 << (log_section + 1 - log_part) <= 1 << log_most, "states have at most 1 KiB");
  alignas(16) unsigned char memory[(sizeof(A) << log_most) + most_levels * sizeof(A)];
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

// The node over the block's leaf, in the first thread of the first warp. What the array does not have of it counts as absent.
template <class Fold, reading How>
__device__ inline typename Fold::accumulator leaf_node(const Fold& fold, const tree_input& in, const plan& how,
                                                       shared_values<Fold>& shared) {
  using A = typename Fold::accumulator;
  using units = stream_units<Fold, How>;
  const int log_values = ::min(how.log_leaf, shared_values<Fold>::log_most);
  const unsigned warps = 1u << how.log_warps;
  std::uint32_t part = 0;
  for (;;) {
    // Whole ones in a loop of their own. Little but `i` is kept while the loads are on their way.
    unsigned i = thread_of_block() / warp_size;
    for (; i < 1u << log_values; i += 1u << how.log_warps) {
      const std::uint64_t unit = unit_of_part(how, part, log_values, i);
      if (!units::is_whole(in, unit)) break;
      const A node = units::whole_node(fold, in, unit);
      if (thread_of_block() % warp_size == 0) shared.values()[i] = node;
    }
    for (; i < 1u << log_values; i += warps) {
      const std::uint64_t unit = unit_of_part(how, part, log_values, i);
      A node = fold.neutral();
      if (units::exists(in, unit)) node = units::any_node(fold, in, unit);
      if (threadIdx.x % warp_size == 0) shared.values()[i] = node;
    }
    __syncthreads();
    A value = fold.neutral();
    if (thread_of_block() < warp_size) value = tree_of(fold, shared.values(), log_values);
    if (how.log_leaf == log_values) [[likely]]
      return value;
    if (threadIdx.x == 0) {
      int level = 0;
      for (; (part >> level & 1) != 0; ++level) value = fold.combine(shared.waiting()[level], value);
      shared.waiting()[level] = value;
    }
    __syncthreads();  // the next part's values take the place of this one's
    if (++part == 1u << (how.log_leaf - log_values)) return value;
  }
}

// The nodes over the parts of leaves `first` to `end`, at most 8, into shared memory by all warps. Behind a barrier, they can be read.
template <class Fold>
__device__ inline void part_nodes(const Fold& fold, const slot_word* slots, std::uint32_t first, std::uint32_t end,
                                  unsigned long long launch, typename Fold::accumulator* values) {
  const std::uint32_t warps = blockDim.x / warp_size;
  for (std::uint32_t part = threadIdx.x / warp_size; first + (part << log_part) < end; part += warps) {
    const std::uint32_t begin = first + (part << log_part);
    const auto node = any_part_node(fold, slots, begin, ::min(end - begin, 1u << log_part), launch);
    if (threadIdx.x % warp_size == 0) values[part] = node;
  }
  __syncthreads();
}

inline constexpr int log_section_parts = log_section - log_part;

// The work of a block that collects section number `section`.
template <class Fold>
__device__ inline void collect_section(const Fold& fold, const plan& how, slot_word* slots, std::uint32_t section,
                                       unsigned long long launch, typename Fold::accumulator* values) {
  part_nodes(fold, slots, section << log_section, (section + 1) << log_section, launch, values);
  if (threadIdx.x >= warp_size) return;
  const auto value = tree_of(fold, values, log_section_parts);
  if (threadIdx.x == 0) hand_to_slot(slots, how.leaves + section, value, launch);
}

// The last block's work: the last two sections' leaves, and the root over all sections.
template <class Fold, reading How>
__device__ inline void collect_all(const Fold& fold, const plan& how, const slot_word* slots, unsigned long long launch,
                                   const tree_input& in, const destination& to, typename Fold::accumulator* values) {
  using A = typename Fold::accumulator;
  const unsigned warp_lane = threadIdx.x;
  const std::uint32_t collected = how.collectors();
  A value;
  if (how.leaves <= 1u << log_part) {
    if (threadIdx.x >= warp_size) return;
    value = any_part_node(fold, slots, 0, how.leaves, launch);
  } else {
    A of_section[1] = {fold.neutral()};
    if (collected > 0 && threadIdx.x < warp_size)  // first, because these have long been there
      wait_for_slots<1>(
          fold, slots, how.leaves + warp_lane, launch, [&](int) { return warp_lane < collected; }, of_section);
    const std::uint32_t first = collected << log_section;
    part_nodes(fold, slots, first, how.leaves, launch, values);
    if (threadIdx.x >= warp_size) return;
    const std::uint32_t parts = (how.leaves - first + (1u << log_part) - 1) >> log_part;
    value = neighbours_node(fold, warp_lane < parts ? values[warp_lane] : fold.neutral(), 1 << log_section_parts);
    if (collected > 0) {
      __syncwarp();
      if (warp_lane % (1u << log_section_parts) == 0) values[warp_lane >> log_section_parts] = value;
      __syncwarp();
      if (warp_lane >= collected && warp_lane < how.sections) of_section[0] = values[warp_lane - collected];
      value = neighbours_node(fold, of_section[0], warp_size);
    } else {
      value = fold.combine(value, device::exchange(value, 1 << log_section_parts));
    }
  }
  using units = stream_units<Fold, How>;
  if constexpr (units::leaves_places) {
    if (warp_lane == 0) values[0] = value;
    __syncwarp();
    value = units::with_places(fold, in, values[0]);
  }
  if (threadIdx.x == 0) deliver(fold, value, in.count, to);
}

// Blocks of most_warps warps that a multiprocessor has room for. A function with several results loads from where nobody can tell, and its nodes wait for
// one another: twice as many warps hide that, and what they keep fits into half of the registers up to five doubles; nine loads do not fit (0045).
template <class Fold>
constexpr int least_blocks() noexcept {
  if constexpr (is_own<Fold>)
    return Fold::inputs == 0 && !Fold::reads_many && has_large_items<Fold> && sizeof(typename Fold::accumulator) <= 48 ? 2 : 1;
  else
    return 1;
}

// Threads that a kernel's registers are bounded for, of which a block has most_warps * warp_size at most. A function with one value of 4 bytes has 32 of
// them on their way in each thread, and all else that it needs fits 80 registers, with which half as many threads more run at once. Doubles would lose (0074).
template <class Fold>
constexpr int bound_threads() noexcept {
  if constexpr (is_own<Fold>)
    return Fold::inputs == 0 && !Fold::reads_many && !has_large_items<Fold> && lanes<Fold> == 2 * warp_size
               ? 3 * most_warps * warp_size / 2
               : most_warps * warp_size;
  else
    return most_warps * warp_size;
}

}  // namespace detail

/// One launch from the input to the result. A block waits only for such that the hardware has started before it. Like the kernels below it
/// may begin while the kernel ahead of it ends, which saves 1 us. For each reading a kernel of its own, because what one needs in registers, the
/// other would lack.
template <class Fold, reading How>
__global__ void __launch_bounds__(detail::bound_threads<Fold>(), detail::least_blocks<Fold>())
    fixed_order_kernel(const __grid_constant__ tree_input in, const __grid_constant__ plan how, slot_header* header,
                       const __grid_constant__ destination to, const __grid_constant__ Fold fold) {
  __shared__ detail::shared_values<Fold> shared;
  if (!how.one_wave) let_next_kernel_start();  // it waits in its turn, with its first blocks in place
  wait_for_previous_kernel();
  // What the one ahead has written can be seen now, by those of the next kernel too.
  if (how.next_collects) let_next_kernel_start();
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
    return detail::collect_section(fold, how, slots, section, shared.before.launches + 1, shared.values());
  }
  const auto value = detail::leaf_node<Fold, How>(fold, in, how, shared);
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
  detail::collect_all<Fold, How>(fold, how, slots, launch, in, to, shared.values());
  if (threadIdx.x == 0) header->launches = launch;
}

/// The same for an array of few tiles, each of which a warp of its own reads, in one block or in one cluster of blocks (sm_90), which hands
/// its values over in shared memory. Kernels of their own, because with so little to do every instruction ahead of the first load and behind
/// the last shuffle is seen in the time.
template <class Fold, bool Cluster>
__global__ void __launch_bounds__(most_warps* warp_size, 1)
    fixed_order_few_kernel(const __grid_constant__ tree_input in, const __grid_constant__ destination to,
                           const __grid_constant__ Fold fold) {
  using A = typename Fold::accumulator;
  using units = detail::units_of<Fold, reading::single>;
  static_assert(sizeof(A) <= most_few_state_bytes, "for small states");
  __shared__ alignas(16) unsigned char memory[most_few_units * sizeof(A)];
  A* const of_unit = reinterpret_cast<A*>(memory);
  const unsigned warps = blockDim.x / warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
  const unsigned unit = (Cluster ? blockIdx.x * warps : 0) + threadIdx.x / warp_size;
  const unsigned all = Cluster ? gridDim.x * warps : warps;  // the last ones may be behind the array's end
  [[maybe_unused]] __shared__ cluster_mailbox mailbox;
  if constexpr (Cluster) mailbox.open(all * static_cast<unsigned>(sizeof(A)));
  wait_for_previous_kernel();
  A value = fold.neutral();
  if (units::is_whole(in, unit)) [[likely]] {
    value = units::whole_node(fold, in, unit);
  } else if (units::exists(in, unit)) {
    if constexpr (!is_own<Fold>)
      value = detail::cut_unit_node<Fold>(in.x, in.y, in.count, unit);
    else
      value = units::any_node(fold, in, unit);
  }
  if (all > 1) {
    if constexpr (Cluster) {
      mailbox.wait_until_open();
      if (warp_lane == 0) mailbox.send_to_first_block(of_unit + unit, value);
      if (unit != 0) return;
      mailbox.wait_for_all();
    } else {
      if (warp_lane == 0) of_unit[unit] = value;
      __syncthreads();
      if (unit != 0) return;
    }
    // Four neighbours for each thread: their loads overlap, which two more shuffles would not.
    const auto at = [&](unsigned k) { return 4 * warp_lane + k < all ? of_unit[4 * warp_lane + k] : fold.neutral(); };
    static_assert(most_few_units <= 4 * warp_size);
    value = fold.combine(fold.combine(at(0), at(1)), fold.combine(at(2), at(3)));
    value = neighbours_node(fold, value, static_cast<int>(all + 3) / 4);
  }
  if (warp_lane == 0) deliver(fold, value, in.count, to);
}

}  // namespace onefold::device
