#pragma once
/// @file vectors.ipp  Registers as the compiler's vectors: how they are loaded, what becomes of their elements, how two are combined.

#if ONEFOLD_VECTOR_BYTES > 16
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <onefold/order.hpp>

#include "../../float_semantics.hpp"
#include "table.hpp"

#define ONEFOLD_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define ONEFOLD_UNROLL(n) ONEFOLD_PRAGMA(clang loop unroll_count(n))
#else
#define ONEFOLD_UNROLL(n) ONEFOLD_PRAGMA(GCC unroll n)
#endif
// Rows of a tile that are unrolled: prefetchers follow the load instructions, and few of them are followed best
// (docs/decisions/0021, perf/results).
#if ONEFOLD_VECTOR_BYTES == 64
#define ONEFOLD_UNROLL_ROWS ONEFOLD_UNROLL(1)
#else
#define ONEFOLD_UNROLL_ROWS ONEFOLD_UNROLL(5)
#endif
#define ONEFOLD_INLINE [[gnu::always_inline]] inline

namespace onefold::cpu {

namespace {

// Floats of two bytes as their bits: the functions of float16.hpp are inline ones.
#define ONEFOLD_TYPE(name, T) using name = T;
#define ONEFOLD_SMALL_INTEGERS(name, T, magnitude, U) \
  using name = T;                                     \
  using magnitude = U;
#define ONEFOLD_SMALL_FLOAT(name, T, binary_digits) \
  struct name {                                     \
    static constexpr int digits = binary_digits;    \
    u16 bits;                                       \
  };
#include <onefold/types.def>

constexpr int line_bytes = 64;  // of a cache

// Of an input that comes from memory: asks for the lines that the `Elements` elements `Ahead` bytes behind x lie in, which may be behind its end. Where a
// line takes more than a load and an addition, a core by itself looks ahead of too few of them for the speed of memory (docs/decisions/0051). Where it takes
// no more, it does, and this would cost 10 to 25 %.
constexpr u64 bytes_ahead = u64{16} * 1024;
template <int Elements, u64 Ahead = bytes_ahead, class E>
ONEFOLD_INLINE void ask_ahead(const E* x) {
  ONEFOLD_UNROLL(8)
  for (u64 at = 0; at < Elements * sizeof(E); at += line_bytes)
    // No pointer may point behind the array, where nothing is read.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<u64>(x) + Ahead + at));
}

constexpr int vector_bytes = ONEFOLD_VECTOR_BYTES;
constexpr int tile_bytes = order::tile_rows * static_cast<int>(order::row_bytes);

// Registers that hold accumulators: half of those there are. The rest takes loads, products and constants.
constexpr int accumulators = vector_bytes == 64 ? 16 : 8;

template <class T>
constexpr bool is_half = requires { T::digits; };

// What lanes hold: an element, or the bits of one that no register computes with.
template <class T>
struct lane_of {
  using type = T;
};
template <class T>
requires(is_half<T>) struct lane_of<T> {
  using type = u16;
};

template <class T, int N>
struct vector {
  typedef typename lane_of<T>::type type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using vec = typename vector<T, N>::type;

template <class T>
constexpr int width = vector_bytes / static_cast<int>(sizeof(T));

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

template <class T>
constexpr bool is_float = same<T, f32> || same<T, f64>;
template <class T>
constexpr bool is_small_integer = sizeof(T) < 4 && !is_half<T>;

template <int Bytes>
struct signed_of_size {
  using type = i32;
};
template <>
struct signed_of_size<1> {
  using type = i8;
};
template <>
struct signed_of_size<2> {
  using type = i16;
};
template <>
struct signed_of_size<8> {
  using type = i64;
};
template <class T>
using bits_of = typename signed_of_size<sizeof(T)>::type;

template <int Bytes>
struct unsigned_of_size {
  using type = u32;
};
template <>
struct unsigned_of_size<1> {
  using type = u8;
};
template <>
struct unsigned_of_size<2> {
  using type = u16;
};
template <>
struct unsigned_of_size<8> {
  using type = u64;
};

// The identities of max and min.
template <class T>
consteval T smallest() {
  if constexpr (is_float<T>)
    return -T(__builtin_huge_val());
  else
    return T(-1) < T(0) ? T(u64{1} << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
consteval T largest() {
  if constexpr (is_float<T>)
    return T(__builtin_huge_val());
  else
    return T(~u64(smallest<T>()));
}

template <class T>
ONEFOLD_INLINE vec<T, width<T>> all(T value) {
  return value - vec<T, width<T>>{};  // x - 0 is x for every x, where -0 + 0 is not
}

// The same of an element as an array holds it.
template <class E>
ONEFOLD_INLINE vec<E, width<E>> all_of(E element) {
  typename lane_of<E>::type lane;
  __builtin_memcpy(&lane, &element, sizeof(lane));
  return all<decltype(lane)>(lane);
}

// P registers. A recursive struct and not an array: its parts stay in registers at every level of optimisation that has any.
template <class T, int P>
struct pack {
  pack<T, P / 2> low, high;
};
template <class T>
struct pack<T, 1> {
  vec<T, width<T>> v;
};

// --- operators and maps, on vectors and on scalars -------------------------------------------------------------------------------------

struct sum {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a + b;
  }
  template <class T>
  static constexpr T neutral = is_float<T> ? -T(0) : T(0);
};

struct prod {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a * b;
  }
  template <class T>
  static constexpr T neutral = T(1);
};

// Of floats only where there is no NaN and the sign of a zero does not matter.
struct min {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return b < a ? b : a;
  }
  template <class T>
  static constexpr T neutral = largest<T>();
};
struct max {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return b > a ? b : a;
  }
  template <class T>
  static constexpr T neutral = smallest<T>();
};

// NaN left out, and where the sign of a zero does not matter (extremes.ipp).
struct min_number : min {};
struct max_number : max {};

struct bit_and {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a & b;
  }
  template <class T>
  static constexpr T neutral = T(~T(0));
};
struct bit_or {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a | b;
  }
  template <class T>
  static constexpr T neutral = T(0);
};
struct bit_xor {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a ^ b;
  }
  template <class T>
  static constexpr T neutral = T(0);
};

