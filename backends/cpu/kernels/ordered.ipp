#pragma once
/// @file ordered.ipp  Sums and products of floats: the order counts.

#include "fused.ipp"
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
    if constexpr (is_fused<E, A, Map, Op>)
      return fused_tile<Map>::of(rows);
    else
      return halve<Op>(lanes_of<E, A, Map, Op, Rows, registers>(rows, 0));
  }

  ONEFOLD_INLINE static register_type rows_of_short_tile(const E* x, const E* y, u64 count) {
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
  // Cold, so that g++ does not make 30 KiB of it.
  [[gnu::noinline, gnu::cold]] static register_type lean_short_tile(const E* x, const E* y, u64 count) {
    return rows_of_short_tile(x, y, count);
  }
  [[gnu::noinline]] static register_type fast_short_tile(const E* x, const E* y, u64 count) {
    return rows_of_short_tile(x, y, count);
  }
  // Sums of few elements take as long as cold code. Dots of 16 to 256 do not: 48 to 110 ns instead of 37 to 53 (Zen 4).
  static register_type short_tile(const E* x, const E* y, u64 count) {
    if constexpr (Map::inputs == 2 && is_float<E> && same<E, A>)
      return fast_short_tile(x, y, count);
    else
      return lean_short_tile(x, y, count);
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

  // Of `tiles` tiles whose rows have been added: a row for each.
  static A group_of_lanes(const A* lanes, int tiles) {
    register_type halved[group_tiles];
    for (int k = 0; k < tiles; ++k) halved[k] = tile<1>({lanes + k * order::lanes<E>, nullptr, 1, nullptr});
    if (tiles == group_tiles) return subtree<Op, A, group_tiles>(halved);
    return subtree_of<Op, A>(halved, tiles, Op::template neutral<A>);
  }

  // As many whole groups as there are streams, of which each begins `apart` elements behind the one before, a row of each in turn: from memory some cores
  // read four streams up to 1.3 times as fast as one (docs/decisions/0054). `to` has their values, `to_apart` from each other.
  static constexpr int streams = same<Op, sum> && is_float<E> && registers * 4 <= accumulators ? 4 : 1;
  [[gnu::noinline]] static void groups_in_streams(const E* x, const E* y, u64 apart, A* to, u64 to_apart) {
    constexpr int stride = order::lanes<E>;
    register_type tiles[streams][group_tiles];
    ONEFOLD_UNROLL(1)
    for (int k = 0; k < group_tiles; ++k) {
      auto lanes = row_of_streams<streams>(x, y, apart);
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < order::tile_rows; ++r)
        lanes = combine<Op>(lanes, row_of_streams<streams>(x + r * stride, Map::inputs == 2 ? y + r * stride : nullptr, apart));
      tiles[0][k] = halve<Op>(lanes.low.low);
      tiles[1][k] = halve<Op>(lanes.low.high);
      tiles[2][k] = halve<Op>(lanes.high.low);
      tiles[3][k] = halve<Op>(lanes.high.high);
      x += tile_elements;
      if constexpr (Map::inputs == 2) y += tile_elements;
    }
    for (int s = 0; s < streams; ++s) to[static_cast<u64>(s) * to_apart] = subtree<Op, A, group_tiles>(tiles[s]);
  }

 private:
  // Of S streams, that of the first in the lowest registers.
  template <int S>
  ONEFOLD_INLINE static pack<A, S * registers> row_of_streams(const E* x, const E* y, u64 apart) {
    if constexpr (S > 1)
      return {row_of_streams<S / 2>(x, y, apart),
              row_of_streams<S / 2>(x + S / 2 * apart, Map::inputs == 2 ? y + S / 2 * apart : nullptr, apart)};
    else
      return values<E, A, Map, registers>(x, y);
  }
};

}  // namespace

}  // namespace onefold::cpu
