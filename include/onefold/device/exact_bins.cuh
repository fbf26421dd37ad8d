#pragma once
/// @file exact_bins.cuh  What exact sums on a GPU are made of (docs/exact.md, decisions 0031 and 0040), for the library's kernels, which read arrays, and those of
/// users' functions: bins, doubles that never round; terms, which go into them; integers, which bins become in the end.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <onefold/detail/device_exact.hpp>
#include <onefold/device/warp.cuh>

namespace onefold::device::exact_sums {

namespace exact = onefold::detail::exact;

inline constexpr unsigned all_lanes = 0xffffffffU;

// --- integers ---------------------------------------------------------------------------------------------------------------------------------------

/// *limb += v, of several threads; before whoever reads it they have met. Of 64 bits shared memory has no atomics but loops, of 32 it has.
__device__ inline void add_to_limb(long long* limb, unsigned long long v) {
#ifdef __CUDA_ARCH__
  auto* const half = reinterpret_cast<unsigned*>(limb);
  const auto low = static_cast<unsigned>(v);
  auto high = static_cast<unsigned>(v >> 32);
  if (low != 0 && atomicAdd(half, low) > ~low) ++high;  // a carry
  if (high != 0) atomicAdd(half + 1, high);
#else
  atomicAdd(reinterpret_cast<unsigned long long*>(limb), v);
#endif
}

/// limbs += v 2^at, a whole number where `at` is negative too.
__device__ inline void add_integer(long long* limbs, long long v, int at) {
  if (at < 0) {
    v >>= -at;
    at = 0;
  }
  const int shift = at % 32;
  const auto low = static_cast<unsigned long long>(v) << shift;
  const long long high = shift == 0 ? v >> 63 : v >> (64 - shift);
  long long* const to = limbs + at / 32;
  const unsigned long long piece[3] = {low & 0xffffffffU, low >> 32, static_cast<unsigned long long>(high)};
#pragma unroll
  for (int i = 0; i < 3; ++i)
    if (piece[i] != 0) add_to_limb(to + i, piece[i]);
}

/// The same with v negative.
__device__ inline void add_signed(long long* limbs, unsigned long long v, bool negative, int at) {
  add_integer(limbs, negative ? -static_cast<long long>(v) : static_cast<long long>(v), at);
}

__device__ inline int exponent_of(double x) { return __double2hiint(x) >> 20 & 0x7ff; }
__device__ inline unsigned long long digits_of(double x) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
  const unsigned long long fraction = bits & 0xfffffffffffffULL;
  return (bits >> 52 & 0x7ff) == 0 ? fraction : fraction | 1ULL << 52;
}

/// v / 2^quantum, which is an integer of less than 2^53.
__device__ inline long long in_quanta(double v, int quantum) {
  const int shift = ::max(exponent_of(v), 1) - 1075 - quantum;
  const unsigned long long digits = digits_of(v);
  const auto size = static_cast<long long>(shift >= 0 ? digits << ::min(shift, 63) : digits >> ::min(-shift, 63));
  return __double2hiint(v) < 0 ? -size : size;
}

/// The sum over the warp, in all threads.
__device__ inline unsigned sum_of_warp(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, v);
#else
  for (int distance = warp_size / 2; distance > 0; distance /= 2) v += __shfl_xor_sync(all_lanes, v, distance);
  return v;
#endif
}
/// The same of integers of at most 2^57.
__device__ inline long long sum_of_warp(long long v) {
  const unsigned lows = sum_of_warp(static_cast<unsigned>(v) & 0x7ffffffU);
  const auto highs = static_cast<int>(sum_of_warp(static_cast<unsigned>(v >> 27)));
  return (static_cast<long long>(highs) << 27) + lows;
}

__device__ inline unsigned any_of_warp(unsigned bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, bits);
#else
  for (int distance = warp_size / 2; distance > 0; distance /= 2) bits |= __shfl_xor_sync(all_lanes, bits, distance);
  return bits;
#endif
}

__device__ inline unsigned greatest_of_warp(unsigned v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(all_lanes, v);
#else
  for (int distance = warp_size / 2; distance > 0; distance /= 2) v = ::max(v, __shfl_xor_sync(all_lanes, v, distance));
  return v;
#endif
}

