#pragma once
/// @file joined.hpp  What puts the images of an array's parts together in one launch: the host fills it in, the kernel takes it. Plain C++.
///
/// Part p begins with element borders[p] and ends where the next one begins. Its image (src/batch.hpp) has a place of 64 bytes for each of its complete subtrees, at least
/// one, then the elements of the tile that its begin cuts and those of the tile that its end cuts, each array of them in whole places.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/host_device.hpp>
#include <onefold/detail/subtrees.hpp>
#include <onefold/device/destination.hpp>

#include "converted_folds.hpp"

namespace onefold::cuda_backend {

inline constexpr std::uint32_t most_joined_parts = 400;  ///< of a launch, whose parameters fill the 4 KiB that every driver takes

inline constexpr std::uint32_t most_joined_items = 128;
inline constexpr std::uint32_t most_joined_cuts = 15;  ///< a warp for each, and one for the subtrees

/// A fold: which of the kernels has it, and its number there.
struct joined_place {
  int kernel;
  int fold;
};

/// What the kernel makes of elements, and of the numbers in states that images have, ahead of a fold (joined_folds.hpp).
struct joined_conversion {
  element_type read;  ///< what elements are read as
  converted_map map;
  std::uint8_t log_tile;  ///< elements of a tile, as a power of two
  std::uint8_t bytes;     ///< of a number in a state: 4 or 8
  bool is_negated;        ///< of what is compared, and of bits: the order is the other way,
  bool is_unsigned;       ///< and the highest bit of 64 is changed
  bool is_signed;         ///< numbers in states are integers with a sign
};

/// What the kernel takes. Borders come with it, so that no load is ahead of those of the images.
struct joined_table {
  static constexpr std::uint32_t of_cut = 0xffffffff;

  const unsigned char* images;  ///< in device memory
  std::uint64_t stride;         ///< bytes from one image to the next, a multiple of 16
  std::uint32_t parts;          ///< 1 to most_joined_parts
  int fold;                     ///< joined_place::fold
  joined_conversion conversion;
  device::destination to;
  // Of few values the host knows where each comes from and when it is joined, which spares the block the bits of 64-bit numbers; else 0 items.
  std::uint32_t items;
  std::uint32_t cuts;
  std::uint32_t place[most_joined_items];   ///< place_of(), and the lowest bits of height_of(); of a tile that is cut, of_cut
  std::uint8_t joined[most_joined_items];   ///< joined_by(), and the highest bits of height_of()
  std::uint8_t cut_item[most_joined_cuts];  ///< which items are tiles that are cut,
  std::uint16_t cut_at[most_joined_cuts];   ///< and the parts at whose begins they are; behind the last part the number of parts
  std::uint64_t borders[most_joined_parts +
                        1];  ///< of which the first is 0, and that behind the last part the number of elements, at least 1

  [[nodiscard]] ONEFOLD_HOST_DEVICE bool is_cut(std::uint32_t item) const noexcept { return place[item] == of_cut; }
  /// Bytes from `images` to the value of a subtree, a multiple of 16.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t place_of(std::uint32_t item) const noexcept { return place[item] & ~15U; }
  /// Tiles of an item, as a power of two.
  [[nodiscard]] ONEFOLD_HOST_DEVICE int height_of(std::uint32_t item) const noexcept {
    return is_cut(item) ? 0 : static_cast<int>((place[item] & 15U) | std::uint32_t{joined[item]} >> 6U << 4U);
  }
  /// With so many values before it an item is joined, from the last one on, as soon as it is there.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t joined_by(std::uint32_t item) const noexcept {
    return std::uint32_t{joined[item]} & 63U;
  }
};
static_assert(sizeof(joined_table) <= 4096, "CUDA before 12.1 takes no more");

/// Elements of a tile with rows of elements of so many bytes, as a power of two.
constexpr int log_tile_of_bytes(std::size_t bytes) noexcept {
  int log = 12;
  for (; bytes > 1; bytes /= 2) --log;
  return log;
}

inline constexpr std::size_t joined_place_bytes = 64;
inline constexpr int most_joined_levels = 64;  ///< of the tree
inline constexpr std::size_t joined_value_bytes =
    std::size_t{38} * 1024;  ///< for values of subtrees: with the rest what every GPU has

