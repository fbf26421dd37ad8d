#pragma once
/// @file floats.cuh  Exact sums of floats without an operation on doubles (decision 0053), for GPUs that have few FP64 cores: bins are integers. tests/device
/// runs it on threads of the host.
///
/// Ahead of the bins a thread adds up what it has read, 8 floats or 16 smaller ones, as two sums of floats, both exact, as the window's kernel does with two of
/// doubles (sums.cuh):
///
///     begin = 1.5 * 2^q            now = high + x, rounded to a multiple of 2^(q-23): so high - begin is an integer of 23 bits
///     begin = 1.5 * 2^(q+k-23)     low += x - (now - high): what was rounded away, of less than 2^k times half that multiple
///
/// The bits of a float between 2^q and 2^(q+1) count such multiples, so that the difference of two floats' bits is the integer that goes into a bin. So a
/// float costs four additions of floats and two comparisons, and two integers go into the bins where there were 8 or 16 floats.

#include <cmath>
#include <cstdint>

#include <onefold/device/exact_bins.cuh>
#include <onefold/device/warp.cuh>
#include <onefold/float16.hpp>

#include "memory.hpp"
#include "reading.cuh"

namespace onefold::cuda_backend::exact_sums {

namespace exact = onefold::detail::exact;
using namespace device::exact_sums;

inline constexpr int float_bins = 16;
inline constexpr int float_quantum = -150;  ///< of the first bin, as a power of two
inline constexpr std::uint64_t most_floats_of_thread = std::uint64_t{1}
                                                       << 13;  ///< 39 bits each, of 53, which warps add up of integers too

/// The floats that a thread has at a time, as two sums. `Digits`: what each has at most.
template <int Values, int Digits>
struct float_sums_of_two {
  static constexpr int k = Values > 8 ? 4 : 3;
  static_assert(Values <= 1 << k);
  static constexpr int high_above = k + 2;  ///< by what the exponent of the first sum's begin is above that of the greatest float
  static constexpr int low_below = 21 - 2 * k;  ///< and that of the second one's below it
  static constexpr int least_top =
      1 + low_below;  ///< floats count as having this exponent at least, so that the second begin has one
  static constexpr int most_top =
      253 - high_above;  ///< and have this one at most, so that twice the first begin's power of two is a float
  /// What exponents may differ by, so that the last digit of the smallest float is one of the second sum's.
  static constexpr int most_spread = 45 - 2 * k - Digits;
  static_assert(Digits < 24 || least_top - 1 <= most_spread);  // subnormal ones have the digits of exponent 1

  int high, low;              ///< multiples
  int high_field, low_field;  ///< those of floats of these exponents, as floats have it
  bool is_number;             ///< whether all were

  /// `top`: the exponent of the greatest, and least_top at least.
  __device__ void add(const float (&x)[Values], int top) {
    high_field = top + high_above;
    low_field = top - low_below;
    const unsigned high_begin =
        (static_cast<unsigned>(high_field) << 23) + 0x400000;  // anything where top is too great, and then not taken
    const unsigned low_begin = (static_cast<unsigned>(low_field) << 23) + 0x400000;
    float so_far = __uint_as_float(high_begin);
    float rests = __uint_as_float(low_begin);
#pragma unroll
    for (int i = 0; i < Values; ++i) {
      const float now = __fadd_rn(so_far, x[i]);
      rests = __fadd_rn(rests, __fsub_rn(x[i], __fsub_rn(now, so_far)));
      so_far = now;
    }
    high = static_cast<int>(__float_as_uint(so_far) - high_begin);
    low = static_cast<int>(__float_as_uint(rests) - low_begin);
    is_number = rests == rests;
  }
};

/// A thread's column of bins, `Stride` apart, that floats are added to; and what they say beside their sum.
template <int Stride>
struct integer_column {
  long long* bin;
  unsigned flags;

