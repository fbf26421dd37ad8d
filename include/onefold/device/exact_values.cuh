#pragma once
/// @file exact_values.cuh  Exact sums of the values of a function on a GPU (decisions 0040 and 0044), in the caller's translation unit, where his function is.
///
/// Running sums in registers (exact_running.cuh) take what has about the magnitude of its neighbours. f is called once for each index, so that nothing can be read
/// again, and what they do not take goes elsewhere at once:
///
///   one result: into bins of each thread's own, as the library's kernels for arrays have them (exact_bins.cuh). What does not lie in a warp's window of bins goes
///   into the block's limbs one by one; where that is much and a window elsewhere would take most of it, the warp empties its bins and moves the window
///   several: into the limbs by running sums of other magnitudes, the greatest first, and those that took most stay. Bins for each would leave room for few warps
///
/// Integers stay in registers to the end (exact_whole.cuh).
///
///   warp: 32 x Rows indices -> f -> values in registers -> running sums -> seldom, and at the end: integers -> the block's limbs
///   the end of a block:  bins -> integers -> its limbs -> atomics -> the launch's limbs, which a kernel of the library's rounds

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/device_exact.hpp>
#include <onefold/detail/exact_kinds.hpp>
#include <onefold/device/dependent.cuh>
#include <onefold/device/exact_bins.cuh>
#include <onefold/device/exact_running.cuh>
#include <onefold/device/exact_whole.cuh>
#include <onefold/maybe.hpp>
#include <onefold/types.hpp>

namespace onefold::device {

namespace exact_sums {

/// The sums of the values of a function: how they are made.
///
/// What      sum, mean, norm1, sum_of_squares or norm2
/// E         float or double
/// Results   of one call of the function
template <form What, class E, int Results>
struct values_sum {
  static constexpr bool is_squares = What == form::sum_of_squares || What == form::norm2;
  static constexpr unsigned mask = What == form::norm1 ? 0x7fffffffU : 0xffffffffU;
  using terms = std::conditional_t<is_squares, product_terms<E, true>, element_terms<E>>;
  static constexpr onefold::detail::exact::kind_row kind = onefold::detail::exact::kind_of(What, element_type_of<E>);
  static constexpr int scale = kind.scale[0];
  static constexpr int limbs = kind.limbs[0] + 2;  ///< of a block: pieces may reach beyond
  static constexpr int limbs_of_squares = 0;       ///< of a second sum beside it
  static constexpr int results = Results;
  static constexpr bool counts = false;    ///< how many values are present
  static constexpr bool is_whole = false;  ///< whether the values are integers

  /// Bins of a window, of one result. All that floats need, and 560 binary orders of magnitude of doubles.
  static constexpr bool has_bins = Results == 1;
  static constexpr bool fits = sizeof(E) == 4;  ///< whether all numbers do
  static constexpr int bins = fits && !is_squares ? 21 : 37;
  static constexpr int base_of_fitting = is_squares ? 43 : 52;  ///< two below the bin of the smallest square, or element

  /// Indices of a thread at a time: what is read for them is to hide the memory's latency, and their values lie in registers.
  static constexpr int rows = Results == 1 ? 16 / static_cast<int>(sizeof(E) / 4) : Results <= 6 && !terms::has_rest ? 8 : 4;
  /// Whether floats that lie close together are added up before they go into running sums. Of one result that took too many registers (0.58 of the read, and 0.73 without).
  static constexpr bool adds_close = rows == 8 && sizeof(E) == 4 && !is_squares && !has_bins;
  static constexpr unsigned turns_between = running_sum::most_between / rows;  ///< two that settle running sums

