/// @file fixed_order_kernels.ipp  The kernels of tree v1 on the CPU, compiled once for each instruction set.
///
/// The file that includes this one defines ONEFOLD_VECTOR_BYTES, the length of a register, and ONEFOLD_KERNELS, the name of its table.
/// The table is the only symbol that leaves the object. Everything else is in the unnamed namespace, and nothing of std:: is called:
/// of an inline function that several objects hold the linker keeps one, and if that were the AVX-512 one every machine would run it.
///
///   a row of a tile     |v0 |v1 |v2 |v3 |      K registers hold a row's values, one lane each
///   the row below       |v0 |v1 |v2 |v3 |      added register by register, 15 times
///   halving             (v0 v1) + (v2 v3), v0 + v1: down to one register, plain adds
///   16 tiles together   [t0 low, t1 low] + [t0 high, t1 high], ...: one add halves two tiles, then four, ...;
///                       in the end a register holds a tile's value in each lane, and the same step climbs the tree of tiles
///
/// Integer reductions and min and max give the same bits in any order, and are not held to it.

#include "fixed_order_kernels.hpp"

#include <onefold/order.hpp>

#include "../float_semantics.hpp"

#define ONEFOLD_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define ONEFOLD_UNROLL(n) ONEFOLD_PRAGMA(clang loop unroll_count(n))
#else
#define ONEFOLD_UNROLL(n) ONEFOLD_PRAGMA(GCC unroll n)
#endif
// Rows of a tile that are unrolled. Prefetchers follow the load instructions, and few of them are followed best: from the third-level cache
// of a Zen 4 a loop of 64-byte loads is 1.02 times as fast with one row as with five, and 1.4 times with fifteen. A dot
// product of 16 threads of an Intel Xeon from memory: as fast with one, three and five, 1.07 times as fast as with fifteen.
#if ONEFOLD_VECTOR_BYTES == 64
#define ONEFOLD_UNROLL_ROWS ONEFOLD_UNROLL(1)
#else
#define ONEFOLD_UNROLL_ROWS ONEFOLD_UNROLL(5)
#endif
#define ONEFOLD_INLINE [[gnu::always_inline]] inline

namespace onefold::kokkos_backend {

namespace {

using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

constexpr int vector_bytes = ONEFOLD_VECTOR_BYTES;
constexpr int tile_bytes = order::tile_rows * static_cast<int>(order::row_bytes);

// Registers that hold accumulators: half of those there are. The rest takes loads, products and constants.
constexpr int accumulators = vector_bytes == 64 ? 16 : 8;

// --- vectors ------------------------------------------------------------------------------------------------------------------------

template <class T, int N>
struct vector {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using vec = typename vector<T, N>::type;

template <class T>
constexpr int width = vector_bytes / static_cast<int>(sizeof(T));

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

template <class T>
constexpr bool is_float = same<T, f32> || same<T, f64>;

template <int Bytes>
struct signed_of_size {
  using type = i32;
};
template <>
struct signed_of_size<8> {
  using type = i64;
};
template <class T>
using bits_of = typename signed_of_size<sizeof(T)>::type;

// The identities of max and min.
template <class T>
consteval T smallest() {
  if constexpr (is_float<T>)
    return -T(__builtin_huge_val());
  else
    return T(-1) < T(0) ? T(u64{1} << (8 * sizeof(T) - 1)) : T(0);
}
template <class T>
consteval T largest() {
  if constexpr (is_float<T>)
    return T(__builtin_huge_val());
  else
    return T(~u64(smallest<T>()));
}

template <class T>
ONEFOLD_INLINE vec<T, width<T>> all(T value) {
  return value - vec<T, width<T>>{};  // x - 0 is x for every x, where -0 + 0 is not
}

// P registers. A recursive struct and not an array: its parts stay in registers at every level of optimisation that has any.
template <class T, int P>
struct pack {
  pack<T, P / 2> low, high;
};
template <class T>
struct pack<T, 1> {
  vec<T, width<T>> v;
};

// --- operators and maps, on vectors and on scalars -------------------------------------------------------------------------------------

struct sum {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a + b;
  }
  template <class T>
  static constexpr T neutral = is_float<T> ? -T(0) : T(0);
};

struct prod {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a * b;
  }
  template <class T>
  static constexpr T neutral = T(1);
};

// Of floats only where there is no NaN and the sign of a zero does not matter.
struct min {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return b < a ? b : a;
  }
  template <class T>
  static constexpr T neutral = largest<T>();
};
struct max {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return b > a ? b : a;
  }
  template <class T>
  static constexpr T neutral = smallest<T>();
};

