#pragma once
/// @file plan.hpp  How the tiles of tree v1 are given to the blocks of a grid. Plain C++: the host plans, the device follows.
///
/// The unit of work, which one warp takes at a time, is an aligned power of two of tiles: a pair, 8 KiB of the first input, or one, or the
/// 512 elements of several that are short. A leaf is an aligned power of two of units, hence a subtree; a block of its own reads it, ends,
/// and leaves one value in a slot. A section is 1024 leaves. The values of a section are collected by a block that starts a section later
/// and so finds them there; those of the last two sections by the block of the last leaf. So the hardware gives every multiprocessor its
/// next 64 KiB when it is ready for them, whatever the size of the array.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/host_device.hpp>

namespace onefold::device {

inline constexpr int most_warps = 16;          ///< of a block: with 128 registers for each thread they fill a multiprocessor
inline constexpr int most_cluster_blocks = 8;  ///< what every device of compute capability 9.0 or more can have
inline constexpr int most_few_units = most_cluster_blocks * most_warps;  ///< of an array that is read with a warp for each unit
inline constexpr std::size_t most_few_state_bytes = 256;  ///< of a state; larger ones have no kernels for so few units
inline constexpr int log_part = 8;                        ///< slots that a warp collects, eight for each lane
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
  /// No block collects, but the kernel behind this one does, which starts when all blocks of this one have: it waits for slots alone.
  bool next_collects;

  /// Sections that have a block to collect them.
  ONEFOLD_HOST_DEVICE constexpr std::uint32_t collectors() const noexcept { return sections > 2 ? sections - 2 : 0; }
  /// Each writes one slot: those of the leaves come first, behind them those of the collected sections.
  ONEFOLD_HOST_DEVICE constexpr std::uint32_t blocks() const noexcept { return leaves + collectors(); }
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

/// A slot hands one value from one block to another: the value's words, each with the number of the launch that wrote it.
inline constexpr std::size_t slot_word_bytes = 16;
inline constexpr std::size_t slot_header_bytes = 2560;  ///< launches, and behind them the limbs of exact sums

/// Bytes of a slot for states of so many bytes.
constexpr std::size_t slot_bytes_of(std::size_t state_bytes) noexcept { return (state_bytes + 7) / 8 * slot_word_bytes; }

}  // namespace onefold::device
