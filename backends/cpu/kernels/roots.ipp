#pragma once
/// @file roots.ipp  Square roots of doubles, and of doubles as floats.

#include "vectors.ipp"

namespace onefold::cpu {

namespace {

ONEFOLD_INLINE vec<f64, width<f64>> roots(vec<f64, width<f64>> x) {
  using result = vec<f64, width<f64>>;
#if ONEFOLD_VECTOR_BYTES == 64
  return reinterpret_cast<result>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#elif ONEFOLD_VECTOR_BYTES == 32
  return reinterpret_cast<result>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#elif defined(__SSE2__)
  return reinterpret_cast<result>(_mm_sqrt_pd(reinterpret_cast<__m128d>(x)));
#else
  result all;
  for (int i = 0; i < width<f64>; ++i) all[i] = __builtin_sqrt(x[i]);
  return all;
#endif
}

ONEFOLD_INLINE vec<f32, width<f64>> narrowed(vec<f64, width<f64>> x) {
  using result = vec<f32, width<f64>>;
#if ONEFOLD_VECTOR_BYTES == 64
  return reinterpret_cast<result>(_mm512_maskz_cvtpd_ps(0xff, reinterpret_cast<__m512d>(x)));
#elif ONEFOLD_VECTOR_BYTES == 32
  return reinterpret_cast<result>(_mm256_cvtpd_ps(reinterpret_cast<__m256d>(x)));
#else
  return __builtin_convertvector(x, result);
#endif
}

#if ONEFOLD_VECTOR_BYTES == 64
/// narrowed(roots(s)) by multiplications and additions, where that is certain. A processor with AVX-512 takes 16 to 19 cycles for the roots of a register of
/// doubles; the two ways run beside each other.
///
/// g is within 2^-51 of the root, relatively: a start within 2^-14, a step that doubles the digits of g and of h, which is near 1 / (2 root), and the
/// remainder s - g g, exact in a fused operation, over 2 g. The root that is rounded to a double lies within 2^-53. So the two become the same float unless
/// a number in the middle of two floats lies between them: one whose last 29 bits are 1 and 28 zeros, if the float is no subnormal one. That is taken for
/// possible within 8 units of g's last place. Fused operations change nothing here that is rounded (fused.ipp): of what is not sure nothing is taken.
class roots_as_floats {
 public:
  /// s: +0 and up, or no number.
  ONEFOLD_INLINE vec<f32, width<f64>> of(vec<f64, width<f64>> s) {
    const auto squares = reinterpret_cast<__m512d>(s);
    const __m512d half = _mm512_set1_pd(0.5);
    const __m512d no_infinity = _mm512_maskz_max_pd(
        all_lanes, squares, _mm512_set1_pd(0x1p-300));  // 1 / root of 0; less than the square of any other float
    const __m512d start = _mm512_maskz_rsqrt14_pd(all_lanes, no_infinity);
    __m512d g = _mm512_mul_pd(squares, start);
    __m512d h = _mm512_mul_pd(half, start);
    const __m512d error = _mm512_fnmadd_pd(h, g, half);
    g = _mm512_fmadd_pd(g, error, g);
    h = _mm512_fmadd_pd(h, error, h);
    g = _mm512_fmadd_pd(_mm512_fnmadd_pd(g, g, squares), h, g);

    // Roots from 2^-126 on, of normal floats, and 0, which is the last of all when 1 is taken away; numbers, and no infinities, of which g is none.
    const __m512i before = _mm512_sub_epi64(_mm512_castpd_si512(squares), _mm512_set1_epi64(1));
    sure_ = _mm512_mask_cmpge_epu64_mask(sure_, before, _mm512_castpd_si512(_mm512_set1_pd(0x1p-252)));
    sure_ = _mm512_mask_cmp_pd_mask(sure_, squares, _mm512_set1_pd(__builtin_inf()), _CMP_LT_OQ);
    constexpr long long middle = 1LL << 28, last_bits = 2 * middle - 1, near = 8;
    const __m512i from_middle = _mm512_add_epi64(_mm512_castpd_si512(g), _mm512_set1_epi64(near - middle));
    sure_ = _mm512_mask_cmpgt_epu64_mask(sure_, _mm512_and_si512(from_middle, _mm512_set1_epi64(last_bits)),
                                         _mm512_set1_epi64(2 * near));
    return narrowed(reinterpret_cast<vec<f64, width<f64>>>(g));
  }
  /// Of all that were asked for.
  ONEFOLD_INLINE bool sure() const { return sure_ == all_lanes; }

 private:
  static constexpr __mmask8 all_lanes = 0xff;
  __mmask8 sure_ = all_lanes;
};
#endif

}  // namespace

}  // namespace onefold::cpu
