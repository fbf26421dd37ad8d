#pragma once
/// @file range_parts.hpp  What the state of a range consists of under tree v1, and the checksum of its bytes (docs/order.md). For states of forms, which the
/// library makes, and of operators, which the caller's translation unit makes.

#include <cstddef>
#include <cstdint>

#include <onefold/order.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// Elements begin .. end - 1.
struct index_range {
  std::uint64_t begin;
  std::uint64_t end;
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return end - begin; }
};

namespace detail {

/// What lies in a row of the tree where elements of type T have the largest tiles, whose borders are those of all others: of complex numbers a part.
template <class T>
using tile_element = typename c_type<part_type(element_type_of<T>)>::type;

/// Share number `which` of so many into which `total` elements of type T are divided evenly, in whole tiles.
template <class T>
constexpr index_range aligned_share(std::uint64_t total, std::uint64_t which, std::uint64_t shares) noexcept {
  using E = tile_element<T>;
  const std::uint64_t tiles = order::tiles<E>(total), each = tiles / shares, more = tiles % shares;
  const std::uint64_t first = each * which + (which < more ? which : more), end = first + each + (which < more ? 1 : 0);
  const auto index = [total](std::uint64_t tile) {
    return tile * order::tile_elements<E> < total ? tile * order::tile_elements<E> : total;
  };
  return {index(first), index(end)};
}

/// Bytes that an element of an array takes in a row of the tree: of complex numbers, where lanes have real values of one for each, those of a part.
constexpr std::size_t row_bytes_of(element_type type, form what) noexcept {
  const bool has_real_lanes = what == form::norm1 || what == form::norm_inf || what == form::mean_variance;
  return size_of(has_real_lanes ? part_type(type) : type);
}

/// Calls each(first, height) for the maximal aligned subtrees, of 2^height tiles each, of the tiles `first` to `end` - 1.
template <class Each>
void for_subtrees(std::uint64_t first, std::uint64_t end, const Each& each) {
  while (first < end) {
    int height = 63 - __builtin_clzll(end - first);
    if (first != 0 && __builtin_ctzll(first) < height) height = __builtin_ctzll(first);
    each(first, height);
    first += std::uint64_t{1} << height;
  }
}

/// The parts of the elements `begin` to `end` - 1: those of a tile that `begin` cuts, complete subtrees, those of a tile that `end` cuts.
struct range_parts {
  std::uint64_t tile;  ///< elements of one
  std::uint64_t begin;
  std::uint64_t end;

  /// The first index behind the tile that `begin` cuts, which may lie behind `end`.
  [[nodiscard]] std::uint64_t first_border() const noexcept { return (begin + tile - 1) / tile * tile; }
  /// Where the subtrees begin and end. Of a range that lies within the tile which its begin cuts both are its end.
  [[nodiscard]] std::uint64_t nodes_begin() const noexcept { return first_border() < end ? first_border() : end; }
  [[nodiscard]] std::uint64_t nodes_end() const noexcept {
    const std::uint64_t border = end / tile * tile;
    return border > nodes_begin() ? border : nodes_begin();
  }
  template <class Each>
  void for_nodes(const Each& each) const {
    for_subtrees(nodes_begin() / tile, nodes_end() / tile, each);
  }
};

/// FNV-1a.
inline std::uint64_t checksum_of(const std::byte* bytes, std::size_t size) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3U;
  return hash;
}

}  // namespace detail
}  // namespace onefold
