#pragma once
/// @file joined_parts.hpp  Where the images of an array's parts have what a kernel in the caller's translation unit puts together (joined_values.cuh).

#include <cstddef>
#include <cstdint>

#include <onefold/detail/host_device.hpp>
#include <onefold/detail/subtrees.hpp>

namespace onefold {
namespace detail {

/// Puts images of a call's values on a stream, and together; device.cuh has the one for `true`. Nobody asks this one.
template <bool OnDevice>
struct device_joined;

/// What decides where values lie in an image.
struct joined_sizes {
  std::uint32_t log_tile;  ///< elements of one, as a power of two
  std::uint32_t node;      ///< bytes
  std::uint32_t value;

  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t tile_of(std::uint64_t element) const noexcept { return element >> log_tile; }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t begin_of(std::uint64_t tile) const noexcept { return tile << log_tile; }
  [[nodiscard]] ONEFOLD_HOST_DEVICE bool is_cut_at(std::uint64_t element) const noexcept {
    return begin_of(tile_of(element)) != element;
  }
};

/// What an image begins with, or is made of, one behind the other.
struct joined_item {
  std::uint64_t tile;   ///< its first
  int height;           ///< it has 2^height tiles
  bool is_cut;          ///< a tile of which other images, or nobody, have elements too: it is no value of this image's
  std::uint64_t place;  ///< bytes from the image's begin on
};

/// The part `begin` to `end` - 1 of an array. Its image has the values of complete subtrees, then the elements of the tile that its begin cuts, then those of the tile that
/// its end cuts.
struct joined_part {
  std::uint64_t begin, end;
  std::uint64_t first_tile, end_tile;  ///< of the subtrees; no tiles where no tile lies in the part as a whole
  subtrees_of_tiles subtrees;
  bool ends_a_tile;  ///< which other parts begin

  ONEFOLD_HOST_DEVICE joined_part(const joined_sizes& of, std::uint64_t from, std::uint64_t to) noexcept
      : begin(from),
        end(to),
        first_tile(of.tile_of(from) + (of.is_cut_at(from) ? 1 : 0)),
        end_tile(of.tile_of(to) > first_tile ? of.tile_of(to) : first_tile),
        subtrees(first_tile, end_tile),
        ends_a_tile(of.is_cut_at(from) && from != to && to >= of.begin_of(first_tile)) {}

  /// The elements of the subtrees; where there are none both are the end, if no tile ends in the part, or that tile's.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t nodes_begin(const joined_sizes& of) const noexcept {
    return of.begin_of(first_tile) < end ? of.begin_of(first_tile) : end;
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t nodes_end(const joined_sizes& of) const noexcept {
    const std::uint64_t border = of.begin_of(end_tile);
    return border < end ? border : end;
  }

  /// Bytes ahead of the elements of the tile that the begin cuts, and of that which the end cuts; of the image.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t head(const joined_sizes& of) const noexcept {
    return up(std::uint64_t{subtrees.count()} * of.node);
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t tail(const joined_sizes& of) const noexcept {
    return head(of) + up((nodes_begin(of) - begin) * of.value);
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t bytes(const joined_sizes& of) const noexcept {
    return tail(of) + up((end - nodes_end(of)) * of.value);
  }
  /// Of an element that no subtree has.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t place_of(const joined_sizes& of, std::uint64_t element) const noexcept {
    return element < nodes_begin(of) ? head(of) + (element - begin) * of.value : tail(of) + (element - nodes_end(of)) * of.value;
  }

  /// The tile that other parts begin and this one ends, then the subtrees.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t items() const noexcept { return subtrees.count() + (ends_a_tile ? 1 : 0); }
  [[nodiscard]] ONEFOLD_HOST_DEVICE joined_item item(const joined_sizes& of, std::uint32_t which) const noexcept {
    if (ends_a_tile) {
      if (which == 0) return {first_tile - 1, 0, true, 0};
      --which;
    }
    joined_item made{first_tile, 0, false, std::uint64_t{which} * of.node};
    made.tile += subtrees.tiles_before(which, made.height);
    return made;
  }

 private:
  [[nodiscard]] ONEFOLD_HOST_DEVICE static std::uint64_t up(std::uint64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }
};

/// The images of an array's parts, one `image_bytes` behind the other.
struct joined_images {
  const unsigned char* images;   ///< in memory of the device
  const std::uint64_t* borders;  ///< there too: where parts begin, and behind the last one the number of elements
  std::uint32_t parts;
  std::uint64_t image_bytes;

  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t total() const noexcept { return borders[parts]; }
  [[nodiscard]] ONEFOLD_HOST_DEVICE joined_part part(const joined_sizes& of, std::uint32_t number) const noexcept {
    return {of, borders[number], borders[number + 1]};
  }
  /// The last part that does not begin behind an element.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t part_of(std::uint64_t element) const noexcept {
    std::uint32_t low = 0, high = parts - 1;
    while (low < high) {
      const std::uint32_t middle = (low + high + 1) / 2;
      if (borders[middle] <= element)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  /// Items of part `number`; behind the last part there is one more, if the array ends within a tile, which is that tile.
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t items(const joined_sizes& of, std::uint32_t number) const noexcept {
    if (number == parts) return of.is_cut_at(total()) ? 1 : 0;
    return part(of, number).items();
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE joined_item item(const joined_sizes& of, std::uint32_t number,
                                                     std::uint32_t which) const noexcept {
    if (number == parts) return {of.tile_of(total()), 0, true, 0};
    joined_item made = part(of, number).item(of, which);
    made.place += number * image_bytes;
    return made;
  }
};

}  // namespace detail
}  // namespace onefold
