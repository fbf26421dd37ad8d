#pragma once
/// @file fixed_order_plan.hpp  How the tiles of tree v1 are given to the blocks of a grid. Plain C++: the host plans, the device follows.
///
/// The unit of work is a pair: two sibling tiles, 8 KiB of the first input, which one warp takes at a time. A group is an aligned power
/// of two of pairs, hence a subtree. A block's warps walk through a group side by side, so that a block reads from one place at a time, and
/// it hands one value over. Each phase gives every block the same number of groups of one size, the coarse ones first; the last one shares out
/// what is left. So all blocks finish within the time of one fine group, and a few thousand values at most are left to combine, for any n.

#include <cstddef>
#include <cstdint>

namespace onefold::cuda_backend {

inline constexpr int most_warps = 16;          ///< of a block: with 128 registers for each thread they fill a multiprocessor
inline constexpr int most_cluster_blocks = 8;  ///< what every device of compute capability 9.0 or more can have
inline constexpr int most_blocks = 256;        ///< of a grid: one for each multiprocessor
inline constexpr int most_few_tiles = most_cluster_blocks * most_warps;  ///< of an array that is read with a warp for each tile
inline constexpr int log_step = 5;  ///< levels between neighbouring phases: what a warp folds at once, one value in each lane
inline constexpr std::uint64_t most_rounds = 30;        ///< groups of the first phase that each block takes
inline constexpr int most_fine_rounds = 1 << log_step;  ///< groups of the last phase that a block takes
inline constexpr int most_phases = 6;                   ///< enough for 2^25 pairs for every warp

/// A group is 2^log_parts parts, a part 2^log_pairs pairs for each warp of the block.
struct phase {
  std::uint64_t first_pair;
  std::uint32_t groups;
  std::uint32_t first_slot;
  int log_parts;
  int log_pairs;  ///< 0, or log_step
};

struct plan {
  std::uint64_t pairs;
  int blocks;
  int log_warps;  ///< of a block
  int phases;     ///< each log_step levels below the one before
  std::uint32_t slots;
  phase of[most_phases];
};

/// Plans `pairs` pairs (at least 1) for `blocks` blocks of 2^log_warps warps. More blocks than there are groups have nothing to do.
constexpr plan make_plan(std::uint64_t pairs, int log_warps, std::uint64_t blocks) noexcept {
  const std::uint64_t units = (pairs + (std::uint64_t{1} << log_warps) - 1) >> log_warps;  // one pair for each warp of a block
  plan made{};
  made.pairs = pairs;
  made.blocks = static_cast<int>(blocks);
  made.log_warps = log_warps;
  int log_units = 0;  // of a group
  while (made.phases + 1 < most_phases && (units / blocks) >> log_units > most_rounds) log_units += log_step;
  std::uint64_t left = units;
  std::uint64_t next_pair = 0;
  for (; log_units >= 0; log_units -= log_step) {
    // All but the last phase only take what gives every block the same.
    const std::uint64_t groups = log_units == 0 ? left : (left >> log_units) / blocks * blocks;
    made.of[made.phases++] = {next_pair, static_cast<std::uint32_t>(groups), made.slots,
                              log_units > log_step ? log_units - log_step : 0, log_units > 0 ? log_step : 0};
    made.slots += static_cast<std::uint32_t>(groups);
    next_pair += groups << (log_units + log_warps);
    left -= groups << log_units;
  }
  return made;
}

/// A slot hands one value from one block to another: the value's words, each with the number of the launch that wrote it.
inline constexpr std::size_t slot_word_bytes = 16;
inline constexpr std::size_t most_value_words = 3;  ///< the three sums of norm2
inline constexpr std::size_t slot_header_bytes = 256;

/// Device bytes for the slots of `pairs` pairs, whatever the grid: the largest grid of the smallest blocks has the most.
constexpr std::size_t slot_bytes(std::uint64_t pairs) noexcept {
  std::uint64_t phases = 1;
  for (std::uint64_t per_block = pairs / most_blocks; per_block > most_rounds; per_block >>= log_step) ++phases;
  const std::uint64_t slots = (most_rounds + 1) * phases * most_blocks;
  return slot_header_bytes + (slots < pairs ? slots : pairs) * most_value_words * slot_word_bytes;
}

}  // namespace onefold::cuda_backend
