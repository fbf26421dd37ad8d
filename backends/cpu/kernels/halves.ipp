#pragma once
/// @file halves.ipp  Extremes of floats of two bytes, as the integers that they are ordered like.

#include "extremes.ipp"

namespace onefold::cpu {

namespace {

// Without the sign the bits of floats are in the order of their sizes, and NaN come behind the infinity. The other bits of a negative one
// are inverted: as signed integers all are in order then, and -0 before +0.
template <class E>
struct half_keys {
  using keys = vec<i16, width<i16>>;
  static constexpr i16 infinity = static_cast<i16>(infinity_of<E>);
  static constexpr i16 behind_all = 0x7fff, before_all = -0x7fff - 1;  // of NaN

  ONEFOLD_INLINE static keys bits(const E* x) { return reinterpret_cast<keys>(load<E, E>(x)); }
  template <class K>
  ONEFOLD_INLINE static K key_of(K bits) {
    return bits ^ ((bits >> 15) & i16{0x7fff});
  }
  ONEFOLD_INLINE static keys size_of(keys bits) { return bits & i16{0x7fff}; }

  ONEFOLD_INLINE static f32 value_of(i16 key) { return half_value(E{static_cast<u16>(key < 0 ? key ^ 0x7fff : key)}); }
};

// The extremes of a group's keys and sizes. Who does not look at some of them has nothing computed.
template <class E>
struct half_extremes {
  using keys_of = half_keys<E>;
  using keys = typename keys_of::keys;
  static constexpr int registers = 4;
  static constexpr int step = registers * width<i16>;

  // add(bits) of each register, the last filled up with copies of the first element, which no extreme minds.
  template <class Add>
  ONEFOLD_INLINE static void each(const E* x, u64 count, bool far, Add add) {
    const E first = x[0];
    for (; count >= step; count -= step, x += step) {
      if (far) ask_ahead<step>(x);
      ONEFOLD_UNROLL(4)
      for (int r = 0; r < registers; ++r) add(r, keys_of::bits(x + r * width<i16>));
    }
    if (count == 0) return;
    E last[step];
    copy_and_fill<step>(last, x, count, first);
    ONEFOLD_UNROLL(4)
    for (int r = 0; r < registers; ++r) add(r, keys_of::bits(last + r * width<i16>));
  }

  struct lanes {
    keys of[registers];
    ONEFOLD_INLINE explicit lanes(i16 value) {
      ONEFOLD_UNROLL(4)
      for (keys& each : of) each = all<i16>(value);
    }
    template <class Op>
    ONEFOLD_INLINE void add(int r, keys v) {
      of[r] = Op::combine(of[r], v);
    }
    template <class Op>
    ONEFOLD_INLINE i16 value() const {
      const keys all_of_them = Op::combine(Op::combine(of[0], of[1]), Op::combine(of[2], of[3]));
      return subtree<Op, i16, 1>(&all_of_them);
    }
  };
};

template <class Op>
constexpr bool is_minimum = same<Op, min> || same<Op, min_number>;

// min and max, and the extremes of absolute values.
template <class E, class Map, class Op>
struct half_extreme : half_extremes<E> {
  using of = half_keys<E>;
  using typename half_extremes<E>::lanes;

  static f32 group(const E* x, const E*, u64 count, bool far) {
    lanes extreme(is_minimum<Op> ? of::behind_all : of::before_all), largest_size(0);
    half_extremes<E>::each(x, count, far, [&](int r, auto bits) {
      const auto size = of::size_of(bits);
      largest_size.template add<max>(r, size);
      extreme.template add<Op>(r, same<Map, absolute> ? size : of::key_of(bits));
    });
    if (largest_size.template value<max>() > of::infinity) return f32(__builtin_nanf(""));
    return of::value_of(extreme.template value<Op>());
  }
};

// min_number and max_number.
template <class E, class Op>
struct half_extreme_number : half_extremes<E> {
  using of = half_keys<E>;
  using typename half_extremes<E>::lanes;

  static f32 group(const E* x, const E*, u64 count, bool far) {
    constexpr i16 nothing = is_minimum<Op> ? of::behind_all : of::before_all;
    lanes extreme(nothing);
    half_extremes<E>::each(x, count, far, [&](int r, auto bits) {
      extreme.template add<Op>(r, of::size_of(bits) > of::infinity ? all<i16>(nothing) : of::key_of(bits));
    });
    const i16 key = extreme.template value<Op>();
    return key == nothing ? f32(__builtin_nanf("")) : of::value_of(key);
  }
};

template <class E>
requires(is_half<E>) struct min_and_max<E> : half_extremes<E> {
  using of = half_keys<E>;
  using V = f32;
  using typename half_extremes<E>::lanes;

  static both<f32> group(const E* x, const E*, u64 count, bool far) {
    lanes least(of::behind_all), most(of::before_all), largest_size(0);
    half_extremes<E>::each(x, count, far, [&](int r, auto bits) {
      largest_size.template add<max>(r, of::size_of(bits));
      least.template add<min>(r, of::key_of(bits));
      most.template add<max>(r, of::key_of(bits));
    });
    if (largest_size.template value<max>() > of::infinity) return {f32(__builtin_nanf("")), f32(__builtin_nanf(""))};
    return {of::value_of(least.template value<min>()), of::value_of(most.template value<max>())};
  }
};

}  // namespace

}  // namespace onefold::cpu
