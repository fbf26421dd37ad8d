#pragma once
/// @file joined.hpp  What puts the images of an array's parts together in one launch: the host fills it in, the kernel takes it. Plain C++.
///
/// Part p begins with element borders[p] and ends where the next one begins. Its image (src/batch.hpp) has a place of 64 bytes for each of its complete subtrees, at least
/// one, then the elements of the tile that its begin cuts and those of the tile that its end cuts, each array of them in whole places.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/host_device.hpp>
#include <onefold/device/destination.hpp>

namespace onefold::cuda_backend {

inline constexpr std::uint32_t most_joined_parts = 480;  ///< of a launch, whose parameters fill the 4 KiB that every driver takes

/// What the kernel takes. Borders come with it, so that no load is ahead of those of the images.
struct joined_table {
  const unsigned char* images;  ///< in device memory
  std::uint64_t stride;         ///< bytes from one image to the next, a multiple of 16
  std::uint32_t parts;          ///< 1 to most_joined_parts
  int fold;                     ///< joined_fold()
  device::destination to;
  std::uint64_t borders[most_joined_parts +
                        1];  ///< of which the first is 0, and that behind the last part the number of elements, at least 1
};
static_assert(sizeof(joined_table) <= 4096, "CUDA before 12.1 takes no more");

inline constexpr std::size_t joined_place_bytes = 64;
inline constexpr int most_joined_levels = 64;  ///< of the tree
inline constexpr std::size_t joined_value_bytes =
    std::size_t{38} * 1024;  ///< for values of subtrees: with the rest what every GPU has

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
struct joined_nodes {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  bool left_is_half = false;

  ONEFOLD_HOST_DEVICE joined_nodes(std::uint64_t begin, std::uint64_t end) noexcept {
    if (begin >= end) return;
    const int height = highest_bit(begin ^ end);
    const std::uint64_t middle = end >> height << height;
    left = middle - begin;
    right = end - middle;
    left_is_half = left == std::uint64_t{1} << height;
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t count() const noexcept { return ones(left) + ones(right); }
};

}  // namespace detail

/// Whether the kernel has room for the subtrees of any `parts` parts of an array of so many tiles, whose values have `state_bytes` bytes.
constexpr bool fits_joined(std::uint64_t tiles, std::uint64_t parts, std::size_t state_bytes) noexcept {
  if (parts < 1 || parts > most_joined_parts) return false;
  // A part of n tiles has at most 2 log2(n / 2 + 1) subtrees, and parts of equal size have the most of them.
  std::uint64_t levels = 0;
  for (std::uint64_t rest = tiles / (2 * parts) + 1; rest != 0; rest >>= 1) ++levels;
  return (most_joined_levels + (2 * levels + 1) * parts + 1) * state_bytes <= joined_value_bytes;
}

/// The kernel's symbol, and the threads of its block.
const void* joined_kernel() noexcept;
constexpr int joined_threads(std::uint32_t parts) noexcept { return 32 * static_cast<int>(parts < 8 ? 2 * parts : 16); }
static_assert(joined_threads(most_joined_parts) >= static_cast<int>(most_joined_parts));

}  // namespace onefold::cuda_backend