namespace detail {

using joined_nodes = onefold::detail::subtrees_of_tiles;
using onefold::detail::highest_bit;
using onefold::detail::lowest_bit;
using onefold::detail::ones;

}  // namespace detail

/// Fills in the items of a table whose images, stride, parts and borders are known, of tiles of 2^log_tile elements. Without these, or if they are too many, the
/// block finds out by itself.
inline void plan_items(joined_table& table, int log_tile) noexcept {
  constexpr std::uint64_t most_offset = 0xfffffffe;
  table.items = table.cuts = 0;
  if (table.parts * table.stride > most_offset) return;
  std::uint32_t items = 0, cuts = 0;
  std::uint64_t tiles = 0;  // that are complete
  // Where subtrees wait for their right siblings a number has ones; a new one joins those that are in its way.
  const auto add = [&](std::uint32_t place, int height) {
    if (items == most_joined_items) return false;
    unsigned joined = 0;
    for (int level = height; (tiles >> level & 1) != 0; ++level) ++joined;
    table.place[items] = place | (static_cast<unsigned>(height) & 15U);
    table.joined[items++] = static_cast<std::uint8_t>(joined | static_cast<unsigned>(height) >> 4U << 6U);
    tiles += std::uint64_t{1} << height;
    return true;
  };
  const auto add_cut = [&](std::uint32_t number) {
    if (cuts == most_joined_cuts) return false;
    table.cut_item[cuts] = static_cast<std::uint8_t>(items);
    table.cut_at[cuts++] = static_cast<std::uint16_t>(number);
    return true;
  };
  const std::uint64_t tile = std::uint64_t{1} << log_tile;
  for (std::uint32_t p = 0; p < table.parts; ++p) {
    const std::uint64_t begin = table.borders[p], end = table.borders[p + 1];
    const std::uint64_t first = (begin + tile - 1) >> log_tile;
    if (begin % tile != 0 && end >= first << log_tile && begin != end && (!add_cut(p) || !add(joined_table::of_cut, 0))) return;
    const detail::joined_nodes nodes(first, end >> log_tile);
    auto place = static_cast<std::uint32_t>(p * table.stride);
    const auto add_node = [&](int height) {
      const bool is_added = add(place, height);
      place += static_cast<std::uint32_t>(joined_place_bytes);
      return is_added;
    };
    for (std::uint64_t left = nodes.left; left != 0; left &= left - 1)
      if (!add_node(detail::lowest_bit(left))) return;
    for (std::uint64_t right = nodes.right; right != 0; right ^= std::uint64_t{1} << detail::highest_bit(right))
      if (!add_node(detail::highest_bit(right))) return;
  }
  // The last tile joins all.
  if (table.borders[table.parts] % tile != 0) {
    if (items == most_joined_items || !add_cut(table.parts)) return;
    table.place[items] = joined_table::of_cut;
    table.joined[items++] = 0;
  }
  table.items = items;
  table.cuts = cuts;
}

/// Whether the kernel has room for the subtrees of any `parts` parts of an array of so many tiles, whose values have `state_bytes` bytes.
constexpr bool fits_joined(std::uint64_t tiles, std::uint64_t parts, std::size_t state_bytes) noexcept {
  if (parts < 1 || parts > most_joined_parts) return false;
  // A part of n tiles has at most 2 log2(n / 2 + 1) subtrees, and parts of equal size have the most of them.
  std::uint64_t levels = 0;
  for (std::uint64_t rest = tiles / (2 * parts) + 1; rest != 0; rest >>= 1) ++levels;
  return (most_joined_levels + (2 * levels + 1) * parts + 1) * state_bytes <= joined_value_bytes;
}

/// The symbol of a kernel, by joined_place::kernel.
const void* joined_kernel(int number) noexcept;
/// The threads of its block.
inline int joined_threads(const joined_table& table) noexcept {
  if (table.items > 0) return 32 * static_cast<int>(1 + table.cuts);
  return 32 * static_cast<int>(table.parts < 8 ? 2 * table.parts : 16);
}
static_assert(most_joined_parts <= 16 * 32);

}  // namespace onefold::cuda_backend
