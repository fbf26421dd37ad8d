#pragma once
/// @file fused.ipp  Tiles of f16, their squares or products of two, added up by operations that multiply and add.
///
/// A product of two halves has at most 22 digits and lies between 2^-48 and 2^32, or is zero: a float holds it as it is. That it is rounded before it is
/// added changes nothing then, and an operation that rounds once has the bits of two (docs/decisions/0057). Of other products this is not so, and no other
/// function of these objects may hold such an operation.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

template <class E, class A, class Map, class Op>
constexpr bool is_fused = false;
template <class Map>
struct fused_tile;

#if ONEFOLD_VECTOR_BYTES > 16

template <>
constexpr bool is_fused<f16, f32, as_is, sum> = true;
template <>
constexpr bool is_fused<f16, f32, square, sum> = true;
template <>
constexpr bool is_fused<f16, f32, product, sum> = true;

// W P lanes, as a pack is.
template <int W, int P>
struct registers_of {
  registers_of<W, P / 2> low, high;
};
template <int W>
struct registers_of<W, 1> {
  vec<f32, W> v;
};

// The values of W P lanes of some rows of the tree, added up.
template <class Map, int W, int P>
struct fused_columns {
  static constexpr bool two = Map::inputs == 2;

  [[gnu::target("fma")]] ONEFOLD_INLINE static registers_of<W, P> of(const rows_of<f16>& rows, int column) {
    const f16* x = rows.x + column;
    const f16* y = two ? rows.y + column : nullptr;
    const int all = rows.rows + (rows.last != nullptr ? 1 : 0);
    auto lanes = zeros<P>();
    ONEFOLD_UNROLL(1)
    for (int r = 0; r < all; ++r) {
      if (r == rows.rows) {
        x = rows.last->x + column;
        if constexpr (two) y = rows.last->y + column;
      }
      if (rows.far) {
        ask_ahead<W * P>(x);
        if constexpr (two) ask_ahead<W * P>(y);
      }
      lanes = with_row(lanes, x, y);
      x += order::lanes<f16>;
      if constexpr (two) y += order::lanes<f16>;
    }
    return lanes;
  }

 private:
  // -0, which changes nothing that is added.
  template <int N>
  ONEFOLD_INLINE static registers_of<W, N> zeros() {
    if constexpr (N > 1)
      return {zeros<N / 2>(), zeros<N / 2>()};
    else
      return {-vec<f32, W>{}};
  }

  ONEFOLD_INLINE static vec<f32, W> floats_at(const f16* p) {
    vec<u16, W> x;
    __builtin_memcpy(&x, p, sizeof(x));
    return to_floats<W>(f16{}, x);
  }

  template <int N>
  [[gnu::target("fma")]] ONEFOLD_INLINE static registers_of<W, N> with_row(const registers_of<W, N>& lanes, const f16* x,
                                                                           const f16* y) {
    if constexpr (N > 1) {
      constexpr int half = W * N / 2;
      return {with_row<N / 2>(lanes.low, x, y), with_row<N / 2>(lanes.high, x + half, two ? y + half : nullptr)};
    } else {
      const vec<f32, W> a = floats_at(x);
      vec<f32, W> b = a;
      if constexpr (two) b = floats_at(y);
      if constexpr (same<Map, as_is>) b = vec<f32, W>{} + 1.0F;
      return {fused(a, b, lanes.v)};
    }
  }

  [[gnu::target("fma")]] ONEFOLD_INLINE static vec<f32, W> fused(vec<f32, W> a, vec<f32, W> b, vec<f32, W> c) {
#if ONEFOLD_VECTOR_BYTES == 64
    if constexpr (W == 16)
      return reinterpret_cast<vec<f32, W>>(
          _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
    else
#endif
      return reinterpret_cast<vec<f32, W>>(
          _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
  }
};

template <int W, int P>
ONEFOLD_INLINE registers_of<W, P> added(const registers_of<W, P>& a, const registers_of<W, P>& b) {
  if constexpr (P > 1)
    return {added(a.low, b.low), added(a.high, b.high)};
  else
    return {a.v + b.v};
}
template <int Left, int W, int P>
ONEFOLD_INLINE registers_of<W, Left> halved(const registers_of<W, P>& lanes) {
  if constexpr (P > Left)
    return halved<Left>(added(lanes.low, lanes.high));
  else
    return lanes;
}

// What ordered::tile() makes of these rows.
template <class Map>
struct fused_tile {
  [[gnu::noinline, gnu::target("fma")]] static vec<f32, width<f32>> of(const rows_of<f16>& rows) {
#if ONEFOLD_VECTOR_BYTES == 64
    if (!shorter_are_faster()) return halved<1>(fused_columns<Map, 16, 8>::of(rows, 0)).v;
    const auto lanes = halved<2>(fused_columns<Map, 8, 16>::of(rows, 0));
    const __m512 low = _mm512_maskz_broadcast_f32x8(0xffff, reinterpret_cast<__m256>(lanes.low.v));
    return reinterpret_cast<vec<f32, 16>>(_mm512_maskz_insertf32x8(0xffff, low, reinterpret_cast<__m256>(lanes.high.v), 1));
#else  // half of the registers hold half of the lanes
    return halved<1>(added(fused_columns<Map, 8, 8>::of(rows, 0), fused_columns<Map, 8, 8>::of(rows, 64))).v;
#endif
  }

 private:
#if ONEFOLD_VECTOR_BYTES == 64
  // A Zen 4 converts 16 bytes to 32 in half a cycle and 32 to 64 in 1.3; an Intel processor takes one cycle for either.
  static bool shorter_are_faster() {
    const bool amd = __builtin_cpu_is("amd") != 0;
#ifdef ONEFOLD_TEST_OTHER_REGISTERS
    return !amd;
#else
    return amd;
#endif
  }
#endif
};

#endif

}  // namespace

}  // namespace onefold::cpu
