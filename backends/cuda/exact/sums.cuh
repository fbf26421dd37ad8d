#pragma once
/// @file sums.cuh  Exact sums on a GPU (docs/exact.md, decision 0031): every thread adds to bins of its own in shared memory, doubles that never round.
///
/// A bin is for 16 exponents. What is added to it are multiples of its quantum, 2^20 below its smallest number, and so few of them that their sum has at most
/// 53 bits. A column of bins is a thread's own, so nobody waits for anybody, and which order the hardware takes cannot be seen. At the end of a block its
/// bins become integers, which atomics add in the launch's limbs; the last block to do so makes the result.
///
/// Floats have 24 bits, so that one addition puts one where it belongs, in one of 16 bins. Doubles and products have more: (x + A) - A, with A = 1.5 * 2^32
/// times the bin's smallest number, is the part that the bin takes, and the rest fits the bin after the next. All exponents of doubles are 128 bins, a window of
/// 37 is what all threads have room for at full speed: each warp chooses it from what it reads first. What lies outside is added to the limbs one by one; where that
/// is much, the warp stops, and a few warps of the block add up the rest as integers (pieces.cuh), for which there is no window (decision 0061).

#include <cstdint>
#include <type_traits>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/device/dependent.cuh>
#include <onefold/device/exact_bins.cuh>
#include <onefold/device/exact_running.cuh>
#include <onefold/device/store.cuh>
#include <onefold/float16.hpp>

#include "floats.cuh"
#include "kernels.hpp"
#include "memory.hpp"
#include "pieces.cuh"
#include "reading.cuh"
#include "units.cuh"
#include "whole.cuh"

namespace onefold::cuda_backend::exact_sums {

namespace exact = onefold::detail::exact;
using namespace device::exact_sums;
using device::warp_size;

// --- the end of a block, and of a launch -----------------------------------------------------------------------------------------------------------

/// What a block adds up; and what the end of a launch needs to know, in memory that is near: a kernel's parameters, read through a pointer, come from
/// far away, line after line.
struct block_sums {
  long long limb[exact_memory::most];
  exact_launch how;
  device::destination to;
  unsigned flags;
  bool is_last;  ///< whether it is the launch's last one to have added its own

  __device__ void clear(const exact_launch& launch, const device::destination& destination) {
    for (int i = static_cast<int>(threadIdx.x); i < exact_memory::most; i += static_cast<int>(blockDim.x)) limb[i] = 0;
    if (threadIdx.x == 0) flags = 0;
    if (threadIdx.x == (has_64_kib ? 0 : warp_size)) {  // there a block may be one warp
      how = launch;
      to = destination;
    }
    __syncthreads();
  }
};

/// Counts a block, of which all has been added before, and before whatever the last one reads. __threadfence() would order more than that, which takes longer.
__device__ inline unsigned arrive(unsigned* count) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(count) : "memory");
  return before;
}

/// Adds a block's limbs to one of the launch's sums.
__device__ inline void add_limbs(exact_memory* memory, int which, const block_sums& sums) {
  auto* const to = reinterpret_cast<unsigned long long*>(memory->limb[which]);
  for (int i = static_cast<int>(threadIdx.x); i < exact_memory::most; i += static_cast<int>(blockDim.x))
    if (sums.limb[i] != 0) atomicAdd(to + i, static_cast<unsigned long long>(sums.limb[i]));
}

/// Adds a block's sums to the launch's, and says whether it was the last block to do so. One that is alone keeps what it has.
__device__ inline bool hand_over(const exact_launch& how, exact_memory* memory, block_sums& sums, unsigned flags) {
  flags = any_of_warp(flags);
  if (how.tells_flags && flags != 0 && threadIdx.x % warp_size == 0) atomicOr(&sums.flags, flags);
  __syncthreads();
  if (how.is_alone) return true;
  add_limbs(memory, how.sum, sums);
  if (threadIdx.x == 0 && sums.flags != 0) atomicOr(&memory->flags, sums.flags);
  __syncthreads();
  if (threadIdx.x == 0) sums.is_last = arrive(&memory->arrived) + 1 == gridDim.x;
  __syncthreads();
  return sums.is_last;
}

struct finish_memory {
  exact::u64 state[1 + exact_memory::most];
  exact::scratch rounding;
};
/// The end of a launch: carries, and stores the result or leaves the limbs for the next one. By the first warp of one block.
///
/// OfValues  whether the terms are those of a function, of which all may be absent
template <bool OfValues>
__device__ __noinline__ void finish_launch(exact_memory* memory, unsigned long long* launches, block_sums& sums,
                                           finish_memory& shared);

// --- floats: one bin for each -------------------------------------------------------------------------------------------------------------------------

inline constexpr int float_threads = 512;
inline constexpr int float_blocks = blocks_of_512;
constexpr std::size_t float_bytes(int threads) { return sizeof(double) * float_bins * static_cast<std::size_t>(threads); }

