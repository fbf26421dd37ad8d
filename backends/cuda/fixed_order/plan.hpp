#pragma once
/// @file plan.hpp  How the tiles of tree v1 are given to the blocks of a grid. Plain C++: the host plans, the device follows.
///
/// The unit of work, which one warp takes at a time, is a pair of sibling tiles, 8 KiB of the first input, or one tile. A leaf is
/// an aligned power of two of units, hence a subtree; a block of its own reads it, ends, and leaves one value in a slot. A section
/// is 1024 leaves. The values of a section are collected by a block that starts a section later and so finds them there; those of
/// the last two sections by the block of the last leaf. So the hardware gives every multiprocessor its next 64 KiB when it is ready
/// for them, whatever the size of the array.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <onefold/policy.hpp>

namespace onefold::cuda_backend {

inline constexpr int most_warps = 16;          ///< of a block: with 128 registers for each thread they fill a multiprocessor
inline constexpr int most_cluster_blocks = 8;  ///< what every device of compute capability 9.0 or more can have
inline constexpr int most_few_tiles = most_cluster_blocks * most_warps;  ///< of an array that is read with a warp for each tile
inline constexpr int log_part = 8;                                       ///< slots that a warp collects, eight for each lane
inline constexpr int log_section = 10;
inline constexpr std::uint32_t section_leaves = 1u << log_section;
inline constexpr std::uint32_t most_leaves = 32 * section_leaves;       ///< a section's value for each lane of the collecting warp
inline constexpr std::uint32_t most_asked_leaves = 2 * section_leaves;  ///< as many blocks, none of which only collects

struct plan {
  std::uint32_t leaves;
  std::uint32_t sections;
  int log_warps;  ///< of a block
  int log_leaf;   ///< units of a leaf, at least one for each warp
  bool one_wave;  ///< all blocks are expected to run at once

  /// Sections that have a block to collect them.
  constexpr std::uint32_t collectors() const noexcept { return sections > 2 ? sections - 2 : 0; }
  /// Each writes one slot: those of the leaves come first, behind them those of the collected sections.
  constexpr std::uint32_t blocks() const noexcept { return leaves + collectors(); }
};

/// Plans `units` units (at least 1) for blocks of 2^log_warps warps and at most `leaves` of them that read (1 to most_leaves).
constexpr plan make_plan(std::uint64_t units, int log_warps, std::uint64_t leaves) noexcept {
  int log_leaf = log_warps;
  while (((units - 1) >> log_leaf) >= leaves) ++log_leaf;
  plan made{};
  made.leaves = static_cast<std::uint32_t>(((units - 1) >> log_leaf) + 1);
  made.sections = (made.leaves + section_leaves - 1) / section_leaves;
  made.log_warps = log_warps;
  made.log_leaf = log_leaf;
  return made;
}

/// The plan that a policy means for so many units (at least 1) on a GPU; `asked_warps` of a block (a power of two) and at most `asked_leaves` blocks
/// if these are not 0. Three ranges (docs/tuning.md): where latency counts, few blocks, whose values one warp collects; then one block for
/// each multiprocessor; and from there on blocks of which several fit.
constexpr plan choose_plan(const fixed_order_policy& policy, std::uint64_t units, int multiprocessors, int asked_warps,
                           std::uint64_t asked_leaves) noexcept {
  const auto number = [](int value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t all = number(multiprocessors);
  const bool is_short = units <= number(policy.short_units);
  const std::uint64_t blocks = is_short ? number(policy.short_blocks) : all;
  std::uint64_t warps = number(asked_warps);
  if (warps == 0) {
    warps = number(policy.stream_warps);
    if (is_short || units <= number(policy.wave_warps) * all)
      warps = std::min(std::bit_ceil((units + blocks - 1) / blocks), number(most_warps));
  }
  std::uint64_t leaves = asked_leaves;
  if (leaves == 0)
    leaves = std::clamp<std::uint64_t>(units / (number(policy.stream_rounds) * warps), number(policy.stream_leaves), most_leaves);
  plan made = make_plan(units, std::countr_zero(warps), leaves);
  made.one_wave = made.leaves * warps <= most_warps * all;
  return made;
}

/// A slot hands one value from one block to another: the value's words, each with the number of the launch that wrote it.
inline constexpr std::size_t slot_word_bytes = 16;
inline constexpr std::size_t most_value_words = 3;  ///< the three sums of norm2
inline constexpr std::size_t slot_header_bytes = 256;

/// Device bytes for the slots of `units` units or fewer, whatever the grid: the smallest blocks need the most.
constexpr std::size_t slot_bytes(std::uint64_t units) noexcept {
  const auto leaves = std::clamp<std::uint64_t>(units, 1, most_leaves);
  return slot_header_bytes + make_plan(leaves, 0, most_leaves).blocks() * most_value_words * slot_word_bytes;
}

}  // namespace onefold::cuda_backend
