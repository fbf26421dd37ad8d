#pragma once
/// @file pieces.cuh  Exact sums of doubles and of products without an operation on doubles (decision 0053), for GPUs that have few units for these, or too little
/// shared memory for the window of sums.cuh. tests/device runs it on threads of the host.
///
/// A thread has a bin for each 32 binary digits of the sum: a state's limbs, as 64-bit integers. The digits of a term, or the integer product of those of
/// two, are shifted to where they belong and cut into pieces of 32 digits, 3 or 5, each of which a bin takes. There is no window, and nothing that data can
/// do to the time. What that costs is shared memory, so threads: 512 for products of floats, 160 for doubles, 64 for their products. Such a GPU needs no more of
/// them for its memory's speed.

#include <cstdint>

#include <onefold/device/exact_bins.cuh>
#include <onefold/device/warp.cuh>

#include "memory.hpp"
#include "reading.cuh"

namespace onefold::cuda_backend::exact_sums {

namespace exact = onefold::detail::exact;
using namespace device::exact_sums;

inline constexpr std::uint64_t most_terms_of_thread = std::uint64_t{1} << 15;  ///< pieces of 32 digits: 47, of 53 that warps add up

/// A float or a double as its digits, an integer, and a power of two.
struct number_parts {
  unsigned digits[2];  ///< the upper ones last; of a float the first alone
  int field;           ///< the exponent, as its type has it, and 1 for subnormal numbers
  bool negative;
  bool is_finite;
  bool is_nan;
  [[nodiscard]] __device__ bool is_zero() const { return (digits[0] | digits[1]) == 0; }
};
__device__ inline number_parts parts_of(float x) {
  const unsigned bits = __float_as_uint(x);
  const auto field = static_cast<int>(bits >> 23 & 0xff);
  const unsigned fraction = bits & 0x7fffff;
  return {{field == 0 ? fraction : fraction | 0x800000, 0},
          field == 0 ? 1 : field,
          (bits >> 31) != 0,
          field != 0xff,
          field == 0xff && fraction != 0};
}
__device__ inline number_parts parts_of(double x) {
  const auto high = static_cast<unsigned>(__double2hiint(x));
  const auto low = static_cast<unsigned>(__double2loint(x));
  const auto field = static_cast<int>(high >> 20 & 0x7ff);
  const unsigned fraction = high & 0xfffff;
  return {{low, field == 0 ? fraction : fraction | 0x100000},
          field == 0 ? 1 : field,
          (high >> 31) != 0,
          field != 0x7ff,
          field == 0x7ff && (fraction | low) != 0};
}

/// A thread's column of bins, `Stride` apart, and what the terms say beside their sum. Bin i is for limb i of the state.
template <class Terms, int Stride>
struct piece_column {
  using value = typename Terms::value;
  static constexpr bool is_double = sizeof(value) == 8;
  static constexpr int factors = Terms::is_product ? 2 : 1;
  static constexpr int words = is_double ? 2 * factors : factors;  ///< of a term's digits
  static constexpr int pieces = words + 1;
  static constexpr int last_field = is_double ? 2046 : 254;
  static constexpr int bins = factors * (last_field - 1) / 32 + pieces;

  long long* bin;
  unsigned flags;

  __device__ void clear() {
    flags = 0;
#pragma unroll 1
    for (int b = 0; b < bins; ++b) bin[b * Stride] = 0;
  }

  __device__ void add(value x) {
    const number_parts a = parts_of(x);
    if (!a.is_finite) {
      see(a.is_nan, a.negative);
      return;
    }
    if (!a.negative || !a.is_zero()) flags |= exact::has_other_than_minus_zero;
    unsigned digits[words];
#pragma unroll
    for (int i = 0; i < words; ++i) digits[i] = a.digits[i];
    place(digits, a.field - 1, a.negative);
  }
  __device__ void add(value x, value y) {
    const number_parts a = parts_of(x);
    const number_parts b = parts_of(y);
    const bool negative = a.negative != b.negative;
    if (!a.is_finite || !b.is_finite) {
      see(a.is_nan || b.is_nan || a.is_zero() || b.is_zero(), negative);
      return;
    }
    if (!negative || (!a.is_zero() && !b.is_zero())) flags |= exact::has_other_than_minus_zero;
    unsigned digits[words];
    if constexpr (is_double) {
      const auto all_of = [](const number_parts& n) { return static_cast<unsigned long long>(n.digits[1]) << 32 | n.digits[0]; };
      const unsigned long long low = all_of(a) * all_of(b);
      const unsigned long long high = __umul64hi(all_of(a), all_of(b));
      digits[0] = static_cast<unsigned>(low);
      digits[1] = static_cast<unsigned>(low >> 32);
      digits[2] = static_cast<unsigned>(high);
      digits[3] = static_cast<unsigned>(high >> 32);
    } else {
      const unsigned long long product = static_cast<unsigned long long>(a.digits[0]) * b.digits[0];
      digits[0] = static_cast<unsigned>(product);
      digits[1] = static_cast<unsigned>(product >> 32);
    }
    place(digits, a.field + b.field - 2, negative);
  }

