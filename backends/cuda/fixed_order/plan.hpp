#pragma once
/// @file plan.hpp  The plan that a policy means, and the size of the slots.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <onefold/device/plan.hpp>
#include <onefold/order.hpp>
#include <onefold/policy.hpp>

namespace onefold::cuda_backend {

using device::make_plan;
using device::most_asked_leaves;
using device::most_cluster_blocks;
using device::most_few_units;
using device::most_leaves;
using device::most_warps;
using device::plan;
using device::section_leaves;
using device::slot_bytes_of;
using device::slot_header_bytes;
using device::slot_word_bytes;

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

/// Bytes of the states of the library's own folds, at most: mean_variance of complex doubles. Of several dots in one call there are more.
inline constexpr std::size_t most_own_state_bytes = 48;

/// The fewest elements of a unit, whatever is reduced.
inline constexpr std::uint64_t fewest_unit_elements = 512;

/// Device bytes for the slots of `units` units or fewer, whatever the grid: the smallest blocks need the most.
constexpr std::size_t slot_bytes(std::uint64_t units, std::size_t state_bytes = most_own_state_bytes) noexcept {
  const auto leaves = std::clamp<std::uint64_t>(units, 1, most_leaves);
  return slot_header_bytes + make_plan(leaves, 0, most_leaves).blocks() * slot_bytes_of(state_bytes);
}

}  // namespace onefold::cuda_backend