// Has a kernel of its own (any_order.ipp).
struct nonzero {
  static constexpr int inputs = 1;
};

struct as_is {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    return x;
  }
};

struct absolute {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    using bits = vec<bits_of<A>, N>;
    if constexpr (is_float<A>) {
      return reinterpret_cast<vec<A, N>>(reinterpret_cast<bits>(x) & static_cast<bits_of<A>>(~(u64{1} << (8 * sizeof(A) - 1))));
    } else {
      const bits negative = reinterpret_cast<bits>(x) >> static_cast<bits_of<A>>(8 * sizeof(A) - 1);  // all ones or none
      using size = vec<typename unsigned_of_size<sizeof(A)>::type, N>;  // in which that of the smallest number fits
      const size mask = reinterpret_cast<size>(negative);
      return reinterpret_cast<vec<A, N>>((reinterpret_cast<size>(x) ^ mask) - mask);
    }
  }
};

struct square {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    return x * x;
  }
};

struct product {
  static constexpr int inputs = 2;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x, vec<A, N> y) {
    return x * y;
  }
};

// Of a float of two bytes: what is added to the exponents that are stored, and the bits of the infinity.
template <class E>
constexpr int half_bias = (1 << (15 - E::digits)) - 1;
template <class E>
constexpr u16 infinity_of = 0x8000 - (1 << (E::digits - 1));

template <class E>
consteval E one() {
  if constexpr (is_half<E>)
    return {static_cast<u16>(half_bias<E> << (E::digits - 1))};
  else
    return E(1);
}

// The element that Map makes a value of that changes no other: -0 for a sum of elements or of products (the other factor is 1), +0 where
// no value is -0.
template <class E, class Map, class Op>
consteval E padding_of() {
  constexpr bool neutral = same<Map, as_is> || same<Map, product>;
  if constexpr (same<Map, absolute> && same<Op, min>)
    return is_float<E> ? largest<E>() : E(u64{1} << (8 * sizeof(E) - 1));  // whose absolute value is the largest
  else if constexpr (!is_half<E>)
    return neutral ? Op::template neutral<E> : E(0);
  else if constexpr (same<Op, prod>)
    return one<E>();
  else
    return {neutral ? u16{0x8000} : u16{0}};
}
template <class E, class Map, class Op>
constexpr E padding = padding_of<E, Map, Op>();
template <class E>
constexpr E padding<E, absolute, max> = E(0);

#if ONEFOLD_VECTOR_BYTES > 16
template <class V>
ONEFOLD_INLINE __m128i in_16_bytes(V v) {
  __m128i longer = {};
  __builtin_memcpy(&longer, &v, sizeof(v) < sizeof(longer) ? sizeof(v) : sizeof(longer));  // none is longer that is used
  return longer;
}
#endif