template <class E>
__global__ void __launch_bounds__(float_threads, float_blocks)
    float_sums_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                      const __grid_constant__ device::destination to) {
  using elements = elements_of<E>;
  constexpr int packs = 2;
  constexpr int quantum = float_quantum;
  extern __shared__ double bins[];
  __shared__ block_sums sums;
  constexpr int block_warps = float_threads / warp_size;
  constexpr auto most_turns = static_cast<unsigned>(most_floats_of_thread / (packs * elements::count));
  __shared__ shared_units<block_warps, most_turns> units_of_block;
  __shared__ int bases[block_warps];
  static_assert(sizeof(sums) + sizeof(units_of_block) + sizeof(bases) + 1024 <= static_shared_bytes);
  if (threadIdx.x < block_warps) bases[threadIdx.x] = 0;
  if (threadIdx.x == 0) units_of_block.clear();
  double* const column = bins + threadIdx.x;
#pragma unroll
  for (int b = 0; b < float_bins; ++b) column[b * float_threads] = -0.0;
  sums.clear(how, to);
  device::wait_for_previous_kernel();

  const shares<E, packs> given(how.x, count_of(how));
  const unsigned warp = blockIdx.x * block_warps + threadIdx.x / warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
  const unsigned mask = how.absolute ? 0x7fffffffU : 0xffffffffU;
  const auto* const body = reinterpret_cast<const pack*>(static_cast<const E*>(how.x) + given.head);
  // Which elements of a pack count.
  const bool takes_even = how.part == exact_part::all || (how.part == exact_part::even) == (given.head % 2 == 0);
  const bool takes_odd = how.part == exact_part::all || (how.part == exact_part::odd) == (given.head % 2 == 0);

  const auto add = [&](float x) {
    const unsigned bits = __float_as_uint(x) & mask;
    double* const bin = reinterpret_cast<double*>(reinterpret_cast<unsigned char*>(column) + (bits >> 15 & 0xf000U));
    static_assert(float_threads * sizeof(double) == 0x1000);
    *bin += static_cast<double>(__uint_as_float(bits));
  };
  const auto add_pack = [&](const pack& p) {
#pragma unroll
    for (int c = 0; c < elements::count; ++c)
      if (c % 2 == 0 ? takes_even : takes_odd) add(elements::get(p, c));
  };
  const auto load = [&](std::uint64_t unit, pack(&into)[packs]) { load_packs(body, unit, warp_lane, into); };
  unsigned flags = 0;
  const auto look = [&](float x) {
    const float value = __uint_as_float(__float_as_uint(x) & mask);
    if (!isfinite(value)) flags |= flags_of(value);
  };
  const auto look_at = [&](const pack(&p)[packs]) {
#pragma unroll
    for (int k = 0; k < packs; ++k)
#pragma unroll
      for (int c = 0; c < elements::count; ++c)
        if (c % 2 == 0 ? takes_even : takes_odd) look(elements::get(p[k], c));
  };
  // Infinities and NaN spoil the highest bin.
  double& top = column[(float_bins - 1) * float_threads];
  const auto is_spoilt = [&] { return (__double2hiint(top) & 0x7ff00000) == 0x7ff00000; };

  const auto units = static_cast<unsigned>(given.units);
  const unsigned warps = gridDim.x * block_warps;
  pack next[packs];
  if (warp < units) load(warp, next);
  const unsigned fixed = units_of_block.fix(units);
  for (unsigned unit = warp; unit < fixed;) {
    pack now[packs];
#pragma unroll
    for (int k = 0; k < packs; ++k) now[k] = next[k];
    unit += warps;
    if (unit < fixed) load(unit, next);
#pragma unroll
    for (int k = 0; k < packs; ++k) add_pack(now[k]);
  }
  // Which were in there is asked once, and of what follows at once.
  if (is_spoilt()) {
    for (unsigned unit = warp; unit < fixed; unit += warps) {
      load(unit, next);
      look_at(next);
    }
  }
  if (fixed < units) {
    unsigned* const tickets = &static_cast<exact_memory_of_array*>(memory)->tickets;
    const auto ask = [&] { return units_of_block.template ask<true>(fixed, tickets); };
    unsigned unit = ask();
    if (unit < units) load(unit, next);
    unsigned behind = ask();  // ahead of the time when it is loaded, since that is what warps wait for
    while (unit < units) {
      pack now[packs];
#pragma unroll
      for (int k = 0; k < packs; ++k) now[k] = next[k];
      unit = behind;
      if (unit < units) {
        load(unit, next);
        behind = ask();
      }
#pragma unroll
      for (int k = 0; k < packs; ++k) add_pack(now[k]);
      if (is_spoilt()) look_at(now);
    }
  }
  if (warp == units % warps) {
    for (unsigned i = warp_lane; i < given.edge; i += warp_size) {
      const std::uint64_t at = given.at_edge(i);
      if (how.part != exact_part::all && (how.part == exact_part::odd) != (at % 2 != 0)) continue;
      const float x = elements::load(how.x, at);
      add(x);
      look(x);
    }
  }
  if (is_spoilt()) top = 0;
  bool is_minus_zero = true;
#pragma unroll
  for (int b = 0; b < float_bins; ++b)
    is_minus_zero &= __double_as_longlong(column[b * float_threads]) == __double_as_longlong(-0.0);
  if (!is_minus_zero) flags |= exact::has_other_than_minus_zero;
  __syncwarp();
  sum_bins_of_warp<float_bins, float_threads>(column, 0, quantum);
  __syncthreads();
  add_bins_of_block<float_bins, float_threads>(bins, bases, quantum, how.result.scale[how.sum], sums.limb);
  __syncthreads();
  if (hand_over(how, memory, sums, flags))
    finish_launch<false>(memory, launches, sums, *reinterpret_cast<finish_memory*>(bins));  // which nobody needs any more
}