/// What NaN and infinities say.
__device__ inline unsigned flags_of(double x) {
  return isnan(x) ? static_cast<unsigned>(exact::has_nan)
                  : static_cast<unsigned>(x > 0 ? exact::has_infinity : exact::has_minus_infinity);
}

// --- bins ------------------------------------------------------------------------------------------------------------------------------------------

inline constexpr int lowest_bin = -2;  ///< its number
/// There are none from this number on, because (x + A) would overflow: for 2^993 and more.
inline constexpr int end_of_bins = 126;
inline constexpr int all_bins = end_of_bins - lowest_bin;

inline constexpr int bins_at_once = 16;

/// What a bin holds, as an integer: bins are doubles, or integers themselves.
__device__ inline long long bits_of_bin(double v) { return __double_as_longlong(v); }
__device__ inline long long bits_of_bin(long long v) { return v; }
__device__ inline long long in_quanta(long long v, int /*quantum*/) { return v; }

/// A bit for each bin of a warp from number `at` on that is not zero in some thread: of `bins_at_once`, as far as there are `Bins`. They are `Stride` bins apart.
template <int Bins, int Stride, class Bin>
__device__ inline unsigned used_bins(const Bin* column, int at) {
  unsigned mine = 0;
#pragma unroll
  for (int k = 0; k < bins_at_once; ++k) {
    const long long bits = bits_of_bin(column[::min(at + k, Bins - 1) * Stride]);
    if (bits << 1 != 0) mine |= 1U << k;
  }
  const unsigned there = Bins - at < bins_at_once ? (1U << (Bins - at)) - 1 : (1U << bins_at_once) - 1;
  return any_of_warp(mine) & there;
}

/// The integer that is in bin b of all threads. That bin has number `base` + b and the quantum 2^(16 (base + b) + first).
template <int Stride, class Bin>
__device__ inline long long sum_of_bin(const Bin* column, int b, int base, int first) {
  return sum_of_warp(in_quanta(column[b * Stride], 16 * (base + b) + first));
}

/// Adds a warp's bins to `limbs`, scaled by 2^scale. By the whole warp.
template <int Bins, int Stride>
__device__ inline void flush_bins(const double* column, int base, int first, int scale, long long* limbs) {
#pragma unroll 1
  for (int at = 0; at < Bins; at += bins_at_once)
#pragma unroll 1
    for (unsigned used = used_bins<Bins, Stride>(column, at); used != 0; used &= used - 1) {
      const int b = at + __ffs(static_cast<int>(used)) - 1;
      const long long sum = sum_of_bin<Stride>(column, b, base, first);
      if (threadIdx.x % warp_size == 0 && sum != 0) add_integer(limbs, sum, 16 * (base + b) + first - scale);
    }
}

/// Where the sum of a warp's bin b lies from its first thread's bins on.
__device__ inline int place_of_sum(int b, int stride) { return b * stride + b % warp_size; }

/// The same in two steps, for all warps of a block: a bin has one thread that adds its integers up, so that warps do not wait for each other at the limbs. In the
/// first a warp puts them where its bins were, each into another thread's, so that they lie in different banks; then the block waits.
template <int Bins, int Stride, class Bin>
__device__ inline void sum_bins_of_warp(Bin* column, int base, int first) {
  const unsigned warp_lane = threadIdx.x % warp_size;
  auto* const sums = reinterpret_cast<long long*>(column - warp_lane);
#pragma unroll 1
  for (int at = 0; at < Bins; at += bins_at_once) {
    unsigned used = used_bins<Bins, Stride>(column, at);
    const int mine = at + static_cast<int>(warp_lane);
    if (warp_lane < bins_at_once && mine < Bins && (used >> warp_lane & 1) == 0) sums[place_of_sum(mine, Stride)] = 0;
#pragma unroll 1
    for (; used != 0; used &= used - 1) {
      const int b = at + __ffs(static_cast<int>(used)) - 1;
      const long long sum = sum_of_bin<Stride>(column, b, base, first);
      if (warp_lane == 0) sums[place_of_sum(b, Stride)] = sum;
    }
  }
}
/// The second step, by `all_bins` threads or more: `columns` are those of the block's first thread, and bases[w] is that of warp w.
template <int Bins, int Stride, class Bin>
__device__ inline void add_bins_of_block(const Bin* columns, const int* bases, int first, int scale, long long* limbs) {
  if (threadIdx.x >= all_bins) return;
  const int number = static_cast<int>(threadIdx.x) + lowest_bin;
  const auto* const sums = reinterpret_cast<const long long*>(columns);
  long long sum = 0;
#pragma unroll
  for (int w = 0; w < Stride / warp_size; ++w) {
    const int b = number - bases[w];
    const bool is_there = static_cast<unsigned>(b) < static_cast<unsigned>(Bins);
    const long long more = sums[place_of_sum(is_there ? b : 0, Stride) + w * warp_size];
    sum += is_there ? more : 0;
  }
  if (sum != 0) add_integer(limbs, sum, 16 * number + first - scale);
}