// N integers in a larger type. Of the general conversion g++ 12 makes two of half the length, or N of one.
template <class A, class E, int N>
ONEFOLD_INLINE vec<A, N> extended(vec<E, N> x) {
#if ONEFOLD_VECTOR_BYTES > 16
  const auto from = [&] {
    if constexpr (sizeof(x) == 32)
      return reinterpret_cast<__m256i>(x);
    else
      return in_16_bytes(x);
  }();
#define ONEFOLD_EXTENSION(set, bytes, e, a, ...)                                     \
  if constexpr (sizeof(vec<A, N>) == (bytes) && same<E, i##e> && 8 * sizeof(A) == a) \
    return reinterpret_cast<vec<A, N>>(set##epi##e##_epi##a(__VA_ARGS__));           \
  if constexpr (sizeof(vec<A, N>) == (bytes) && same<E, u##e> && 8 * sizeof(A) == a) \
    return reinterpret_cast<vec<A, N>>(set##epu##e##_epi##a(__VA_ARGS__));
#define ONEFOLD_EXTENSIONS(set, bytes, ...)          \
  ONEFOLD_EXTENSION(set, bytes, 8, 16, __VA_ARGS__)  \
  ONEFOLD_EXTENSION(set, bytes, 8, 32, __VA_ARGS__)  \
  ONEFOLD_EXTENSION(set, bytes, 16, 32, __VA_ARGS__) \
  ONEFOLD_EXTENSION(set, bytes, 8, 64, __VA_ARGS__)  \
  ONEFOLD_EXTENSION(set, bytes, 16, 64, __VA_ARGS__) \
  ONEFOLD_EXTENSION(set, bytes, 32, 64, __VA_ARGS__)
  ONEFOLD_EXTENSIONS(_mm_cvt, 16, from)
  ONEFOLD_EXTENSIONS(_mm256_cvt, 32, from)
#if ONEFOLD_VECTOR_BYTES == 64
  constexpr u32 all_lanes = ~u32{0} >> (32 - N);
  ONEFOLD_EXTENSIONS(_mm512_maskz_cvt, 64, all_lanes, from)
#endif
#undef ONEFOLD_EXTENSIONS
#undef ONEFOLD_EXTENSION
#endif
  return __builtin_convertvector(x, vec<A, N>);
}

// The products of 32 bits each, the lower ones of lanes of 64.
template <class E>
ONEFOLD_INLINE vec<u64, width<u64>> whole_products(vec<u64, width<u64>> x, vec<u64, width<u64>> y) {
  constexpr bool is_signed = same<E, i32>;
#if ONEFOLD_VECTOR_BYTES == 64
  const auto a = reinterpret_cast<__m512i>(x), b = reinterpret_cast<__m512i>(y);
  return reinterpret_cast<vec<u64, 8>>(is_signed ? _mm512_maskz_mul_epi32(0xff, a, b) : _mm512_maskz_mul_epu32(0xff, a, b));
#elif ONEFOLD_VECTOR_BYTES == 32
  const auto a = reinterpret_cast<__m256i>(x), b = reinterpret_cast<__m256i>(y);
  return reinterpret_cast<vec<u64, 4>>(is_signed ? _mm256_mul_epi32(a, b) : _mm256_mul_epu32(a, b));
#else
  static_cast<void>(is_signed);
  return x * y;
#endif
}

// N halves of any format as floats, exactly.
template <class E, int N>
ONEFOLD_INLINE vec<f32, N> rebased_halves(vec<u16, N> x) {
  using bits = vec<u32, N>;
  constexpr int shift = 24 - E::digits;  // a float has so many digits more
  const bits half = extended<u32, u16, N>(x);
  if constexpr (half_bias<E> == 127) {
    return reinterpret_cast<vec<f32, N>>(half << shift);
  } else {
    constexpr u32 rebasing = static_cast<u32>(127 - half_bias<E>) << 23;             // of exponents
    constexpr u32 quantum = static_cast<u32>(152 - half_bias<E> - E::digits) << 23;  // a float whose last digit a subnormal half's is
    const bits size = half & 0x7fffU;
    const bits rebased = (size << shift) + rebasing;
    // A subnormal's digits are those of the number above the quantum with this unit in the last place, less the quantum.
    const vec<f32, N> small = reinterpret_cast<vec<f32, N>>(size | quantum) - __builtin_bit_cast(f32, quantum);
    const bits finite = size < (1U << (E::digits - 1)) ? reinterpret_cast<bits>(small) : rebased;
    const bits all_sizes = size >= infinity_of<E> ? rebased + rebasing : finite;
    return reinterpret_cast<vec<f32, N>>(all_sizes | (half & 0x8000U) << 16);
  }
}

// The same, by the machine's instruction where it has one.
template <int N, class E>
ONEFOLD_INLINE vec<f32, N> to_floats(E, vec<u16, N> x) {
#if ONEFOLD_VECTOR_BYTES == 64
  if constexpr (same<E, f16> && N == 16) return reinterpret_cast<vec<f32, N>>(_mm512_maskz_cvtph_ps(0xffff, reinterpret_cast<__m256i>(x)));
  if constexpr (same<E, f16> && N == 8) return reinterpret_cast<vec<f32, N>>(_mm256_cvtph_ps(in_16_bytes(x)));
#elif ONEFOLD_VECTOR_BYTES == 32
  if constexpr (same<E, f16> && N == 8) return reinterpret_cast<vec<f32, N>>(_mm256_cvtph_ps(in_16_bytes(x)));
  if constexpr (same<E, f16> && N == 4) return reinterpret_cast<vec<f32, N>>(_mm_cvtph_ps(in_16_bytes(x)));
#endif
  return rebased_halves<E, N>(x);
}

template <class E>
ONEFOLD_INLINE f32 half_value(E half) {
  vec<E, width<f32>> lanes = {};
  lanes[0] = half.bits;
  return to_floats<width<f32>>(E{}, lanes)[0];
}

// In another type. Of a conversion to double g++ 12 makes two of half the length and three shuffles: mean_variance of floats takes 1.35 times as long.
template <class A, class E>
ONEFOLD_INLINE vec<A, width<A>> converted(vec<E, width<A>> x) {
  constexpr int lanes = width<A>;
  if constexpr (is_half<E> && same<A, f32>) {
    return to_floats<lanes>(E{}, x);
  } else if constexpr (is_half<E>) {
    return converted<A, f32>(to_floats<lanes>(E{}, x));
  } else if constexpr (is_small_integer<E> && same<A, f64>) {
    return converted<A, i32>(extended<i32, E, lanes>(x));
  } else if constexpr (!is_float<E> && !is_float<A>) {
    return extended<A, E, lanes>(x);
  } else {
#if ONEFOLD_VECTOR_BYTES > 16
    if constexpr (same<E, f32> && same<A, f64>) {
#if ONEFOLD_VECTOR_BYTES == 64
      return reinterpret_cast<vec<f64, 8>>(_mm512_maskz_cvtps_pd(0xff, reinterpret_cast<__m256>(x)));
#else
      return reinterpret_cast<vec<f64, 4>>(_mm256_cvtps_pd(reinterpret_cast<__m128>(x)));
#endif
    } else if constexpr (same<E, i32> && same<A, f64>) {
#if ONEFOLD_VECTOR_BYTES == 64
      return reinterpret_cast<vec<f64, 8>>(_mm512_maskz_cvtepi32_pd(0xff, reinterpret_cast<__m256i>(x)));
#else
      return reinterpret_cast<vec<f64, 4>>(_mm256_cvtepi32_pd(reinterpret_cast<__m128i>(x)));
#endif
    }
#endif
    return __builtin_convertvector(x, vec<A, lanes>);
  }
}

// width<A> elements at p, of any alignment, in A.
template <class E, class A>
ONEFOLD_INLINE vec<A, width<A>> load(const E* p) {
  vec<E, width<A>> x;
  __builtin_memcpy(&x, p, sizeof(x));
  if constexpr (same<E, A>)
    return x;
  else
    return converted<A, E>(x);
}

// The values of P registers of elements side by side.
template <class E, class A, class Map, int P>
ONEFOLD_INLINE pack<A, P> values(const E* x, const E* y) {
  if constexpr (P > 1) {
    constexpr int half = P / 2 * width<A>;
    return {values<E, A, Map, P / 2>(x, y), values<E, A, Map, P / 2>(x + half, Map::inputs == 2 ? y + half : y)};
  } else if constexpr (sizeof(E) == 4 && same<A, u64> && (same<Map, product> || same<Map, square>)) {
    const vec<A, width<A>> v = load<E, A>(x);
    return {whole_products<E>(v, same<Map, square> ? v : load<E, A>(y))};
  } else if constexpr (Map::inputs == 2) {
    return {Map::template value<A, width<A>>(load<E, A>(x), load<E, A>(y))};
  } else {
    return {Map::template value<A, width<A>>(load<E, A>(x))};
  }
}

template <class Op, class T, int P>
ONEFOLD_INLINE pack<T, P> combine(pack<T, P> a, pack<T, P> b) {
  if constexpr (P > 1)
    return {combine<Op>(a.low, b.low), combine<Op>(a.high, b.high)};
  else
    return {Op::combine(a.v, b.v)};
}

// Halving down to one register.
template <class Op, class T, int P>
ONEFOLD_INLINE vec<T, width<T>> halve(pack<T, P> a) {
  if constexpr (P > 1)
    return halve<Op>(combine<Op>(a.low, a.high));
  else
    return a.v;
}

template <class T, int P>
ONEFOLD_INLINE pack<T, P> all_of_pack(T value) {
  if constexpr (P > 1)
    return {all_of_pack<T, P / 2>(value), all_of_pack<T, P / 2>(value)};
  else
    return {all<T>(value)};
}

}  // namespace

}  // namespace onefold::cpu
