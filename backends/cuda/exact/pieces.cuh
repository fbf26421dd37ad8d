#pragma once
/// @file pieces.cuh  Exact sums of doubles and of products without an operation on doubles (decision 0053), for GPUs that have few FP64 cores, or too little
/// shared memory for the window of sums.cuh, and for what that window leaves over (decision 0061). tests/device runs it on threads of the host.
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

/// Pieces of 32 digits: 47, of 53 that warps add up; where one adds up what all of a block's have left, 51.
inline constexpr std::uint64_t most_terms_of_thread = std::uint64_t{1} << 15;

/// A float or a double as its digits, an integer, and a power of two. Infinities and NaN have the greatest exponent, and digits that mean nothing.
struct number_parts {
  unsigned digits[2];  ///< the upper ones last; of a float the first alone
  unsigned field;      ///< the exponent, as its type has it
  unsigned sign;       ///< all bits, or none
  /// By how many places a number with these digits is above the smallest of its type: subnormal ones lie where the next do.
  [[nodiscard]] __device__ unsigned place() const { return field - ::min(field, 1U); }
};
__device__ inline number_parts parts_of(float x) {
  const unsigned bits = __float_as_uint(x);
  const unsigned field = bits >> 23 & 0xff;
  return {{(bits & 0x7fffff) | ::min(field, 1U) << 23, 0}, field, 0U - (bits >> 31)};
}
__device__ inline number_parts parts_of(double x) {
  const auto high = static_cast<unsigned>(__double2hiint(x));
  const unsigned field = high >> 20 & 0x7ff;
  return {{static_cast<unsigned>(__double2loint(x)), (high & 0xfffff) | ::min(field, 1U) << 20}, field, 0U - (high >> 31)};
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
  unsigned flags;  ///< of terms that are no numbers
  unsigned seen;   ///< not 0: a term that was not -0

  __device__ void clear() {
    flags = 0;
    seen = 0;
#pragma unroll 1
    for (int b = 0; b < bins; ++b) bin[b * Stride] = 0;
  }
  /// exact::has_nan and so on.
  [[nodiscard]] __device__ unsigned marks() const {
    return flags | (seen != 0 ? static_cast<unsigned>(exact::has_other_than_minus_zero) : 0U);
  }

  __device__ void add(value x) {
    const number_parts a = parts_of(x);
    if (a.field > last_field) {
      see(x);
      return;
    }
    unsigned digits[words];
#pragma unroll
    for (int i = 0; i < words; ++i) digits[i] = a.digits[i];
    place(digits, a.place(), a.sign);
  }
  __device__ void add(value x, value y) {
    const number_parts a = parts_of(x);
    const number_parts b = parts_of(y);
    if (::max(a.field, b.field) > last_field) {
      see(x * y);
      return;
    }
    unsigned digits[words];
    const auto product = [](unsigned p, unsigned q) { return static_cast<unsigned long long>(p) * q; };
    const unsigned long long first = product(a.digits[0], b.digits[0]);
    digits[0] = static_cast<unsigned>(first);
    if constexpr (is_double) {  // the upper ones have 21 digits, so that two products and a carry fit 64
      const unsigned long long middle = product(a.digits[0], b.digits[1]) + (first >> 32) + product(a.digits[1], b.digits[0]);
      const unsigned long long last = product(a.digits[1], b.digits[1]) + (middle >> 32);
      digits[1] = static_cast<unsigned>(middle);
      digits[2] = static_cast<unsigned>(last);
      digits[3] = static_cast<unsigned>(last >> 32);
    } else {
      digits[1] = static_cast<unsigned>(first >> 32);
    }
    place(digits, a.place() + b.place(), a.sign ^ b.sign);
  }

  /// Adds the warp's bins to limbs. By the whole warp.
  __device__ void flush(long long* limbs) const {
#pragma unroll 1
    for (int at = 0; at < bins; at += bins_at_once)
#pragma unroll 1
      for (unsigned used = used_bins<bins, Stride>(bin, at); used != 0; used &= used - 1) {
        const int b = at + __ffs(static_cast<int>(used)) - 1;
        const long long sum = sum_of_warp(bin[b * Stride]);
        if (threadIdx.x % warp_size == 0) add_to_limb(limbs + b, static_cast<unsigned long long>(sum));
      }
  }

 private:
  // A term that is no number.
  __device__ void see(value x) {
    flags |= flags_of(x);
    seen = 1;
  }
  // Adds digits 2^at units, negated where `sign` has all bits: as one number in two's complement, of which all pieces but the last have no sign of their own.
  __device__ void place(unsigned (&digits)[words], unsigned at, unsigned sign) {
    seen |= ~sign;
    unsigned long long carried = sign & 1;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      seen |= digits[i];
      carried += digits[i] ^ sign;
      digits[i] = static_cast<unsigned>(carried);
      carried >>= 32;
    }
    const unsigned beyond = sign + static_cast<unsigned>(carried);
    long long* const to = bin + (at >> 5) * Stride;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const unsigned piece = __funnelshift_l(i == 0 ? 0 : digits[i - 1], i == words ? beyond : digits[i], at);
      to[i * Stride] += i == words ? static_cast<long long>(static_cast<int>(piece)) : static_cast<long long>(piece);
    }
  }
};

