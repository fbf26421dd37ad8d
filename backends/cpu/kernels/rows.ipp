#pragma once
/// @file rows.ipp  The rows of a tile, the last one perhaps in part, down to a lane's values.

#include "halving.ipp"

namespace onefold::cpu {

namespace {

// The elements of a row's last part, filled up with padding.
template <class E>
struct padded_row {
  E x[order::lanes<E>], y[order::lanes<E>];
};

// Stores `value` in Count elements, a register at a time.
template <int Count, class E>
ONEFOLD_INLINE void store_all(E* to, E value) {
  const vec<E, width<E>> v = all<E>(value);
  ONEFOLD_UNROLL(16)
  for (int j = 0; j < Count; j += width<E>) __builtin_memcpy(to + j, &v, sizeof(v));
}

template <int Inputs, class E>
ONEFOLD_INLINE void fill(padded_row<E>& row, const E* x, const E* y, u64 count, E pad) {
  store_all<order::lanes<E>>(row.x, pad);
  __builtin_memcpy(row.x, x, count * sizeof(E));
  if constexpr (Inputs == 2) {
    store_all<order::lanes<E>>(row.y, E(1));
    __builtin_memcpy(row.y, y, count * sizeof(E));
  }
}

// `rows` whole rows and, where `last` is not null, the padded row below them; at least one row in all.
template <class E>
struct rows_of {
  const E* x;
  const E* y;
  int rows;
  const padded_row<E>* last;
};

// The lanes' values in P registers from `column` on, of Rows rows, or of those that there are where Rows is 0. Where a row does not fit the accumulators it is taken in blocks of columns.
template <class E, class A, class Map, class Op, int Rows, int P>
ONEFOLD_INLINE pack<A, P> lanes_of(const rows_of<E>& tile, int column) {
  if constexpr (P > accumulators) {
    constexpr int half = P / 2 * width<A>;
    return {lanes_of<E, A, Map, Op, Rows, P / 2>(tile, column), lanes_of<E, A, Map, Op, Rows, P / 2>(tile, column + half)};
  } else {
    constexpr int stride = order::lanes<E>;
    const auto row = [&](int r) {
      const bool whole = Rows > 0 || r < tile.rows;
      const E* x = whole ? tile.x + r * stride : tile.last->x;
      if constexpr (Map::inputs == 2)
        return values<E, A, Map, P>(x + column, (whole ? tile.y + r * stride : tile.last->y) + column);
      else
        return values<E, A, Map, P>(x + column, nullptr);
    };
    pack<A, P> lanes = row(0);
    if constexpr (Rows > 0) {
      ONEFOLD_UNROLL_ROWS
      for (int r = 1; r < Rows; ++r) lanes = combine<Op>(lanes, row(r));
    } else {
      const int rows = tile.rows + (tile.last != nullptr ? 1 : 0);
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < rows; ++r) lanes = combine<Op>(lanes, row(r));
    }
    return lanes;
  }
}

}  // namespace

}  // namespace onefold::cpu