/// The terms of a sum: the elements themselves.
template <class E>
struct element_terms {
  using type = E;
  using value = std::conditional_t<sizeof(E) == 8, double, float>;
  static constexpr bool is_product = false;
  static constexpr bool turns = false;
  static constexpr int arrays = 1;
  static constexpr int packs = 4;
  static constexpr int below = 2;          ///< bins below that of a term that it needs
  static constexpr bool has_rest = false;  ///< whether a term is more than a double
  static constexpr bool fits = false;      ///< whether all terms that are numbers fit the window
};
/// x y, or x x. `Squares`: no second array. `Turns`: the elements of y change places and signs as in the imaginary part of a dot of complex numbers
/// (decision 0037): of (c, d) the first is d and the second -c.
template <class E, bool Squares, bool Turns = false>
struct product_terms {
  using type = E;
  using value = std::conditional_t<sizeof(E) == 8, double, float>;
  static constexpr bool is_product = true;
  static constexpr bool turns = Turns;
  static constexpr int arrays = Squares ? 1 : 2;
  static constexpr int packs = (sizeof(E) == 2 ? 2 : 4) / arrays;
  static constexpr bool has_rest = sizeof(E) == 8;
  static constexpr int below = has_rest ? 7 : 2;  // x y - p has its lowest digit up to 105 below p's exponent
  static constexpr bool fits = !has_rest;
};

/// One term.
template <class Terms>
struct term {
  double value;  ///< rounded where there is a rest
  double rest;
  double x, y;  ///< what it is the product of
};

template <class Terms>
__device__ inline term<Terms> term_of(typename Terms::value x, typename Terms::value y, unsigned mask) {
  term<Terms> made{};
  const auto a = onefold::detail::converted<double>(x);
  if constexpr (!Terms::is_product) {
    made.value = __hiloint2double(__double2hiint(a) & static_cast<int>(mask), __double2loint(a));
  } else {
    const auto b = onefold::detail::converted<double>(y);
    made.value = __dmul_rn(a, b);
    if constexpr (Terms::has_rest) made.rest = __fma_rn(a, b, -made.value);
    made.x = a;
    made.y = b;
  }
  return made;
}

/// Whether a term is exactly zero: a product may be rounded to zero.
template <class Terms>
__device__ inline bool is_zero(const term<Terms>& t) {
  return t.value == 0 && (!Terms::has_rest || t.x == 0 || t.y == 0);
}

/// A term that no bin takes, into limbs scaled by 2^scale.
template <class Terms>
__device__ __noinline__ void add_apart(term<Terms> t, int scale, long long* limbs, unsigned& flags) {
  if constexpr (Terms::has_rest) {
    if (isnan(t.value) || isinf(t.x) || isinf(t.y)) {
      flags |= flags_of(t.value);
      return;
    }
    const bool negative = (__double2hiint(t.x) ^ __double2hiint(t.y)) < 0;
    const unsigned long long low_word = digits_of(t.x) * digits_of(t.y);
    const unsigned long long high_word = __umul64hi(digits_of(t.x), digits_of(t.y));
    const int at = ::max(exponent_of(t.x), 1) + ::max(exponent_of(t.y), 1) - 2150 - scale;
    constexpr unsigned long long low = (1ULL << 62) - 1;
    add_signed(limbs, low_word & low, negative, at);
    add_signed(limbs, high_word << 2 | low_word >> 62, negative, at + 62);
  } else {
    if (!isfinite(t.value)) {
      flags |= flags_of(t.value);
      return;
    }
    add_signed(limbs, digits_of(t.value), t.value < 0, ::max(exponent_of(t.value), 1) - 1075 - scale);
  }
}