/// What the threads of blocks read of a launch's arrays, and what of it counts.
template <class Terms>
struct piece_reader {
  using E = typename Terms::type;
  using elements = elements_of<E>;
  using value = typename Terms::value;
  using turn = turn_of<Terms>;
  static constexpr int packs = Terms::packs;
  static constexpr bool has_y = Terms::arrays == 2;

  const exact_launch& how;
  shares<E, packs> given;
  const E* x_body;
  const E* y_body;
  bool gathers;
  bool takes_even;
  bool takes_odd;
  unsigned warp_lane;

  __device__ explicit piece_reader(const exact_launch& launch)
      : how(launch),
        given(how.x, count_of(how)),
        x_body(static_cast<const E*>(how.x) + given.head),
        y_body(has_y ? static_cast<const E*>(how.y) + given.head : x_body),
        gathers(has_y && reinterpret_cast<std::uintptr_t>(y_body) % 16 != 0),
        takes_even(how.part == exact_part::all || (how.part == exact_part::even) == (given.head % 2 == 0)),
        takes_odd(how.part == exact_part::all || (how.part == exact_part::odd) == (given.head % 2 == 0)),
        warp_lane(threadIdx.x % warp_size) {}

  __device__ void load(std::uint64_t unit, turn& into) const {
    into.load(x_body, y_body, given.head % 2 != 0, gathers, unit, warp_lane);
  }
  template <class Column>
  __device__ void add(Column& column, value x, [[maybe_unused]] value y) const {
    if constexpr (Terms::is_product) {
      column.add(x, y);
    } else {
      const int mask = how.absolute ? 0x7fffffff : -1;
      column.add(__hiloint2double(__double2hiint(x) & mask, __double2loint(x)));  // fabs() is an addition of doubles
    }
  }
  template <class Column>
  __device__ void add(Column& column, const turn& now) const {
#pragma unroll
    for (int i = 0; i < packs * elements::count; ++i) {
      if (!(i % elements::count % 2 == 0 ? takes_even : takes_odd)) continue;
      const value x = elements::get(now.x[i / elements::count], i % elements::count);
      add(column, x, has_y ? elements::get(now.y[has_y ? i / elements::count : 0], i % elements::count) : x);
    }
  }
  /// Units that are on their way while one is added: of doubles there are few warps to hide the wait, of floats few registers.
  static constexpr int units_ahead = sizeof(E) == 8 ? 2 : 1;
  /// The units that next() says, one after the other, to one that there is not.
  template <class Column, class Next>
  __device__ void add_units(Column& column, Next next) const {
    const auto units = static_cast<unsigned>(given.units);
    unsigned unit[units_ahead + 1];
    turn ahead[units_ahead] = {};
#pragma unroll
    for (int k = 0; k <= units_ahead; ++k) unit[k] = next();
#pragma unroll
    for (int k = 0; k < units_ahead; ++k)
      if (unit[k] < units) load(unit[k], ahead[k]);
#pragma unroll 1
    while (unit[0] < units) {
      const turn now = ahead[0];
#pragma unroll
      for (int k = 0; k + 1 < units_ahead; ++k) ahead[k] = ahead[k + 1];
      if (unit[units_ahead] < units) load(unit[units_ahead], ahead[units_ahead - 1]);
#pragma unroll
      for (int k = 0; k < units_ahead; ++k) unit[k] = unit[k + 1];
      unit[units_ahead] = next();
      add(column, now);
    }
  }
  /// The elements outside of the units. By one warp.
  template <class Column>
  __device__ void add_edge(Column& column) const {
    for (std::uint64_t i = warp_lane; i < given.edge; i += warp_size) {
      const std::uint64_t at = given.at_edge(i);
      if (how.part != exact_part::all && (how.part == exact_part::odd) != (at % 2 != 0)) continue;
      const value x = elements::load(how.x, at);
      if constexpr (Terms::turns)
        add(column, x, turned_element(static_cast<const E*>(how.y), at));
      else
        add(column, x, has_y ? elements::load(how.y, at) : x);
    }
  }
};

