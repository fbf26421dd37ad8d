#pragma once
/// @file rows.cuh  Tree v1 within a warp for values of any size, made of any inputs or of the index alone: element by element, in rows.

#include <onefold/device/fold.cuh>
#include <onefold/device/input.hpp>
#include <onefold/device/load.cuh>
#include <onefold/device/warp.cuh>

namespace onefold::device {

/// Tiles that a warp takes together, as a power of two: as many as it has threads for, so that they are an aligned subtree.
template <class Fold>
inline constexpr int log_tiles_of_rows = lanes<Fold> >= 32   ? 0
                                         : lanes<Fold> >= 16 ? 1
                                         : lanes<Fold> >= 8  ? 2
                                                             : 3;
static_assert(order::lanes_of_bytes(64) == 4, "values have at most 64 bytes");

namespace detail {

ONEFOLD_HOST_DEVICE constexpr int registers_of(std::size_t bytes) noexcept { return static_cast<int>((bytes + 3) / 4); }

// Registers for the elements of one index. A function of the index is taken for one that loads twice what it gives.
template <class Fold>
ONEFOLD_HOST_DEVICE constexpr int registers_of_index() noexcept {
  if constexpr (Fold::inputs == 0)
    return 2 * registers_of(value_bytes<Fold>::of);
  else if constexpr (Fold::inputs == 1)
    return registers_of(sizeof(typename Fold::template input<0>));
  else if constexpr (Fold::inputs == 2)
    return registers_of(sizeof(typename Fold::template input<0>)) + registers_of(sizeof(typename Fold::template input<1>));
  else
    return registers_of(sizeof(typename Fold::template input<0>)) + registers_of(sizeof(typename Fold::template input<1>)) +
           registers_of(sizeof(typename Fold::template input<2>));
}

// Whether what a fold makes of an element is larger than what it seems to load.
template <class Fold>
inline constexpr bool has_large_items = sizeof(typename Fold::accumulator) > 2 * value_bytes<Fold>::of;

// Rows in flight: up to 64 registers of them, and of arrays 32 beside large lanes, which lose a quarter with more (decision 0045).
template <class Fold>
ONEFOLD_HOST_DEVICE constexpr int rows_in_flight(int registers_of_row) noexcept {
  int rows = order::tile_rows;
  while (rows > 1 && rows * registers_of_row > (Fold::inputs > 0 && has_large_items<Fold> ? 32 : 64)) rows /= 2;
  return rows;
}

// Element `index` of an input that begins on a boundary of `Alignment` bytes, or of its type's.
template <std::size_t Alignment, class X>
__device__ inline X element_of(const void* input, std::uint64_t index) {
  return load_element<(Alignment > alignof(X) ? Alignment : alignof(X))>(static_cast<const X*>(input) + index);
}

// Nothing, or what one index has in each input.
template <class Fold, int Inputs = Fold::inputs>
struct elements;
template <class Fold>
struct elements<Fold, 0> {
  template <std::size_t>
  __device__ void load(const tree_input&, std::uint64_t) {}
};
template <class Fold>
struct elements<Fold, 1> {
  using X = typename Fold::template input<0>;
  X x;
  template <std::size_t Alignment>
  __device__ void load(const tree_input& in, std::uint64_t index) {
    x = element_of<Alignment, X>(in.x, index);
  }
  __device__ auto value(const Fold& fold) const { return fold.value(x); }
};
template <class Fold>
struct elements<Fold, 2> {
  using X = typename Fold::template input<0>;
  using Y = typename Fold::template input<1>;
  X x;
  Y y;
  template <std::size_t Alignment>
  __device__ void load(const tree_input& in, std::uint64_t index) {
    x = element_of<Alignment, X>(in.x, index);
    y = element_of<Alignment, Y>(in.y, index);
  }
  __device__ auto value(const Fold& fold) const { return fold.value(x, y); }
};
template <class Fold>
struct elements<Fold, 3> {
  using X = typename Fold::template input<0>;
  using Y = typename Fold::template input<1>;
  using Z = typename Fold::template input<2>;
  X x;
  Y y;
  Z z;
  template <std::size_t Alignment>
  __device__ void load(const tree_input& in, std::uint64_t index) {
    x = element_of<Alignment, X>(in.x, index);
    y = element_of<Alignment, Y>(in.y, index);
    z = element_of<Alignment, Z>(in.z, index);
  }
  __device__ auto value(const Fold& fold) const { return fold.value(x, y, z); }
};

}  // namespace detail

namespace detail {

template <class Fold>
inline constexpr int own_lanes = lanes<Fold> > warp_size ? lanes<Fold> / warp_size : 1;
template <class Fold>
inline constexpr int rows_together = rows_in_flight<Fold>(own_lanes<Fold>* registers_of_index<Fold>());

// What a thread has of a unit: a lane of one of its tiles, or several lanes of the only one, 32 apart. `Whole` says that all of the unit exists;
// otherwise what does not exist counts as absent, and nobody is asked for it.
template <class Fold, bool Whole>
class lanes_of_thread {
  using A = typename Fold::accumulator;
  static constexpr int L = lanes<Fold>;
  static constexpr int own = own_lanes<Fold>;
  static constexpr int width = L < warp_size ? L : warp_size;  // threads that have a tile
  static constexpr int tile = static_cast<int>(tile_elements<Fold>);