inline constexpr int lowest_exponent = 256;  ///< as doubles have it, of terms that are added up in registers first

/// What a warp has of bins, `Stride` doubles apart: numbers `base` to `base` + `bins` - 1.
template <class Terms, int Bins, int Stride>
struct window {
  static constexpr int most_reach = Bins - Terms::below;
  double* column;
  int base;
  int reach;  ///< terms whose bins are numbers base + below .. base + below + reach - 1 are taken

  __device__ static int bin_of(double x) { return __double2hiint(x) >> 24 & 0x7f; }

  /// `from`: end_of_bins - Bins at most.
  __device__ void open(int from) {
    base = from;
    reach = most_reach;
  }
  __device__ void clear() const {
    for (int b = 0; b < Bins; ++b) column[b * Stride] = 0;
  }
  /// Whether all that lies below a term's digits, too, has an exponent.
  __device__ bool has_room_below() const { return 16 * base >= lowest_exponent; }
  __device__ bool is_below_end(int highest) const { return (highest >> 24) - base - Terms::below < reach; }
  __device__ bool is_above_begin(unsigned lowest) const { return static_cast<int>(lowest >> 24) - base >= Terms::below; }
  /// Whether sums of a few terms, of which none has a greater upper word, fit.
  __device__ bool has_room_above(int highest) const { return (highest >> 24) - base < Bins - 1; }
  __device__ bool is_outside(double x) const {
    return static_cast<unsigned>(bin_of(x) - base - Terms::below) >= static_cast<unsigned>(reach);
  }
  // A term that is inside, or zero, which changes nothing.
  __device__ void add(double x) const {
    const int high = __double2hiint(x);
    const int bin = ::max((high >> 24 & 0x7f) - base, 2);
    const double a = __hiloint2double((high & 0x7f000000) + 0x02080000, 0);
    const double h = __dsub_rn(__dadd_rn(x, a), a);
    put(bin, bin - 2, h, __dsub_rn(x, h));
  }
  // A sum or a rest, of which nothing lies below the lowest bin's quantum.
  __device__ void add_low(double x) const {
    const int bin = ::max((__double2hiint(x) >> 24 & 0x7f) - base, 0);
    const double a = __hiloint2double((bin + base) * 0x01000000 + 0x02080000, 0);
    const double h = __dsub_rn(__dadd_rn(x, a), a);
    const double l = __dsub_rn(x, h);
    put(::max(bin, 1), ::max(bin - 2, 0), bin == 0 ? 0 : h, bin == 0 ? h : l);
  }

 private:
  // Never one and the same: both are read ahead of both being written.
  __device__ void put(int bin, int low_bin, double h, double l) const {
    double* const to = column + bin * Stride;
    double* const to_low = column + low_bin * Stride;
    const double b = *to;
    const double c = *to_low;
    *to = __dadd_rn(b, h);
    *to_low = __dadd_rn(c, l);
  }
};

/// A few values as two sums, both exact: that of what a running sum takes of them, multiples of one quantum, and that of the rests. So two doubles go into the bins
/// where there were as many as values.
template <int Values>
struct sums_of_two {
  static constexpr int k = Values > 8 ? 4 : Values > 4 ? 3 : 2;  // up to 2^k values
  /// What the exponents may differ by, so that no value of 53 digits, nor the rest of a product of such, has any below the 53 bits of the second sum.
  static constexpr int most_spread = 51 - 2 * k;

  double high, low;

  /// `exponent`, as doubles have it, of the greatest value, or more. `added(i, sum)` is the sum with value i, rounded, and `rest(i, d)` the value less d.
  template <class Added, class Rest>
  __device__ void add(int exponent, const Added& added, const Rest& rest) {
    const double begin = __hiloint2double(((exponent + k + 2) << 20) + 0x80000, 0);
    high = begin;
    low = 0;
#pragma unroll
    for (int i = 0; i < Values; ++i) {
      const double now = added(i, high);
      low = __dadd_rn(low, rest(i, __dsub_rn(now, high)));
      high = now;
    }
    high = __dsub_rn(high, begin);
  }
  __device__ void add(const double (&value)[Values], int exponent) {
    add(
        exponent, [&](int i, double sum) { return __dadd_rn(sum, value[i]); },
        [&](int i, double d) { return __dsub_rn(value[i], d); });
  }
};

}  // namespace onefold::device::exact_sums