constexpr int integer_threads(bool is_for_64_kib) { return is_for_64_kib ? 384 : float_threads; }

/// The same without an operation on doubles (floats.cuh).
template <class E>
__global__ void __launch_bounds__(integer_threads(has_64_kib), float_blocks)
    integer_sums_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                        const __grid_constant__ device::destination to) {
  constexpr int threads = integer_threads(has_64_kib);
  extern __shared__ long long integer_bins[];
  __shared__ block_sums sums;
  __shared__ int bases[threads / warp_size];
  if (threadIdx.x < threads / warp_size) bases[threadIdx.x] = 0;
  integer_column<threads> column{integer_bins + threadIdx.x, 0};
  column.clear();
  sums.clear(how, to);
  device::wait_for_previous_kernel();
  add_floats<E>(how, blockIdx.x, gridDim.x, column);
  __syncwarp();
  sum_bins_of_warp<float_bins, threads>(column.bin, 0, float_quantum);
  __syncthreads();
  add_bins_of_block<float_bins, threads>(integer_bins, bases, float_quantum, how.result.scale[how.sum], sums.limb);
  __syncthreads();
  if (hand_over(how, memory, sums, column.flags))
    finish_launch<false>(memory, launches, sums, *reinterpret_cast<finish_memory*>(integer_bins));  // which nobody needs any more
}

// --- doubles and products: a window of bins ---------------------------------------------------------------------------------------------------------

inline constexpr int window_bins = 37;  ///< all that products of two floats need
/// Of a block, and blocks of a multiprocessor. Two running sums, of products of doubles and of their rests, need the registers that half as many warps leave.
template <class Terms>
inline constexpr int window_threads = Terms::has_rest ? 512 : 384;
template <class Terms>
inline constexpr int window_blocks = Terms::has_rest ? 1 : 2;
inline constexpr std::uint64_t most_doubles_of_thread = std::uint64_t{1} << 15;  ///< 36 bits each and 31 of others, of 53
/// Warps of a block that add up what the window leaves over: those whose bins of integers there is room for, 6 of doubles, and of their products, whose blocks are alone, 6 of 227 KiB and 4 of 163.
template <class Terms>
constexpr int warps_of_left_over(bool is_for_227_kib) {
  return Terms::has_rest && !is_for_227_kib ? 4 : 6;
}
template <class Terms>
constexpr std::size_t window_bytes(bool is_for_227_kib) {
  constexpr std::size_t of_window = sizeof(double) * window_bins * window_threads<Terms>;
  const std::size_t left_over = sizeof(long long) * piece_column<Terms, 1>::bins * warp_size *
                                static_cast<std::size_t>(warps_of_left_over<Terms>(is_for_227_kib));
  return Terms::fits || of_window > left_over ? of_window : left_over;
}

/// Ahead of a thread's bins: a running sum, of products of doubles one of the rests too, which takes what all of its warp has a turn after the other, as long as it is of about
/// one magnitude. So bins are for what lies apart, and where nothing does the ends have nothing to do with them.
template <class Terms, class Window>
struct sum_ahead {
  static constexpr bool is_of_squares = Terms::fits && Terms::arrays == 1;  ///< of floats, which are made as they are added
  using sums = running_sums<Terms>;
  static constexpr int turns_apart = 15;  ///< that go to the bins at once where the sum has no place
  static constexpr int vain = 0x100;

  running_sum sum{0, 0};  ///< closed where it is 0
  running_sum rests{0, 0};
  /// Open: the terms that have not been settled, and `vain` where the last turn was not taken. Closed: turns to be added apart.
  int turns = 0;

  __device__ bool is_open() const { return __double2hiint(sum.high) != 0; }

