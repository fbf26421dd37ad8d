#pragma once
/// @file complex_products.ipp  Products of complex numbers. Real and imaginary parts lie in registers of their own, as unpacking has them; a tile ends as one
/// such pair, whose lanes are brought into their order, and pairs climb the tree as real numbers do.

#include "complex.ipp"

namespace onefold::cpu {

namespace {

// A number in each lane.
template <class T>
struct numbers {
  vec<T, width<T>> real, imaginary;
};

template <class T, int... Place>
ONEFOLD_INLINE numbers<T> picked(numbers<T> a, numbers<T> b) {
  return {picked<T, Place...>(a.real, b.real), picked<T, Place...>(a.imaginary, b.imaginary)};
}
template <class T>
ONEFOLD_INLINE parts_of_number<T> first_lane(numbers<T> v) {
  return {v.real[0], v.imaginary[0]};
}

struct complex_product {
  template <class T>
  ONEFOLD_INLINE static numbers<T> combine(numbers<T> a, numbers<T> b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

// Of numbers of E, in A.
template <class E, class A>
struct complex_prod {
  using number = parts_of_number<E>;
  using T = A;
  using result = parts_of_number<T>;
  static constexpr int row_parts = order::lanes<E>;
  static constexpr int lanes = row_parts / 2;
  static constexpr int tile_numbers = lanes * order::tile_rows;
  static constexpr int pairs = lanes / width<T>;  // of registers in a row

  ONEFOLD_INLINE static numbers<T> unpacked(const E* x) {
    using index = typename make_indices<width<T>>::type;
    const auto a = load<E, T>(x), b = load<E, T>(x + width<T>);
    return {unpacked_parts<0, T>(a, b, index{}), unpacked_parts<1, T>(a, b, index{})};
  }
  // Of what unpacked() and operations lane by lane have made, the numbers in their order.
  template <int... I>
  ONEFOLD_INLINE static numbers<T> in_order(numbers<T> v, indices<I...>) {
    constexpr int half = block<T> / 2;
    constexpr int one = width<T> / 2;  // numbers of a register of the input
    return picked<T, I % one / half * block<T> + I % half + I / one * half...>(v, v);
  }

  template <int P>
  struct products {
    products<P / 2> low, high;
  };
  template <int P>
  requires(P == 1) struct products<P> {
    numbers<T> v;
  };
  template <int P>
  ONEFOLD_INLINE static products<P> row(const E* x) {
    if constexpr (P > 1)
      return {row<P / 2>(x), row<P / 2>(x + P * width<T>)};
    else
      return {unpacked(x)};
  }
  template <int P>
  ONEFOLD_INLINE static products<P> combined(const products<P>& a, const products<P>& b) {
    if constexpr (P > 1)
      return {combined<P / 2>(a.low, b.low), combined<P / 2>(a.high, b.high)};
    else
      return {complex_product::combine(a.v, b.v)};
  }
  template <int P>
  ONEFOLD_INLINE static numbers<T> halved(const products<P>& a) {
    if constexpr (P > 1)
      return halved<P / 2>(combined<P / 2>(a.low, a.high));
    else
      return a.v;
  }
  // As many at a time as there are registers for.
  template <int P>
  ONEFOLD_INLINE static products<P> rows(const E* x) {
    if constexpr (P * 2 > accumulators) {
      return {rows<P / 2>(x), rows<P / 2>(x + P * width<T>)};
    } else {
      products<P> lanes_here = row<P>(x);
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < order::tile_rows; ++r) lanes_here = combined<P>(lanes_here, row<P>(x + r * row_parts));
      return lanes_here;
    }
  }
  ONEFOLD_INLINE static numbers<T> tile(const E* x) {
    return in_order(halved<pairs>(rows<pairs>(x)), typename make_indices<width<T>>::type{});
  }

  // Lanes that are not there change nothing, which no number does: (a + i b) (1 + i 0) may have another zero.
  struct padded_lanes {
    alignas(vector_bytes) T real[lanes + width<T>], imaginary[lanes + width<T>];

    ONEFOLD_INLINE numbers<T> at(int j) const { return {load<T, T>(real + j), load<T, T>(imaginary + j)}; }
    ONEFOLD_INLINE void put(int j, const numbers<T>& v) {
      __builtin_memcpy(real + j, &v.real, sizeof(v.real));
      __builtin_memcpy(imaginary + j, &v.imaginary, sizeof(v.imaginary));
    }
    // The lanes from j on, multiplied by `others` where these are lanes below `count`.
    ONEFOLD_INLINE void multiply(int j, const numbers<T>& others, int first_of_others, int count) {
      const auto here = at(j);
      const auto product = complex_product::combine(here, others);
      const auto there = count_up(typename make_indices<width<T>>::type{}) < bits_of<T>(count - first_of_others);
      put(j, {there ? product.real : here.real, there ? product.imaginary : here.imaginary});
    }
    template <int... I>
    ONEFOLD_INLINE static vec<bits_of<T>, width<T>> count_up(indices<I...>) {
      return vec<bits_of<T>, width<T>>{I...};
    }
  };

  // Of `count` numbers, some but less than a tile's.
  [[gnu::noinline, gnu::cold]] static result short_tile(const E* x, int count) {
    padded_lanes all = {};
    const auto add_row = [&all](const E* from, int there, bool first) {
      ONEFOLD_UNROLL(1)
      for (int j = 0; j < lanes; j += width<T>) {
        const auto v = in_order(unpacked(from + 2 * j), typename make_indices<width<T>>::type{});
        if (first)
          all.put(j, v);
        else
          all.multiply(j, v, j, there);
      }
    };
    const int whole = count / lanes, rest = count % lanes;
    for (int r = 0; r < whole; ++r) add_row(x + r * row_parts, lanes, r == 0);
    if (rest > 0) {
      alignas(vector_bytes) E last[row_parts];
      copy_and_fill<row_parts>(last, x + whole * row_parts, 2 * static_cast<u64>(rest), E(0));
      add_row(last, rest, whole == 0);
    }
    const int there = whole > 0 ? lanes : rest;
    for (int h = lanes / 2; h > 0; h /= 2)
      for (int j = 0; j < h; j += width<T>) all.multiply(j, all.at(j + h), j + h, there);
    return {all.real[0], all.imaginary[0]};
  }

  template <int M>
  struct tree {
    [[gnu::noinline]] static result of(const numbers<T>* tiles) { return lanes_down<complex_product, T, M, width<T>, M>(tiles); }
  };
  static result product(result a, result b) {
    return first_lane(
        complex_product::combine(numbers<T>{all<T>(a.real), all<T>(a.imaginary)}, numbers<T>{all<T>(b.real), all<T>(b.imaginary)}));
  }

  // Of `count` numbers.
  static result group(const number* first, const number*, u64 count, bool) {
    const E* x = reinterpret_cast<const E*>(first);
    numbers<T> tiles[group_tiles];
    int k = 0;
    for (; count >= tile_numbers; ++k, count -= tile_numbers) {
      tiles[k] = tile(x);
      x += 2 * tile_numbers;
    }
    if (k == group_tiles) return tree<group_tiles>::of(tiles);
    // From the end: subtrees of fewer tiles stand behind those of more.
    result value{};
    bool is_first = true;
    if (count > 0) {
      value = short_tile(x, static_cast<int>(count));
      is_first = false;
    }
    for (int here = 1, end = k; end > 0; here *= 2) {
      if ((end & here) == 0) continue;
      end -= here;
      const result before = of_some_tiles<tree>(tiles + end, here, numbers<T>{});  // no padding: a power of two
      value = is_first ? before : product(before, value);
      is_first = false;
    }
    return value;
  }
};

}  // namespace

}  // namespace onefold::cpu