struct as_is {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    return x;
  }
};

struct absolute {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    using bits = vec<bits_of<A>, N>;
    if constexpr (is_float<A>) {
      return reinterpret_cast<vec<A, N>>(reinterpret_cast<bits>(x) & static_cast<bits_of<A>>(~(u64{1} << (8 * sizeof(A) - 1))));
    } else {
      const bits negative = reinterpret_cast<bits>(x) >> static_cast<bits_of<A>>(8 * sizeof(A) - 1);  // all ones or none
      const vec<A, N> mask = reinterpret_cast<vec<A, N>>(negative);
      return (x ^ mask) - mask;
    }
  }
};

struct square {
  static constexpr int inputs = 1;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x) {
    return x * x;
  }
};

struct product {
  static constexpr int inputs = 2;
  template <class A, int N>
  ONEFOLD_INLINE static vec<A, N> value(vec<A, N> x, vec<A, N> y) {
    return x * y;
  }
};

// The element that Map makes a value of that changes no other: -0 for a sum of elements or of products (the other factor is 1), +0 where
// no value is -0.
template <class E, class Map, class Op>
constexpr E padding = (same<Map, as_is> || same<Map, product>) ? Op::template neutral<E> : E(0);
template <class E>
constexpr E padding<E, absolute, max> = E(0);

// width<A> elements at p, of any alignment, in A.
template <class E, class A>
ONEFOLD_INLINE vec<A, width<A>> load(const E* p) {
  vec<E, width<A>> x;
  __builtin_memcpy(&x, p, sizeof(x));
  if constexpr (same<E, A>)
    return x;
  else
    return __builtin_convertvector(x, vec<A, width<A>>);
}

// The values of P registers of elements side by side.
template <class E, class A, class Map, int P>
ONEFOLD_INLINE pack<A, P> values(const E* x, const E* y) {
  if constexpr (P > 1) {
    constexpr int half = P / 2 * width<A>;
    return {values<E, A, Map, P / 2>(x, y), values<E, A, Map, P / 2>(x + half, Map::inputs == 2 ? y + half : y)};
  } else if constexpr (Map::inputs == 2) {
    return {Map::template value<A, width<A>>(load<E, A>(x), load<E, A>(y))};
  } else {
    return {Map::template value<A, width<A>>(load<E, A>(x))};
  }
}

template <class Op, class T, int P>
ONEFOLD_INLINE pack<T, P> combine(pack<T, P> a, pack<T, P> b) {
  if constexpr (P > 1)
    return {combine<Op>(a.low, b.low), combine<Op>(a.high, b.high)};
  else
    return {Op::combine(a.v, b.v)};
}

// Halving down to one register.
template <class Op, class T, int P>
ONEFOLD_INLINE vec<T, width<T>> halve(pack<T, P> a) {
  if constexpr (P > 1)
    return halve<Op>(combine<Op>(a.low, a.high));
  else
    return a.v;
}

template <class T, int P>
ONEFOLD_INLINE pack<T, P> all_of_pack(T value) {
  if constexpr (P > 1)
    return {all_of_pack<T, P / 2>(value), all_of_pack<T, P / 2>(value)};
  else
    return {all<T>(value)};
}

// --- from registers to one value ---------------------------------------------------------------------------------------------------------

template <int... I>
struct indices {};
template <int N, int... I>
struct make_indices : make_indices<N - 1, N - 1, I...> {};
template <int... I>
struct make_indices<0, I...> {
  using type = indices<I...>;
};

// One step for a and b side by side, which hold segments of W lanes: the second half of every segment meets its first. The results of each
// B lanes of a take the lower half of these lanes, those of b the upper one.
template <class Op, int W, int B, class T, int... I>
ONEFOLD_INLINE vec<T, sizeof...(I)> halve_segments(vec<T, sizeof...(I)> a, vec<T, sizeof...(I)> b, indices<I...>) {
  constexpr int lanes = sizeof...(I);
  constexpr auto from = [](int i) {
    const int k = i % (B / 2);
    return (i % B < B / 2 ? 0 : lanes) + i / B * B + k / (W / 2) * W + k % (W / 2);
  };
#if __has_builtin(__builtin_shufflevector)
  return Op::combine(__builtin_shufflevector(a, b, from(I)...), __builtin_shufflevector(a, b, (from(I) + W / 2)...));
#else  // g++ 11
  using places = vec<bits_of<T>, lanes>;
  return Op::combine(__builtin_shuffle(a, b, places{from(I)...}), __builtin_shuffle(a, b, places{(from(I) + W / 2)...}));
#endif
}