  /// Adds the terms, if all threads of the warp can add theirs, and says whether they did. `x_at(i)`: what term i is the square of; note() is called ahead of what goes into
  /// bins.
  template <int Count, class TermAt, class XAt, class Note>
  __device__ bool add(const Window& of, const TermAt& term_at, const XAt& x_at, const Note& note) {
    if (!is_open()) return turns > 0 && add_each<Count>(of, term_at);  // where bins have been noted
    // Terms that are greater have no digits too low, neither for the sum nor for the lowest bin.
    const int least = ::max(sum.exponent() - sums::most_below, 16 * (of.base + Terms::below));
    // Sizes are twice the upper word, without its sign, less one: so zeros, which have no digits, are no smaller than others.
    // The square of an x whose exponent is e, as floats have it, has 2 e + 769, as doubles have it, at least.
    unsigned floor;
    if constexpr (is_of_squares)
      floor = (static_cast<unsigned>(::max((least - 768) / 2, 1)) << 24) - 1;
    else
      floor = (static_cast<unsigned>(least) << 21) - 1;
    running_sum after = sum;
    [[maybe_unused]] running_sum rests_after = rests;
    unsigned moved = 0;
    unsigned least_size = 0xffffffffU;
    [[maybe_unused]] unsigned odd = 0;  // of what seems to be zero by its upper word
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      if constexpr (is_of_squares) {
        least_size = ::min(least_size, __float_as_uint(x_at(i)) * 2 - 1);
        after.add_square(static_cast<double>(x_at(i)), moved);
      } else {
        const auto t = term_at(i);
        const unsigned size = static_cast<unsigned>(__double2hiint(t.value)) * 2;
        least_size = ::min(least_size, size - 1);
        if constexpr (Terms::has_rest) {
          if (size == 0 && !is_zero(t)) odd = 1;
          rests_after.add(t.rest, moved);
        } else if constexpr (!Terms::fits) {
          odd |= size == 0 ? static_cast<unsigned>(__double2loint(t.value)) : 0;
        }
        after.add(t.value, moved);
      }
    }
    if (!__all_sync(all_lanes, (moved & running_sum::place) == 0 && odd == 0 && least_size >= floor)) return false;
    sum = after;
    rests = rests_after;
    turns = (turns & ~vain) + Count;
    if (turns + Count > running_sum::most_between) {
      turns = 0;
      moved = 0;
      after.settle(moved);
      if constexpr (Terms::has_rest) rests_after.settle(moved);
      if (__all_sync(all_lanes, (moved & running_sum::place) == 0)) {
        sum = after;
        rests = rests_after;
      } else {  // begins anew where it was
        const int exponent = sum.exponent();
        note();
        close(of);
        begin(exponent);
      }
    }
    return true;
  }
  /// For terms of which the greatest has that exponent, if there is a place for them: whether there is.
  __device__ bool open(const Window& of, unsigned top) {
    const int exponent = static_cast<int>(top) + sums::above;
    const bool has_place = sums::takes(static_cast<int>(top)) && of.has_room_below() && of.has_room_above(exponent << 20);
    if (has_place) begin(exponent);
    return has_place;
  }
  /// After a turn that was not taken: looks for a place where its like is.
  template <int Count, class TermAt>
  __device__ void move(const Window& of, const TermAt& term_at) {
    if (!is_open() && turns > 0) return;
    if (is_open() && (turns & vain) == 0) {
      turns |= vain;
      return;
    }
    unsigned greatest = 0;
    unsigned least = 0x7ff;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const auto exponent = static_cast<unsigned>(exponent_of(term_at(i).value));
      greatest = ::max(greatest, exponent);
      if (exponent != 0) least = ::min(least, exponent);
    }
    const unsigned top = greatest_of_warp(greatest);
    const int bottom = 0x7ff - static_cast<int>(greatest_of_warp(0x7ff - least));
    close(of);
    const bool are_close = bottom >= static_cast<int>(top) + sums::above - sums::most_below;
    turns = (are_close && open(of, top)) || top == 0 ? 0 : turns_apart;
  }
  /// What it has goes into limbs: at the end, where the warp's bins have nothing. By the whole warp.
  __device__ void flush(int scale, long long* limbs) const {
    if (!is_open()) return;
    running_sum::flush(sum, scale, limbs);
    if constexpr (Terms::has_rest) running_sum::flush(rests, scale, limbs);
  }
  /// What it has goes into bins.
  __device__ void close(const Window& of) {
    if (!is_open()) return;
    of.add_low(sum.gathered());
    of.add_low(sum.low);
    sum.high = sum.low = 0;
    if constexpr (Terms::has_rest) {
      of.add_low(rests.gathered());
      of.add_low(rests.low);
    }
  }

 private:
  __device__ void begin(int exponent) {
    sum.begin(exponent);
    if constexpr (Terms::has_rest) rests.begin(exponent - sums::rest_below);
  }
  // Neither zeros nor what lies outside.
  template <int Count, class TermAt>
  __device__ bool add_each(const Window& of, const TermAt& term_at) {
    --turns;
    double value[Count];
    [[maybe_unused]] double rest[Count];
    bool are_inside = true;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const auto t = term_at(i);
      value[i] = t.value;
      if constexpr (Terms::has_rest) rest[i] = t.rest;
      are_inside &= !of.is_outside(value[i]);
    }
    if (!__all_sync(all_lanes, are_inside)) return false;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      of.add(value[i]);
      if constexpr (Terms::has_rest) of.add_low(rest[i]);
    }
    return true;
  }
};

/// In the place of the number of a warp's first bin: it has put nothing into bins.
inline constexpr int no_bins = 1 << 20;

