#pragma once
/// @file exact_values.cuh  Exact sums of the values of a function on a GPU (decision 0040): bins of each thread's own, as the library's kernels for arrays have
/// them (exact_bins.cuh), in the caller's translation unit, where his function is.
///
/// f is called once for each index, so that nothing can be read again. What does not lie in a warp's window of bins goes into the block's limbs
/// one by one; where that is much and a window elsewhere would take most of it, the warp empties its bins and moves the window.
///
///   warp: 32 x Rows indices -> f -> values in registers -> two exact sums of each thread's -> its column of bins
///   the end of a block:  bins -> integers -> its limbs -> atomics -> the launch's limbs, which a kernel of the library's rounds

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/device_exact.hpp>
#include <onefold/detail/exact_kinds.hpp>
#include <onefold/device/dependent.cuh>
#include <onefold/device/exact_bins.cuh>
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
  static constexpr int unit = kind.unit[0];
  static constexpr int limbs = kind.limbs[0] + 2;  ///< of a block: pieces may reach beyond
  static constexpr int results = Results;

  /// Bins of a window. All that floats need, and 560 binary orders of magnitude of doubles; of several results there is less room.
  static constexpr int all_of_floats = is_squares ? 37 : 21;
  static constexpr int bins_alone = sizeof(E) == 4 ? all_of_floats : 37;
  static constexpr int room = Results == 1 ? 37 : Results == 2 || terms::has_rest ? 18 : 12;
  static constexpr int bins = bins_alone < room ? bins_alone : room;
  static constexpr bool fits = sizeof(E) == 4 && bins == all_of_floats;  ///< whether all numbers do
  static constexpr int base_of_fitting = is_squares ? 43 : 52;           ///< two below the bin of the smallest square, or element

  /// Indices of a lane at a time.
  static constexpr int rows = Results == 1 ? 8 : Results <= 4 ? 4 : 2;

  static constexpr int bytes_of_warp = Results * bins * warp_size * static_cast<int>(sizeof(double));
  static constexpr int bytes_of_sums = Results * (limbs + 1) * static_cast<int>(sizeof(long long));
  static constexpr int blocks = 2;                                                  ///< of a multiprocessor
  static constexpr int bytes_of_block = (228 / blocks - 1) * 1024 - bytes_of_sums;  ///< of 228 KiB, 1 of each block for the system
  static constexpr int warps = bytes_of_block / bytes_of_warp < 12 ? bytes_of_block / bytes_of_warp : 12;
  static_assert(warps >= 1, "a warp's bins fit");
  static constexpr int threads = warps * warp_size;
  static constexpr std::uint64_t most_of_thread = std::uint64_t{1} << 15;  ///< 36 bits each and 31 of others, of 53
};

/// What a block adds up of each result.
template <class Sum>
struct values_sums {
  long long limb[Sum::results * Sum::limbs];
  unsigned flags[Sum::results];
};

/// A warp's window of bins for one of the results, and what is put into it.
template <class Sum>
struct values_window {
  using terms = typename Sum::terms;
  window<terms, Sum::bins, Sum::threads> bins;
  unsigned flags;

  /// Values of a lane for one result.
  struct row_of_values {
    typename terms::value of[Sum::rows];
  };

  __device__ void begin(double* column) {
    bins.column = column;
    flags = 0;
    bins.open(Sum::fits ? Sum::base_of_fitting : 0);
    if constexpr (!Sum::fits) bins.reach = 0;  // nothing is inside, and the first terms say where the window should lie
  }

  /// Adds all; those whose bit in `there` is not set are none.
  __device__ void add(const row_of_values& values, unsigned there, long long* limbs) {
    constexpr int rows = Sum::rows;
    using two = sums_of_two<rows>;
    turn now;
    now.highest = 0;
    now.lowest = 0xffffffff;
    bool is_odd = false;  // whether there is a term so small that it may be taken for zero here
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      // -0 changes nothing, not even a sum of nothing but -0.
      const auto x = (there >> i & 1) != 0 ? values.of[i] : static_cast<typename terms::value>(-0.0);
      now.one[i] = term_of<terms>(x, x, Sum::mask);
      const int size = __double2hiint(now.one[i].value) & 0x7fffffff;
      now.look(size);
      if constexpr (terms::has_rest)
        is_odd |= size == 0 && now.one[i].x != 0;
      else if constexpr (!Sum::fits)
        is_odd |= size == 0 && __double2loint(now.one[i].value) != 0;
    }
    const bool is_usual = !is_odd && bins.is_below_end(now.highest) && bins.is_above_begin(now.lowest) &&
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