  static constexpr int bytes_of_warp = has_bins ? bins * warp_size * static_cast<int>(sizeof(double)) : 0;
  static constexpr int warps = has_bins       ? 12
                               : Results <= 8 ? 8
                                              : 6;  ///< of a block at most: as many as the device lends the bytes for
  static constexpr int blocks = Results == 1 || Results > 4 ? 2 : 3;  ///< of a multiprocessor
  static_assert(blocks * (warps * bytes_of_warp + Results * (limbs + 1) * 8 + 1024) <= 228 * 1024, "they fit its shared memory");
  static constexpr int threads = warps * warp_size;
  /// Indices. Bins have 53 bits, 36 of each of them and 31 of others; running sums look after themselves.
  static constexpr std::uint64_t most_of_thread = std::uint64_t{1} << 15;
};

/// The same of integers, whose states are those of doubles.
///
/// What      mean, norm2 or, with one result, mean_variance
/// E         an integer of 4 or 8 bytes
template <form What, class E, int Results>
struct whole_values_sum {
  static constexpr bool is_moments = What == form::mean_variance;
  struct terms {
    using type = E;
    using value = E;
  };
  using sum_of_thread = std::conditional_t<is_moments, whole_moments<E>, whole_sum<E, What == form::norm2>>;
  static constexpr onefold::detail::exact::kind_row kind = onefold::detail::exact::kind_of(What, element_type_of<E>);
  static constexpr int scale = kind.scale[0];
  static constexpr int scale_of_squares = kind.scale[1];
  static constexpr int limbs = kind.limbs[0] + 2;
  static constexpr int limbs_of_squares = is_moments ? kind.limbs[1] + 2 : 0;
  static_assert(!is_moments || Results == 1);
  static constexpr int results = Results;
  static constexpr bool counts = false;
  static constexpr bool is_whole = true;

  static constexpr int rows = Results == 1 ? 16 / static_cast<int>(sizeof(E) / 4) : Results <= 4 ? 4 : 2;
  static constexpr int bytes_of_warp = 0;
  static constexpr int warps = 8;
  static constexpr int threads = warps * warp_size;
  /// Of a thread: sums, the values of a turn, and what else there is.
  static constexpr int registers = Results * (2 * sum_of_thread::pieces + rows * static_cast<int>(sizeof(E) / 4)) + 40;
  static constexpr int blocks = registers <= 64 ? 4 : registers <= 128 ? 2 : 1;  ///< of a multiprocessor
  static constexpr std::uint64_t most_of_thread = sum_of_thread::most_of_thread;
};

/// The same of values some of which may be absent, where their number is wanted.
template <class Sum>
struct counted : Sum {
  static constexpr bool counts = true;
};

/// What a block adds up of each result.
template <class Sum>
struct values_sums {
  static constexpr int all_limbs = Sum::results * Sum::limbs + Sum::limbs_of_squares;
  long long limb[all_limbs];
  unsigned flags[Sum::results];
  unsigned long long present;
};

/// Values of a thread for one result, and the terms that they are.
template <class Sum>
struct row_of_values {
  using terms = typename Sum::terms;
  typename terms::value of[Sum::rows];

  /// Those whose bit in `there` is not set are none: -0 changes nothing, not even a sum of nothing but -0.
  __device__ term<terms> term_at(int i, unsigned there) const {
    const auto x = (there >> i & 1) != 0 ? of[i] : static_cast<typename terms::value>(-0.0);
    return term_of<terms>(x, x, Sum::mask);
  }
  struct row_of_terms {
    term<terms> one[Sum::rows];
  };
  __device__ row_of_terms terms_of(unsigned there) const {
    row_of_terms all;
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i) all.one[i] = term_at(i, there);
    return all;
  }
};

/// The sum of a function's only result: running sums ahead of a warp's window of bins.
template <class Sum>
struct values_window {
  using terms = typename Sum::terms;
  window<terms, Sum::bins, warp_size> bins;
  running_sums<terms> running;
  unsigned flags;

  __device__ void begin(double* column) {
    bins.column = column;
    running.close();
    flags = 0;
    bins.clear();
    bins.open(Sum::fits ? Sum::base_of_fitting : 0);
    if constexpr (!Sum::fits) bins.reach = 0;  // nothing is inside, and the first terms say where the window should lie
  }

