#pragma once
/// @file policy.hpp  The launch choices on a GPU: what decides how long a reduction takes, and never its bits.

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/detail/unit.hpp>
#include <onefold/executor.hpp>

namespace onefold {

/// How `fixed_order` gives an array to the blocks of a launch. The order of combination does not depend on any of it. A tile is 4 KiB of the
/// first input, a unit what a warp takes at a time: two tiles, or one (docs/tuning.md says more, docs/order.md what a tile is).
struct fixed_order_policy {
  int one_block_tiles = 16;  ///< up to so many tiles one block has a warp for each; 1 to 16
  int cluster_tiles = 128;   ///< up to so many a cluster of eight blocks has; 0 (never) to 128; compute capability 9.0 or more
  int short_units = 1024;    ///< up to so many units are a matter of latency and go to `short_blocks` blocks; 0 to 2^20
  int short_blocks = 64;     ///< 1 to 1024
  int wave_warps = 16;       ///< up to so many units for each multiprocessor it has one block, with a warp for each; 0 to 16
  int stream_warps = 8;      ///< warps of a block of larger arrays; 1, 2, 4, 8 or 16
  int stream_rounds = 2;     ///< units that each of them takes before its block ends, where there are enough; 1 to 64
  int stream_leaves = 4096;  ///< what is enough: so many blocks at least, with one unit for each warp if need be; 1 to 32768
  int single_tiles = 16;  ///< up to so many tiles for each multiprocessor a warp takes one where accumulators are wide; 0 to 1024

  friend bool operator==(const fixed_order_policy& a, const fixed_order_policy& b) {
    return a.one_block_tiles == b.one_block_tiles && a.cluster_tiles == b.cluster_tiles && a.short_units == b.short_units &&
           a.short_blocks == b.short_blocks && a.wave_warps == b.wave_warps && a.stream_warps == b.stream_warps &&
           a.stream_rounds == b.stream_rounds && a.stream_leaves == b.stream_leaves && a.single_tiles == b.single_tiles;
  }
  friend bool operator!=(const fixed_order_policy& a, const fixed_order_policy& b) { return !(a == b); }
};

ONEFOLD_BEGIN_TEXTS
/// How a variant of the lectures is launched. A choice that it does not have is 0.
struct variant_policy {
  std::string variant;                ///< its name in the catalogue
  int block_size = 0;                 ///< threads; one of the variant's block sizes
  int blocks_per_multiprocessor = 0;  ///< of a grid that stays on the GPU; 0: as many as fit, which is never exceeded
  int alone_rounds = 0;               ///< one block works alone up to so many turns of its loop; 1 to 1024
  int host_values = 0;                ///< so many partial results at most are left to the host; 1 to 2^20

  friend bool operator==(const variant_policy& a, const variant_policy& b) {
    return a.variant == b.variant && a.block_size == b.block_size && a.blocks_per_multiprocessor == b.blocks_per_multiprocessor &&
           a.alone_rounds == b.alone_rounds && a.host_values == b.host_values;
  }
  friend bool operator!=(const variant_policy& a, const variant_policy& b) { return !(a == b); }
};

/// All launch choices for one GPU.
struct launch_policy {
  fixed_order_policy fixed_order;
  std::vector<variant_policy> variants;  ///< of the catalogue's other variants, those that have anything to choose, in its order

