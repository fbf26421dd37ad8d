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
  [[gnu::noinline, gnu::cold]] static moments short_tile(const E* x, u64 count) {
    f64 shift[lanes], total[lanes], squares[lanes];
    moments node[lanes];
    const int rows = static_cast<int>(count / lanes), rest = static_cast<int>(count % lanes);
    int present = rows > 0 ? lanes : rest;
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
      const int length = rows + (j < rest ? 1 : 0);
      const f64 e = total[j] / static_cast<f64>(length);
      const f64 deviation = squares[j] - total[j] * e;
      node[j] = {static_cast<u64>(length), shift[j] + e, deviation < 0 ? 0.0 : deviation};
    }
    for (int h = lanes / 2; h > 0; h /= 2) {
      for (int j = 0; j < h && j + h < present; ++j) node[j] = merge(node[j], node[j + h]);
      present = present < h ? present : h;
    }
    return node[0];
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
