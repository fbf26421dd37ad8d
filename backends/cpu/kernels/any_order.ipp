#pragma once
/// @file any_order.ipp  Operators over integers, and counting: any order has the same bits.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

// `Op` over integers.
template <class E, class A, class Map, class Op>
struct any_order {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<A>;
  static constexpr int held = step > width<E> ? step : width<E>;

  static A group(const E* x, const E* y, u64 count, bool) {
    pack<A, registers> lanes = all_of_pack<A, registers>(Op::template neutral<A>);
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(x, y));
      x += step;
      if constexpr (Map::inputs == 2) y += step;
    }
    if (count > 0) {
      E last_x[held], last_y[held];
      copy_and_fill<held>(last_x, x, count, padding<E, Map, Op>);
      if constexpr (Map::inputs == 2) copy_and_fill<held>(last_y, y, count, E(1));
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(last_x, last_y));
    }
    const vec<A, width<A>> value = halve<Op>(lanes);
    return subtree<Op, A, 1>(&value);
  }
};

// How many elements are not zero. Counted in lanes of the elements' width: a group has at most 2^14.
template <class E>
struct counting {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<E>;
  using bits = bits_of<E>;

  template <int P>
  ONEFOLD_INLINE static pack<bits, P> less_one_for_each(const E* x) {  // a comparison's true is -1
    if constexpr (P > 1)
      return {less_one_for_each<P / 2>(x), less_one_for_each<P / 2>(x + P / 2 * width<E>)};
    else
      return {reinterpret_cast<vec<bits, width<bits>>>(load<E, E>(x) != vec<E, width<E>>{})};
  }

  static u64 group(const E* x, const E*, u64 count, bool far) {
    pack<bits, registers> lanes = all_of_pack<bits, registers>(bits(0));
    for (; count >= step; count -= step, x += step) {
      if (far) ask_ahead<step>(x);
      lanes = combine<sum>(lanes, less_one_for_each<registers>(x));
    }
    if (count > 0) {
      E last[step];
      copy_and_fill<step>(last, x, count, E(0));
      lanes = combine<sum>(lanes, less_one_for_each<registers>(last));
    }
    const vec<bits, width<bits>> found = halve<sum>(lanes);
    return static_cast<u64>(-static_cast<i64>(subtree<sum, bits, 1>(&found)));
  }
};

}  // namespace

}  // namespace onefold::cpu
