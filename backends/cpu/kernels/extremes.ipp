#pragma once
/// @file extremes.ipp  min and max of floats, in any order, with NaN and the sign of zero.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

template <class Op>
struct sign_keeper {
  using type = bit_and;
};
template <>
struct sign_keeper<min> {
  using type = bit_or;
};
template <>
struct sign_keeper<min_number> {
  using type = bit_or;
};

// Is there a NaN? Asked only when the cheap test of `extreme` cannot say no.
template <class T>
[[gnu::noinline]] bool any_nan(const T* x, u64 count) {
  using bits = vec<bits_of<T>, width<T>>;
  bits found = {};
  for (; count >= width<T>; count -= width<T>, x += width<T>) {
    const vec<T, width<T>> v = load<T, T>(x);
    found |= reinterpret_cast<bits>(v != v);
  }
  if (subtree<bit_or, bits_of<T>, 1>(&found) != 0) return true;
  for (; count > 0; --count, ++x)
    if (*x != *x) return true;
  return false;
}

// min and max of floats, and the largest absolute value. The machine's comparison loses a NaN and does not know the sign of a zero, so
// two things go along: a sum, which an element that is NaN makes NaN, and the disjunction of all bits for min, the conjunction for max.
// If the minimum is a zero no element but -0 has its sign set; if the maximum is one none but +0 has it clear. Three cheap operations
// on a register, where comparing integer keys takes four and needs instructions that SSE2 and, for f64, AVX2 have not.
template <class T, class Map, class Op>
struct extreme {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<T>;
  static constexpr bool signs_matter = same<Map, as_is>;
  static constexpr bool is_min = same<Op, min>;
  using bits = bits_of<T>;
  using keep = typename sign_keeper<Op>::type;

  struct found {
    pack<T, registers> value, sum;
    pack<bits, registers> signs;
  };

  template <int P>
  ONEFOLD_INLINE static pack<bits, P> as_bits(const pack<T, P>& x) {
    if constexpr (P > 1)
      return {as_bits(x.low), as_bits(x.high)};
    else
      return {reinterpret_cast<vec<bits, width<bits>>>(x.v)};
  }

  ONEFOLD_INLINE static void add(found& so_far, const T* x) {
    const pack<T, registers> values_here = values<T, T, Map, registers>(x, nullptr);
    so_far.value = combine<Op>(so_far.value, values_here);
    so_far.sum = combine<sum>(so_far.sum, values_here);
    if constexpr (signs_matter) so_far.signs = combine<keep>(so_far.signs, as_bits(values_here));
  }

  static T conclude(const found& lanes, const T* x, u64 count) {
    const vec<T, width<T>> sums = halve<sum>(lanes.sum);
    const vec<T, width<T>> extremes = halve<Op>(lanes.value);
    const T total = subtree<sum, T, 1>(&sums);
    if (total != total && any_nan(x, count)) return T(__builtin_nan(""));
    const T value = subtree<Op, T, 1>(&extremes);
    if constexpr (signs_matter) {
      if (value == 0) {
        const vec<bits, width<bits>> signs = halve<keep>(lanes.signs);
        return subtree<keep, bits, 1>(&signs) < 0 ? -T(0) : T(0);
      }
    }
    return value;
  }

  static T group(const T* x, const T*, u64 count, bool far) {
    const T* const begin = x;
    const u64 elements = count;
    found lanes{all_of_pack<T, registers>(padding<T, Map, Op>), all_of_pack<T, registers>(T(0)),
                all_of_pack<bits, registers>(is_min ? bits(0) : bits(-1))};
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      if (far) ask_ahead<step>(x);
      add(lanes, x);
      x += step;
    }
    if (count > 0) {
      T last[step];
      copy_and_fill<step>(last, x, count, padding<T, Map, Op>);
      add(lanes, last);
    }
    return conclude(lanes, begin, elements);
  }
};

// --- without NaN -----------------------------------------------------------------------------------------------------------------

// Is there anything but NaN? Asked only where nothing came before the neutral element.
template <class T>
[[gnu::noinline]] bool any_number(const T* x, u64 count) {
  for (; count > 0; --count, ++x)
    if (*x == *x) return true;
  return false;
}

