#pragma once
/// @file complex.ipp  Sums and dots of complex numbers. A row of them is a row of their parts, added up as one of real numbers; halving ends with two lanes,
/// which are the parts of a tile's value.

#include "ordered.ipp"

namespace onefold::cpu {

namespace {

template <class T>
struct parts_of_number {
  T real, imaginary;
};

// Of each 16 bytes of a and b the real parts, or the imaginary ones: numbers of a and b by turns, in shuffles that do not cross 16 bytes.
template <int Part, class T, int... I>
ONEFOLD_INLINE vec<T, width<T>> unpacked_parts(vec<T, width<T>> a, vec<T, width<T>> b, indices<I...>) {
  constexpr int half = block<T> / 2;
  return picked<T, (I % block<T> < half ? 0 : width<T>)+I / block<T> * block<T> + I % half * 2 + Part...>(a, b);
}

// conj(x) y in registers that hold whole numbers, one rounded operation at a time.
struct conjugated {
  static constexpr int inputs = 2;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x, vec<A, N> y) {
    return product_of<A, N>(x, y, typename make_indices<N>::type{});
  }

 private:
  template <class A, int N, int... I>
  ONEFOLD_INLINE static vec<A, N> product_of(vec<A, N> x, vec<A, N> y, indices<I...>) {
    using bits = vec<bits_of<A>, N>;
    constexpr bits signs{(I % 2 == 0 ? bits_of<A>(0) : bits_of<A>(u64{1} << (8 * sizeof(A) - 1)))...};
    const vec<A, N> straight = x * y;                           // real real, imaginary imaginary
    const vec<A, N> crossed = x * picked<A, (I ^ 1)...>(y, y);  // real imaginary, imaginary real
    const vec<A, N> first = picked<A, (I % 2 == 0 ? I : N + I - 1)...>(straight, crossed);
    const vec<A, N> second = picked<A, (I % 2 == 0 ? I + 1 : N + I)...>(straight, crossed);
    return first + reinterpret_cast<vec<A, N>>(reinterpret_cast<bits>(second) ^ signs);
  }
};

// The sums of the lanes of `rows` rows of P registers, which stand in memory in the type that they are added in.
template <class A, int P, int Stride>
ONEFOLD_INLINE pack<A, P> lanes_of_values(const A* first, int rows) {
  if constexpr (P > accumulators) {
    return {lanes_of_values<A, P / 2, Stride>(first, rows), lanes_of_values<A, P / 2, Stride>(first + P / 2 * width<A>, rows)};
  } else {
    pack<A, P> lanes = values<A, A, as_is, P>(first, nullptr);
    ONEFOLD_UNROLL(1)
    for (int r = 1; r < rows; ++r) lanes = combine<sum>(lanes, values<A, A, as_is, P>(first + r * Stride, nullptr));
    return lanes;
  }
}

// Of numbers of E, in A.
template <class E, class A, class Map>
struct complex_sum {
  using number = parts_of_number<E>;
  using result = parts_of_number<A>;
  using T = A;
  using register_type = vec<A, width<A>>;
  static constexpr int lanes = order::lanes<E>;
  static constexpr int tile_parts = tile_bytes / static_cast<int>(sizeof(E));
  static constexpr int registers = lanes / width<A>;

  // Of `parts` parts, some but less than a tile's.
  static register_type short_tile(const E* x, const E* y, u64 parts) {
    if constexpr (Map::inputs == 1) {
      return ordered<E, A, as_is, sum>::short_tile(x, y, parts);
    } else {
      // No factors have a product that changes no other, so the products are padded, which are vectors here too: g++ 12 makes fused operations of a loop
      // over both parts, whatever it is told of them.
      constexpr u64 here = width<A>;
      A values[tile_parts];
      for (u64 i = 0; i < parts; i += here) {
        const bool is_whole = parts - i >= here;
        const register_type products =
            conjugated::value<A, width<A>>(is_whole ? load<E, A>(x + i) : in_part(x + i, parts - i),
                                           is_whole ? load<E, A>(y + i) : in_part(y + i, parts - i));
        __builtin_memcpy(values + i, &products, sizeof(products));
      }
      if constexpr (same<E, A>) {
        return ordered<A, A, as_is, sum>::short_tile(values, nullptr, parts);
      } else {
        const int rows = static_cast<int>((parts + lanes - 1) / lanes);
        for (u64 i = parts; i < u64{lanes} * static_cast<u64>(rows); ++i) values[i] = sum::neutral<A>;
        return halve<sum>(lanes_of_values<A, registers, lanes>(values, rows));
      }
    }
  }
  // The first `count` parts, less than a register's.
  ONEFOLD_INLINE static register_type in_part(const E* x, u64 count) {
    if constexpr (same<E, A>) {
      return load_part<A>(x, count, register_type{});
    } else {
      E some[width<A>] = {};
      for (u64 i = 0; i < count; ++i) some[i] = x[i];
      return load<E, A>(some);
    }
  }

  // The lanes of one of the parts, of tiles side by side in a register as the first step of lanes_down() has them.
  template <int Part, int... I>
  ONEFOLD_INLINE static register_type lanes_of_part(register_type a, register_type b, indices<I...>) {
    constexpr int half = width<T> / 2;
    return picked<T, (I < half ? 2 * I + Part : width<T> + 2 * (I - half) + Part)...>(a, b);
  }
  template <int Part, int M>
  ONEFOLD_INLINE static T part_of_subtree(const register_type* tiles) {
    using index = typename make_indices<width<T>>::type;
    constexpr int within = block<T>;  // lanes
    constexpr int apart = width<T> == within ? 1 : within;
    constexpr bool pairs = M >= 2 * apart;
    constexpr int m = pairs ? M / 2 : M;
    register_type next[m];
    ONEFOLD_UNROLL(8)
    for (int i = 0; i < m; ++i) {
      const int k = pairs ? i / apart * 2 * apart + i % apart : i;
      next[i] = lanes_of_part<Part>(tiles[k], tiles[pairs ? k + apart : k], index{});
    }
    return lanes_down<sum, T, m, width<T> / 2, M>(next);
  }
  template <int M>
  struct tree {
    [[gnu::noinline]] static result of(const register_type* tiles) {
      return {part_of_subtree<0, M>(tiles), part_of_subtree<1, M>(tiles)};
    }
  };

  // Of `count` numbers.
  static result group(const number* first_x, const number* first_y, u64 count, bool) {
    const E* x = reinterpret_cast<const E*>(first_x);
    const E* y = reinterpret_cast<const E*>(first_y);
    u64 parts = 2 * count;
    register_type tiles[group_tiles];
    int k = 0;
    for (; parts >= tile_parts; ++k, parts -= tile_parts) {
      tiles[k] = halve<sum>(lanes_of<E, A, Map, sum, order::tile_rows, registers>({x, y, order::tile_rows, nullptr}, 0));
      x += tile_parts;
      if constexpr (Map::inputs == 2) y += tile_parts;
    }
    if (parts > 0) tiles[k++] = short_tile(x, y, parts);
    return of_some_tiles<tree>(tiles, k, all<T>(sum::neutral<T>));
  }
};

}  // namespace

}  // namespace onefold::cpu
