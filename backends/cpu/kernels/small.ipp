#pragma once
/// @file small.ipp  Integers of one and two bytes: sums of them, of their absolute values and of products, counts and extremes.
///
/// Of a register's elements neighbours are summed into larger lanes, by instructions that do that and nothing else; what a group adds
/// up to in a lane fits it, and is added in 64 bits then. Where such an instruction knows numbers without a sign alone, or with one alone,
/// elements are shifted by half their range, which is taken back from the sum.

#include "any_order.ipp"

namespace onefold::cpu {

namespace {

template <class T>
using lanes_in = vec<T, width<T>>;

#if ONEFOLD_VECTOR_BYTES == 64
using register_bits = __m512i;
#define ONEFOLD_INTEGERS(name) _mm512_##name
#elif ONEFOLD_VECTOR_BYTES == 32
using register_bits = __m256i;
#define ONEFOLD_INTEGERS(name) _mm256_##name
#elif defined(__SSE2__)
using register_bits = __m128i;
#define ONEFOLD_INTEGERS(name) _mm_##name
#endif

#ifdef ONEFOLD_INTEGERS
template <class V>
ONEFOLD_INLINE register_bits as_register(V v) {
  return reinterpret_cast<register_bits>(v);
}
// Each eight bytes' sum.
ONEFOLD_INLINE lanes_in<u64> sums_of_eight(lanes_in<u8> x) {
  return reinterpret_cast<lanes_in<u64>>(ONEFOLD_INTEGERS(sad_epu8)(as_register(x), register_bits{}));
}
// Each two products' sum; that of four times -2^15 is 2^31 without a sign.
ONEFOLD_INLINE lanes_in<i32> products_of_two(lanes_in<i16> x, lanes_in<i16> y) {
  return reinterpret_cast<lanes_in<i32>>(ONEFOLD_INTEGERS(madd_epi16)(as_register(x), as_register(y)));
}
// The upper half of each product.
ONEFOLD_INLINE lanes_in<u16> high_products(lanes_in<u16> x, lanes_in<u16> y) {
  return reinterpret_cast<lanes_in<u16>>(ONEFOLD_INTEGERS(mulhi_epu16)(as_register(x), as_register(y)));
}
#undef ONEFOLD_INTEGERS
#else
ONEFOLD_INLINE lanes_in<u64> sums_of_eight(lanes_in<u8> x) {
  const auto in_two = reinterpret_cast<lanes_in<u16>>(x);
  const auto in_four = reinterpret_cast<lanes_in<u32>>((in_two & u16{0xff}) + (in_two >> 8));
  const auto in_eight = reinterpret_cast<lanes_in<u64>>((in_four & 0xffffU) + (in_four >> 16));
  return (in_eight & u64{0xffffffff}) + (in_eight >> 32);
}
ONEFOLD_INLINE lanes_in<i32> products_of_two(lanes_in<i16> x, lanes_in<i16> y) {
  const auto a = reinterpret_cast<lanes_in<i32>>(x), b = reinterpret_cast<lanes_in<i32>>(y);
  const auto first = reinterpret_cast<lanes_in<u32>>((a << 16 >> 16) * (b << 16 >> 16));
  return reinterpret_cast<lanes_in<i32>>(first + reinterpret_cast<lanes_in<u32>>((a >> 16) * (b >> 16)));
}
ONEFOLD_INLINE lanes_in<u16> high_products(lanes_in<u16> x, lanes_in<u16> y) {
  const auto a = reinterpret_cast<lanes_in<u32>>(x), b = reinterpret_cast<lanes_in<u32>>(y);
  const auto low = (a & 0xffffU) * (b & 0xffffU) >> 16;
  return reinterpret_cast<lanes_in<u16>>(((a >> 16) * (b >> 16) & 0xffff0000U) | low);
}
#endif

// The lanes' sum.
ONEFOLD_INLINE u64 total_of(lanes_in<u64> v) { return subtree<sum, u64, 1>(&v); }
ONEFOLD_INLINE u64 total_of(lanes_in<i32> v) {
  const auto shifted = reinterpret_cast<lanes_in<u64>>(reinterpret_cast<lanes_in<u32>>(v) ^ 0x80000000U);
  return total_of((shifted & u64{0xffffffff}) + (shifted >> 32)) - width<i32> * (u64{1} << 31);
}
ONEFOLD_INLINE u64 total_of(lanes_in<u16> v) {
  const auto two = reinterpret_cast<lanes_in<u32>>(v);
  return total_of(reinterpret_cast<lanes_in<i32>>((two & 0xffffU) + (two >> 16)));
}

// --- sums -------------------------------------------------------------------------------------------------------------------------

// What a Map makes of a register, added up. `lanes` takes the sums of many registers; `shift_of_two` is what is in it too much of each two
// elements.
template <class E, class Map>
struct summing;

template <class E, class Map>
requires(sizeof(E) == 1 && Map::inputs == 1 && !same<Map, square>) struct summing<E, Map> {
  using lanes = lanes_in<u64>;
  static constexpr bool shifts = same<E, i8> && same<Map, as_is>;
  static constexpr u64 shift_of_two = shifts ? 256 : 0;
  ONEFOLD_INLINE static lanes add(lanes so_far, const E* x, const E*) {
    const auto v = reinterpret_cast<lanes_in<u8>>(Map::template value<E, width<E>>(load<E, E>(x)));
    return so_far + sums_of_eight(shifts ? v ^ u8{0x80} : v);
  }
};

// A group's 2^15 elements in lanes for two of each register: 2^28 at most.
template <class E, class Map>
requires(sizeof(E) == 2 && Map::inputs == 1 && !same<Map, square>) struct summing<E, Map> {
  using lanes = lanes_in<i32>;
  static constexpr bool shifts = same<E, u16> || same<Map, absolute>;
  static constexpr u64 shift_of_two = shifts ? u64{0} - 65536 : 0;
  ONEFOLD_INLINE static lanes add(lanes so_far, const E* x, const E*) {
    const auto v = reinterpret_cast<lanes_in<u16>>(Map::template value<E, width<E>>(load<E, E>(x)));
    return so_far + products_of_two(reinterpret_cast<lanes_in<i16>>(shifts ? v ^ u16{0x8000} : v), all<i16>(1));
  }
};

// A group's 2^16 elements in lanes for four of each 16 bytes: 2^14 products, each below 2^16.
template <class E, class Map>
requires(sizeof(E) == 1 && (same<Map, square> || same<Map, product>)) struct summing<E, Map> {
  using lanes = lanes_in<i32>;
  static constexpr u64 shift_of_two = 0;
  ONEFOLD_INLINE static lanes_in<i16> widened(const E* p) { return load<E, i16>(p); }
  ONEFOLD_INLINE static lanes half(lanes so_far, const E* x, const E* y) {
    const lanes_in<i16> v = widened(x);
    return so_far + products_of_two(v, same<Map, square> ? v : widened(y));
  }
  ONEFOLD_INLINE static lanes add(lanes so_far, const E* x, const E* y) {
    constexpr int next = width<i16>;
    return half(half(so_far, x, y), x + next, same<Map, square> ? y : y + next);
  }
};

// Two products are 2^31 at most and -(2^15)(2^16 - 2) at least: with that taken from them, they need no sign.
template <class Map>
requires(same<Map, square> || same<Map, product>) struct summing<i16, Map> {
  using lanes = lanes_in<u64>;
  static constexpr u64 shift_of_two = same<Map, square> ? 0 : 0x7fff0000;
  ONEFOLD_INLINE static lanes add(lanes so_far, const i16* x, const i16* y) {
    const lanes_in<i16> v = load<i16, i16>(x);
    const lanes_in<i32> two = products_of_two(v, same<Map, square> ? v : load<i16, i16>(y));
    const auto unsigned_two =
        reinterpret_cast<lanes_in<u64>>(reinterpret_cast<lanes_in<u32>>(two) + static_cast<u32>(shift_of_two));
    return so_far + ((unsigned_two & u64{0xffffffff}) + (unsigned_two >> 32));
  }
};

// The halves of the products apart, each as elements are.
template <class Map>
requires(same<Map, square> || same<Map, product>) struct summing<u16, Map> {
  struct lanes {
    lanes_in<i32> low, high;
    ONEFOLD_INLINE friend lanes operator+(lanes a, lanes b) { return {a.low + b.low, a.high + b.high}; }
  };
  static constexpr u64 shift_of_two = u64{0} - u64{65536} * 65537;
  ONEFOLD_INLINE static lanes_in<i32> sums_of_two(lanes_in<u16> v) {
    return products_of_two(reinterpret_cast<lanes_in<i16>>(v ^ u16{0x8000}), all<i16>(1));
  }
  ONEFOLD_INLINE static lanes add(lanes so_far, const u16* x, const u16* y) {
    const lanes_in<u16> v = load<u16, u16>(x);
    const lanes_in<u16> w = same<Map, square> ? v : load<u16, u16>(y);
    return so_far + lanes{sums_of_two(v * w), sums_of_two(high_products(v, w))};
  }
};

template <class Lanes>
ONEFOLD_INLINE u64 total_of(Lanes v) {
  return total_of(v.low) + (total_of(v.high) << 16);
}

// Sums in A: u64, or f64, which holds all of a group's exactly.
template <class E, class A, class Map>
struct small_sum {
  using one = summing<E, Map>;
  using lanes = typename one::lanes;
  static constexpr bool two_inputs = Map::inputs == 2;
  static constexpr int registers = 4;
  static constexpr int step = registers * width<E>;