  /// Adds all that are `there`.
  __device__ void add(const row_of_values<Sum>& values, unsigned there, long long* limbs) {
    if (!running.is_open() || !running.add(values.terms_of(there).one)) *this = add_anew(*this, values, there, limbs);
  }

  /// The bins become integers in `limbs`. By the whole warp.
  __device__ void flush_window(long long* limbs) {
    constexpr int first_quantum = -1043;
    __syncwarp();
    flush_bins<Sum::bins, warp_size>(bins.column, bins.base, first_quantum, Sum::scale, limbs);
    __syncwarp();
  }
  /// All that is not in `limbs` goes there. By the whole warp.
  __device__ void flush(long long* limbs) {
    running.flush(Sum::scale, limbs);
    flush_window(limbs);
  }

 private:
  // The terms of a thread at a time; the upper words of the greatest and the smallest that is not zero.
  struct turn {
    term<terms> one[Sum::rows];
    int highest;
    unsigned lowest;
    bool is_odd;  // whether there is a term so small that it may be taken for zero here
    __device__ void look(int size) {
      highest = ::max(highest, size);
      lowest = ::min(lowest, static_cast<unsigned>(size) - 1);  // zeros are no smaller than others
    }
  };
  struct both;

  // The terms that are outside of the window, as bits. The whole warp has so `many`.
  __device__ unsigned outside(const turn& now, unsigned& many) const {
    unsigned found = 0;
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i)
      if (bins.is_outside(now.one[i].value) && !is_zero(now.one[i])) found |= 1U << i;
    many = sum_of_warp(static_cast<unsigned>(__popc(found)));
    return found;
  }

  // Moves the window to where these terms are, their greatest two bins below its upper end, if that leaves less than half as many outside.
  __device__ unsigned move(const turn& now, unsigned found, unsigned many, long long* limbs) {
    unsigned greatest = 0;
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i) {
      const int bin = decltype(bins)::bin_of(now.one[i].value);
      if (bin < end_of_bins) greatest = ::max(greatest, static_cast<unsigned>(bin));
    }
    const int base = ::max(::min(static_cast<int>(greatest_of_warp(greatest)) + 2, end_of_bins - 1) - (Sum::bins - 1), lowest_bin);
    values_window moved = *this;
    moved.bins.base = base;
    moved.bins.reach = decltype(bins)::most_reach;
    unsigned left = 0;
    const unsigned still = moved.outside(now, left);
    if (2 * left > many) return found;
    flush_window(limbs);
    bins.clear();
    bins.open(base);
    return still;
  }

  // What follows takes and returns all by value, so that what seldom comes here lies in registers.

  // Terms that running sums have not taken: into others, which begin anew, or into bins.
  static __device__ __noinline__ values_window add_anew(values_window all, row_of_values<Sum> values, unsigned there,
                                                        long long* limbs);
  __device__ void add_to_bins(turn now, long long* limbs);

  // Terms that are outside go into the limbs, and are zeros from here on.
  static __device__ __noinline__ both add_outside(both all, long long* limbs);
};

template <class Sum>
struct values_window<Sum>::both {
  values_window window;
  turn terms_of_turn;
};

template <class Sum>
__device__ __noinline__ typename values_window<Sum>::both values_window<Sum>::add_outside(both all, long long* limbs) {
  constexpr unsigned many_enough = 32;
  values_window& here = all.window;
  turn& now = all.terms_of_turn;
  unsigned many = 0;
  unsigned found = here.outside(now, many);
  if (!Sum::fits && (many > many_enough || (here.bins.reach == 0 && many != 0))) found = here.move(now, found, many, limbs);
  now.highest = 0;
  now.lowest = 0xffffffff;
#pragma unroll
  for (int i = 0; i < Sum::rows; ++i) {
    const bool is_outside = (found >> i & 1) != 0;
    if (is_outside || __double_as_longlong(now.one[i].value) != __double_as_longlong(-0.0))
      here.flags |= exact::has_other_than_minus_zero;
    if (is_outside) {
      add_apart<terms>(now.one[i], Sum::scale, limbs, here.flags);
      now.one[i].value = 0;
      if constexpr (terms::has_rest) now.one[i].rest = 0;
    }
    const int size = __double2hiint(now.one[i].value) & 0x7fffffff;
    if (size != 0) now.look(size);
  }
  return all;
}