template <class Terms>
__global__ void __launch_bounds__(window_threads<Terms>, window_blocks<Terms>)
    window_sums_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                       const __grid_constant__ device::destination to) {
  using E = typename Terms::type;
  using elements = elements_of<E>;
  constexpr int packs = Terms::packs;
  constexpr int terms = packs * elements::count;
  constexpr int block_warps = window_threads<Terms> / warp_size;
  constexpr unsigned most_apart = 32;  // of a warp, before it stops
  extern __shared__ double bins[];
  __shared__ block_sums sums;
  constexpr auto most_turns = static_cast<unsigned>(most_doubles_of_thread / terms);
  __shared__ shared_units<block_warps, most_turns> units_of_block;
  __shared__ stopping_point stopped[block_warps];
  __shared__ int bases[block_warps];
  static_assert(sizeof(sums) + sizeof(units_of_block) + sizeof(stopped) + sizeof(bases) + 1024 <= static_shared_bytes);
  if (threadIdx.x == 0) units_of_block.clear();
  sums.clear(how, to);
  device::wait_for_previous_kernel();

  const shares<E, packs> given(how.x, count_of(how));
  const auto units = static_cast<unsigned>(given.units);
  const unsigned warps = gridDim.x * block_warps;
  const unsigned warp_of_block = threadIdx.x / warp_size;
  const unsigned warp = blockIdx.x * block_warps + warp_of_block;
  const unsigned warp_lane = threadIdx.x % warp_size;
  const unsigned mask = how.absolute ? 0x7fffffffU : 0xffffffffU;
  const E* const x_body = static_cast<const E*>(how.x) + given.head;
  const E* const y_body = Terms::arrays == 2 ? static_cast<const E*>(how.y) + given.head : x_body;
  const bool gathers = Terms::arrays == 2 && reinterpret_cast<std::uintptr_t>(y_body) % 16 != 0;
  const bool takes_even = how.part == exact_part::all || (how.part == exact_part::even) == (given.head % 2 == 0);
  const bool takes_odd = how.part == exact_part::all || (how.part == exact_part::odd) == (given.head % 2 == 0);
  unsigned flags = 0;
  // Of terms that add_apart() takes, by reference: in memory, therefore, where the flags would be written in every turn.
  [[maybe_unused]] unsigned marks = 0;

  using turn = turn_of<Terms>;
  const auto load = [&](std::uint64_t unit, turn& into) {
    into.load(x_body, y_body, given.head % 2 != 0, gathers, unit, warp_lane);
  };
  const auto x_at = [&](const turn& from, int i) { return elements::get(from.x[i / elements::count], i % elements::count); };
  const auto term_at = [&](const turn& from, int i) {
    const int k = Terms::arrays == 2 ? i / elements::count : 0;
    const auto x = x_at(from, i);
    return term_of<Terms>(x, Terms::arrays == 2 ? elements::get(from.y[k], i % elements::count) : x, mask);
  };
  const auto y_at_edge = [&](std::uint64_t at, typename elements::value x) {
    if constexpr (Terms::turns)
      return turned_element(static_cast<const E*>(how.y), at);
    else
      return Terms::arrays == 2 ? elements::load(how.y, at) : x;
  };
  const bool takes_all = how.part == exact_part::all;
  const auto counts = [&](int i) { return i % elements::count % 2 == 0 ? takes_even : takes_odd; };

  const auto put_apart = [&](const term<Terms>& t) {
    if constexpr (Terms::fits)
      flags |= flags_of(t.value);  // all numbers are inside
    else
      add_apart<Terms>(t, how.result.scale[how.sum], sums.limb, marks);
  };

  // Adds the terms from number `First` on that are taken at a time; false where more of them lie outside than may be added apart, and then none has been added.
  constexpr int at_a_time = terms > 8 ? 8 : terms;
  static_assert(at_a_time == terms || Terms::fits);  // of which none is outside
  unsigned apart = 0;
  const auto add_some = [&]<int First>(std::integral_constant<int, First>, const auto& of, const turn& now, unsigned most) -> bool {
    using two = sums_of_two<at_a_time>;
    double value[at_a_time];
    [[maybe_unused]] double rest[at_a_time];
    int highest = 0;
    unsigned lowest = 0xffffffff;
    bool is_odd = false;  // whether there is a term so small that it may be taken for zero here
    const auto look = [&](int size) {
      highest = ::max(highest, size);
      lowest = ::min(lowest, static_cast<unsigned>(size) - 1);  // zeros are no smaller than others
    };
#pragma unroll
    for (int i = 0; i < at_a_time; ++i) {
      const auto t = term_at(now, First + i);
      value[i] = t.value;
      if constexpr (Terms::has_rest) rest[i] = t.rest;
      const int size = __double2hiint(t.value) & 0x7fffffff;
      look(size);
      if constexpr (Terms::has_rest)
        is_odd |= size == 0 && t.x != 0 && t.y != 0;
      else if constexpr (!Terms::fits)
        is_odd |= size == 0 && __double2loint(t.value) != 0;
    }
    const bool is_usual = takes_all && !is_odd && of.is_below_end(highest) && of.is_above_begin(lowest) &&
                          (highest != 0 || (flags & exact::has_other_than_minus_zero) != 0);
    if (!__all_sync(all_lanes, is_usual)) {
      unsigned outside = 0;  // a bit for each term
      highest = 0;
      lowest = 0xffffffff;
#pragma unroll
      for (int i = 0; i < at_a_time; ++i) {
        const auto t = term_at(now, First + i);
        if (counts(First + i) && of.is_outside(t.value) && !is_zero(t)) outside |= 1U << i;
      }
      const unsigned many = sum_of_warp(static_cast<unsigned>(__popc(outside)));
      if (many > most - apart) return false;
      apart += many;
#pragma unroll
      for (int i = 0; i < at_a_time; ++i) {
        const auto t = term_at(now, First + i);
        const bool is_outside = (outside >> i & 1) != 0;
        if (counts(First + i) && (__double_as_longlong(t.value) != __double_as_longlong(-0.0) || is_outside))
          flags |= exact::has_other_than_minus_zero;
        if (is_outside) put_apart(t);
        if (is_outside || !counts(First + i)) {
          value[i] = 0;
          if constexpr (Terms::has_rest) rest[i] = 0;
        }
        const int size = __double2hiint(value[i]) & 0x7fffffff;
        if (size != 0) look(size);
      }
    } else {
      flags |= exact::has_other_than_minus_zero;
    }
    highest = ::max(highest, lowest_exponent << 20);  // of nothing but zeros
    const int spread = of.has_room_above(highest) ? (highest >> 20) - static_cast<int>(lowest >> 20) : 0x7fff;
    if (of.has_room_below() && __all_sync(all_lanes, spread <= two::most_spread)) {
      two sum;
      sum.add(value, highest >> 20);
      of.add_low(sum.high);
      of.add_low(sum.low);
      if constexpr (Terms::has_rest) {
        sum.add(rest, (highest >> 20) - 52);
        of.add_low(sum.high);
        of.add_low(sum.low);
      }
    } else {
#pragma unroll
      for (int i = 0; i < at_a_time; ++i) {
        of.add(value[i]);
        if constexpr (Terms::has_rest) of.add_low(rest[i]);
      }
    }
    return true;
  };

  // The first terms say where the window lies: their greatest is two bins below its upper end.
  const auto base_for = [&](unsigned top) {
    if constexpr (Terms::fits) return 43;  // that of 2^-298 and the one 2 below
    const int bin = top == 0 ? 63 + 8 : static_cast<int>(top / 16);
    return ::max(::min(bin + 2, end_of_bins - 1) - (window_bins - 1), lowest_bin);
  };
  window<Terms, window_bins, window_threads<Terms>> narrow{bins + threadIdx.x, 0, 0};
  unsigned unit = warp;
  const bool has_edge = warp == units % warps;
  // Bins that have nothing need not become integers, which at the end takes longer than all that few elements are read in.
  const auto note = [&] {
    if (warp_lane == 0) bases[warp_of_block] = narrow.base;
  };
  turn next{};
  if (unit < units) load(unit, next);
  const unsigned fixed = units_of_block.fix(units);
  narrow.clear();  // while that is on its way
  using ahead = sum_ahead<Terms, decltype(narrow)>;
  ahead first;
  {
    unsigned highest = 0;  // exponent
    if (unit < units) {
#pragma unroll
      for (int i = 0; i < terms; ++i) {
        const int exponent = exponent_of(term_at(next, i).value);
        if (exponent < 16 * end_of_bins) highest = ::max(highest, static_cast<unsigned>(exponent));
      }
    } else if (has_edge && warp_lane < given.edge) {
      const std::uint64_t at = given.at_edge(warp_lane);
      const auto x = elements::load(how.x, at);
      const auto t = term_of<Terms>(x, y_at_edge(at, x), mask);
      highest = static_cast<unsigned>(::min(exponent_of(t.value), 16 * end_of_bins - 1));
    }
    const unsigned top = greatest_of_warp(highest);
    narrow.open(base_for(top));
    if (warp_lane == 0) bases[warp_of_block] = no_bins;
    if (takes_all && unit < units && first.open(narrow, top)) flags |= exact::has_other_than_minus_zero;
  }
  // Adds those terms to the sum ahead, if it takes them, or else to the bins; false as above.
  const auto add_part = [&]<int First>(std::integral_constant<int, First> part, const turn& now) -> bool {
    const auto term = [&](int i) { return term_at(now, First + i); };
    const auto x = [&](int i) { return x_at(now, First + i); };
    if (takes_all && first.template add<at_a_time>(narrow, term, x, note)) return true;
    note();
    if (!add_some(part, narrow, now, Terms::fits ? 0xffffffffU : most_apart)) return false;
    if (takes_all) first.template move<at_a_time>(narrow, term);
    return true;
  };
  unsigned* const tickets = &static_cast<exact_memory_of_array*>(memory)->tickets;
  unsigned behind = unit;
  while (unit < units) {
    const turn now = next;
    behind += warps;
    if (behind >= fixed) [[unlikely]]
      behind = fixed == units ? units : units_of_block.template ask<true>(fixed, tickets);
    if (behind < units) load(behind, next);
    if (!add_part(std::integral_constant<int, 0>{}, now)) break;
    if constexpr (terms > at_a_time) add_part(std::integral_constant<int, at_a_time>{}, now);
    unit = behind;
  }
  if (has_edge) note();
  __syncwarp();
  const bool has_bins = bases[warp_of_block] != no_bins;
  if (has_bins)
    first.close(narrow);
  else
    first.flush(how.result.scale[how.sum], sums.limb);
  if (warp_lane == 0) stopped[warp_of_block] = {unit, behind};
  if (has_edge) {
    for (std::uint64_t i = warp_lane; i < given.edge; i += warp_size) {
      const std::uint64_t at = given.at_edge(i);
      if (how.part != exact_part::all && (how.part == exact_part::odd) != (at % 2 != 0)) continue;
      const auto x = elements::load(how.x, at);
      const auto t = term_of<Terms>(x, y_at_edge(at, x), mask);
      if (!is_zero(t) || __double_as_longlong(t.value) != __double_as_longlong(-0.0)) flags |= exact::has_other_than_minus_zero;
      if (is_zero(t)) continue;
      if (narrow.is_outside(t.value)) {
        put_apart(t);
        continue;
      }
      narrow.add(t.value);
      if constexpr (Terms::has_rest) narrow.add_low(t.rest);
    }
    __syncwarp();
  }
  flags |= marks;
  constexpr int first_quantum = -1043;
  __syncwarp();
  if (has_bins) sum_bins_of_warp<window_bins, window_threads<Terms>>(narrow.column, narrow.base, first_quantum);
  if (__syncthreads_or(has_bins ? 1 : 0) != 0) {
    add_bins_of_block<window_bins, window_threads<Terms>>(bins, bases, first_quantum, how.result.scale[how.sum], sums.limb);
    __syncthreads();
  }

  if constexpr (!Terms::fits) {
    bool is_done = true;
    for (int w = 0; w < block_warps; ++w) is_done = is_done && stopped[w].unit >= units;
    constexpr int warps_left = warps_of_left_over<Terms>(has_227_kib);
    if (!is_done && warp_of_block < warps_left)
      flags |= add_left_over<Terms, warps_left>(
          how, stopped, block_warps, warps, fixed,
          [&] { return fixed == units ? units : units_of_block.template ask<false>(fixed, tickets); },
          reinterpret_cast<long long*>(bins), sums.limb);
    __syncthreads();
  }
  if (hand_over(how, memory, sums, flags))
    finish_launch<false>(memory, launches, sums, *reinterpret_cast<finish_memory*>(bins));  // which nobody needs any more
}