 public:
  __device__ lanes_of_thread(const tree_input& in, std::uint64_t unit) {
    const unsigned thread = threadIdx.x % warp_size;
    steps = static_cast<int>(thread / width * tile + thread % width);
    begin = ((unit << log_tiles_of_rows<Fold>)+thread / width) * tile + thread % width;
    const std::uint64_t behind = begin < in.count ? in.count - begin : 0;
    left_ = behind < static_cast<std::uint64_t>(tile) ? static_cast<int>(behind) : tile;
  }

  /// Reads them, of arrays, or as functions of the indices behind `origin`, the first one's place.
  template <std::size_t Alignment, class Origin>
  __device__ void take(const Fold& fold, const tree_input& in, [[maybe_unused]] const Origin& origin) {
    constexpr int rows = rows_together<Fold>;
#pragma unroll
    for (int above = 0; above < order::tile_rows; above += rows) {
      elements<Fold> element[rows][own];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int k = 0; k < own; ++k)
          if (exists(above + r, k)) element[r][k].template load<Alignment>(in, index(above + r, k));
      }
      if constexpr (Fold::inputs == 0 && has_large_items<Fold>) {
        // What becomes of a load is larger than what was loaded, so it is the loads that are kept.
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k)
            if (exists(above + r, k)) add(fold, k, value_at(fold, origin, place(above + r, k)), above + r);
        }
      } else if constexpr (Fold::inputs == 0) {
        // All values ahead of all combining, so that what they are made of is on its way together.
        decltype(fold.value(begin)) value[rows][own];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k)
            if (exists(above + r, k)) value[r][k] = value_at(fold, origin, place(above + r, k));
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k)
            if (exists(above + r, k)) add(fold, k, value[r][k], above + r);
        }
      } else {
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k)
            if (exists(above + r, k)) add(fold, k, element[r][k].value(fold), above + r);
        }
      }
    }
  }

  /// The same of a tile that is cut, where that has lanes for all threads and more. Who is asked only where its row exists waits for each answer by itself,
  /// since nobody knows what a function loads: rows that exist as a whole are asked for together, as many as a power of two has
  /// (decision 0074).
  template <std::size_t Alignment, class Origin>
  __device__ void take_cut(const Fold& fold, const tree_input& in, const Origin& origin) {
    const int exist = left_ > 0 && left_ < tile ? left_ + static_cast<int>(threadIdx.x % width) : left_;  // for all threads alike
    const int whole = ::min(exist / L, order::tile_rows);
    int row = 0;
    take_rows<8, Alignment>(fold, in, origin, row, whole);
    if (row == order::tile_rows) return;
#pragma unroll
    for (int k = 0; k < own; ++k)
      if (exists(row, k)) add(fold, k, loaded<Alignment>(fold, in, origin, row, k), row);
  }

  /// The node over the unit, in every thread of the warp, which must call it together.
  __device__ A node(const Fold& fold) const {
    A node[own];
#pragma unroll
    for (int k = 0; k < own; ++k) {
      if constexpr (Whole)
        node[k] = node_of_lane(fold, lane_[k], order::tile_rows, index(0, k));
      else if (present_[k] > 0)
        node[k] = node_of_lane(fold, lane_[k], present_[k], index(0, k));
      else
        node[k] = fold.neutral();
    }
#pragma unroll
    for (int half = own / 2; half > 0; half /= 2) {
#pragma unroll
      for (int k = 0; k < half; ++k) node[k] = fold.combine(node[k], node[k + half]);
    }
    A value = node[0];
#pragma unroll
    for (int distance = width / 2; distance > 0; distance /= 2) value = fold.combine(value, device::exchange(value, distance));
#pragma unroll
    for (int distance = width; distance < warp_size; distance *= 2) value = fold.combine(value, device::exchange(value, distance));
    return value;
  }

  std::uint64_t begin;  ///< number of its first element
  int steps;            ///< of that in the unit

 private:
  // How far an element is behind the first.
  static __device__ constexpr int place(int row, int k) { return row * L + k * warp_size; }
  __device__ std::uint64_t index(int row, int k) const { return begin + static_cast<std::uint64_t>(place(row, k)); }
  __device__ bool exists(int row, int k) const { return Whole || place(row, k) < left_; }
  template <std::size_t Alignment, class Origin>
  __device__ auto loaded(const Fold& fold, [[maybe_unused]] const tree_input& in, [[maybe_unused]] const Origin& origin, int row,
                         int k) const {
    if constexpr (Fold::inputs == 0) {
      return value_at(fold, origin, place(row, k));
    } else {
      elements<Fold> element;
      element.template load<Alignment>(in, index(row, k));
      return element.value(fold);
    }
  }
  // From row `row` on, as many at a time as there are registers for, then half as many.
  template <int Rows, std::size_t Alignment, class Origin>
  __device__ void take_rows(const Fold& fold, const tree_input& in, const Origin& origin, int& row, int whole) {
    using value_of = decltype(loaded<Alignment>(fold, in, origin, 0, 0));
    if constexpr (Rows == 1 || Rows * own * registers_of(sizeof(value_of)) <= 64) {
      while (whole - row >= Rows) {
        value_of value[Rows][own];
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k) value[r][k] = loaded<Alignment>(fold, in, origin, row + r, k);
        }
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
#pragma unroll
          for (int k = 0; k < own; ++k) add(fold, k, value[r][k], row + r);
        }
        row += Rows;
      }
    }
    if constexpr (Rows > 1) take_rows<Rows / 2, Alignment>(fold, in, origin, row, whole);
  }
  template <class Value>
  __device__ void add(const Fold& fold, int k, const Value& value, int row) {
    lane_[k] = row == 0 ? first_of_lane(fold, value, 0) : next_of_lane(fold, lane_[k], value, row);
    ++present_[k];
  }

  int left_;  // elements that exist from the first one on, as far as the tile goes
  lane_t<Fold> lane_[own];
  int present_[own] = {};
};