template <class Sum>
__device__ __noinline__ values_window<Sum> values_window<Sum>::add_anew(values_window all, row_of_values<Sum> values,
                                                                        unsigned there, long long* limbs) {
  turn now;
  now.highest = 0;
  now.lowest = 0xffffffff;
  now.is_odd = false;
#pragma unroll
  for (int i = 0; i < Sum::rows; ++i) {
    now.one[i] = values.term_at(i, there);
    const int size = __double2hiint(now.one[i].value) & 0x7fffffff;
    now.look(size);
    if constexpr (terms::has_rest)
      now.is_odd |= size == 0 && now.one[i].x != 0;
    else if constexpr (!Sum::fits)
      now.is_odd |= size == 0 && __double2loint(now.one[i].value) != 0;
  }
  running_sums<terms>& running = all.running;
  running.flush(Sum::scale, limbs);
  running.close();
  // Others begin where they take all of these terms.
  const auto greatest = static_cast<int>(greatest_of_warp(static_cast<unsigned>(now.highest) >> 20));
  const int least = ::min(static_cast<int>(now.lowest >> 20), 0x7ff);
  if (running.takes(greatest) && __all_sync(all_lanes, greatest - least < running.most_below - running.above)) {
    running.open_for(greatest);
    if (running.add(now.one)) {
      all.flags |= exact::has_other_than_minus_zero;
      return all;
    }
    running.close();
  }
  all.add_to_bins(now, limbs);
  return all;
}

template <class Sum>
__device__ void values_window<Sum>::add_to_bins(turn now, long long* limbs) {
  constexpr int rows = Sum::rows;
  using two = sums_of_two<rows>;
  const bool is_usual = !now.is_odd && bins.is_below_end(now.highest) && bins.is_above_begin(now.lowest) &&
                        (now.highest != 0 || (flags & exact::has_other_than_minus_zero) != 0);
  if (__all_sync(all_lanes, is_usual)) {
    flags |= exact::has_other_than_minus_zero;
  } else {
    const both after = add_outside({*this, now}, limbs);
    *this = after.window;
    now = after.terms_of_turn;
  }
  const int highest = ::max(now.highest, lowest_exponent << 20);  // of nothing but zeros
  const int spread = bins.has_room_above(highest) ? (highest >> 20) - static_cast<int>(now.lowest >> 20) : 0x7fff;
  if (bins.has_room_below() && __all_sync(all_lanes, spread <= two::most_spread)) {
    two sum;
    sum.add(
        highest >> 20, [&](int i, double so_far) { return __dadd_rn(so_far, now.one[i].value); },
        [&](int i, double d) { return __dsub_rn(now.one[i].value, d); });
    bins.add_low(sum.high);
    bins.add_low(sum.low);
    if constexpr (terms::has_rest) {
      sum.add((highest >> 20) - 52, [&](int i, double so_far) { return __dadd_rn(so_far, now.one[i].rest); },
              [&](int i, double d) { return __dsub_rn(now.one[i].rest, d); });
      bins.add_low(sum.high);
      bins.add_low(sum.low);
    }
  } else {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      bins.add(now.one[i].value);
      if constexpr (terms::has_rest) bins.add_low(now.one[i].rest);
    }
  }
}

/// The sum of one of several results: running sums, and where these do not take a term, others in their place.
template <class Sum>
struct values_running {
  using terms = typename Sum::terms;
  running_sums<terms> running;
  unsigned flags;

  __device__ void begin(double* /*column*/) {
    running.close();
    flags = 0;
  }

  /// As that of values_window.
  __device__ void add(const row_of_values<Sum>& values, unsigned there, long long* limbs) {
    const auto now = values.terms_of(there);
    if constexpr (Sum::adds_close)
      if (running.add_close(now.one)) return;
    if (!running.add(now.one)) *this = add_by_magnitude(*this, values, there, limbs);
  }

