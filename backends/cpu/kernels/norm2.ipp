#pragma once
/// @file norm2.ipp  norm2 of doubles: three trees.

#include "extremes.ipp"

namespace onefold::cpu {

namespace {

struct squares {
  f64 small, medium, big;
};

// Where a tile has medium elements and NaN only, its tree of them is a tree of squares and the other two are zero. That is seen from what
// is at hand: the lanes' sums are below the smallest square of a big element, and the least |x| is that of no small one. A zero, which is small, is not in
// the way of it: in any tree its square stands for it. A tile in which there may be some is looked at in a way of its own, with two operations more for
// each register, and so is one that is short, whose last row is filled up with zeros.
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
  ONEFOLD_INLINE static tested<P> medium_lanes(const f64* x, bool far) {
    if constexpr (2 * P > accumulators) {
      const tested<P / 2> low = medium_lanes<P / 2>(x, far);
      const tested<P / 2> high = medium_lanes<P / 2>(x + std::ptrdiff_t{P / 2} * width<f64>, far);
      return {{low.sum, high.sum}, low.medium_only & high.medium_only};
    } else {
      pack<f64, P> sum_of_squares = values<f64, f64, square, P>(x, nullptr);
      pack<f64, P> least = values<f64, f64, absolute, P>(x, nullptr);
      ONEFOLD_UNROLL(5)
      for (int r = 1; r < order::tile_rows; ++r) {
        x += order::lanes<f64>;
        if (far) ask_ahead<P * width<f64>>(x);
        sum_of_squares = combine<sum>(sum_of_squares, values<f64, f64, square, P>(x, nullptr));
        least = combine<min>(least, values<f64, f64, absolute, P>(x, nullptr));
      }
      return {sum_of_squares, in_range(sum_of_squares, least)};
    }
  }

  // |x|, or 1 for a zero.
  template <int P>
  ONEFOLD_INLINE static pack<f64, P> sizes_but_of_zeros(const f64* p) {
    if constexpr (P > 1) {
      return {sizes_but_of_zeros<P / 2>(p), sizes_but_of_zeros<P / 2>(p + std::ptrdiff_t{P / 2} * width<f64>)};
    } else {
      const register_type x = load<f64, f64>(p);
      return {x == all<f64>(0.0) ? all<f64>(1.0) : absolute::value<f64, width<f64>>(x)};
    }
  }

  template <int P>
  ONEFOLD_INLINE static tested<P> medium_lanes_but_for_zeros(const rows_of<f64>& tile, int column) {
    if constexpr (2 * P > accumulators) {
      const tested<P / 2> low = medium_lanes_but_for_zeros<P / 2>(tile, column);
      const tested<P / 2> high = medium_lanes_but_for_zeros<P / 2>(tile, column + P / 2 * width<f64>);
      return {{low.sum, high.sum}, low.medium_only & high.medium_only};
    } else {
      const int rows = tile.rows + (tile.last != nullptr ? 1 : 0);
      const auto row = [&](int r) {
        return (r < tile.rows ? tile.x + std::ptrdiff_t{r} * order::lanes<f64> : tile.last->x) + column;
      };
      pack<f64, P> sum_of_squares = values<f64, f64, square, P>(row(0), nullptr);
      pack<f64, P> least = sizes_but_of_zeros<P>(row(0));
      ONEFOLD_UNROLL(1)
      for (int r = 1; r < rows; ++r) {
        const f64* const x = row(r);
        if (tile.far) ask_ahead<P * width<f64>>(x);
        sum_of_squares = combine<sum>(sum_of_squares, values<f64, f64, square, P>(x, nullptr));
        least = combine<min>(least, sizes_but_of_zeros<P>(x));
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
    bool medium_only;
  };

  [[gnu::noinline]] static void tile_of_three(const rows_of<f64>& rows, halved& value) {
    const three<registers> found = class_lanes<registers>(rows, 0);
    value = {halve<sum>(found.small), halve<sum>(found.medium), halve<sum>(found.big), false};
  }

  [[gnu::noinline]] static void slow_tile(const f64* x, u64 count, bool far, halved& value) {
    constexpr u64 lanes = order::lanes<f64>;
    const u64 whole = count / lanes * lanes;
    padded_row<f64> last;
    rows_of<f64> rows{x, nullptr, static_cast<int>(count / lanes), nullptr, far};
    if (whole < count) {
      fill<1>(last, x + whole, static_cast<const f64*>(nullptr), count - whole, 0.0);
      rows.last = &last;
    }
    const tested<registers> tile = medium_lanes_but_for_zeros<registers>(rows, 0);
    if (subtree<bit_and, i64, 1>(&tile.medium_only) == 0) return tile_of_three(rows, value);
    value = {all<f64>(0.0), halve<sum>(tile.sum), all<f64>(0.0), true};
  }

  static squares group(const f64* x, const f64*, u64 count, bool far) {
    register_type small[group_tiles], medium[group_tiles], big[group_tiles];
    bool medium_only = true;
    bool seen = false;  // zeros, or other classes: the next tiles will have some, too
    int k = 0;
    const auto slowly = [&](u64 elements) {
      halved value;
      slow_tile(x, elements, far, value);
      small[k] = value.small, medium[k] = value.medium, big[k] = value.big;
      medium_only = medium_only && value.medium_only;
      seen = true;
    };
    for (; count >= tile_elements; ++k, count -= tile_elements, x += tile_elements) {
      if (seen) {
        slowly(tile_elements);
        continue;
      }
      const tested<registers> tile = medium_lanes<registers>(x, far);
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

}  // namespace

}  // namespace onefold::cpu