// --- the same without an operation on doubles ---------------------------------------------------------------------------------------------------------

/// Of a block: as many as the shared memory of a GPU of compute capability 8.6 has room for, 99 KiB, or of one of 7.5, 64 KiB, with what else a block keeps there.
template <class Terms>
constexpr int piece_threads(bool is_for_64_kib) {
  if (Terms::has_rest) return is_for_64_kib ? 32 : 64;
  if (Terms::is_product) return is_for_64_kib ? 384 : 512;
  return is_for_64_kib ? 96 : 160;
}
template <class Terms>
inline constexpr int piece_blocks = Terms::has_rest ? 3 : 2;  ///< of a multiprocessor that has room for as many
template <class Terms>
constexpr std::size_t piece_bytes(int threads) {
  return sizeof(long long) * piece_column<Terms, 1>::bins * static_cast<std::size_t>(threads);
}

template <class Terms>
__global__ void __launch_bounds__(piece_threads<Terms>(has_64_kib), piece_blocks<Terms>)
    piece_sums_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                      const __grid_constant__ device::destination to) {
  constexpr int threads = piece_threads<Terms>(has_64_kib);
  static_assert(piece_bytes<Terms>(threads) + sizeof(block_sums) <= (has_64_kib ? 64 : 99) * 1024);
  static_assert(piece_bytes<Terms>(threads) >= sizeof(finish_memory));
  extern __shared__ long long integer_bins[];
  __shared__ block_sums sums;
  piece_column<Terms, threads> column{integer_bins + threadIdx.x, 0, 0};
  column.clear();
  sums.clear(how, to);
  device::wait_for_previous_kernel();
  add_pieces(how, blockIdx.x, gridDim.x, column);
  __syncwarp();
  column.flush(sums.limb);
  if (hand_over(how, memory, sums, column.marks()))
    finish_launch<false>(memory, launches, sums, *reinterpret_cast<finish_memory*>(integer_bins));  // which nobody needs any more
}