  __device__ void clear() {
    flags = 0;
#pragma unroll
    for (int b = 0; b < float_bins; ++b) bin[b * Stride] = 0;
  }
  /// Adds `multiple` times the unit in the last place of floats whose exponent is `field`, as floats have it and 1 at least.
  __device__ void place(int field, int multiple) const {
    long long* const to = bin + (field >> 4) * Stride;
    *to += static_cast<long long>(multiple) * (1 << (field & 15));
  }
  /// Adds any float.
  __device__ void add(float x) {
    const unsigned bits = __float_as_uint(x);
    const auto field = static_cast<int>(bits >> 23 & 0xff);
    const bool negative = (bits >> 31) != 0;
    const auto fraction = static_cast<int>(bits & 0x7fffff);
    if (bits != 0x80000000U) flags |= exact::has_other_than_minus_zero;
    if (field == 0xff) {
      flags |= static_cast<unsigned>(fraction != 0 ? exact::has_nan : negative ? exact::has_minus_infinity : exact::has_infinity);
      return;
    }
    const int digits = field == 0 ? fraction : fraction | 0x800000;
    place(field == 0 ? 1 : field, negative ? -digits : digits);
  }
  /// Adds what a thread has at a time, if that of all threads is as close together as two sums need, and says whether it was. By the whole warp.
  template <int Digits, int Values>
  __device__ bool add_close(const float (&x)[Values]) {
    using two = float_sums_of_two<Values, Digits>;
    float highest = fabsf(x[0]);
    float lowest = highest;
#pragma unroll
    for (int i = 1; i < Values; ++i) {
      highest = fmaxf(highest, fabsf(x[i]));
      lowest = fminf(lowest, fabsf(x[i]));
    }
    constexpr int sizes_of_exponent = 1 << 23;
    const int size = __float_as_int(highest);
    const int top = ::max(size >> 23, two::least_top);
    two sum;
    sum.add(x, top);
    // Neither all zeros, nor too large; no float too small, nor zero but beside very small ones. No branches: that takes longer.
    const bool is_in_range = static_cast<unsigned>(size) - 1 < static_cast<unsigned>((two::most_top + 1) * sizes_of_exponent) - 1;
    const bool is_close = __float_as_int(lowest) >= (top - two::most_spread) * sizes_of_exponent;
    bool is_usual = static_cast<unsigned>(is_in_range) & static_cast<unsigned>(is_close) & static_cast<unsigned>(sum.is_number);
    if (!__all_sync(all_lanes, is_usual)) {
      // Zeros have no digits, so they are close to all others; subnormal ones have those of the least exponent.
      unsigned least = 0xffffffff;
      bool is_other = false;
#pragma unroll
      for (int i = 0; i < Values; ++i) {
        const unsigned bits = __float_as_uint(x[i]);
        least = ::min(least, (bits & 0x7fffffffU) - 1);
        is_other |= bits != 0x80000000U;
      }
      const int least_field = ::max(static_cast<int>(least) >> 23, 1);
      is_usual = (size == 0 || (top <= two::most_top && top - least_field <= two::most_spread)) && sum.is_number;
      if (!__all_sync(all_lanes, is_usual)) return false;
      if (is_other) flags |= exact::has_other_than_minus_zero;
    } else {
      flags |= exact::has_other_than_minus_zero;
    }
    place(sum.high_field, sum.high);
    place(sum.low_field, sum.low);
    return true;
  }
};

/// Adds the floats that fall to a thread to its column, of which there are `Threads` in a block. By all threads of the block.
template <class E, int Threads>
__device__ inline void add_floats(const exact_launch& how, std::uint64_t block, std::uint64_t blocks,
                                  integer_column<Threads>& column) {
  using elements = elements_of<E>;
  constexpr int packs = 2;
  constexpr int values = packs * elements::count;
  // Where floats are far apart twice running, the next units are added float by float at once.
  constexpr unsigned vain_at_most = 1;
  constexpr unsigned units_apart = 7;
  const shares<E, packs> given(how.x, count_of(how));
  const std::uint64_t warps = blocks * (Threads / warp_size);
  const std::uint64_t warp = block * (Threads / warp_size) + threadIdx.x / warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
  const auto* const body = reinterpret_cast<const pack*>(static_cast<const E*>(how.x) + given.head);

  const auto load = [&](std::uint64_t unit, pack(&into)[packs]) { load_packs(body, unit, warp_lane, into); };
  // What does not count becomes -0, which changes nothing.
  const bool takes_all = sizeof(E) != 4 || how.part == exact_part::all;  // there are no complex numbers of two halves
  const bool changes = how.absolute || !takes_all;
  const int left_out = (how.part == exact_part::even) == (given.head % 2 == 0) ? 1 : 0;
  const unsigned mask = !how.absolute ? 0xffffffffU : sizeof(E) == 4 ? 0x7fffffffU : 0x7fff7fffU;
  const auto prepare = [&](pack(&p)[packs]) {
#pragma unroll
    for (int k = 0; k < packs; ++k)
#pragma unroll
      for (int c = 0; c < 4; ++c) p[k].of[c] = !takes_all && c % 2 == left_out ? 0x80000000U : p[k].of[c] & mask;
  };

  pack next[packs];
  if (warp < given.units) load(warp, next);
  unsigned in_vain = 0;
  unsigned apart = 0;
  for (std::uint64_t unit = warp; unit < given.units;) {
    pack now[packs];
#pragma unroll
    for (int k = 0; k < packs; ++k) now[k] = next[k];
    unit += warps;
    if (unit < given.units) load(unit, next);
    if (changes) prepare(now);
    float x[values];
#pragma unroll
    for (int i = 0; i < values; ++i) x[i] = elements::get(now[i / elements::count], i % elements::count);
    if (apart == 0) {
      if (column.template add_close<onefold::detail::digits_of<E>>(x)) {
        in_vain = 0;
        continue;
      }
      if (++in_vain > vain_at_most) apart = units_apart + 1;
    }
    if (apart > 0) --apart;
#pragma unroll
    for (int i = 0; i < values; ++i) column.add(x[i]);
  }
  if (warp != given.units % warps) return;
  for (std::uint64_t i = warp_lane; i < given.edge; i += warp_size) {
    const std::uint64_t at = given.at_edge(i);
    if (how.part != exact_part::all && (how.part == exact_part::odd) != (at % 2 != 0)) continue;
    const float x = elements::load(how.x, at);
    column.add(how.absolute ? fabsf(x) : x);
  }
}

}  // namespace onefold::cuda_backend::exact_sums
