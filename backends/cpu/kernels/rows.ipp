#pragma once
/// @file rows.ipp  The rows of a tile, the last one perhaps in part, down to a lane's values.

#include "halving.ipp"

namespace onefold::cpu {

namespace {

// The elements of a row's last part, filled up with padding.
template <class E>
struct padded_row {
  alignas(vector_bytes) E x[order::lanes<E>], y[order::lanes<E>];
};

// The first `count` elements at p, 1 to width<E> - 1 of them, and `rest` behind them. Nothing behind the last is read.
template <class E>
ONEFOLD_INLINE vec<E, width<E>> load_part(const E* p, u64 count, vec<E, width<E>> rest) {
#if ONEFOLD_VECTOR_BYTES == 64
  const u64 mask = (u64{1} << count) - 1;
  if constexpr (sizeof(E) == 1)
    return reinterpret_cast<vec<E, width<E>>>(_mm512_mask_loadu_epi8(reinterpret_cast<__m512i>(rest), mask, p));
  else if constexpr (sizeof(E) == 2)
    return reinterpret_cast<vec<E, width<E>>>(
        _mm512_mask_loadu_epi16(reinterpret_cast<__m512i>(rest), static_cast<__mmask32>(mask), p));
  else if constexpr (sizeof(E) == 4)
    return reinterpret_cast<vec<E, width<E>>>(
        _mm512_mask_loadu_epi32(reinterpret_cast<__m512i>(rest), static_cast<__mmask16>(mask), p));
  else
    return reinterpret_cast<vec<E, width<E>>>(
        _mm512_mask_loadu_epi64(reinterpret_cast<__m512i>(rest), static_cast<__mmask8>(mask), p));
#else
  ONEFOLD_UNROLL(1)
  for (u64 i = 0; i < count; ++i) __builtin_memcpy(reinterpret_cast<E*>(&rest) + i, p + i, sizeof(E));
  return rest;
#endif
}

// Copies `count` elements and stores `value` behind them, up to Count, a register at a time: what is loaded in other pieces than it was stored
// in comes 7 ns late.
template <int Count, class E>
ONEFOLD_INLINE void copy_and_fill(E* to, const E* from, u64 count, E value) {
  const vec<E, width<E>> v = all_of(value);
  ONEFOLD_UNROLL(16)
  for (int j = 0; j < Count; j += width<E>) {
    const u64 begin = static_cast<u64>(j);
    vec<E, width<E>> here = v;
    if (count >= begin + width<E>)
      here = load<E, E>(from + j);
    else if (count > begin)
      here = load_part<E>(from + j, count - begin, v);
    __builtin_memcpy(to + j, &here, sizeof(here));
  }
}

template <int Inputs, class E>
ONEFOLD_INLINE void fill(padded_row<E>& row, const E* x, const E* y, u64 count, E pad) {
  copy_and_fill<order::lanes<E>>(row.x, x, count, pad);
  if constexpr (Inputs == 2) copy_and_fill<order::lanes<E>>(row.y, y, count, one<E>());
}

// `rows` whole rows and, where `last` is not null, the padded row below them; at least one row in all.
template <class E>
struct rows_of {
  const E* x;
  const E* y;
  int rows;
  const padded_row<E>* last;
  bool far = false;  // they come from memory; asked where elements take long
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
    if constexpr (Rows > 0 && is_half<E>) {  // whose conversion is code enough
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < Rows; ++r) {
        if (tile.far) {
          ask_ahead<P * width<A>>(tile.x + r * stride + column);
          if constexpr (Map::inputs == 2) ask_ahead<P * width<A>>(tile.y + r * stride + column);
        }
        lanes = combine<Op>(lanes, row(r));
      }
    } else if constexpr (Rows > 0) {
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