// --- dots of two types --------------------------------------------------------------------------------------------------------------------------------

/// Products of each thread that are on their way while as many others are added. Of doubles there are few threads to wait.
template <class E>
inline constexpr int products_ahead = sizeof(E) == 8 ? 8 : 4;

/// Elements of any type as their bytes, `Number` of each thread: asked for without a look at any of them, for which it would have to be there.
template <class E, int Number>
struct elements_ahead {
  using bits = std::conditional_t<sizeof(E) == 8, std::uint64_t, std::uint32_t>;
  bits of[Number];

  template <class Bits>
  __device__ void load_as(const void* array, std::uint64_t at, std::uint64_t step, std::uint64_t count) {
#pragma unroll
    for (int k = 0; k < Number; ++k) {
      const std::uint64_t i = at + static_cast<unsigned>(k) * step;
      of[k] = i < count ? __ldcs(static_cast<const Bits*>(array) + i) : Bits(0);
    }
  }
  __device__ void load(const void* array, int bytes, std::uint64_t at, std::uint64_t step, std::uint64_t count) {
    if (bytes == 4) return load_as<unsigned>(array, at, step, count);
    if (bytes == 2) return load_as<unsigned short>(array, at, step, count);
    if (bytes == 1) return load_as<unsigned char>(array, at, step, count);
    if constexpr (sizeof(E) == 8) load_as<unsigned long long>(array, at, step, count);
  }
  /// Of a type all of whose elements are numbers of E, a float or a double.
  template <class T>
  __device__ void make_of(E (&numbers)[Number]) const {
    if constexpr (exact::are_all_in(element_type_of<T>, element_type_of<E>)) {
#pragma unroll
      for (int k = 0; k < Number; ++k) {
        T element;
        memcpy(&element, &of[k], sizeof(element));
        numbers[k] = static_cast<E>(element);
      }
    }
  }
  __device__ void make(element_type type, E (&numbers)[Number]) const {
    switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return make_of<T>(numbers);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
      default:
        return;
    }
  }
};