/// Adds the terms that fall to a thread to its column, of which there are `Threads` in a block. By all threads of the block.
template <class Terms, int Threads>
__device__ inline void add_pieces(const exact_launch& how, unsigned block, unsigned blocks, piece_column<Terms, Threads>& column) {
  const piece_reader<Terms> reader(how);
  const unsigned warps = blocks * (Threads / warp_size);
  const unsigned warp = block * (Threads / warp_size) + threadIdx.x / warp_size;
  unsigned behind = warp;
  reader.add_units(column, [&] {
    const unsigned unit = behind;
    behind += warps;
    return unit;
  });
  if (warp == reader.given.units % warps) reader.add_edge(column);
}

/// Where a warp stopped: at a unit of its own, ahead of another.
struct stopping_point {
  unsigned unit;
  unsigned behind;
};

/// Adds to limbs what the warps of a block have left, of `step` warps in all. Number w of the block's `block_warps` has left the unit where it stopped, its share of those ahead of
/// `end_of_fixed` from there on, and the one behind where that is beyond `end_of_fixed`; then come those that ask() says, to one that there is not. Returns exact::has_nan and so on. By
/// `Warps` warps, for whose threads there are columns at `bins`. Within the caller's code: called, it took 11 to 25 % longer.
template <class Terms, int Warps, class Ask>
__device__ inline unsigned add_left_over(const exact_launch& how, const stopping_point* stopped, unsigned block_warps,
                                         unsigned step, unsigned end_of_fixed, Ask ask, long long* bins, long long* limbs) {
  piece_column<Terms, Warps * warp_size> column{bins + threadIdx.x, 0, 0};
  column.clear();
  const piece_reader<Terms> reader(how);
  const auto units = static_cast<unsigned>(reader.given.units);
  unsigned last = end_of_fixed;              // of a share
  unsigned asked = threadIdx.x / warp_size;  // of the warps' shares, of their units and of those behind
  reader.add_units(column, [&] {
    last += step;
    if (last < end_of_fixed) return last;
    last = end_of_fixed;
    while (asked < 3 * block_warps) {
      const stopping_point& at = stopped[asked % block_warps];
      const unsigned which = asked / block_warps;
      asked += Warps;
      const unsigned unit = which == 2 ? at.behind : at.unit;
      if (which == 0 ? unit >= end_of_fixed : unit < end_of_fixed || unit >= units) continue;
      if (which == 0) last = unit;
      return unit;
    }
    return ask();
  });
  __syncwarp();
  column.flush(limbs);
  return column.marks();
}

}  // namespace onefold::cuda_backend::exact_sums
