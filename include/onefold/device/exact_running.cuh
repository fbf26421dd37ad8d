#pragma once
/// @file exact_running.cuh  Running sums of exact sums on a GPU, which stay in a thread's registers for thousands of terms (decision 0044).
///
/// A sum that begins at 1.5 * 2^52 quanta and stays between 2^52 and 2^53 of them rounds each term to a quantum. What the rounding leaves over, a second sum takes. Of the
/// first, its exponent says whether it has stayed; the second is exact where no term has digits far below a quantum. So a turn of terms is added first, and kept if the
/// whole warp could.
///
///   term -> high, in quanta -> what is left over -> low      4 operations on doubles and 2.5 on integers; 1.6 and 2 of floats that lie close together
///   the sums of a warp -> integers -> one -> atomics -> the block's limbs, where the terms ask for another place, and at the end

#include <onefold/device/exact_bins.cuh>

namespace onefold::device::exact_sums {

/// One of a thread's running sums. All exponents are as doubles have them.
struct running_sum {
  static constexpr int quantum_below = 52;  ///< of `high`: that many exponents below its own
  static constexpr int digits_below = 48;   ///< of `low` below the quantum
  static constexpr int most_between = 32;  ///< terms between two calls of settle(): so `low` has at most 33/2 quanta, and 53 digits
  static constexpr unsigned place = 0xfff00000U;

  double high, low;

  __device__ void begin(int exponent) {
    high = __hiloint2double(exponent << 20 | 0x80000, 0);
    low = 0;
  }
  /// The exponent that it began with.
  __device__ int exponent() const { return __double2hiint(high) >> 20; }

  /// What `high` has of terms; exact.
  __device__ double gathered() const {
    return __dsub_rn(high, __hiloint2double((__double2hiint(high) & static_cast<int>(place)) | 0x80000, 0));
  }

  /// Where a bit of `place` is set in `moved`, the sum has left its place, and is of no use.
  __device__ void add(double x, unsigned& moved) {
    const double now = __dadd_rn(high, x);
    low = __dadd_rn(low, __dsub_rn(x, __dsub_rn(now, high)));
    moved |= static_cast<unsigned>(__double2hiint(now) ^ __double2hiint(high));
    high = now;
  }
  /// The same of x x, which has 53 digits at most.
  __device__ void add_square(double x, unsigned& moved) {
    const double now = __fma_rn(x, x, high);
    low = __dadd_rn(low, __fma_rn(x, x, __dsub_rn(high, now)));
    moved |= static_cast<unsigned>(__double2hiint(now) ^ __double2hiint(high));
    high = now;
  }
  /// What has gathered in `low` goes to where it belongs; half a quantum is left at most.
  __device__ void settle(unsigned& moved) {
    const double now = __dadd_rn(high, low);
    low = __dsub_rn(low, __dsub_rn(now, high));
    moved |= static_cast<unsigned>(__double2hiint(now) ^ __double2hiint(high));
    high = now;
  }
  /// The sums of the warp go into limbs scaled by 2^scale. By the whole warp, whose sums have one exponent.
  static __device__ __noinline__ void flush(running_sum sum, int scale, long long* limbs);
};

__device__ __noinline__ inline void running_sum::flush(running_sum sum, int scale, long long* limbs) {
  const int quantum = sum.exponent() - quantum_below - 1023;
  const long long begun = static_cast<long long>((__double2hiint(sum.high) & static_cast<int>(place)) | 0x80000) << 32;
  const int low_quantum = ::max(quantum - digits_below, scale);
  const long long highs = sum_of_warp(__double_as_longlong(sum.high) - begun);
  const long long lows = sum_of_warp(in_quanta(sum.low, low_quantum));
  if (threadIdx.x % warp_size != 0) return;
  if (highs != 0) add_integer(limbs, highs, quantum - scale);
  if (lows != 0) add_integer(limbs, lows, low_quantum - scale);
}

/// The running sums of one of the results: of the terms, and of their rests.
template <class Terms>
struct running_sums {
  static constexpr bool is_of_floats = sizeof(typename Terms::type) == 4;
  /// Of a product of doubles those of its rest, less 53, and one more: it may have been rounded up to a power of two.
  static constexpr int digits_of_term = Terms::has_rest ? 54 : !is_of_floats ? 53 : Terms::is_product ? 48 : 24;
  static constexpr int above = 12;  ///< of the greatest term: 2^10 of that size never move the sum
  /// Of the least term below the sum's exponent: its lowest digit is no less than the lowest that `low` has room for. What a product's rest has below its own sum's
  /// exponent is the same.
  static constexpr int most_below = running_sum::quantum_below + running_sum::digits_below + 1 - digits_of_term;
  static constexpr int rest_below = 53;
  /// Exponents of terms that these sums take: their own, and the rests', have room.
  static constexpr int lowest = Terms::has_rest ? lowest_exponent : 0;
  static constexpr int highest = 16 * end_of_bins;  ///< and less

