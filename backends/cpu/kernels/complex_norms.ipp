#pragma once
/// @file complex_norms.ipp  Sums of the absolute values of complex numbers, and the largest of them.

#include "complex.ipp"
#include "roots.ipp"

namespace onefold::cpu {

namespace {

// The parts of as many numbers as a register has lanes.
template <int Part, class A, int... I>
ONEFOLD_INLINE vec<A, width<A>> parts(vec<A, width<A>> a, vec<A, width<A>> b, indices<I...>) {
  return picked<A, 2 * I + Part...>(a, b);
}

// The absolute values of width<f64> numbers.
ONEFOLD_INLINE vec<f64, width<f64>> squares_of_moduli(const f32* x) {
  using index = typename make_indices<width<f64>>::type;
  const auto a = load<f32, f64>(x), b = load<f32, f64>(x + width<f64>);
  const auto first = a * a, second = b * b;
  return parts<0, f64>(first, second, index{}) + parts<1, f64>(first, second, index{});
}
ONEFOLD_INLINE vec<f64, width<f64>> moduli_in_double(const f32* x) { return roots(squares_of_moduli(x)); }
ONEFOLD_INLINE vec<f32, width<f64>> moduli(const f32* x) { return narrowed(moduli_in_double(x)); }
ONEFOLD_INLINE vec<f64, width<f64>> moduli(const f64* x) {
  using index = typename make_indices<width<f64>>::type;
  const auto first = load<f64, f64>(x), second = load<f64, f64>(x + width<f64>);
  auto a = absolute::value<f64, width<f64>>(parts<0, f64>(first, second, index{}));
  auto b = absolute::value<f64, width<f64>>(parts<1, f64>(first, second, index{}));
  const auto big = (a >= order::big_from) | (b >= order::big_from);
  const auto small = (a < order::small_below) & (b < order::small_below);
  const auto one_or_up = small ? all<f64>(order::scale_up) : all<f64>(1);
  const auto one_or_down = small ? all<f64>(order::scale_down) : all<f64>(1);
  const auto scale = big ? all<f64>(order::scale_down) : one_or_up;
  const auto back = big ? all<f64>(order::scale_up) : one_or_down;
  a *= scale;
  b *= scale;
  return roots(a * a + b * b) * back;
}

// Of some numbers of a tile; those behind them, up to a tile's, are 0.
template <class T>
struct moduli_of_tile {
  static constexpr int count = tile_bytes / static_cast<int>(sizeof(T));
  static constexpr int step = width<f64>;
  alignas(vector_bytes) T values[count];

  template <class Vector>
  ONEFOLD_INLINE void put(std::ptrdiff_t at, const Vector& here) {
    static_assert(sizeof(here) == step * sizeof(T));
    __builtin_memcpy(values + at, &here, sizeof(here));
  }
  ONEFOLD_INLINE void fill_by_instructions(const T* x) {
    ONEFOLD_UNROLL(2)
    for (std::ptrdiff_t i = 0; i < count; i += step) put(i, moduli(x + 2 * i));
  }
  void fill(const T* x) { fill_by_instructions(x); }
  void fill(const T* x, std::ptrdiff_t some) {
    std::ptrdiff_t i = 0;
    for (; i + step <= some; i += step) put(i, moduli(x + 2 * i));
    if (i == some) return;
    T last[2 * step];
    copy_and_fill<2 * step>(last, x + 2 * i, 2 * static_cast<u64>(some - i), T(0));
    put(i, moduli(last));
  }
};

#if ONEFOLD_VECTOR_BYTES == 64
// Every second register's roots by products, beside those that the processor takes one after the other: 1.9 times as fast as these alone (docs/decisions/0055).
template <>
[[gnu::noinline]] inline void moduli_of_tile<f32>::fill(const f32* x) {
  roots_as_floats by_products;
  for (std::ptrdiff_t i = 0; i < count; i += std::ptrdiff_t{2} * step) {
    put(i, by_products.of(squares_of_moduli(x + 2 * i)));
    put(i + step, moduli(x + 2 * (i + step)));
  }
  if (!by_products.sure()) fill_by_instructions(x);
}
#endif

template <class T>
struct complex_norm1 {
  using number = parts_of_number<T>;
  using sums = ordered<T, T, as_is, sum>;
  static constexpr int tile_numbers = moduli_of_tile<T>::count;