  __device__ void flush(long long* limbs) const { running.flush(Sum::scale, limbs); }

 private:
  // By value, so that what seldom comes here lies in registers.
  static __device__ __noinline__ values_running add_by_magnitude(values_running all, row_of_values<Sum> values, unsigned there,
                                                                 long long* limbs);
};

template <class Sum>
__device__ __noinline__ values_running<Sum> values_running<Sum>::add_by_magnitude(values_running all, row_of_values<Sum> values,
                                                                                  unsigned there, long long* limbs) {
  running_sums<terms>& running = all.running;
  running.flush(Sum::scale, limbs);
  const auto exponent_at = [](const term<terms>& t) { return ::max(exponent_of(t.value), 1); };
  unsigned waiting = 0;  // a bit for each term that is to be added
#pragma unroll
  for (int i = 0; i < Sum::rows; ++i) {
    const auto t = values.term_at(i, there);
    if (is_zero(t)) {
      if (__double_as_longlong(t.value) != __double_as_longlong(-0.0)) all.flags |= exact::has_other_than_minus_zero;
      continue;
    }
    all.flags |= exact::has_other_than_minus_zero;
    if (running.takes(exponent_at(t)))
      waiting |= 1U << i;
    else
      add_apart<terms>(t, Sum::scale, limbs, all.flags);
  }
  // The greatest first, with all that their sums take; the sums that took most begin anew. A few terms are faster one by one, and so are all that are left where
  // that has been so again and again.
  constexpr unsigned few = 16;
  constexpr int most_of_few = 3;
  unsigned most = 0;
  int times_few = 0;
  int begun = running.is_open() ? running.of_terms.exponent() : 0;
#pragma unroll 1
  while (true) {
    unsigned greatest = 0;
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i)
      if ((waiting >> i & 1) != 0) greatest = ::max(greatest, static_cast<unsigned>(exponent_at(values.term_at(i, there))));
    greatest = greatest_of_warp(greatest);
    if (greatest == 0) break;
    running.open_for(static_cast<int>(greatest));
    const int exponent = running.of_terms.exponent();
    const int least = running.least();
    unsigned taken = 0;
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i)
      if ((waiting >> i & 1) != 0 && exponent_at(values.term_at(i, there)) >= least) taken |= 1U << i;
    const unsigned many = sum_of_warp(static_cast<unsigned>(__popc(taken)));
    if (many > most) {
      most = many;
      begun = exponent;
    }
    const bool are_few = many < few;
    if (are_few && ++times_few == most_of_few) taken = waiting;
    unsigned moved = 0;  // nowhere: there is room for all
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i) {
      if ((taken >> i & 1) == 0) continue;
      if (are_few)
        add_apart<terms>(values.term_at(i, there), Sum::scale, limbs, all.flags);
      else
        running.add(values.term_at(i, there), moved);
    }
    waiting &= ~taken;
    if (!are_few) running.flush(Sum::scale, limbs);
  }
  if (begun != 0)
    running.begin(begun);
  else
    running.close();
  return all;
}

/// The sum of one of the results, of integers.
template <class Sum>
struct values_whole {
  typename Sum::sum_of_thread sum;
  unsigned flags;

  __device__ void begin(double* /*column*/) {
    sum.clear();
    flags = exact::has_other_than_minus_zero;  // no integer is -0
  }

  /// As that of values_window.
  __device__ void add(const row_of_values<Sum>& values, unsigned there, long long* /*limbs*/) {
#pragma unroll
    for (int i = 0; i < Sum::rows; ++i) sum.add((there >> i & 1) != 0 ? values.of[i] : 0);
  }

  __device__ void flush(long long* limbs) const {
    if constexpr (Sum::is_moments) {
      sum.elements.flush(Sum::scale, limbs);
      sum.squares.flush(Sum::scale_of_squares, limbs + Sum::limbs);
    } else {
      sum.flush(Sum::scale, limbs);
    }
  }
};

