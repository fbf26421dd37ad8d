#pragma once
/// @file order.hpp  Tree v1 in numbers: the constants of docs/order.md. They are frozen: every one of them is in the bits of every result.

#include <cstddef>
#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::order {

inline constexpr int version = 1;
inline constexpr std::size_t row_bytes = 256;  ///< of the input as stored
inline constexpr int tile_rows = 16;

/// Lanes of a row of elements of so many bytes (1 to 64): elements side by side that are combined with those below them, row after row.
constexpr int lanes_of_bytes(std::size_t element_bytes) noexcept {
  int lanes = 1;
  while (2 * static_cast<std::size_t>(lanes) * element_bytes <= row_bytes) lanes *= 2;
  return lanes;
}
template <class E>
inline constexpr int lanes = lanes_of_bytes(sizeof(E));

/// Elements of a tile, the leaf of the aligned binary tree.
template <class E>
inline constexpr std::uint64_t tile_elements = std::uint64_t{tile_rows} * lanes<E>;

/// Tiles of a group, what a thread of a CPU takes at a time: 64 KiB of elements whose size is a power of two. A group is a subtree, its value a node of this level.
inline constexpr int group_level = 4;
inline constexpr int group_tiles = 1 << group_level;

/// Tiles that `count` elements fill, the last one perhaps in part.
template <class E>
constexpr std::uint64_t tiles(std::uint64_t count) noexcept {
  return count / tile_elements<E> + (count % tile_elements<E> != 0 ? 1 : 0);
}

/// norm2 of doubles: elements below small_below and from big_from on are scaled, exactly, before they are squared.
inline constexpr double small_below = 0x1p-480;
inline constexpr double big_from = 0x1p480;
inline constexpr double scale_up = 0x1p600;     ///< of small elements, and of the result when all are small
inline constexpr double scale_down = 0x1p-600;  ///< of big elements
/// A root of scaled squares from overflow_from on overflows when it is scaled back. Up to brink the roundings may be the reason, and the norm
/// itself within the range: it then becomes the largest finite number.
inline constexpr double overflow_from = 0x1p424;
inline constexpr double brink = 0x1.000000000002p424;

}  // namespace onefold::order
