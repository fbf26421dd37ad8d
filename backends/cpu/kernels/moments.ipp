#pragma once
/// @file moments.ipp  mean_variance: each lane's shift, sum and squares; then means and squared deviations, which meet in the tree.
///
///   a lane       c, s, q      c is the first element; s and q sum what the others are away from it
///   a node       N, M, D      two with the same N meet without a division, and all lanes of whole tiles have the same

#include "rows.ipp"

namespace onefold::cpu {

namespace {

struct moments {
  u64 count;
  f64 mean, deviation;
};

// One node in each lane, all of the same count: a constant for the compiler.
struct moments_register {
  vec<f64, width<f64>> mean, deviation;
  f64 half_count;
};

template <class T, int... Place>
ONEFOLD_INLINE moments_register picked(moments_register a, moments_register b) {
  return {picked<T, Place...>(a.mean, b.mean), picked<T, Place...>(a.deviation, b.deviation), a.half_count};
}

ONEFOLD_INLINE moments first_lane(moments_register v) { return {static_cast<u64>(2.0 * v.half_count), v.mean[0], v.deviation[0]}; }

// (+) of nodes with the same count.
struct merge_equal {
  ONEFOLD_INLINE static moments_register combine(moments_register a, moments_register b) {
    const auto d = b.mean - a.mean;
    return {a.mean * 0.5 + b.mean * 0.5, (a.deviation + b.deviation) + (d * d) * a.half_count, 2.0 * a.half_count};
  }
};

// (+) of any two.
inline moments merge(const moments& a, const moments& b) {
  if (a.count == b.count) {
    const f64 d = b.mean - a.mean;
    return {a.count + b.count, a.mean * 0.5 + b.mean * 0.5,
            (a.deviation + b.deviation) + (d * d) * (static_cast<f64>(a.count) * 0.5)};
  }
  const moments& big = a.count > b.count ? a : b;
  const moments& small = a.count > b.count ? b : a;
  const u64 count = a.count + b.count;
  const f64 d = small.mean - big.mean;
  const f64 part = static_cast<f64>(small.count) / static_cast<f64>(count);
  const f64 of_big = static_cast<f64>(big.count);
  const f64 mean = d - d == 0 ? big.mean + d * part : big.mean * (of_big / static_cast<f64>(count)) + small.mean * part;
  return {count, mean, (big.deviation + small.deviation) + (d * d) * (of_big * part)};
}

// Nodes of any counts side by side, each of them in three arrays; a count of 0 is no node. The first `half` take those that are `half` further in, as merge()
// does; what becomes of the others is of no use. Behind the last one a vector may be read.
[[gnu::noinline]] inline void merge_halves(f64* count, f64* mean, f64* deviation, int half) {
  using register_type = vec<f64, width<f64>>;
  const register_type zero = all<f64>(0.0), one_half = all<f64>(0.5);
  const auto put = [](f64* to, register_type value) { __builtin_memcpy(to, &value, sizeof(value)); };
  ONEFOLD_UNROLL(1)
  for (int j = 0; j < half; j += width<f64>) {
    const register_type a_count = load<f64, f64>(count + j), b_count = load<f64, f64>(count + j + half);
    const register_type a_mean = load<f64, f64>(mean + j), b_mean = load<f64, f64>(mean + j + half);
    const register_type a_deviation = load<f64, f64>(deviation + j);
    const auto equal = a_count == b_count;
    const auto a_is_big = a_count > b_count;
    const register_type total = a_count + b_count;
    const register_type big_count = a_is_big ? a_count : b_count, small_count = a_is_big ? b_count : a_count;
    const register_type big = a_is_big ? a_mean : b_mean, small = a_is_big ? b_mean : a_mean;
    const register_type d = small - big;
    const register_type part = small_count / total;
    const register_type near = big + d * part, far = big * (big_count / total) + small * part;
    const register_type unequal_mean = d - d == zero ? near : far;
    const register_type merged_mean = equal ? a_mean * one_half + b_mean * one_half : unequal_mean;
    const register_type weight = equal ? a_count * one_half : big_count * part;
    const register_type merged_deviation = (a_deviation + load<f64, f64>(deviation + j + half)) + (d * d) * weight;
    const auto alone = b_count == zero;
    put(count + j, total);
    put(mean + j, alone ? a_mean : merged_mean);
    put(deviation + j, alone ? a_deviation : merged_deviation);
  }
}

struct minus {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V b) {
    return a - b;
  }
};
struct finite_or_zero {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V) {
    const V zero = {};
    return a - a == zero ? a : zero;
  }
};
struct not_negative {
  template <class V>
  ONEFOLD_INLINE static V combine(V a, V) {
    const V zero = {};
    return a < zero ? zero : a;
  }
};