  ONEFOLD_INLINE static void add(lanes (&so_far)[registers], const E* x, const E* y) {
    ONEFOLD_UNROLL(4)
    for (int r = 0; r < registers; ++r) so_far[r] = one::add(so_far[r], x + r * width<E>, two_inputs ? y + r * width<E> : y);
  }

  static A group(const E* x, const E* y, u64 count, bool far) {
    lanes so_far[registers] = {};
    u64 elements = count / step * step;
    for (; count >= step; count -= step) {
      if (far) {
        ask_ahead<step>(x);
        if constexpr (two_inputs) ask_ahead<step>(y);
      }
      add(so_far, x, y);
      x += step;
      if constexpr (two_inputs) y += step;
    }
    if (count > 0) {
      E last_x[step], last_y[step];
      copy_and_fill<step>(last_x, x, count, E(0));
      if constexpr (two_inputs) copy_and_fill<step>(last_y, y, count, E(0));
      add(so_far, last_x, last_y);
      elements += step;
    }
    const u64 total = total_of((so_far[0] + so_far[1]) + (so_far[2] + so_far[3])) - elements / 2 * one::shift_of_two;
    return static_cast<A>(total);
  }
};

// --- counts -----------------------------------------------------------------------------------------------------------------------

// Elements of one or two bytes that are not zero: a lane has at most 2^7 in a block.
template <class E>
struct counting_small {
  using T = typename lane_of<E>::type;
  static constexpr int registers = 4;
  static constexpr int step = registers * width<T>;
  static constexpr u64 block = u64{32} * step;