template <class Sum, bool IsWhole = Sum::is_whole>
struct values_taken_of {
  using type = values_whole<Sum>;
};
template <class Sum>
struct values_taken_of<Sum, false> {
  using type = std::conditional_t<Sum::has_bins, values_window<Sum>, values_running<Sum>>;
};
template <class Sum>
using values_taken = typename values_taken_of<Sum>::type;

/// The values of a fold's function: what it returns for the index with number i.
template <class Fold>
__device__ inline auto value_for(const Fold& fold, [[maybe_unused]] const onefold::detail::exact_values& how, std::uint64_t i) {
  if constexpr (Fold::inputs == 0) {
    return fold.from(i);
  } else {
    using A = typename Fold::template input<0>;
    const auto& a = static_cast<const A*>(how.input[0])[i];
    if constexpr (Fold::inputs == 1) {
      return fold.from(a);
    } else {
      using B = typename Fold::template input<1>;
      const auto& b = static_cast<const B*>(how.input[1])[i];
      if constexpr (Fold::inputs == 2) {
        return fold.from(a, b);
      } else {
        using C = typename Fold::template input<2>;
        return fold.from(a, b, static_cast<const C*>(how.input[2])[i]);
      }
    }
  }
}

/// By all threads of a block, with bins for them and sums that are zeros: adds the values of the warps' indices to the sums.
template <class Sum, class Fold>
__device__ inline void add_values_of_block(const Fold& fold, const onefold::detail::exact_values& how, unsigned block,
                                           unsigned blocks, double* bins, values_sums<Sum>& sums) {
  using E = typename Sum::terms::type;
  using returned = decltype(value_for(fold, how, std::uint64_t{}));
  constexpr bool may_be_absent = onefold::detail::value_traits<returned>::can_be_absent;
  constexpr int results = Sum::results;
  constexpr int rows = Sum::rows;
  constexpr std::uint64_t of_unit = std::uint64_t{warp_size} * rows;

  const unsigned warps_of_block = blockDim.x / warp_size;
  const unsigned warp_of_block = threadIdx.x / warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
  values_taken<Sum> taken[results];
#pragma unroll
  for (int k = 0; k < results; ++k)  // the bins of a warp lie together, so that fewer warps need fewer bytes
    taken[k].begin(bins + warp_of_block * (Sum::bytes_of_warp / sizeof(double)) + warp_lane);

  struct unit_of_values {
    row_of_values<Sum> of[results];
    unsigned there;
  };
  unsigned any = may_be_absent ? 0 : 1;
  unsigned present = 0;
  [[maybe_unused]] unsigned turns = 0;
  const auto read = [&](std::uint64_t first, auto is_whole) {
    unit_of_values made;
    auto& values = made.of;
    unsigned there = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const std::uint64_t at = first + static_cast<unsigned>(i * warp_size);
      if (!decltype(is_whole)::value && at >= how.count) {
#pragma unroll
        for (int k = 0; k < results; ++k) values[k].of[i] = 0;
        continue;
      }
      const returned here = value_for(fold, how, how.first + at);
      if constexpr (may_be_absent) {
        values[0].of[i] = static_cast<E>(here.value);
        if (here.present) there |= 1U << i;
      } else {
        there |= 1U << i;
        if constexpr (!std::is_arithmetic_v<returned>) {
          E of[results];
          memcpy(of, &here, sizeof(of));  // std::array's own functions are the host's
#pragma unroll
          for (int k = 0; k < results; ++k) values[k].of[i] = of[k];
        } else {
          values[0].of[i] = static_cast<E>(here);
        }
      }
    }
    if constexpr (may_be_absent) any |= there;
    if constexpr (Sum::counts) present += static_cast<unsigned>(__popc(there));
    made.there = there;
    return made;
  };
  const auto limbs_of = [&](int k) { return sums.limb + k * Sum::limbs; };
  const auto settle = [&] {
    if constexpr (!Sum::is_whole) {
      if (++turns % Sum::turns_between != 0) return;
#pragma unroll
      for (int k = 0; k < results; ++k) taken[k].running.settle(Sum::scale, limbs_of(k));
    }
  };
  const auto add = [&](const unit_of_values& values) {
#pragma unroll
    for (int k = 0; k < results; ++k) taken[k].add(values.of[k], values.there, limbs_of(k));
    settle();
  };

  const std::uint64_t warps = std::uint64_t{blocks} * warps_of_block;
  const std::uint64_t warp = std::uint64_t{block} * warps_of_block + warp_of_block;
  const std::uint64_t whole = how.count / of_unit;