template <class E>
struct mean_variance {
  static constexpr int lanes = order::lanes<E>;
  static constexpr int tile_elements = tile_bytes / static_cast<int>(sizeof(E));
  static constexpr int registers = lanes / width<f64>;
  static constexpr int columns = 4;  // registers of lanes at once, with three accumulators each

  template <int P>
  struct nodes {
    pack<f64, P> mean, deviation;
    f64 half_count;
  };

  ONEFOLD_INLINE static nodes<columns> lanes_at(const E* x, bool far) {
    using row = pack<f64, columns>;
    const row first = values<E, f64, as_is, columns>(x, nullptr);
    const row shift = combine<finite_or_zero>(first, first);
    row total = combine<minus>(first, shift);
    row squares = combine<prod>(total, total);
    ONEFOLD_UNROLL(1)
    for (int r = 1; r < order::tile_rows; ++r) {
      x += lanes;
      if (far) ask_ahead<columns * width<f64>>(x);
      const row d = combine<minus>(values<E, f64, as_is, columns>(x, nullptr), shift);
      total = combine<sum>(total, d);
      squares = combine<sum>(squares, combine<prod>(d, d));
    }
    // A division by 16 is a multiplication by its reciprocal, to the bit.
    const row e = combine<prod>(total, all_of_pack<f64, columns>(1.0 / order::tile_rows));
    const row deviation = combine<minus>(squares, combine<prod>(total, e));
    return {combine<sum>(shift, e), combine<not_negative>(deviation, deviation), 0.5 * order::tile_rows};
  }

  template <int P>
  ONEFOLD_INLINE static nodes<P / 2> low(nodes<P> a) {
    return {a.mean.low, a.deviation.low, a.half_count};
  }
  template <int P>
  ONEFOLD_INLINE static nodes<P / 2> high(nodes<P> a) {
    return {a.mean.high, a.deviation.high, a.half_count};
  }

  template <int P>
  ONEFOLD_INLINE static nodes<P> merged(nodes<P> a, nodes<P> b) {
    if constexpr (P > 1) {
      const nodes<P / 2> first = merged<P / 2>(low<P>(a), low<P>(b)), second = merged<P / 2>(high<P>(a), high<P>(b));
      return {{first.mean, second.mean}, {first.deviation, second.deviation}, first.half_count};
    } else {
      const moments_register both =
          merge_equal::combine({a.mean.v, a.deviation.v, a.half_count}, {b.mean.v, b.deviation.v, b.half_count});
      return {{both.mean}, {both.deviation}, both.half_count};
    }
  }

  // As many columns of what Registers of them, evenly spread over the row, are halved to; depth first, so that few are kept.
  template <int Registers>
  ONEFOLD_INLINE static nodes<columns> halved_to_columns(const E* x, bool far) {
    if constexpr (Registers == columns) {
      return lanes_at(x, far);
    } else {
      constexpr int apart = registers * columns / Registers * width<f64>;
      return merged<columns>(halved_to_columns<Registers / 2>(x, far), halved_to_columns<Registers / 2>(x + apart, far));
    }
  }

  template <int P>
  ONEFOLD_INLINE static moments_register halved(nodes<P> a) {
    if constexpr (P > 1)
      return halved<P / 2>(merged<P / 2>(low<P>(a), high<P>(a)));
    else
      return {a.mean.v, a.deviation.v, a.half_count};
  }