  // Of `count` numbers.
  static T group(const number* first, const number*, u64 count, bool) {
    const T* x = reinterpret_cast<const T*>(first);
    vec<T, width<T>> tiles[group_tiles];
    moduli_of_tile<T> here;
    int k = 0;
    for (; count >= tile_numbers; ++k, count -= tile_numbers) {
      here.fill(x);
      tiles[k] = sums::template tile<order::tile_rows>({here.values, nullptr, order::tile_rows, nullptr});
      x += 2 * tile_numbers;
    }
    if (k == group_tiles) return subtree<sum, T, group_tiles>(tiles);
    if (count > 0) {
      here.fill(x, static_cast<std::ptrdiff_t>(count));
      tiles[k++] = sums::short_tile(here.values, nullptr, count);
    }
    return subtree_of<sum, T>(tiles, k, sum::neutral<T>);
  }
};

// Of floats, as doubles in the lanes of floats.
struct complex_wide_norm1 {
  using number = parts_of_number<f32>;
  static constexpr int lanes = order::lanes<f32>;
  static constexpr int tile_numbers = lanes * order::tile_rows;
  static constexpr int step = width<f64>;

  // Of `count` numbers, at most a tile's. What is not there is 0, which changes no sum of absolute values.
  [[gnu::noinline]] static vec<f64, step> tile(const f32* x, int count) {
    alignas(vector_bytes) f64 values[tile_numbers];
    const int rows = (count + lanes - 1) / lanes;
    const auto put = [&values](int at, const f32* from) {
      const auto here = moduli_in_double(from);
      __builtin_memcpy(values + at, &here, sizeof(here));
    };
    int i = 0;
    ONEFOLD_UNROLL(2)
    for (; i + step <= count; i += step) put(i, x + std::ptrdiff_t{2} * i);
    for (; i < rows * lanes; i += step) {
      f32 last[2 * step] = {};
      for (int k = 0; k < 2 * (count - i); ++k) last[k] = x[std::ptrdiff_t{2} * i + k];
      put(i, last);
    }
    return halve<sum>(lanes_of_values<f64, lanes / step, lanes>(values, rows));
  }

  // Of `count` numbers.
  static f64 group(const number* first, const number*, u64 count, bool) {
    const f32* x = reinterpret_cast<const f32*>(first);
    vec<f64, step> tiles[group_tiles];
    int k = 0;
    for (; count > 0; ++k) {
      const int here = static_cast<int>(count < tile_numbers ? count : tile_numbers);
      tiles[k] = tile(x, here);
      x += std::ptrdiff_t{2} * here;
      count -= static_cast<u64>(here);
    }
    return subtree_of<sum, f64>(tiles, k, sum::neutral<f64>);
  }
};

// The largest is the root of the largest a a + b b, since what is larger has no smaller root: one root for many numbers. Squares are never less than +0.
template <class T>
ONEFOLD_INLINE vec<T, width<T>> squared_sizes(const T* x) {
  using index = typename make_indices<width<T>>::type;
  const auto a = load<T, T>(x), b = load<T, T>(x + width<T>);
  const auto first = a * a, second = b * b;
  return unpacked_parts<0, T>(first, second, index{}) + unpacked_parts<1, T>(first, second, index{});
}

template <class T>
struct complex_norm_inf;

// Unscaled, squares are those that docs/order.md has where the largest is neither near the end of the numbers nor where they begin: all that are not, are less.
template <>
struct complex_norm_inf<f64> {
  using number = parts_of_number<f64>;
  using values = vec<f64, width<f64>>;
  static constexpr int registers = 4;
  static constexpr int step = registers * width<f64>;
  static constexpr f64 least = order::small_below * order::small_below, most = order::big_from * order::big_from;

  struct found {
    values largest[registers] = {}, sum[registers] = {};  // a NaN makes the sum one
    ONEFOLD_INLINE void add(const f64* x) {
      ONEFOLD_UNROLL(4)
      for (int r = 0; r < registers; ++r) {
        const values here = squared_sizes(x + std::ptrdiff_t{2} * r * width<f64>);
        largest[r] = max::combine(largest[r], here);
        sum[r] += here;
      }
    }
  };

  // Some of `count` numbers are far from 1, and none is no number.
  [[gnu::noinline, gnu::cold]] static f64 of_scaled(const f64* x, u64 count) {
    values largest = {};
    for (; count >= width<f64>; count -= width<f64>, x += std::ptrdiff_t{2} * width<f64>)
      largest = max::combine(largest, moduli(x));
    if (count > 0) {
      f64 last[2 * width<f64>];
      copy_and_fill<2 * width<f64>>(last, x, 2 * count, 0.0);
      largest = max::combine(largest, moduli(last));
    }
    return subtree<max, f64, 1>(&largest);
  }