  running_sum of_terms;
  running_sum of_rests;
  unsigned
      floor;  ///< the sizes of terms, twice their upper word, which has no sign then, are greater; all ones where the sums are closed

  static constexpr unsigned closed = 0xffffffffU;
  __device__ void close() {
    of_terms.high = of_terms.low = 0;
    if constexpr (Terms::has_rest) of_rests.high = of_rests.low = 0;
    floor = closed;
  }
  __device__ bool is_open() const { return floor != closed; }
  /// Whether terms of that exponent may be the greatest.
  __device__ static bool takes(int greatest) { return greatest >= ::max(lowest, 1) && greatest < highest; }
  /// For terms of which the greatest has that exponent.
  __device__ void open_for(int greatest) { begin(greatest + above); }
  __device__ void begin(int exponent) {
    of_terms.begin(exponent);
    if constexpr (Terms::has_rest) of_rests.begin(exponent - rest_below);
    const int first = least();
    floor = first < 1 ? 0 : (static_cast<unsigned>(first) << 21) - 1;
  }
  /// The least exponent of a term that is not zero.
  __device__ int least() const { return of_terms.exponent() - most_below; }

  __device__ void add(const term<Terms>& t, unsigned& moved) {
    of_terms.add(t.value, moved);
    if constexpr (Terms::has_rest) of_rests.add(t.rest, moved);
  }

  /// Adds the terms if all threads of the warp can add theirs, and says whether they did. Not where they are closed.
  template <int Rows>
  __device__ bool add(const term<Terms> (&terms)[Rows]) {
    unsigned least_size = 0xffffffffU;
    running_sums after = *this;
    unsigned moved = 0;
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      least_size = ::min(least_size, size_of(terms[i]));
      after.add(terms[i], moved);
    }
    const bool has_stayed = (moved & running_sum::place) == 0;
    if (!__all_sync(all_lanes, has_stayed && least_size > floor)) {
      // Zeros are no smaller than others, but then what seems to be one may be none.
      bool is_taken = has_stayed && is_open();
#pragma unroll
      for (int i = 0; i < Rows; ++i) is_taken = is_taken && (size_of(terms[i]) > floor || is_zero(terms[i]));
      if (!__all_sync(all_lanes, is_taken)) return false;
    }
    *this = after;
    return true;
  }

  /// The same of floats not so far apart that their sum has more than 53 digits: it is the one term. So each costs one operation on doubles, and not four.
  template <int Rows>
  __device__ bool add_close(const term<Terms> (&terms)[Rows]) {
    static_assert(digits_of_term == 24, "of longer ones it is not exact");
    constexpr int spread = 53 - 24 - more_digits_of(Rows);
    constexpr int parts = 4;  // which do not wait for each other
    unsigned least_size = 0xffffffffU;
    unsigned greatest_size = 0;
    double sum[parts] = {};
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      least_size = ::min(least_size, size_of(terms[i]));
      greatest_size = ::max(greatest_size, size_of(terms[i]));
      sum[i % parts] = i < parts ? terms[i].value : __dadd_rn(sum[i % parts], terms[i].value);
    }
    running_sum after = of_terms;
    unsigned moved = 0;
    after.add(__dadd_rn(__dadd_rn(sum[0], sum[1]), __dadd_rn(sum[2], sum[3])), moved);
    const bool is_taken = (moved & running_sum::place) == 0 && least_size > floor && greatest_size - least_size < spread << 21;
    if (!__all_sync(all_lanes, is_taken)) return false;
    of_terms = after;
    return true;
  }

  /// To be called before more than running_sum::most_between terms were added. By the whole warp.
  __device__ void settle(int scale, long long* limbs) {
    running_sums after = *this;
    unsigned moved = 0;
    after.of_terms.settle(moved);
    if constexpr (Terms::has_rest) after.of_rests.settle(moved);
    if (__all_sync(all_lanes, (moved & running_sum::place) == 0)) {
      *this = after;
    } else {
      flush(scale, limbs);
      begin(of_terms.exponent());
    }
  }

  /// What they have goes into limbs. By the whole warp; what is left is not to be added to.
  __device__ void flush(int scale, long long* limbs) const {
    if (!is_open()) return;
    running_sum::flush(of_terms, scale, limbs);
    if constexpr (Terms::has_rest) running_sum::flush(of_rests, scale, limbs);
  }

 private:
  // Digits that a sum of so many terms has more than they have.
  __device__ static constexpr int more_digits_of(int terms) { return terms > 1 ? 1 + more_digits_of(terms / 2) : 0; }

  __device__ static unsigned size_of(const term<Terms>& t) { return static_cast<unsigned>(__double2hiint(t.value)) * 2; }
};

}  // namespace onefold::device::exact_sums