// Lanes in 16 bytes. Within them shuffles are cheapest: one cycle, where those across take three and, if they are irregular, a table of
// lanes from memory. So segments that are longer are halved first, with as many registers as there are.
template <class T>
constexpr int block = 16 / static_cast<int>(sizeof(T));

// Halves the segments of W lanes of M registers, where register i goes together with register i + Apart; alone where M is too small.
template <class Op, class T, int M, int W, int B, int Apart>
ONEFOLD_INLINE void step(const vec<T, width<T>>* v, vec<T, width<T>>* next) {
  using index = typename make_indices<width<T>>::type;
  if constexpr (M >= 2 * Apart) {
    ONEFOLD_UNROLL(8)
    for (int i = 0; i < M / 2; ++i) {
      const int k = i / Apart * 2 * Apart + i % Apart;
      next[i] = halve_segments<Op, W, B, T>(v[k], v[k + Apart], index{});
    }
  } else {
    ONEFOLD_UNROLL(8)
    for (int i = 0; i < M; ++i) next[i] = halve_segments<Op, W, B, T>(v[i], v[i], index{});
  }
}

// The tree over Count nodes, one in each lane, in order, of M registers. Within 16 bytes first, then across.
template <class Op, class T, int M, int Count, int Within, int Across>
ONEFOLD_INLINE T nodes_up(const vec<T, width<T>>* v) {
  if constexpr (Count == 1) {
    return v[0][0];
  } else if constexpr (Within == 1 && Across == 1) {
    return nodes_up<Op, T, M, Count, block<T>, width<T> / block<T>>(v);  // these registers' roots are in order
  } else {
    constexpr int m = M > 1 ? M / 2 : 1;
    vec<T, width<T>> next[m];
    if constexpr (Within > 1) {
      step<Op, T, M, 2, block<T>, 1>(v, next);
      return nodes_up<Op, T, m, Count / 2, Within / 2, Across>(next);
    } else {
      step<Op, T, M, 2 * block<T>, width<T>, 1>(v, next);
      return nodes_up<Op, T, m, Count / 2, 1, Across / 2>(next);
    }
  }
}

// The lanes of Count tiles, of which M registers hold segments of W, down to one lane for each, and up from there.
template <class Op, class T, int M, int W, int Count>
ONEFOLD_INLINE T lanes_down(const vec<T, width<T>>* v) {
  if constexpr (W == 1) {
    return nodes_up<Op, T, M, Count, block<T>, width<T> / block<T>>(v);
  } else {
    // The tiles that one register will have in 16 bytes are neighbours in the end.
    constexpr bool across = W > block<T>;
    constexpr int apart = across ? block<T> : 1;
    constexpr int m = M >= 2 * apart ? M / 2 : M;
    vec<T, width<T>> next[m];
    step<Op, T, M, W, (across ? width<T> : block<T>), apart>(v, next);
    return lanes_down<Op, T, m, W / 2, Count>(next);
  }
}

// The value of the subtree over M tiles, a power of two, each halved down to a register.
template <class Op, class T, int M>
[[gnu::noinline]] T subtree(const vec<T, width<T>>* tiles) {
  return lanes_down<Op, T, M, width<T>, M>(tiles);
}

// The same for the first `count` tiles of a group: those that are absent change nothing.
template <class Op, class T>
ONEFOLD_INLINE T subtree_of(vec<T, width<T>>* tiles, int count, T neutral) {
  if (count == 1) return subtree<Op, T, 1>(tiles);
  const auto fill = [&](int up_to) {
    for (int k = count; k < up_to; ++k) tiles[k] = all<T>(neutral);
  };
  if (count == 2) return subtree<Op, T, 2>(tiles);
  if (count <= 4) return fill(4), subtree<Op, T, 4>(tiles);
  if (count <= 8) return fill(8), subtree<Op, T, 8>(tiles);
  return fill(16), subtree<Op, T, 16>(tiles);
}
static_assert(group_tiles == 16);