// min_number and max_number of floats: what is NaN is taken for the infinity that changes nothing, and whose sign does not either.
template <class T, class Op>
struct extreme_number {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<T>;
  using with_nan = extreme<T, as_is, Op>;
  using bits = bits_of<T>;
  using keep = typename sign_keeper<Op>::type;
  static constexpr T neutral = Op::template neutral<T>;

  template <int P>
  ONEFOLD_INLINE static pack<T, P> numbers(const pack<T, P>& x) {
    if constexpr (P > 1)
      return {numbers(x.low), numbers(x.high)};
    else
      return {x.v == x.v ? x.v : all<T>(neutral)};
  }

  static T group(const T* x, const T*, u64 count, bool far) {
    const T* const begin = x;
    const u64 elements = count;
    pack<T, registers> lanes = all_of_pack<T, registers>(neutral);
    pack<bits, registers> signs = all_of_pack<bits, registers>(same<Op, min_number> ? bits(0) : bits(-1));
    const auto add = [&](const T* from) {
      const pack<T, registers> here = numbers(values<T, T, as_is, registers>(from, nullptr));
      lanes = combine<Op>(lanes, here);
      signs = combine<keep>(signs, with_nan::as_bits(here));
    };
    for (; count >= step; count -= step, x += step) {
      if (far) ask_ahead<step>(x);
      add(x);
    }
    if (count > 0) {
      T last[step];
      copy_and_fill<step>(last, x, count, neutral);
      add(last);
    }
    const vec<T, width<T>> extremes = halve<Op>(lanes);
    const T value = subtree<Op, T, 1>(&extremes);
    if (value == neutral && !any_number(begin, elements)) return T(__builtin_nan(""));
    if (value == 0) {
      const vec<bits, width<bits>> all_signs = halve<keep>(signs);
      return subtree<keep, bits, 1>(&all_signs) < 0 ? -T(0) : T(0);
    }
    return value;
  }
};

// --- both at once -----------------------------------------------------------------------------------------------------------------

template <class V>
struct both {
  V min, max;
};

// The type that elements are compared in outside of the kernels.
template <class E>
struct compared {
  using type = E;
};
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  template <>                                \
  struct compared<name> {                    \
    using type = f32;                        \
  };
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) \
  template <>                                         \
  struct compared<name> {                             \
    using type = i32;                                 \
  };                                                  \
  template <>                                         \
  struct compared<magnitude> {                        \
    using type = u32;                                 \
  };
#include <onefold/types.def>

// Of integers.
template <class E>
struct min_and_max {
  using V = typename compared<E>::type;
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<E>;

  static both<V> group(const E* x, const E*, u64 count, bool far) {
    pack<E, registers> least = all_of_pack<E, registers>(largest<E>()), most = all_of_pack<E, registers>(smallest<E>());
    const auto add = [&](const E* from) {
      const pack<E, registers> here = values<E, E, as_is, registers>(from, nullptr);
      least = combine<min>(least, here);
      most = combine<max>(most, here);
    };
    for (; count >= step; count -= step, x += step) {
      if (far) ask_ahead<step>(x);
      add(x);
    }
    if (count > 0) {
      E last[step];
      copy_and_fill<step>(last, x, count, x[0]);  // copies of the first: neither extreme minds them
      add(last);
    }
    const vec<E, width<E>> low = halve<min>(least), high = halve<max>(most);
    return {subtree<min, E, 1>(&low), subtree<max, E, 1>(&high)};
  }
};

