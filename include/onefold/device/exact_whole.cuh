#pragma once
/// @file exact_whole.cuh  Exact sums of integers, and of their squares, on a GPU (decision 0062): for the library's kernel, which reads arrays, and those of users'
/// functions.
///
/// Whole numbers have no exponents, so there are no bins: a thread has an integer of 64 bits for each 32 binary digits of what it adds, in registers. The sums of
/// a warp go into the block's limbs, at the place of 1, where the states of doubles have whole numbers too.

#include <cstdint>
#include <type_traits>

#include <onefold/device/exact_bins.cuh>

namespace onefold::device::exact_sums {

/// The sum that a thread has of elements, or of their squares.
template <class E, bool Squares>
struct whole_sum {
  using type = E;
  static constexpr bool is_wide = sizeof(E) == 8;
  /// Integers, of which number i counts 2^(32 i): squares of 4 bytes have 64 digits, those of 8 have 128.
  static constexpr int pieces = Squares ? (is_wide ? 4 : sizeof(E) == 4 ? 2 : 1) : is_wide ? 2 : 1;
  /// Elements that a thread may add: each adds three times 32 digits to a piece at most, and a warp's are added up to 57.
  static constexpr std::uint64_t most_of_thread = std::uint64_t{1} << 18;

  long long piece[pieces];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < pieces; ++i) piece[i] = 0;
  }

  __device__ void add(E x) {
    if constexpr (!Squares && is_wide) {
      piece[0] += static_cast<unsigned>(x);
      piece[1] += static_cast<long long>(x >> 32);  // which has the sign
    } else if constexpr (!Squares) {
      piece[0] += x;
    } else if constexpr (is_wide) {
      const auto size = magnitude_of(x);
      const auto low = static_cast<unsigned>(size);
      const auto high = static_cast<unsigned>(size >> 32);
      const unsigned long long middle = product(low, high);
      add_halves<0>(product(low, low));
      add_halves<1>(middle);
      add_halves<1>(middle);
      add_halves<2>(product(high, high));
    } else if constexpr (sizeof(E) == 4) {
      add_halves<0>(product(magnitude_of(x), magnitude_of(x)));
    } else {
      piece[0] += static_cast<long long>(product(magnitude_of(x), magnitude_of(x)));
    }
  }

  /// Adds the sums of a warp to limbs scaled by 2^scale. By the whole warp.
  __device__ void flush(int scale, long long* limbs) const {
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const long long sum = sum_of_warp(piece[i]);
      if (threadIdx.x % warp_size == 0 && sum != 0) add_integer(limbs, sum, 32 * i - scale);
    }
  }

 private:
  static __device__ auto magnitude_of(E x) {
    using magnitude = std::conditional_t<is_wide, unsigned long long, unsigned>;
    if constexpr (std::is_signed_v<E>)
      return x < 0 ? 0 - static_cast<magnitude>(x) : static_cast<magnitude>(x);
    else
      return static_cast<magnitude>(x);
  }
  static __device__ unsigned long long product(unsigned a, unsigned b) { return static_cast<unsigned long long>(a) * b; }
  template <int First>
  __device__ void add_halves(unsigned long long v) {
    piece[First] += static_cast<unsigned>(v);
    piece[First + 1] += static_cast<long long>(v >> 32);
  }
};

/// Both: what a mean and a variance are made of.
template <class E>
struct whole_moments {
  using type = E;
  static constexpr int pieces = whole_sum<E, false>::pieces + whole_sum<E, true>::pieces;
  static constexpr std::uint64_t most_of_thread = whole_sum<E, true>::most_of_thread;

  whole_sum<E, false> elements;
  whole_sum<E, true> squares;

  __device__ void clear() {
    elements.clear();
    squares.clear();
  }
  __device__ void add(E x) {
    elements.add(x);
    squares.add(x);
  }
};

}  // namespace onefold::device::exact_sums
