#pragma once
/// @file subtrees.hpp  The maximal aligned subtrees of a range of tiles, as the ones of two numbers: for host and device, where each is found without those ahead of it.

#include <cstdint>

#include <onefold/detail/host_device.hpp>

namespace onefold {
namespace detail {

// Of a number that is not 0.
ONEFOLD_HOST_DEVICE inline int highest_bit(std::uint64_t of) noexcept {
#ifdef __CUDA_ARCH__
  return 63 - __clzll(static_cast<long long>(of));
#else
  return 63 - __builtin_clzll(of);
#endif
}
ONEFOLD_HOST_DEVICE inline int lowest_bit(std::uint64_t of) noexcept {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(of)) - 1;
#else
  return __builtin_ctzll(of);
#endif
}
ONEFOLD_HOST_DEVICE inline std::uint32_t ones(std::uint64_t of) noexcept {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popcll(of));
#else
  return static_cast<std::uint32_t>(__builtin_popcountll(of));
#endif
}

/// The maximal aligned subtrees of the tiles `begin` to `end` - 1 (for_subtrees() of range_parts.hpp), told from the tile between them that begins
/// the largest subtree: those left of it are as high as the ones of `left` say, from the lowest up, and are right siblings all; those behind it as the ones
/// of `right` say, from the highest down, and are left siblings all. But where `left` is a single subtree as high as the middle may have it, that is a left
/// sibling.
struct subtrees_of_tiles {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  bool left_is_half = false;

  ONEFOLD_HOST_DEVICE subtrees_of_tiles(std::uint64_t begin, std::uint64_t end) noexcept {
    if (begin >= end) return;
    const int height = highest_bit(begin ^ end);
    const std::uint64_t middle = end >> height << height;
    left = middle - begin;
    right = end - middle;
    left_is_half = left == std::uint64_t{1} << height;
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t count() const noexcept { return ones(left) + ones(right); }
  /// Tiles ahead of subtree number `which`, and how high that is.
  ONEFOLD_HOST_DEVICE std::uint64_t tiles_before(std::uint32_t which, int& height) const noexcept {
    const std::uint32_t lefts = ones(left);
    if (which < lefts) {
      std::uint64_t rest = left;
      for (; which > 0; --which) rest &= rest - 1;
      height = lowest_bit(rest);
      return left - rest;
    }
    std::uint64_t rest = right;
    for (which -= lefts; which > 0; --which) rest ^= std::uint64_t{1} << highest_bit(rest);
    height = highest_bit(rest);
    return left + (right - rest);
  }
};

}  // namespace detail
}  // namespace onefold