// Of floats: with one sum for NaN, and both kinds of signs, as in `extreme`.
template <class T>
requires(is_float<T>) struct min_and_max<T> {
  static constexpr int registers = accumulators / 4;
  static constexpr int step = registers * width<T>;
  using bits = bits_of<T>;
  using one = extreme<T, as_is, min>;

  ONEFOLD_INLINE static T with_sign(T value, bool negative) {
    if (value != 0) return value;
    return negative ? -T(0) : T(0);
  }

  static both<T> group(const T* x, const T*, u64 count, bool far) {
    const T* const begin = x;
    const u64 elements = count;
    pack<T, registers> least = all_of_pack<T, registers>(largest<T>()), most = all_of_pack<T, registers>(smallest<T>());
    pack<T, registers> total = all_of_pack<T, registers>(T(0));
    pack<bits, registers> any_sign = all_of_pack<bits, registers>(bits(0)), all_signs = all_of_pack<bits, registers>(bits(-1));
    const auto add = [&](const T* from) {
      const pack<T, registers> here = values<T, T, as_is, registers>(from, nullptr);
      least = combine<min>(least, here);
      most = combine<max>(most, here);
      total = combine<sum>(total, here);
      any_sign = combine<bit_or>(any_sign, one::as_bits(here));
      all_signs = combine<bit_and>(all_signs, one::as_bits(here));
    };
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      if (far) ask_ahead<step>(x);
      add(x);
      x += step;
    }
    if (count > 0) {
      T last[step];
      copy_and_fill<step>(last, x, count, x[0]);  // copies of the first: neither extreme minds them
      add(last);
    }
    const vec<T, width<T>> sums = halve<sum>(total), low = halve<min>(least), high = halve<max>(most);
    const T checked = subtree<sum, T, 1>(&sums);
    if (checked != checked && any_nan(begin, elements)) return {T(__builtin_nan("")), T(__builtin_nan(""))};
    const vec<bits, width<bits>> some = halve<bit_or>(any_sign), every = halve<bit_and>(all_signs);
    return {with_sign(subtree<min, T, 1>(&low), subtree<bit_or, bits, 1>(&some) < 0),
            with_sign(subtree<max, T, 1>(&high), subtree<bit_and, bits, 1>(&every) < 0)};
  }
};

// --- where an extreme is ----------------------------------------------------------------------------------------------------------

struct has_bits {
  template <class V>
  ONEFOLD_INLINE static auto test(V v, V wanted) {
    return v == wanted;
  }
};
struct is_no_number {
  template <class V>
  ONEFOLD_INLINE static auto test(V v, V) {
    return v != v;
  }
};
// Of an integer, whose absolute value has the same bits or is taken from 0.
struct has_magnitude {
  template <class V>
  ONEFOLD_INLINE static auto test(V v, V wanted) {
    return (v == wanted) | (v == static_cast<V>(0 - wanted));
  }
};
// Of a float's bits, the sign is left out.
template <class T, T Sign>
struct has_size {
  template <class V>
  ONEFOLD_INLINE static auto test(V v, V wanted) {
    return static_cast<V>(v & static_cast<T>(~Sign)) == wanted;
  }
};
template <u16 Infinity>
struct is_beyond {
  template <class V>
  ONEFOLD_INLINE static auto test(V v, V) {
    return static_cast<V>(v & u16{0x7fff}) > Infinity;
  }
};

// The first of `count` elements that passes, of which there is one. Whether a block has any is asked once for all of it.
template <class T, class Test>
u64 first_that(const void* elements, u64 count, const void* wanted) {
  constexpr int registers = 16;
  constexpr u64 block = registers * width<T>;
  using bits = vec<bits_of<T>, width<T>>;
  const char* const bytes = static_cast<const char*>(elements);
  T value;
  __builtin_memcpy(&value, wanted, sizeof(T));
  u64 at = 0;
  for (; count - at >= block; at += block) {
    bits found = {};
    ONEFOLD_UNROLL(16)
    for (int i = 0; i < registers; ++i) {
      vec<T, width<T>> v;  // the bytes of floats too where T is an integer
      __builtin_memcpy(&v, bytes + (at + static_cast<u64>(i) * width<T>)*sizeof(T), sizeof(v));
      found |= reinterpret_cast<bits>(Test::test(v, all<T>(value)));
    }
    if (subtree<bit_or, bits_of<T>, 1>(&found) != 0) break;
  }
  for (; at < count; ++at) {
    T element;
    __builtin_memcpy(&element, bytes + at * sizeof(T), sizeof(T));
    if (Test::test(element, value)) break;
  }
  return at;
}

}  // namespace

}  // namespace onefold::cpu