// --- the rows of a tile --------------------------------------------------------------------------------------------------------------

// The elements of a row's last part, filled up with padding.
template <class E>
struct padded_row {
  E x[order::lanes<E>], y[order::lanes<E>];
};

// Stores `value` in Count elements, a register at a time.
template <int Count, class E>
ONEFOLD_INLINE void store_all(E* to, E value) {
  const vec<E, width<E>> v = all<E>(value);
  ONEFOLD_UNROLL(16)
  for (int j = 0; j < Count; j += width<E>) __builtin_memcpy(to + j, &v, sizeof(v));
}

template <int Inputs, class E>
ONEFOLD_INLINE void fill(padded_row<E>& row, const E* x, const E* y, u64 count, E pad) {
  store_all<order::lanes<E>>(row.x, pad);
  __builtin_memcpy(row.x, x, count * sizeof(E));
  if constexpr (Inputs == 2) {
    store_all<order::lanes<E>>(row.y, E(1));
    __builtin_memcpy(row.y, y, count * sizeof(E));
  }
}

// `rows` whole rows and, where `last` is not null, the padded row below them; at least one row in all.
template <class E>
struct rows_of {
  const E* x;
  const E* y;
  int rows;
  const padded_row<E>* last;
};

// The lanes' values in P registers from `column` on, of Rows rows, or of those that there are where Rows is 0. Where a row does not fit the accumulators it is taken in blocks of columns.
template <class E, class A, class Map, class Op, int Rows, int P>
ONEFOLD_INLINE pack<A, P> lanes_of(const rows_of<E>& tile, int column) {
  if constexpr (P > accumulators) {
    constexpr int half = P / 2 * width<A>;
    return {lanes_of<E, A, Map, Op, Rows, P / 2>(tile, column), lanes_of<E, A, Map, Op, Rows, P / 2>(tile, column + half)};
  } else {
    constexpr int stride = order::lanes<E>;
    const auto row = [&](int r) {
      const bool whole = Rows > 0 || r < tile.rows;
      const E* x = whole ? tile.x + r * stride : tile.last->x;
      if constexpr (Map::inputs == 2)
        return values<E, A, Map, P>(x + column, (whole ? tile.y + r * stride : tile.last->y) + column);
      else
        return values<E, A, Map, P>(x + column, nullptr);
    };
    pack<A, P> lanes = row(0);
    if constexpr (Rows > 0) {
      ONEFOLD_UNROLL_ROWS
      for (int r = 1; r < Rows; ++r) lanes = combine<Op>(lanes, row(r));
    } else {
      const int rows = tile.rows + (tile.last != nullptr ? 1 : 0);
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < rows; ++r) lanes = combine<Op>(lanes, row(r));
    }
    return lanes;
  }
}

// --- sums and products of floats: the order counts ------------------------------------------------------------------------------------------

template <class E, class A, class Map, class Op>
struct ordered {
  using register_type = vec<A, width<A>>;
  static constexpr int tile_elements = tile_bytes / static_cast<int>(sizeof(E));
  static constexpr int registers = order::lanes<E> / width<A>;

  template <int Rows>
  ONEFOLD_INLINE static register_type tile(const rows_of<E>& rows) {
    return halve<Op>(lanes_of<E, A, Map, Op, Rows, registers>(rows, 0));
  }

  // Cold, so that g++ does not make 30 KiB of it.
  [[gnu::noinline, gnu::cold]] static register_type short_tile(const E* x, const E* y, u64 count) {
    constexpr u64 lanes = order::lanes<E>;
    const u64 whole = count / lanes * lanes;
    padded_row<E> last;
    rows_of<E> rows{x, y, static_cast<int>(count / lanes), nullptr};
    if (whole < count) {
      fill<Map::inputs>(last, x + whole, Map::inputs == 2 ? y + whole : nullptr, count - whole, padding<E, Map, Op>);
      rows.last = &last;
    }
    return tile<0>(rows);
  }

  static A group(const E* x, const E* y, u64 count) {
    register_type tiles[group_tiles];
    int k = 0;
    for (; count >= tile_elements; ++k, count -= tile_elements) {
      tiles[k] = tile<order::tile_rows>({x, y, order::tile_rows, nullptr});
      x += tile_elements;
      if constexpr (Map::inputs == 2) y += tile_elements;
    }
    if (k == group_tiles) return subtree<Op, A, group_tiles>(tiles);
    if (count > 0) tiles[k++] = short_tile(x, y, count);
    return subtree_of<Op, A>(tiles, k, Op::template neutral<A>);
  }
};

