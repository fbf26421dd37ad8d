#pragma once
/// @file ordered.ipp  Sums and products of floats: the order counts.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

template <class E, class A, class Map, class Op>
struct ordered {
  using register_type = vec<A, width<A>>;
  static constexpr int tile_elements = tile_bytes / static_cast<int>(sizeof(E));
  static constexpr int registers = order::lanes<E> / width<A>;

  template <int Rows>
  ONEFOLD_INLINE static register_type tile(const rows_of<E>& rows) {
    return halve<Op>(lanes_of<E, A, Map, Op, Rows, registers>(rows, 0));
  }

  // Cold, so that g++ does not make 30 KiB of it.
  [[gnu::noinline, gnu::cold]] static register_type short_tile(const E* x, const E* y, u64 count) {
    constexpr u64 lanes = order::lanes<E>;
    const u64 whole = count / lanes * lanes;
    padded_row<E> last;
    rows_of<E> rows{x, y, static_cast<int>(count / lanes), nullptr};
    if (whole < count) {
      fill<Map::inputs>(last, x + whole, Map::inputs == 2 ? y + whole : nullptr, count - whole, padding<E, Map, Op>);
      rows.last = &last;
    }
    return tile<0>(rows);
  }

  static A group(const E* x, const E* y, u64 count, bool far) {
    register_type tiles[group_tiles];
    int k = 0;
    for (; count >= tile_elements; ++k, count -= tile_elements) {
      tiles[k] = tile<order::tile_rows>({x, y, order::tile_rows, nullptr, far});
      x += tile_elements;
      if constexpr (Map::inputs == 2) y += tile_elements;
    }
    if (k == group_tiles) return subtree<Op, A, group_tiles>(tiles);
    if (count > 0) tiles[k++] = short_tile(x, y, count);
    return subtree_of<Op, A>(tiles, k, Op::template neutral<A>);
  }
};

}  // namespace

}  // namespace onefold::cpu
