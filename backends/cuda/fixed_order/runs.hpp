#pragma once
/// @file runs.hpp  The nodes of neighbouring subtrees as items of the kernel of batches: each by itself, or over leaves that a kernel ahead reads. Plain C++.
///
///     tiles     | 1 |  2  |    8    |        16        |        16        |   4   | 1 |
///     leaves                   8         8        8         8        8
///
/// What lies in whole leaves of one size the fold's own kernel reads in one launch, wherever subtrees begin and end there. The kernel behind it has a block
/// for each subtree: to collect its leaves, or, at the two ends, to read its few tiles.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <onefold/detail/range_parts.hpp>
#include <onefold/order.hpp>
#include <onefold/types.hpp>

#include "batched.hpp"

namespace onefold::cuda_backend {

/// A request as a part of a launch of several: its item, but for the addresses as the device sees them and the blocks.
struct batched_request {
  batched_item item;
  std::uint64_t units;  ///< what a warp takes at a time: a tile, or more of small elements and of complex numbers
  batch_kernel by = batch_kernel::floats;
};

/// Tiles `first` to `end` - 1.
struct run_of_tiles {
  std::uint64_t first;
  std::uint64_t end;
};

/// The accumulators of the maximal complete subtrees of a run of tiles, as parts of a launch.
struct batched_run {
  batched_item item;  ///< with the addresses of the whole run
  element_type type;
  form what;
  bool wide;
  run_of_tiles tiles;
  std::uint64_t count;   ///< elements
  std::uint64_t behind;  ///< elements of the array that may be read behind them
  std::size_t stride;    ///< bytes from one output to the next
  batch_kernel by = batch_kernel::floats;
  int log_unit = 0;  ///< tiles of one of the kernel's units, as a power of two

  /// Elements of a tile, as a power of two.
  [[nodiscard]] int log_tile() const noexcept {
    return std::countr_zero(static_cast<unsigned>(order::tile_rows * order::lanes_of_bytes(size_of(type))));
  }
  /// Where tile number `tile` of an array begins that begins with the run.
  [[nodiscard]] const void* tile_at(const void* array, std::uint64_t tile) const noexcept {
    const std::uint64_t before = ((tile - tiles.first) << log_tile()) * size_of(type);
    return array == nullptr ? nullptr : static_cast<const std::byte*>(array) + static_cast<std::size_t>(before);
  }
};

/// What of a run lies in aligned groups of 2^log_leaf tiles that are all in it. Of the run's maximal complete subtrees those of so many tiles or more
/// are in there, side by side, and are nothing else. Where there is no such group `first` is not less than `end`.
constexpr run_of_tiles whole_leaves_of(const run_of_tiles& run, int log_leaf) noexcept {
  const std::uint64_t tiles = std::uint64_t{1} << log_leaf;
  return {(run.first + tiles - 1) / tiles * tiles, run.end / tiles * tiles};
}

/// Calls each(item, first, height) for the run's nodes, each over 2^height tiles from number `first` on.
template <class Each>
void for_nodes_of(const batched_run& run, const Each& each) {
  batched_item item = run.item;
  onefold::detail::for_subtrees(run.tiles.first, run.tiles.end, [&](std::uint64_t first, int height) {
    item.x = run.tile_at(run.item.x, first);
    item.y = run.tile_at(run.item.y, first);
    item.count = std::min(std::uint64_t{1} << (run.log_tile() + height), run.count - ((first - run.tiles.first) << run.log_tile()));
    each(item, first, height);
    item.output = static_cast<std::byte*>(item.output) + run.stride;
  });
}

/// The nodes as requests by themselves, behind what is in `to`.
inline void append_nodes(const batched_run& run, std::vector<batched_request>& to) {
  for_nodes_of(run, [&](const batched_item& item, std::uint64_t, int height) {
    to.push_back({item, std::uint64_t{1} << std::max(height - run.log_unit, 0), run.by});
  });
}

/// Whether a table has room for the run's nodes and `beside` more.
inline bool fits_a_table(const batched_run& run, std::size_t beside) noexcept {
  std::size_t items = beside;
  onefold::detail::for_subtrees(run.tiles.first, run.tiles.end, [&](std::uint64_t, int) { ++items; });
  return items <= most_batched;
}

/// The launch behind that of the run's leaves of 2^log_leaf tiles, which leaves their values in slots of `slot_bytes` bytes, the first at `slots`. A
/// block for each node, and for each of the requests `beside`, which are made first. Requires that it fits_a_table(). `header` and `call_number` are
/// the caller's to write.
inline batched_table table_behind_leaves(const batched_run& run, int log_leaf, const std::byte* slots, std::size_t slot_bytes,
                                         std::span<const batched_request> beside) noexcept {
  batched_table table{};
  table.follows_leaves = true;
  const auto add = [&](const batched_item& item, std::uint64_t units) {
    batched_item& added = table.item[table.items++];
    added = item;
    added.first_block = table.blocks++;
    added.log_leaf = static_cast<std::uint8_t>(plan_of_item(units, 1).log_leaf);
  };
  for (const batched_request& one : beside) add(one.item, 1);  // they need not wait for leaves
  const std::uint64_t first_leaf = whole_leaves_of(run.tiles, log_leaf).first;
  for_nodes_of(run, [&](batched_item item, std::uint64_t first, int height) {
    if (height < log_leaf) return add(item, std::uint64_t{1} << std::max(height - run.log_unit, 0));
    item.y = item.x;
    item.x = slots + static_cast<std::size_t>((first - first_leaf) >> log_leaf) * slot_bytes;
    item.count = std::uint64_t{1} << (height - log_leaf);
    item.how |= batched_item::from_slots;
    ++table.several;
    add(item, 1);
    table.item[table.items - 1].log_leaf = static_cast<std::uint8_t>(log_leaf);
  });
  return table;
}

}  // namespace onefold::cuda_backend