// --- integers, min and max: any order has the same bits -------------------------------------------------------------------------------------

// `Op` over integers.
template <class E, class A, class Map, class Op>
struct any_order {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<A>;

  static A group(const E* x, const E* y, u64 count) {
    pack<A, registers> lanes = all_of_pack<A, registers>(Op::template neutral<A>);
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(x, y));
      x += step;
      if constexpr (Map::inputs == 2) y += step;
    }
    if (count > 0) {
      E last_x[step], last_y[step];
      store_all<step>(last_x, padding<E, Map, Op>);
      if constexpr (Map::inputs == 2) store_all<step>(last_y, E(1));
      __builtin_memcpy(last_x, x, count * sizeof(E));
      if constexpr (Map::inputs == 2) __builtin_memcpy(last_y, y, count * sizeof(E));
      lanes = combine<Op>(lanes, values<E, A, Map, registers>(last_x, last_y));
    }
    const vec<A, width<A>> value = halve<Op>(lanes);
    return subtree<Op, A, 1>(&value);
  }
};

struct bit_or {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a | b;
  }
};
struct bit_and {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a & b;
  }
};

template <class Op>
struct sign_keeper {
  using type = bit_and;
};
template <>
struct sign_keeper<min> {
  using type = bit_or;
};

// Is there a NaN? Asked only when the cheap test of `extreme` cannot say no.
template <class T>
[[gnu::noinline]] bool any_nan(const T* x, u64 count) {
  using bits = vec<bits_of<T>, width<T>>;
  bits found = {};
  for (; count >= width<T>; count -= width<T>, x += width<T>) {
    const vec<T, width<T>> v = load<T, T>(x);
    found |= reinterpret_cast<bits>(v != v);
  }
  if (subtree<bit_or, bits_of<T>, 1>(&found) != 0) return true;
  for (; count > 0; --count, ++x)
    if (*x != *x) return true;
  return false;
}

// min and max of floats, and the largest absolute value. The machine's comparison loses a NaN and does not know the sign of a zero, so
// two things go along: a sum, which an element that is NaN makes NaN, and the disjunction of all bits for min, the conjunction for max.
// If the minimum is a zero no element but -0 has its sign set; if the maximum is one none but +0 has it clear. Three cheap operations
// on a register, where comparing integer keys takes four and needs instructions that SSE2 and, for f64, AVX2 have not.
template <class T, class Map, class Op>
struct extreme {
  static constexpr int registers = accumulators / 2;
  static constexpr int step = registers * width<T>;
  static constexpr bool signs_matter = same<Map, as_is>;
  static constexpr bool is_min = same<Op, min>;
  using bits = bits_of<T>;
  using keep = typename sign_keeper<Op>::type;

  struct found {
    pack<T, registers> value, sum;
    pack<bits, registers> signs;
  };

  template <int P>
  ONEFOLD_INLINE static pack<bits, P> as_bits(const pack<T, P>& x) {
    if constexpr (P > 1)
      return {as_bits(x.low), as_bits(x.high)};
    else
      return {reinterpret_cast<vec<bits, width<bits>>>(x.v)};
  }

  ONEFOLD_INLINE static void add(found& so_far, const T* x) {
    const pack<T, registers> values_here = values<T, T, Map, registers>(x, nullptr);
    so_far.value = combine<Op>(so_far.value, values_here);
    so_far.sum = combine<sum>(so_far.sum, values_here);
    if constexpr (signs_matter) so_far.signs = combine<keep>(so_far.signs, as_bits(values_here));
  }

  static T conclude(const found& lanes, const T* x, u64 count) {
    const vec<T, width<T>> sums = halve<sum>(lanes.sum);
    const vec<T, width<T>> extremes = halve<Op>(lanes.value);
    const T total = subtree<sum, T, 1>(&sums);
    if (total != total && any_nan(x, count)) return T(__builtin_nan(""));
    const T value = subtree<Op, T, 1>(&extremes);
    if constexpr (signs_matter) {
      if (value == 0) {
        const vec<bits, width<bits>> signs = halve<keep>(lanes.signs);
        return subtree<keep, bits, 1>(&signs) < 0 ? -T(0) : T(0);
      }
    }
    return value;
  }