  // Of `count` numbers.
  static f64 group(const number* first, const number*, u64 count, bool) {
    const f64* const begin = reinterpret_cast<const f64*>(first);
    const f64* x = begin;
    found all;
    u64 left = count;
    for (; left >= step; left -= step, x += std::ptrdiff_t{2} * step) all.add(x);
    if (left > 0) {
      f64 last[2 * step];
      copy_and_fill<2 * step>(last, x, 2 * left, 0.0);
      all.add(last);
    }
    const values sums = (all.sum[0] + all.sum[1]) + (all.sum[2] + all.sum[3]);
    const f64 sum_of_all = subtree<sum, f64, 1>(&sums);
    if (sum_of_all != sum_of_all) return f64(__builtin_nan(""));
    const values largest = max::combine(max::combine(all.largest[0], all.largest[1]), max::combine(all.largest[2], all.largest[3]));
    const f64 square = subtree<max, f64, 1>(&largest);
    if (!(square >= least && square < most)) return of_scaled(begin, count);
    return first_lane(roots(cpu::all<f64>(square)));
  }
};

// Whether some of the lanes are all ones, which others are none of.
ONEFOLD_INLINE bool any_lane(vec<i32, width<i32>> mask) {
#if ONEFOLD_VECTOR_BYTES == 64
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0;
#elif ONEFOLD_VECTOR_BYTES == 32
  return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_ps(reinterpret_cast<__m128>(mask)) != 0;
#else
  return subtree<bit_or, i32, 1>(&mask) != 0;
#endif
}

// As floats first, in blocks. What is exact, squares in doubles, is asked of the blocks alone in which a square is nearly the largest.
template <>
struct complex_norm_inf<f32> {
  using number = parts_of_number<f32>;
  using values = vec<f32, width<f32>>;
  using bits = vec<u32, width<u32>>;  // of squares: in their order, and NaN are beyond infinity
  static constexpr int block = 256;   // numbers
  static constexpr int most_blocks = static_cast<int>(group_tiles * order::tile_elements<f32>) / block;
  static constexpr u32 infinity = 0x7f800000;
  // Where no square of interest over- or underflows. Squares in floats are within 2^-22 of what they should be.
  static constexpr f32 least = 0x1p-100F, most = 0x1p126F, nearly = 1 - 0x1p-20F;

  ONEFOLD_INLINE static bits largest_of_block(const f32* x) {
    bits largest[2] = {};
    ONEFOLD_UNROLL(2)
    for (std::ptrdiff_t i = 0; i < block; i += std::ptrdiff_t{2} * width<f32>) {
      largest[0] = max::combine(largest[0], reinterpret_cast<bits>(squared_sizes(x + 2 * i)));
      largest[1] = max::combine(largest[1], reinterpret_cast<bits>(squared_sizes(x + 2 * (i + width<f32>))));
    }
    return max::combine(largest[0], largest[1]);
  }
  // Without a NaN among them. A product of floats is what it is in doubles.
  using exact = vec<f64, width<f64>>;
  [[gnu::noinline]] static exact largest_exactly(const f32* x, exact largest) {
    using index = typename make_indices<width<f64>>::type;
    ONEFOLD_UNROLL(2)
    for (std::ptrdiff_t i = 0; i < block; i += width<f64>) {
      const auto a = load<f32, f64>(x + 2 * i), b = load<f32, f64>(x + 2 * i + width<f64>);
      const exact first = a * a, second = b * b;
      largest =
          max::combine(largest, unpacked_parts<0, f64>(first, second, index{}) + unpacked_parts<1, f64>(first, second, index{}));
    }
    return largest;
  }

  // Of `count` numbers.
  static f32 group(const number* first, const number*, u64 count, bool) {
    const f32* const x = reinterpret_cast<const f32*>(first);
    const u64 whole = count / block, rest = count % block;
    f32 last[2 * block];
    bits of_blocks[most_blocks];
    for (u64 b = 0; b < whole; ++b) of_blocks[b] = largest_of_block(x + u64{2} * block * b);
    if (rest > 0) {
      copy_and_fill<2 * block>(last, x + u64{2} * block * whole, 2 * rest, 0.0F);
      of_blocks[whole] = largest_of_block(last);
    }
    const u64 blocks = whole + (rest > 0 ? 1 : 0);
    bits largest = {};
    for (u64 b = 0; b < blocks; ++b) largest = max::combine(largest, of_blocks[b]);
    const u32 of_all = subtree<max, u32, 1>(&largest);
    if (of_all > infinity) return f32(__builtin_nanf(""));
    f32 bound;
    __builtin_memcpy(&bound, &of_all, sizeof(bound));
    bound = bound >= least && bound < most ? bound * nearly : 0.0F;
    u32 bound_bits;
    __builtin_memcpy(&bound_bits, &bound, sizeof(bound));
    exact square = {};
    for (u64 b = 0; b < blocks; ++b)
      if (any_lane(of_blocks[b] >= bound_bits)) square = largest_exactly(b < whole ? x + u64{2} * block * b : last, square);
    return narrowed(roots(cpu::all<f64>(subtree<max, f64, 1>(&square))))[0];
  }
};

}  // namespace

}  // namespace onefold::cpu
