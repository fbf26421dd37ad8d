#pragma once
/// @file batched.cuh  The blocks of a launch that makes several reductions, of any of the folds in a list.
///
/// An array of up to 32 tiles is read by one block, a longer one by one for each leaf; the block of the last leaf collects. The tree is that of
/// docs/order.md, whatever else is in the launch. What follows the reading is compiled once for each combination, out of line.
///
/// The addresses of arrays may stand in memory, whose content no host knows: what no kernel can read gives a result with all bits set.
///
/// Of a subtree that the kernel ahead of this one reads, leaf by leaf, one block collects the leaves' values.

#include <onefold/detail/folds.hpp>
#include <onefold/device/collect.cuh>
#include <onefold/device/conclude.cuh>
#include <onefold/device/one_of.cuh>
#include <onefold/device/units.cuh>

#include "batched.hpp"
#include "batched_folds.hpp"

namespace onefold::cuda_backend {

namespace detail {

// The arrays of an item, wherever their addresses stand.
struct batched_arrays {
  const void* x;
  const void* y;
};

/// What the warps of a block share, of a kernel whose states have at most so many bytes.
template <std::size_t StateBytes>
struct memory_of_batch {
  static constexpr int log_most = 8;      ///< values of units that are folded together
  static constexpr int most_levels = 32;  ///< of parts of a leaf
  alignas(16) unsigned char bytes[((1 << log_most) + most_levels) * StateBytes];
};
using batched_memory = memory_of_batch<most_batched_state_bytes>;

// The most bytes of the states of a kernel that has the combination C, whose slots have room for any of them.
template <class C>
inline constexpr std::size_t state_bytes_beside = most_batched_state_bytes;

// Folds that find places, which the item makes to what they are.
template <class Fold>
inline constexpr bool finds_places = false;
template <class V>
inline constexpr bool finds_places<place_fold<V>> = true;

template <class Fold>
__device__ inline Fold fold_of(const batched_item& item) {
  if constexpr (finds_places<Fold>)
    return Fold::of(item.how);
  else
    return {};
}

template <class Fold>
struct combination_in_batch {
  using type = device::combination_of<Fold>;
};
template <class V>
struct combination_in_batch<place_fold<V>> {
  using type = arg_fold<V, op::max>;
};

// What the tree gives for no elements, ahead of the conclusion. Asked of an item's own fold: those that combine alike can differ in it.
template <class E, class A, class Map, class Op>
__device__ inline A value_of_nothing(const onefold::detail::fold<E, A, Map, Op>&) {
  constexpr bool is_norm_inf = std::is_same_v<Map, onefold::detail::absolute> && std::is_same_v<Op, op::max>;
  return is_norm_inf ? A(0) : Op::template identity<A>();
}
__device__ inline onefold::detail::squares value_of_nothing(const onefold::detail::norm2_fold& fold) { return fold.neutral(); }
// 0, at an index that no element has: what places have where all values are absent.
template <class V>
__device__ inline arg_state<V> value_of_nothing(const place_fold<V>& fold) {
  return fold.turned(arg_state<V>{V(0), ~std::uint64_t{0}});
}

// The node over a unit that exists, if only in part. Out of line, so that the others' code stays as it is without places.
template <class V>
__device__ __noinline__ arg_state<V> place_unit_node(const void* x, std::uint64_t count, std::uint64_t unit, unsigned how) {
  using units = device::detail::units_of<place_fold<V>, device::reading::single>;
  const auto fold = place_fold<V>::of(how);
  device::tree_input in{};
  in.x = x;
  in.count = count;
  return units::is_whole(in, unit) ? units::whole_node(fold, in, unit) : units::any_node(fold, in, unit);
}

// The value of the units of a part of a leaf, by the first warp, in all its threads.
template <class C>
__device__ __noinline__ typename C::accumulator batched_part(typename C::accumulator* values, int log_values) {
  return device::detail::tree_of(C{}, values, log_values);
}

/// Where a block stands.
struct batched_place {
  std::uint32_t leaf, leaves;   ///< of the item's
  std::uint32_t several;        ///< of the table
  device::slot_header* header;  ///< null if leaves is 1
  std::uint32_t slot;           ///< of the item's first leaf
  std::uint64_t count;
  device::destination to;  ///< as the item has it
};

__device__ inline batched_place place_of(const batched_table& table, const batched_item& item) {
  batched_place at{};
  at.leaves = 1;
  at.several = table.several;
  at.header = static_cast<device::slot_header*>(table.header);
  at.count = item.count;
  at.to.how = item.how;
  at.to.bytes = item.bytes;
  at.to.output = item.output;
  at.to.call_number = table.call_number;
  at.to.argument = item.argument;
  return at;
}

// Of all blocks of an item it is known that they have read the launch's number. When it is known of all items, it may change. By one thread.
__device__ inline void count_ended(const batched_place& at, unsigned long long launch) {
  if (atomicAdd(&at.header->ended, 1u) + 1 != at.several) return;
  at.header->ended = 0;
  at.header->launches = launch;
}

// The result that is made of the value of a tree that C combines.
template <class C>
struct results_in_batch {
  static __device__ void store(const typename C::accumulator& value, std::uint64_t count, const device::destination& to) {
    device::detail::store_sized(value, count, to);
  }
};
template <class V>
struct results_in_batch<arg_fold<V, op::max>> {
  static __device__ void store(const arg_state<V>& value, std::uint64_t count, const device::destination& to) {
    device::detail::store_results(place_fold<V>::of(static_cast<unsigned>(to.how)).turned(value), count, to);
  }
};

// What becomes of a leaf's value, which the first warp has; the others have left.
template <class C>
__device__ __noinline__ void conclude_leaf(const batched_place& at, typename C::accumulator value) {
  const C fold{};
  if (at.leaves > 1) {
    constexpr std::uint32_t words = device::slot_bytes_of(state_bytes_beside<C>) / device::slot_word_bytes;
    auto* const slots =
        reinterpret_cast<device::slot_word*>(reinterpret_cast<unsigned char*>(at.header) + device::slot_header_bytes) +
        std::uint64_t{at.slot} * words;
    const unsigned long long launch = at.header->launches + 1;
    if (threadIdx.x == 0) device::hand_to_slot(slots, at.leaf, value, launch);
    if (at.leaf + 1 != at.leaves) return;
    value = device::detail::part_node(fold, slots, 0, at.leaves, launch);
    if (threadIdx.x == 0) count_ended(at, launch);
  }
  if (threadIdx.x != 0) return;
  device::destination to = at.to;
  if ((to.how & batched_item::in_words) != 0) {
    to.how &= ~batched_item::in_words;
    to.host_words = static_cast<unsigned long long*>(to.output);
    to.output = nullptr;
  }
  results_in_batch<C>::store(value, at.count, to);
}

__device__ inline unsigned long long launch_of(const batched_place& at) {
  return *const_cast<const volatile unsigned long long*>(&at.header->launches) + 1;
}

// Collects `leaves` leaves from slots, by all warps: 2^n values whose tree the first warp is to make. Returns n.
template <class C>
__device__ inline int collect_parts(const C& fold, const void* first_slot, std::uint32_t leaves, unsigned long long launch,
                                    typename C::accumulator* values) {
  static_assert(device::most_leaves >> device::log_part <= 1u << batched_memory::log_most, "a value for each part");
  const auto* const slots = static_cast<const device::slot_word*>(first_slot);
  int log_parts = 0;
  while (leaves > 1u << (device::log_part + log_parts)) ++log_parts;
  const std::uint32_t each = leaves >> log_parts;
  for (std::uint32_t part = threadIdx.x / device::warp_size; part < 1u << log_parts; part += blockDim.x / device::warp_size) {
    const auto node = device::detail::part_node(fold, slots, part * each, each, launch);
    if (threadIdx.x % device::warp_size == 0) values[part] = node;
  }
  __syncthreads();
  return log_parts;
}

// The node over `leaves` leaves from slots, by all warps, and what becomes of it. `at` has one leaf, whose value it is.
template <class C>
__device__ __noinline__ void conclude_slots(const batched_place& at, const void* first_slot, std::uint32_t leaves,
                                            typename C::accumulator* values) {
  const C fold{};
  const unsigned long long launch = launch_of(at);
  const int log_parts = collect_parts(fold, first_slot, leaves, launch, values);
  if (threadIdx.x >= device::warp_size) return;
  const auto value = device::detail::tree_of(fold, values, log_parts);
  conclude_leaf<C>(at, value);
  if (threadIdx.x == 0) count_ended(at, launch);  // behind the result, which would wait for the answer
}

// The same of an item that finds a place. Its leaves' kernel has left values with the signs of the result, and of each the place of the first element of a
// unit, counted from the first leaf on: where in that unit the value is, the warp looks for that has the node.
template <class V>
__device__ __noinline__ void conclude_place_slots(const batched_place& at, const batched_item& item, arg_state<V>* values) {
  using C = arg_fold<V, op::max>;
  const seen_place_fold<V> fold(place_fold<V>::of(item.how));
  const unsigned long long launch = launch_of(at);
  const int log_parts = collect_parts(fold, item.x, static_cast<std::uint32_t>(item.count), launch, values);
  if (threadIdx.x >= device::warp_size) return;
  const auto* const first_slot = reinterpret_cast<const unsigned char*>(at.header) + device::slot_header_bytes;
  const auto before = static_cast<std::uint64_t>(static_cast<const unsigned char*>(item.x) - first_slot) /
                      device::slot_bytes_of(sizeof(arg_state<V>));
  const std::uint64_t leaf = device::tile_elements<C> << item.log_leaf;
  const auto node = device::detail::tree_of(fold, values, log_parts);
  if (threadIdx.x == 0) values[0] = node;  // of few parts the others have not the root
  __syncwarp();
  auto value = values[0];
  value.index -= before * leaf;
  if ((item.how & batched_item::of_absolute) != 0)
    value = device::detail::with_places<arg_fold<V, op::max, absolute>>(item.y, item.count * leaf, value);
  else
    value = device::detail::with_places<C>(item.y, item.count * leaf, value);
  conclude_leaf<C>(at, fold.turned(value));
  if (threadIdx.x == 0) count_ended(at, launch);
}

// Copies, by all threads of a block, and tells a host that polls.
__device__ __noinline__ inline void copy_bytes(const void* input, void* output, std::uint64_t bytes, std::uint64_t word,
                                               std::uint32_t call_number) {
  const auto* const from = static_cast<const unsigned char*>(input);
  auto* const to = static_cast<unsigned char*>(output);
  std::uint64_t in_words = 0;
  if ((reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to)) % sizeof(std::uint32_t) == 0) {
    in_words = bytes / sizeof(std::uint32_t);
    for (std::uint64_t i = threadIdx.x; i < in_words; i += blockDim.x)
      reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  }
  for (std::uint64_t i = in_words * sizeof(std::uint32_t) + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
  if (word == 0) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();  // the host sees what the block has copied, when it sees the word
  *reinterpret_cast<volatile unsigned long long*>(word) = static_cast<unsigned long long>(call_number) << 32;
}

// Of an array whose address was read from memory: as one that lies in global memory, as all arrays do. Else the compiler would have to suppose any memory, in
// the loads of other items too.
__device__ inline const void* as_global(const void* array) {
#ifdef __CUDA_ARCH__
  std::size_t place;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(place) : "l"(array));
  return __cvta_global_to_generic(place);
#else
  return array;
#endif
}

// Whether a fold's elements have 8 bytes: bit k says so of fold number k.
template <class... Folds>
constexpr std::uint64_t folds_of_eight_bytes(fold_list<Folds...>) noexcept {
  static_assert(sizeof...(Folds) < batched_item::fold_number);
  std::uint64_t bits = 0;
  int number = 0;
  ((bits |= std::uint64_t{sizeof(typename Folds::element) == 8} << number++), ...);
  return bits;
}

__device__ inline std::uint32_t end_of_blocks(const batched_table& table, std::uint32_t number) {
  return number + 1 < table.items ? table.item[number + 1].first_block : table.blocks;
}

// What becomes of an item whose array cannot be read: by all its blocks, of which the last one stores the result and counts the item.
__device__ __noinline__ inline void store_unreadable(const batched_table& table, std::uint32_t number, std::uint32_t block) {
  const batched_item& item = table.item[number];
  const std::uint32_t end = end_of_blocks(table, number);
  if (block + 1 != end || threadIdx.x != 0) return;
  const batched_place at = place_of(table, item);
  if (end - item.first_block > 1) count_ended(at, at.header->launches + 1);
  device::destination to = at.to;
  if ((to.how & batched_item::in_words) != 0) {
    to.host_words = static_cast<unsigned long long*>(to.output);
    to.output = nullptr;
  }
  const int size = to.bytes < 4 ? to.bytes : 4;
  for (int place = 0; place < to.bytes; place += 4) device::detail::store_bits(to, place, ~std::uint64_t{0}, size);
}

// Finds the arrays whose addresses stand in memory. Returns whether they can be read, or need not be: a null pointer has no elements, and what is not
// aligned to its elements would end the context. Not out of line: its answer would have a place in local memory, and so would other things of a fold.
__device__ inline bool find_arrays(const batched_item& item, unsigned element_bytes, batched_arrays& arrays) {
  std::uint64_t count = item.count;
  if (item.count_at != nullptr) count = ::min(count, *item.count_at);
  if (count == 0) return true;
  if ((item.fold & batched_item::x_in_memory) != 0) arrays.x = *static_cast<const void* const*>(item.x);
  if ((item.fold & batched_item::y_in_memory) != 0) arrays.y = *static_cast<const void* const*>(item.y);
  const auto can_be_read = [element_bytes](const void* array) {
    return array != nullptr && (reinterpret_cast<std::uintptr_t>(array) & (element_bytes - 1)) == 0;
  };
  return can_be_read(arrays.x) && ((item.fold & batched_item::y_in_memory) == 0 || can_be_read(arrays.y));
}

// A block reads its leaf of an item, whose units `read` knows:
//
//     begin(count)   told how many elements there are, it says how many units these are
//     node(unit)     the node over a unit, by a warp; of one that does not exist the neutral element
//     nothing()      what the tree gives for no elements, ahead of the conclusion
//     note(to)       writes into the destination what the conclusion has to know of the item
//
// C combines the nodes, and knows the conclusion.
template <class C, class Memory, class Read>
__device__ inline void run_leaf(const batched_table& table, std::uint32_t number, std::uint32_t block, Memory& shared,
                                Read&& read) {
  using A = typename C::accumulator;
  const C fold{};
  const batched_item& item = table.item[number];
  A* const values = reinterpret_cast<A*>(shared.bytes);
  const std::uint32_t leaves = end_of_blocks(table, number) - item.first_block;
  const std::uint32_t leaf = block - item.first_block;
  std::uint64_t count = item.count;
  int log_leaf = item.log_leaf;
  if (item.count_at != nullptr) count = ::min(count, *item.count_at);
  const std::uint64_t end_unit = read.begin(count);
  if (item.count_at != nullptr && end_unit > 0) {
    // As many blocks are at work as that number asks for, of those that there are.
    const int least = leaves > 1 ? log_batched_leaf : 0;
    while (log_leaf > least && (end_unit - 1) >> (log_leaf - 1) < leaves) --log_leaf;
  }

  A* const waiting = values + (1 << Memory::log_most);  // complete subtrees of the leaf, as a binary number has ones
  const int log_values = ::min(log_leaf, Memory::log_most);
  const std::uint64_t first = std::uint64_t{leaf} << log_leaf;
  const unsigned warp = threadIdx.x / device::warp_size;
  A value = fold.neutral();
  for (std::uint32_t part = 0;;) {
    for (unsigned i = warp; i < 1u << log_values; i += blockDim.x / device::warp_size) {
      const A node = read.node(first + (std::uint64_t{part} << log_values) + i);
      if (threadIdx.x % device::warp_size == 0) values[i] = node;
    }
    __syncthreads();
    if (warp == 0) value = batched_part<C>(values, log_values);
    if (log_leaf == log_values) [[likely]]
      break;
    ++part;
    const bool is_last = first + (std::uint64_t{part} << log_values) >= ::min(end_unit, first + (std::uint64_t{1} << log_leaf));
    if (threadIdx.x == 0) {
      // What stands to the left of this part: its neighbours up to a complete subtree, or, behind the last part, all of it.
      const std::uint32_t complete = part - 1;
      int level = 0;
      for (; is_last ? complete >> level != 0 : (complete >> level & 1) != 0; ++level)
        if ((complete >> level & 1) != 0) value = fold.combine(waiting[level], value);
      if (!is_last) waiting[level] = value;
    }
    __syncthreads();  // the next part's values take the place of this one's
    if (is_last) break;
  }
  if (warp != 0) return;
  if (count == 0) value = read.nothing();  // in every leaf, and so in their root
  batched_place at = place_of(table, item);
  read.note(at.to);
  at.leaf = leaf;
  at.leaves = leaves;
  at.slot = item.first_block;
  at.count = count;
  conclude_leaf<C>(at, value);
}

// The units of a fold of the first kernel: single tiles.
template <class Fold>
struct tiles_in_batch {
  using A = typename Fold::accumulator;
  using units = device::detail::units_of<Fold, device::reading::single>;
  const batched_item& item;
  batched_arrays arrays;
  std::uint64_t count = 0, end_tile = 0;