  static T group(const T* x, const T*, u64 count) {
    const T* const begin = x;
    const u64 elements = count;
    found lanes{all_of_pack<T, registers>(padding<T, Map, Op>), all_of_pack<T, registers>(T(0)),
                all_of_pack<bits, registers>(is_min ? bits(0) : bits(-1))};
    ONEFOLD_UNROLL(2)
    for (; count >= step; count -= step) {
      add(lanes, x);
      x += step;
    }
    if (count > 0) {
      T last[step];
      store_all<step>(last, padding<T, Map, Op>);
      __builtin_memcpy(last, x, count * sizeof(T));
      add(lanes, last);
    }
    return conclude(lanes, begin, elements);
  }
};

// --- norm2 of doubles ---------------------------------------------------------------------------------------------------------------------

struct squares {
  f64 small, medium, big;
};

// Where a tile has medium elements and NaN only, its tree of them is a tree of squares and the other two are zero. That is seen from what
// is at hand: the lanes' sums are below the smallest square of a big element, and the least |x| is that of no small one. Zeros, which
// are small, take the tile the slow way, with three trees.
struct norm2 {
  using register_type = vec<f64, width<f64>>;
  using mask = vec<i64, width<i64>>;
  static constexpr int tile_elements = tile_bytes / static_cast<int>(sizeof(f64));
  static constexpr int registers = order::lanes<f64> / width<f64>;
  static constexpr f64 small_below = order::small_below;
  static constexpr f64 big_from = order::big_from;
  static constexpr f64 scale_up = order::scale_up;
  static constexpr f64 scale_down = order::scale_down;

  template <int P>
  struct tested {
    pack<f64, P> sum;
    mask medium_only;
  };
  template <int P>
  struct three {
    pack<f64, P> small, medium, big;
  };

  template <int P>
  ONEFOLD_INLINE static mask in_range(const pack<f64, P>& sum, const pack<f64, P>& least) {
    if constexpr (P > 1)
      return in_range(sum.low, least.low) & in_range(sum.high, least.high);
    else
      return reinterpret_cast<mask>(sum.v < all<f64>(big_from * big_from)) &
             reinterpret_cast<mask>(least.v >= all<f64>(small_below));
  }

  template <int P>
  ONEFOLD_INLINE static tested<P> medium_lanes(const f64* x) {
    if constexpr (2 * P > accumulators) {
      const tested<P / 2> low = medium_lanes<P / 2>(x);
      const tested<P / 2> high = medium_lanes<P / 2>(x + std::ptrdiff_t{P / 2} * width<f64>);
      return {{low.sum, high.sum}, low.medium_only & high.medium_only};
    } else {
      pack<f64, P> sum_of_squares = values<f64, f64, square, P>(x, nullptr);
      pack<f64, P> least = values<f64, f64, absolute, P>(x, nullptr);
      ONEFOLD_UNROLL(5)
      for (int r = 1; r < order::tile_rows; ++r) {
        x += order::lanes<f64>;
        sum_of_squares = combine<sum>(sum_of_squares, values<f64, f64, square, P>(x, nullptr));
        least = combine<min>(least, values<f64, f64, absolute, P>(x, nullptr));
      }
      return {sum_of_squares, in_range(sum_of_squares, least)};
    }
  }

  template <int P>
  ONEFOLD_INLINE static three<P> classes(const f64* p) {
    if constexpr (P > 1) {
      const three<P / 2> low = classes<P / 2>(p);
      const three<P / 2> high = classes<P / 2>(p + std::ptrdiff_t{P / 2} * width<f64>);
      return {{low.small, high.small}, {low.medium, high.medium}, {low.big, high.big}};
    } else {
      const register_type zero = all<f64>(0.0);
      const register_type x = load<f64, f64>(p);
      const register_type size = absolute::value<f64, width<f64>>(x);
      const auto small = size < all<f64>(small_below);
      const auto big = size >= all<f64>(big_from);
      const register_type factor = big ? all<f64>(scale_down) : all<f64>(1.0);
      const register_type scaled = x * (small ? all<f64>(scale_up) : factor);
      const register_type squared = scaled * scaled;
      const register_type not_small = small ? zero : squared;
      return {{small ? squared : zero}, {big ? zero : not_small}, {big ? squared : zero}};
    }
  }