  /// The bins become integers in `limbs`, and are empty. By the whole warp.
  __device__ void flush(long long* limbs) {
    constexpr int first_quantum = -1043;
    __syncwarp();
    flush_bins<Sum::threads>(bins.column, Sum::bins, bins.base, first_quantum, Sum::unit, limbs);
    __syncwarp();
  }

 private:
  // The terms of a lane at a time; the upper words of the greatest and the smallest that is not zero.
  struct turn {
    term<terms> one[Sum::rows];
    int highest;
    unsigned lowest;
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
      if (bin < scaled_bins) greatest = ::max(greatest, static_cast<unsigned>(bin));
    }
    const int base = ::max(::min(static_cast<int>(greatest_of_warp(greatest)) + 2, scaled_bins - 1) - (Sum::bins - 1), -2);
    values_window moved = *this;
    moved.bins.base = base;
    moved.bins.reach = ::min(base + Sum::bins, scaled_bins) - base - terms::below;
    unsigned left = 0;
    const unsigned still = moved.outside(now, left);
    if (2 * left > many) return found;
    flush(limbs);
    bins.open(base);
    return still;
  }

  // Terms that are outside go into the limbs, and are zeros from here on. By value, so that what seldom comes here lies in registers.
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
      add_apart<terms>(now.one[i], Sum::unit, limbs, here.flags);
      now.one[i].value = 0;
      if constexpr (terms::has_rest) now.one[i].rest = 0;
    }
    const int size = __double2hiint(now.one[i].value) & 0x7fffffff;
    if (size != 0) now.look(size);
  }
  return all;
}

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
  using row_of_values = typename values_window<Sum>::row_of_values;
  constexpr bool may_be_absent = onefold::detail::value_traits<returned>::can_be_absent;
  constexpr int results = Sum::results;
  constexpr int rows = Sum::rows;
  constexpr std::uint64_t of_unit = std::uint64_t{warp_size} * rows;

  values_window<Sum> windows[results];
#pragma unroll
  for (int k = 0; k < results; ++k) windows[k].begin(bins + k * Sum::bins * Sum::threads + threadIdx.x);

  unsigned any = 0;
  const auto add_unit = [&](std::uint64_t first, auto is_whole) {
    row_of_values values[results];
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
    any |= there;
#pragma unroll
    for (int k = 0; k < results; ++k) windows[k].add(values[k], there, sums.limb + k * Sum::limbs);
  };

  const std::uint64_t warps = std::uint64_t{blocks} * Sum::warps;
  const std::uint64_t warp = std::uint64_t{block} * Sum::warps + threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const std::uint64_t whole = how.count / of_unit;
#pragma unroll 1
  for (std::uint64_t unit = warp; unit < whole; unit += warps) add_unit(unit * of_unit + lane, std::true_type());
  if (whole * of_unit != how.count && warp == whole % warps) add_unit(whole * of_unit + lane, std::false_type());

#pragma unroll
  for (int k = 0; k < results; ++k) {
    windows[k].flush(sums.limb + k * Sum::limbs);
    if (any != 0) windows[k].flags |= exact::has_term;
    if (windows[k].flags != 0) atomicOr(&sums.flags[k], windows[k].flags);
  }
}

template <class Sum>
__device__ inline void clear(values_sums<Sum>& sums) {
  for (int i = static_cast<int>(threadIdx.x); i < Sum::results * Sum::limbs; i += Sum::threads) sums.limb[i] = 0;
  for (int k = static_cast<int>(threadIdx.x); k < Sum::results; k += Sum::threads) sums.flags[k] = 0;
}

/// A block's sums are added to the launch's.
template <class Sum>
__device__ inline void hand_over(const values_sums<Sum>& sums, onefold::detail::exact_limbs* to) {
  for (int i = static_cast<int>(threadIdx.x); i < Sum::results * Sum::limbs; i += Sum::threads) {
    const long long more = sums.limb[i];
    auto* const limb = reinterpret_cast<unsigned long long*>(to[i / Sum::limbs].limb[0] + i % Sum::limbs);
    if (more != 0) atomicAdd(limb, static_cast<unsigned long long>(more));
  }
  for (int k = static_cast<int>(threadIdx.x); k < Sum::results; k += Sum::threads)
    if (sums.flags[k] != 0) atomicOr(&to[k].flags, sums.flags[k]);
}

}  // namespace exact_sums

#ifdef __CUDACC__  // and not a test on the host

/// Adds the values of a fold's function to `to`, one for each result. Whoever is launched behind it rounds them.
template <class Sum, class Fold>
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
  exact_sums::hand_over(sums, to);
}

#endif

}  // namespace onefold::device