// The node over a unit that does not exist as a whole. Out of line: the others would wait for its instructions, and lack its registers.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_rows_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
  lanes_of_thread<Fold, false> lanes(in, unit);
  if constexpr (own_lanes<Fold> != 1)
    lanes.template take_cut<1>(fold, in, origin_of(fold, lanes.begin));
  else
    lanes.template take<1>(fold, in, origin_of(fold, lanes.begin));
  return lanes.node(fold);
}

// The node over two units, the first of which exists, and the second only where `Whole` says so or as far as it does. Both are read ahead of what they
// become.
template <bool Whole, class Fold, class Whole_fold>
__device__ inline typename Fold::accumulator two_units_node(const Fold& fold, const Whole_fold& whole, const tree_input& in,
                                                            std::uint64_t first) {
  lanes_of_thread<Whole_fold, true> lanes(in, first);
  lanes_of_thread<std::conditional_t<Whole, Whole_fold, Fold>, Whole> other(in, first + 1);
  lanes.template take<1>(whole, in, origin_of(whole, lanes.begin));
  if constexpr (Whole) {
    other.template take<1>(whole, in, origin_of(whole, other.begin));
    return fold.combine(lanes.node(whole), other.node(whole));
  } else {
    other.template take<1>(fold, in, origin_of(fold, other.begin));
    return fold.combine(lanes.node(whole), other.node(fold));
  }
}
template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_two_units_node(const Fold& fold, const tree_input& in, std::uint64_t first) {
  return two_units_node<false>(fold, for_whole_tiles(fold), in, first);
}

}  // namespace detail

/// The node over the 2^log_tiles_of_rows tiles of unit `unit`, in every lane of the calling warp, whose 32 threads must call it together. `Whole`
/// says that all of it exists. `Alignment`: of all inputs, where that is more than their types'.
template <class Fold, bool Whole, std::size_t Alignment>
__device__ inline typename Fold::accumulator rows_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
  if constexpr (!Whole) {
    return detail::cut_rows_node(fold, in, unit);
  } else {
    const auto& whole = for_whole_tiles(fold);
    detail::lanes_of_thread<std::decay_t<decltype(whole)>, true> lanes(in, unit);
    if constexpr (detail::has_places<Fold>) {
      // Which way is the same for the whole warp.
      constexpr int elements = static_cast<int>(tile_elements<Fold>) << log_tiles_of_rows<Fold>;
      const auto first = fold.origin(unit * elements);
      const auto own = first.behind(lanes.steps);
      if (first.has_in_row(elements))
        lanes.template take<Alignment>(whole, in, own.in_row());
      else
        lanes.template take<Alignment>(whole, in, own.nearby());
    } else {
      lanes.template take<Alignment>(whole, in, origin_of(whole, lanes.begin));
    }
    return lanes.node(whole);
  }
}

namespace detail {

/// Whether a warp takes two units at a time where there are more of them than warps of a cluster. Functions with one value of 8 bytes: their unit is a
/// tile, of which each thread has 128 bytes on their way, half of what it has of an array's (decision 0074). Values of 4 bytes gain nothing, and boxes lose where they are small.
template <class Fold>
ONEFOLD_HOST_DEVICE constexpr bool takes_two_units() noexcept {
  if constexpr (is_own<Fold>)
    return Fold::inputs == 0 && !Fold::reads_many && !has_large_items<Fold> && !has_places<Fold> && lanes<Fold> == warp_size;
  else
    return false;
}

}  // namespace detail

}  // namespace onefold::device