  template <int P>
  ONEFOLD_INLINE static three<P> class_lanes(const rows_of<f64>& tile, int column) {
    if constexpr (4 * P > accumulators) {
      const three<P / 2> low = class_lanes<P / 2>(tile, column);
      const three<P / 2> high = class_lanes<P / 2>(tile, column + P / 2 * width<f64>);
      return {{low.small, high.small}, {low.medium, high.medium}, {low.big, high.big}};
    } else {
      const int rows = tile.rows + (tile.last != nullptr ? 1 : 0);
      const auto row = [&](int r) {
        return classes<P>((r < tile.rows ? tile.x + std::ptrdiff_t{r} * order::lanes<f64> : tile.last->x) + column);
      };
      three<P> lanes = row(0);
      for (int r = 1; r < rows; ++r) {
        const three<P> next = row(r);
        lanes = {combine<sum>(lanes.small, next.small), combine<sum>(lanes.medium, next.medium), combine<sum>(lanes.big, next.big)};
      }
      return lanes;
    }
  }

  struct halved {
    register_type small, medium, big;
  };

  [[gnu::noinline]] static void slow_tile(const f64* x, u64 count, halved& value) {
    constexpr u64 lanes = order::lanes<f64>;
    const u64 whole = count / lanes * lanes;
    padded_row<f64> last;
    rows_of<f64> rows{x, nullptr, static_cast<int>(count / lanes), nullptr};
    if (whole < count) {
      fill<1>(last, x + whole, static_cast<const f64*>(nullptr), count - whole, 0.0);
      rows.last = &last;
    }
    const three<registers> found = class_lanes<registers>(rows, 0);
    value = {halve<sum>(found.small), halve<sum>(found.medium), halve<sum>(found.big)};
  }

  static squares group(const f64* x, const f64*, u64 count) {
    register_type small[group_tiles], medium[group_tiles], big[group_tiles];
    bool medium_only = true;
    int k = 0;
    const auto slowly = [&](u64 elements) {
      halved value;
      slow_tile(x, elements, value);
      small[k] = value.small, medium[k] = value.medium, big[k] = value.big;
      medium_only = false;
    };
    for (; count >= tile_elements; ++k, count -= tile_elements, x += tile_elements) {
      const tested<registers> tile = medium_lanes<registers>(x);
      if (subtree<bit_and, i64, 1>(&tile.medium_only) != 0) {
        small[k] = big[k] = all<f64>(0.0);
        medium[k] = halve<sum>(tile.sum);
      } else {
        slowly(tile_elements);
      }
    }
    if (count > 0) {
      slowly(count);
      ++k;
    }
    squares value{0.0, subtree_of<sum, f64>(medium, k, 0.0), 0.0};
    if (!medium_only) value.small = subtree_of<sum, f64>(small, k, 0.0), value.big = subtree_of<sum, f64>(big, k, 0.0);
    return value;
  }
};

// --- the table ----------------------------------------------------------------------------------------------------------------------------

template <class E, class A, class Map, class Op>
struct kernel {
  using type = any_order<E, A, Map, Op>;
};
template <class E, class Map, class Op>
requires(is_float<E> && (same<Op, min> || same<Op, max>)) struct kernel<E, E, Map, Op> {
  using type = extreme<E, Map, Op>;
};
template <class E, class A, class Map, class Op>
requires(is_float<A> && (same<Op, sum> || same<Op, prod>)) struct kernel<E, A, Map, Op> {
  using type = ordered<E, A, Map, Op>;
};

template <class Kernel, class E, class A>
void run(const void* first_x, const void* first_y, u64 count, void* first_value) {
  constexpr u64 group = group_tiles * order::tile_elements<E>;
  const E* x = static_cast<const E*>(first_x);
  const E* y = static_cast<const E*>(first_y);
  A* value = static_cast<A*>(first_value);
  for (; count > group; count -= group) {
    *value++ = Kernel::group(x, y, group);
    x += group;
    if (y != nullptr) y += group;
  }
  *value = Kernel::group(x, y, count);
}

}  // namespace

extern const kernel_table ONEFOLD_KERNELS = {
#define ONEFOLD_FOLD(E, A, map, op) run<kernel<E, A, map, op>::type, E, A>,
    ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
        run<norm2, f64, squares>,
};

}  // namespace onefold::kokkos_backend
