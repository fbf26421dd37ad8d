#pragma once
/// @file any_order.ipp  Operators over integers: any order has the same bits.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

// `Op` over integers.
template <class E, class A, class Map, class Op>
struct any_order {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<A>;

  static A group(const E* x, const E* y, u64 count) {
    pack<A, registers> lanes = all_of_pack<A, registers>(Op::template neutral<A>);
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(x, y));
      x += step;
      if constexpr (Map::inputs == 2) y += step;
    }
    if (count > 0) {
      E last_x[step], last_y[step];
      copy_and_fill<step>(last_x, x, count, padding<E, Map, Op>);
      if constexpr (Map::inputs == 2) copy_and_fill<step>(last_y, y, count, E(1));
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(last_x, last_y));
    }
    const vec<A, width<A>> value = halve<Op>(lanes);
    return subtree<Op, A, 1>(&value);
  }
};

}  // namespace

}  // namespace onefold::cpu