  __device__ std::uint64_t begin(std::uint64_t elements) {
    count = elements;
    end_tile = elements / device::tile_elements<Fold> + (elements % device::tile_elements<Fold> != 0 ? 1 : 0);
    return end_tile;
  }
  __device__ A node(std::uint64_t unit) const {
    device::tree_input in{};
    in.x = arrays.x;
    in.y = arrays.y;
    in.count = count;
    in.end_tile = end_tile;
    if constexpr (finds_places<Fold>) {
      if (units::exists(in, unit)) return place_unit_node<typename Fold::element>(in.x, in.count, unit, item.how);
    } else if (units::is_whole(in, unit)) [[likely]] {
      return units::whole_node(Fold{}, in, unit);
    } else if (units::exists(in, unit)) {
      return device::detail::cut_unit_node<Fold>(in.x, in.y, in.count, unit);
    }
    return Fold::neutral();
  }
  __device__ A nothing() const { return value_of_nothing(fold_of<Fold>(item)); }
  __device__ void note(device::destination&) const {}
};

template <class Fold>
__device__ inline void run_batched_block(const batched_table& table, std::uint32_t number, std::uint32_t block,
                                         const batched_arrays& arrays, batched_memory& shared) {
  using A = typename Fold::accumulator;
  using C = typename combination_in_batch<Fold>::type;
  static_assert(sizeof(A) <= most_batched_state_bytes && std::is_same_v<A, typename C::accumulator>);
  const batched_item& item = table.item[number];
  if ((item.how & batched_item::from_slots) != 0) {
    A* const values = reinterpret_cast<A*>(shared.bytes);
    batched_place at = place_of(table, item);
    at.to.how &= ~batched_item::from_slots;
    if constexpr (finds_places<Fold>)
      return conclude_place_slots(at, item, values);
    else
      return conclude_slots<C>(at, item.x, static_cast<std::uint32_t>(item.count), values);
  }
  run_leaf<C>(table, number, block, shared, tiles_in_batch<Fold>{item, arrays});
}

// The number of the item that a block belongs to.
__device__ inline std::uint32_t item_of_block(const batched_table& table, std::uint32_t block) {
  std::uint32_t number = 0;
  for (std::uint32_t end = table.items; end - number > 1;) {
    const std::uint32_t middle = (number + end) / 2;
    if (table.item[middle].first_block <= block)
      number = middle;
    else
      end = middle;
  }
  return number;
}

}  // namespace detail

/// The work of block number `block` of a launch. By all its threads.
template <class... Folds>
__device__ inline void run_batched_block(fold_list<Folds...> folds, const batched_table& table, std::uint32_t block,
                                         detail::batched_memory& shared) {
  const std::uint32_t number = detail::item_of_block(table, block);
  const batched_item& item = table.item[number];
  const unsigned which = item.fold & batched_item::fold_number;
  if (which == batched_item::copied) return detail::copy_bytes(item.x, item.output, item.count, item.argument, table.call_number);
  detail::batched_arrays arrays{item.x, item.y};
  if ((item.fold & (batched_item::x_in_memory | batched_item::y_in_memory)) != 0) [[unlikely]] {
    detail::batched_arrays found = arrays;
    if (!detail::find_arrays(item, detail::folds_of_eight_bytes(folds) >> which & 1 ? 8 : 4, found))
      return detail::store_unreadable(table, number, block);
    arrays = {detail::as_global(found.x), detail::as_global(found.y)};
  }
  device::with_one_of<Folds...>(static_cast<int>(which), [&](auto its) {
    detail::run_batched_block<typename decltype(its)::type>(table, number, block, arrays, shared);
  });
}

}  // namespace onefold::cuda_backend