  ONEFOLD_INLINE static lanes_in<T> add(lanes_in<T> so_far, const E* x) {
    ONEFOLD_UNROLL(4)
    for (int r = 0; r < registers; ++r) {
      lanes_in<T> v = load<E, E>(x + r * width<T>);
      if constexpr (is_half<E>) v &= T{0x7fff};  // -0 is zero
      so_far += min::combine(v, all<T>(1));
    }
    return so_far;
  }

  ONEFOLD_INLINE static u64 in_block(const E* x, u64 count, bool far) {
    lanes_in<T> so_far = {};
    for (; count >= step; count -= step, x += step) {
      if (far) ask_ahead<step>(x);
      so_far = add(so_far, x);
    }
    if (count > 0) {
      E last[step];
      copy_and_fill<step>(last, x, count, E{});
      so_far = add(so_far, last);
    }
    if constexpr (sizeof(T) == 1)
      return total_of(sums_of_eight(so_far));
    else
      return total_of(so_far);
  }

  static u64 group(const E* x, const E*, u64 count, bool far) {
    u64 found = 0;
    for (; count > block; count -= block, x += block) found += in_block(x, block, far);
    return found + in_block(x, count, far);
  }
};

// --- what needs no larger lanes ------------------------------------------------------------------------------------------------------

template <class E, class Map>
struct compared_lane {
  using type = E;
};
template <>
struct compared_lane<i8, absolute> {
  using type = u8;
};
template <>
struct compared_lane<i16, absolute> {
  using type = u16;
};

// Extremes and bits: in lanes of the elements' width, and in A in the end.
template <class E, class A, class Map, class Op>
struct narrow {
  using T = typename compared_lane<E, Map>::type;
  static A group(const E* x, const E*, u64 count, bool far) {
    return static_cast<A>(any_order<T, T, Map, Op>::group(reinterpret_cast<const T*>(x), nullptr, count, far));
  }
};

}  // namespace

}  // namespace onefold::cpu