  /// Adds the warp's bins to limbs. By the whole warp.
  __device__ void flush(long long* limbs) const {
#pragma unroll 1
    for (int at = 0; at < bins; at += bins_at_once)
#pragma unroll 1
      for (unsigned used = used_bins<bins, Stride>(bin, at); used != 0; used &= used - 1) {
        const int b = at + __ffs(static_cast<int>(used)) - 1;
        const long long sum = sum_of_warp(bin[b * Stride]);
        if (threadIdx.x % warp_size == 0)
          atomicAdd(reinterpret_cast<unsigned long long*>(limbs + b), static_cast<unsigned long long>(sum));
      }
  }

 private:
  __device__ void see(bool is_nan, bool negative) {
    flags |= exact::has_other_than_minus_zero;
    flags |= static_cast<unsigned>(is_nan ? exact::has_nan : negative ? exact::has_minus_infinity : exact::has_infinity);
  }
  /// Adds digits 2^at units.
  __device__ void place(const unsigned (&digits)[words], int at, bool negative) const {
    long long* const to = bin + (at >> 5) * Stride;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const unsigned piece =
          __funnelshift_l(i == 0 ? 0 : digits[i - 1], i == words ? 0 : digits[i], static_cast<unsigned>(at) & 31);
      to[i * Stride] += negative ? -static_cast<long long>(piece) : static_cast<long long>(piece);
    }
  }
};

/// Adds the terms that fall to a thread to its column, of which there are `Threads` in a block. By all threads of the block.
template <class Terms, int Threads>
__device__ inline void add_pieces(const exact_launch& how, std::uint64_t block, std::uint64_t blocks,
                                  piece_column<Terms, Threads>& column) {
  using E = typename Terms::type;
  using elements = elements_of<E>;
  using value = typename Terms::value;
  constexpr int packs = Terms::packs;
  constexpr bool has_y = Terms::arrays == 2;
  const shares<E, packs> given(how.x, how.count);
  const std::uint64_t warps = blocks * (Threads / warp_size);
  const std::uint64_t warp = block * (Threads / warp_size) + threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const E* const x_body = static_cast<const E*>(how.x) + given.head;
  const E* const y_body = has_y ? static_cast<const E*>(how.y) + given.head : x_body;
  [[maybe_unused]] const bool gathers = has_y && reinterpret_cast<std::uintptr_t>(y_body) % 16 != 0;
  const bool takes_even = how.part == exact_part::all || (how.part == exact_part::even) == (given.head % 2 == 0);
  const bool takes_odd = how.part == exact_part::all || (how.part == exact_part::odd) == (given.head % 2 == 0);

  [[maybe_unused]] const int mask = how.absolute ? 0x7fffffff : -1;
  const auto add = [&](value x, [[maybe_unused]] value y) {
    if constexpr (!Terms::is_product)
      column.add(__hiloint2double(__double2hiint(x) & mask, __double2loint(x)));  // fabs() is an addition of doubles
    else
      column.add(x, y);
  };

  using turn = turn_of<Terms>;
  const auto load = [&](std::uint64_t unit, turn& into) { into.load(x_body, y_body, given.head % 2 != 0, gathers, unit, lane); };
  turn next{};
  if (warp < given.units) load(warp, next);
  for (std::uint64_t unit = warp; unit < given.units;) {
    const turn now = next;
    unit += warps;
    if (unit < given.units) load(unit, next);
#pragma unroll
    for (int i = 0; i < packs * elements::count; ++i) {
      if (!(i % elements::count % 2 == 0 ? takes_even : takes_odd)) continue;
      const value x = elements::get(now.x[i / elements::count], i % elements::count);
      add(x, has_y ? elements::get(now.y[has_y ? i / elements::count : 0], i % elements::count) : x);
    }
  }
  if (warp != given.units % warps) return;
  for (std::uint64_t i = lane; i < given.edge(how.count); i += warp_size) {
    const std::uint64_t at = given.at_edge(i);
    if (how.part != exact_part::all && (how.part == exact_part::odd) != (at % 2 != 0)) continue;
    const value x = elements::load(how.x, at);
    if constexpr (Terms::turns)
      add(x, turned_element(static_cast<const E*>(how.y), at));
    else
      add(x, has_y ? elements::load(how.y, at) : x);
  }
}

}  // namespace onefold::cuda_backend::exact_sums