  [[gnu::noinline]] static moments_register tile(const E* x, bool far) {
    return halved<columns>(halved_to_columns<registers>(x, far));
  }

  ONEFOLD_INLINE static f64 value_of(E element) {
    if constexpr (is_half<E>)
      return half_value(element);
    else
      return static_cast<f64>(element);
  }

  // Lanes of two lengths, or none.
  ONEFOLD_INLINE static moments nodes_of_short_tile(const E* x, u64 count) {
    f64 shift[lanes], total[lanes], squares[lanes];
    // As nodes they lie side by side: merge() would go lane by lane, 750 ns instead of 210 for 256 doubles (Zen 4).
    constexpr int read = lanes + width<f64>;
    f64 node_count[read], mean[read], deviation[read];
    const int rows = static_cast<int>(count / lanes), rest = static_cast<int>(count % lanes);
    const int present = rows > 0 ? lanes : rest;
    for (int j = 0; j < present; ++j) {
      const f64 v = value_of(x[j]);
      shift[j] = v - v == 0 ? v : 0.0;
      total[j] = v - shift[j];
      squares[j] = total[j] * total[j];
    }
    const auto add = [&](const E* row, int length) {
      for (int j = 0; j < length; ++j) {
        const f64 d = value_of(row[j]) - shift[j];
        total[j] += d;
        squares[j] += d * d;
      }
    };
    for (int r = 1; r < rows; ++r) add(x + r * lanes, lanes);
    if (rows > 0) add(x + rows * lanes, rest);
    for (int j = 0; j < present; ++j) {
      const f64 length = static_cast<f64>(rows + (j < rest ? 1 : 0));
      const f64 e = total[j] / length;
      const f64 away = squares[j] - total[j] * e;
      node_count[j] = length;
      mean[j] = shift[j] + e;
      deviation[j] = away < 0 ? 0.0 : away;
    }
    for (int j = present; j < read; ++j) node_count[j] = mean[j] = deviation[j] = 0.0;
    for (int half = lanes / 2; half > 0; half /= 2) merge_halves(node_count, mean, deviation, half);
    return {static_cast<u64>(node_count[0]), mean[0], deviation[0]};
  }

  // Cold code is a quarter as large, and of elements that are converted one by one not much slower.
  [[gnu::noinline, gnu::cold]] static moments lean_short_tile(const E* x, u64 count) { return nodes_of_short_tile(x, count); }
  [[gnu::noinline]] static moments fast_short_tile(const E* x, u64 count) { return nodes_of_short_tile(x, count); }
  static moments short_tile(const E* x, u64 count) {
    if constexpr (same<E, f32> || same<E, f64>)
      return fast_short_tile(x, count);
    else
      return lean_short_tile(x, count);
  }

  [[gnu::noinline]] static moments part_of_group(const E* x, u64 count, bool far) {
    moments tiles[group_tiles];
    int k = 0;
    for (; count >= tile_elements; count -= tile_elements, x += tile_elements) {
      const moments_register here = tile(x, far);
      tiles[k++] = subtree<merge_equal, f64, 1>(&here);
    }
    if (count > 0) tiles[k++] = short_tile(x, count);
    for (; k > 1; k = (k + 1) / 2) {
      for (std::ptrdiff_t i = 0; i < k / 2; ++i) tiles[i] = merge(tiles[2 * i], tiles[2 * i + 1]);
      if (k % 2 == 1) tiles[k / 2] = tiles[k - 1];
    }
    return tiles[0];
  }

  static moments group(const E* x, const E*, u64 count, bool far) {
    if (count < u64{group_tiles} * tile_elements) return part_of_group(x, count, far);
    moments_register tiles[group_tiles];
    for (int k = 0; k < group_tiles; ++k) tiles[k] = tile(x + std::ptrdiff_t{k} * tile_elements, far);
    return subtree<merge_equal, f64, group_tiles>(tiles);
  }
};

}  // namespace

}  // namespace onefold::cpu