  friend bool operator==(const launch_policy& a, const launch_policy& b) {
    return a.fixed_order == b.fixed_order && a.variants == b.variants;
  }
  friend bool operator!=(const launch_policy& a, const launch_policy& b) { return !(a == b); }
};
ONEFOLD_END_TEXTS

namespace detail {

// The same choices in the C interface's structures, and back.
inline onefold_tree_policy c_policy(const fixed_order_policy& from) {
  return {from.one_block_tiles, from.cluster_tiles, from.short_units,   from.short_blocks, from.wave_warps,
          from.stream_warps,    from.stream_rounds, from.stream_leaves, from.single_tiles};
}
inline onefold_variant_policy c_policy(const variant_policy& from) {
  onefold_variant_policy to{};
  if (from.variant.size() >= sizeof(to.variant))
    throw error(errc::invalid_argument, std::string("no variant is named ").append(from.variant));
  std::memcpy(to.variant, from.variant.data(), from.variant.size());
  to.block_size = from.block_size;
  to.blocks_per_multiprocessor = from.blocks_per_multiprocessor;
  to.alone_rounds = from.alone_rounds;
  to.host_values = from.host_values;
  return to;
}
inline std::vector<onefold_variant_policy> c_policies(const launch_policy& from) {
  std::vector<onefold_variant_policy> rows;
  rows.reserve(from.variants.size());
  for (const variant_policy& one : from.variants) rows.push_back(c_policy(one));
  return rows;
}
inline launch_policy policy_from_c(const onefold_tree_policy& tree, const onefold_variant_policy* rows, std::size_t count) {
  launch_policy to{{tree.one_block_tiles, tree.cluster_tiles, tree.short_units, tree.short_blocks, tree.wave_warps,
                    tree.stream_warps, tree.stream_rounds, tree.stream_leaves, tree.single_tiles},
                   {}};
  for (std::size_t i = 0; i < count; ++i)
    to.variants.push_back(
        {rows[i].variant, rows[i].block_size, rows[i].blocks_per_multiprocessor, rows[i].alone_rounds, rows[i].host_values});
  return to;
}

}  // namespace detail

/// The choices that calls on the executor's GPU follow: the library's own for its compute capability, or those of the file that the environment
/// variable ONEFOLD_CUDA_POLICY names, which is read when the device is first used, or what use_policy() has been given. A call's own options
/// come first. Errors: backend_not_built, backend_unavailable, unsupported (the executor is not a cuda() one), those of use_policy_file()
/// while the variable is set, out_of_memory.
[[nodiscard]] inline launch_policy policy_of(const executor& where) {
  return detail::telling_of_lacking_memory([&where] {
    onefold_tree_policy tree{};
    std::vector<onefold_variant_policy> rows(64);
    std::size_t count = 0;
    detail::check_status(onefold_policy_of(detail::c_executor(where), &tree, rows.data(), rows.size(), &count));
    if (count > rows.size()) {
      rows.resize(count);
      detail::check_status(onefold_policy_of(detail::c_executor(where), &tree, rows.data(), rows.size(), &count));
    }
    rows.resize(count);
    return detail::policy_from_c(tree, rows.data(), rows.size());
  });
}

/// Lets calls on the executor's GPU follow `chosen` from now on, those of other threads too. Variants that it does not name keep the library's
/// choice. Errors: those of policy_of(); invalid_argument, with the member's name, where a number is out of its range or a choice is not the
/// variant's; then nothing changes.
inline void use_policy(const executor& where, const launch_policy& chosen) {
  detail::telling_of_lacking_memory([&chosen, &where] {
    const onefold_tree_policy tree = detail::c_policy(chosen.fixed_order);
    const std::vector<onefold_variant_policy> rows = detail::c_policies(chosen);
    detail::check_status(onefold_use_policy(detail::c_executor(where), &tree, rows.data(), rows.size()));
  });
}

/// The same with the policy in a file that `onefold-perf tune` has written, or policy_text(). Errors: those of use_policy(); unsupported where the
/// file is of another GPU, of another version of onefold or in another format; invalid_argument where it cannot be read.
inline void use_policy_file(const executor& where, const std::string& path) {
  detail::check_status(onefold_use_policy_file(detail::c_executor(where), path.c_str()));
}

/// Back to the library's own choices, whatever the environment says.
inline void use_built_in_policy(const executor& where) {
  detail::check_status(onefold_use_built_in_policy(detail::c_executor(where)));
}

/// The content of a file for use_policy_file(), for the executor's GPU and this version of onefold. Errors: those of policy_of().
[[nodiscard]] inline std::string policy_text(const executor& where, const launch_policy& chosen) {
  return detail::telling_of_lacking_memory([&chosen, &where] {
    const onefold_tree_policy tree = detail::c_policy(chosen.fixed_order);
    const std::vector<onefold_variant_policy> rows = detail::c_policies(chosen);
    std::string text;
    std::size_t needed = 1024;
    while (text.size() < needed) {  // with its ending 0
      text.resize(needed);
      detail::check_status(
          onefold_policy_text(detail::c_executor(where), &tree, rows.data(), rows.size(), text.data(), text.size(), &needed));
    }
    text.resize(needed - 1);
    return text;
  });
}

}  // namespace onefold
