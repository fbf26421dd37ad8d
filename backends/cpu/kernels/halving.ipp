#pragma once
/// @file halving.ipp  From registers to one value: halving, and the tree of tiles.

#include "vectors.ipp"

namespace onefold::cpu {

namespace {

template <int... I>
struct indices {};
template <int N, int... I>
struct make_indices : make_indices<N - 1, N - 1, I...> {};
template <int... I>
struct make_indices<0, I...> {
  using type = indices<I...>;
};

// The lanes of a and b at these places, where those of b follow those of a.
template <class T, int... Place, class V>
ONEFOLD_INLINE V picked(V a, V b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, Place...);
#else  // g++ 11
  return __builtin_shuffle(a, b, vec<bits_of<T>, sizeof...(Place)>{Place...});
#endif
}

// What lane 0 holds.
template <class V>
ONEFOLD_INLINE auto first_lane(V v) {
  return v[0];
}

// A node may be more than a number: then V is a struct of registers, with a picked() and a first_lane() of its own (moments.ipp).

// One step for a and b side by side, which hold segments of W lanes: the second half of every segment meets its first. The results of each
// B lanes of a take the lower half of these lanes, those of b the upper one.
template <class Op, int W, int B, class T, class V, int... I>
ONEFOLD_INLINE V halve_segments(V a, V b, indices<I...>) {
  constexpr int lanes = sizeof...(I);
  constexpr auto from = [](int i) {
    const int k = i % (B / 2);
    return (i % B < B / 2 ? 0 : lanes) + i / B * B + k / (W / 2) * W + k % (W / 2);
  };
  return Op::combine(picked<T, from(I)...>(a, b), picked<T, (from(I) + W / 2)...>(a, b));
}

// Lanes in 16 bytes. Within them shuffles are cheapest: one cycle, where those across take three and, if they are irregular, a table of
// lanes from memory. So segments that are longer are halved first, with as many registers as there are.
template <class T>
constexpr int block = 16 / static_cast<int>(sizeof(T));

// Halves the segments of W lanes of M registers, where register i goes together with register i + Apart; alone where M is too small.
template <class Op, class T, int M, int W, int B, int Apart, class V>
ONEFOLD_INLINE void step(const V* v, V* next) {
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
template <class Op, class T, int M, int Count, int Within, int Across, class V>
ONEFOLD_INLINE auto nodes_up(const V* v) {
  if constexpr (Count == 1) {
    return first_lane(v[0]);
  } else if constexpr (Within == 1 && Across == 1) {
    return nodes_up<Op, T, M, Count, block<T>, width<T> / block<T>>(v);  // these registers' roots are in order
  } else {
    constexpr int m = M > 1 ? M / 2 : 1;
    V next[m];
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
template <class Op, class T, int M, int W, int Count, class V>
ONEFOLD_INLINE auto lanes_down(const V* v) {
  if constexpr (W == 1) {
    return nodes_up<Op, T, M, Count, block<T>, width<T> / block<T>>(v);
  } else {
    // The tiles that one register will have in 16 bytes are neighbours in the end.
    constexpr bool across = W > block<T>;
    constexpr int apart = across ? block<T> : 1;
    constexpr int m = M >= 2 * apart ? M / 2 : M;
    V next[m];
    step<Op, T, M, W, (across ? width<T> : block<T>), apart>(v, next);
    return lanes_down<Op, T, m, W / 2, Count>(next);
  }
}

// The value of the subtree over M tiles, a power of two, each halved down to a register.
template <class Op, class T, int M, class V>
[[gnu::noinline]] auto subtree(const V* tiles) {
  return lanes_down<Op, T, M, width<T>, M>(tiles);
}

// What Tree<M> makes of the M tiles of a subtree, for the first `count` tiles of a group: those that are absent are `padding`, which changes nothing.
template <template <int> class Tree, class V>
ONEFOLD_INLINE auto of_some_tiles(V* tiles, int count, V padding) {
  const auto fill = [&](int up_to) {
    for (int k = count; k < up_to; ++k) tiles[k] = padding;
  };
  if (count == 1) return Tree<1>::of(tiles);
  if (count == 2) return Tree<2>::of(tiles);
  if (count <= 4) return fill(4), Tree<4>::of(tiles);
  if (count <= 8) return fill(8), Tree<8>::of(tiles);
  return fill(16), Tree<16>::of(tiles);
}
template <class Op, class T>
struct subtrees {
  template <int M>
  struct tree {
    ONEFOLD_INLINE static T of(const vec<T, width<T>>* tiles) { return subtree<Op, T, M>(tiles); }
  };
};
template <class Op, class T>
ONEFOLD_INLINE T subtree_of(vec<T, width<T>>* tiles, int count, T neutral) {
  return of_some_tiles<subtrees<Op, T>::template tree>(tiles, count, all<T>(neutral));
}
static_assert(group_tiles == 16);

}  // namespace

}  // namespace onefold::cpu