#pragma unroll 1
  for (std::uint64_t unit = warp; unit < whole; unit += warps) add(read(unit * of_unit + warp_lane, std::true_type()));
  if (whole * of_unit != how.count && warp == whole % warps) add(read(whole * of_unit + warp_lane, std::false_type()));

#pragma unroll
  for (int k = 0; k < results; ++k) {
    taken[k].flush(limbs_of(k));
    if (any != 0) taken[k].flags |= exact::has_term;
    if (taken[k].flags != 0) atomicOr(&sums.flags[k], taken[k].flags);
  }
  if constexpr (Sum::counts)
    if (present != 0) atomicAdd(&sums.present, static_cast<unsigned long long>(present));
}

template <class Sum>
__device__ inline void clear(values_sums<Sum>& sums) {
  for (int i = static_cast<int>(threadIdx.x); i < sums.all_limbs; i += static_cast<int>(blockDim.x)) sums.limb[i] = 0;
  for (int k = static_cast<int>(threadIdx.x); k < Sum::results; k += static_cast<int>(blockDim.x)) sums.flags[k] = 0;
  if (Sum::counts && threadIdx.x == 0) sums.present = 0;
}

/// A block's sums are added to the launch's: to the first or the second of each. What the terms of a second were, those of the first say.
template <class Sum, int Which = 0>
__device__ inline void hand_over(const values_sums<Sum>& sums, onefold::detail::exact_limbs* to) {
  constexpr int of_first = Sum::results * Sum::limbs;
  for (int i = static_cast<int>(threadIdx.x); i < sums.all_limbs; i += static_cast<int>(blockDim.x)) {
    const long long more = sums.limb[i];
    auto* const limb = reinterpret_cast<unsigned long long*>(i < of_first ? to[i / Sum::limbs].limb[Which] + i % Sum::limbs
                                                                          : to->limb[1] + (i - of_first));
    if (more != 0) atomicAdd(limb, static_cast<unsigned long long>(more));
  }
  if constexpr (Which == 0)
    for (int k = static_cast<int>(threadIdx.x); k < Sum::results; k += static_cast<int>(blockDim.x))
      if (sums.flags[k] != 0) atomicOr(&to[k].flags, sums.flags[k]);
  if (Sum::counts && threadIdx.x == 0 && sums.present != 0)
    atomicAdd(&static_cast<onefold::detail::counted_exact_limbs*>(to)->present, sums.present);
}

}  // namespace exact_sums

#ifdef __CUDACC__  // and not a test on the host

/// Adds the values of a fold's function to `to`, one for each result. Whoever is launched behind it rounds them.
///
/// Which  of the two sums of a kind
template <class Sum, class Fold, int Which = 0>
__global__ void __launch_bounds__(Sum::threads, Sum::blocks)
    exact_values_kernel(const __grid_constant__ onefold::detail::exact_values how, onefold::detail::exact_limbs* to,
                        const __grid_constant__ Fold fold) {
  extern __shared__ double bins[];
  __shared__ exact_sums::values_sums<Sum> sums;
  exact_sums::clear(sums);
  __syncthreads();
  wait_for_previous_kernel();
  exact_sums::add_values_of_block<Sum>(fold, how, blockIdx.x, gridDim.x, bins, sums);
  __syncthreads();
  exact_sums::hand_over<Sum, Which>(sums, to);
}

#endif

}  // namespace onefold::device