/// With bins of integers, which any products go into, whatever reads them; element by element, for all pairs of types.
template <class E>
__global__ void __launch_bounds__(piece_threads<product_terms<E, false>>(has_64_kib), piece_blocks<product_terms<E, false>>)
    two_types_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                     const __grid_constant__ device::destination to, element_type x_type, element_type y_type) {
  using terms = product_terms<E, false>;
  constexpr int threads = piece_threads<terms>(has_64_kib);
  constexpr int number = products_ahead<E>;
  extern __shared__ long long integer_bins[];
  __shared__ block_sums sums;
  piece_column<terms, threads> column{integer_bins + threadIdx.x, 0, 0};
  column.clear();
  sums.clear(how, to);
  device::wait_for_previous_kernel();
  const auto x_bytes = static_cast<int>(size_of(x_type));
  const auto y_bytes = static_cast<int>(size_of(y_type));
  const std::uint64_t count = count_of(how);
  const std::uint64_t step = std::uint64_t{gridDim.x} * threads;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  elements_ahead<E, number> x_ahead{};
  elements_ahead<E, number> y_ahead{};
  x_ahead.load(how.x, x_bytes, first, step, count);
  y_ahead.load(how.y, y_bytes, first, step, count);
#pragma unroll 1
  for (std::uint64_t at = first; at < count; at += number * step) {
    E x[number]{};
    E y[number]{};
    x_ahead.make(x_type, x);
    y_ahead.make(y_type, y);
    x_ahead.load(how.x, x_bytes, at + number * step, step, count);
    y_ahead.load(how.y, y_bytes, at + number * step, step, count);
#pragma unroll
    for (int k = 0; k < number; ++k)
      if (at + static_cast<unsigned>(k) * step < count) column.add(x[k], y[k]);
  }
  __syncwarp();
  column.flush(sums.limb);
  if (hand_over(how, memory, sums, column.marks()))
    finish_launch<false>(memory, launches, sums, *reinterpret_cast<finish_memory*>(integer_bins));  // which nobody needs any more
}

// --- integers -----------------------------------------------------------------------------------------------------------------------------------------

inline constexpr int whole_threads = 512;
inline constexpr int whole_blocks = blocks_of_512;
inline constexpr int whole_packs = 4;

template <class E>
__device__ inline void add_whole_of_block(const exact_launch& how, exact_terms terms, exact_memory* memory, block_sums& sums) {
  const auto add = [&](auto& sum) {
    sum.clear();
    add_whole<std::decay_t<decltype(sum)>, whole_packs>(how, blockIdx.x, gridDim.x, whole_threads, sum);
    __syncwarp();
  };
  if (terms == exact_terms::moments) {
    whole_moments<E> both;
    add(both);
    both.elements.flush(how.result.scale[0], sums.limb);
    __syncthreads();
    add_limbs(memory, 0, sums);
    for (int i = static_cast<int>(threadIdx.x); i < exact_memory::most; i += whole_threads) sums.limb[i] = 0;  // its own ones
    __syncthreads();
    both.squares.flush(how.result.scale[1], sums.limb);
  } else if (terms == exact_terms::squares) {
    whole_sum<E, true> sum;
    add(sum);
    sum.flush(how.result.scale[how.sum], sums.limb);
  } else {
    whole_sum<E, false> sum;
    add(sum);
    sum.flush(how.result.scale[how.sum], sums.limb);
  }
}

/// Of all types of integers: the end of a launch is ten times as much code as its sum.
__global__ void __launch_bounds__(whole_threads, whole_blocks)
    whole_sums_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                      const __grid_constant__ device::destination to, element_type type, exact_terms terms) {
  __shared__ block_sums sums;
  __shared__ finish_memory shared;
  sums.clear(how, to);
  device::wait_for_previous_kernel();
  switch (type) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits)
#define ONEFOLD_SMALL_TYPE(name, T)                  \
  case element_type::name:                           \
    add_whole_of_block<T>(how, terms, memory, sums); \
    break;
#include <onefold/types.def>
    case element_type::i32:
      add_whole_of_block<std::int32_t>(how, terms, memory, sums);
      break;
    case element_type::u32:
      add_whole_of_block<std::uint32_t>(how, terms, memory, sums);
      break;
    case element_type::i64:
      add_whole_of_block<std::int64_t>(how, terms, memory, sums);
      break;
    default:
      add_whole_of_block<std::uint64_t>(how, terms, memory, sums);
  }
  if (hand_over(how, memory, sums, static_cast<unsigned>(exact::has_other_than_minus_zero)))  // no integer is -0
    finish_launch<false>(memory, launches, sums, shared);
}

}  // namespace onefold::cuda_backend::exact_sums
