#pragma once
/// @file tree.cuh  Tree v1 (docs/order.md) within a warp: from tiles in memory to their common node.

#include <onefold/device/fold.cuh>
#include <onefold/device/input.hpp>
#include <onefold/device/load.cuh>
#include <onefold/device/warp.cuh>

namespace onefold::device {

/// Tiles before this one exist as a whole.
template <class Fold>
__device__ inline std::uint64_t whole_tiles(const tree_input& in) {
  return in.count / tile_elements<Fold>;
}

/// Whether all packs of tiles 2 `pair` and 2 `pair` + 1 exist.
__device__ inline bool is_packed(const tree_input& in, std::uint64_t pair) { return 2 * pair + 2 <= in.end_packed; }

namespace detail {

// What becomes of an element, or of one of each input. A fold of one input has no use for y, which nobody has written then: so by reference.
template <class Fold>
__device__ inline auto value_of(const Fold& fold, typename Fold::element x, [[maybe_unused]] const typename Fold::element& y) {
  if constexpr (Fold::inputs == 2)
    return fold.value(x, y);
  else
    return fold.value(x);
}

// The lanes that one thread holds of a tile.
template <class Fold>
struct thread_lanes {
  static constexpr int size = pack<typename Fold::element>::size;
  typename Fold::accumulator lane[size];
};

// Whether so much is computed from each element that the compiler must be kept from beginning with it before all loads are on their way.
template <class Fold, bool Shifted>
inline constexpr bool has_long_arithmetic = std::is_same_v<typename Fold::accumulator, onefold::detail::squares> ||
                                            (Shifted && sizeof(typename Fold::element) == 8) || !Fold::is_plain ||
                                            sizeof(typename Fold::accumulator) > 2 * sizeof(double);

// The tile's lanes at this thread's positions, read in packs.
//
// Where the only input starts `shift` elements behind a 16-byte boundary, the packs are read from that boundary on: the element at position p
// of a row is then that of lane (p - shift) mod L. All steps of the halving pair lanes by their distance mod L, so they may be done on
// positions as if those were lanes. Only the first `shift` positions of a row hold elements of the row above, and for those one thread of
// sixteen leaves out the first row and takes one more behind the last.
template <class Fold, reading How, bool Fenced>
__device__ inline thread_lanes<Fold> packed_tile(const Fold& fold, const tree_input& in, std::uint64_t tile) {
  using E = typename Fold::element;
  using P = pack<E>;
  constexpr int L = lanes<Fold>;
  constexpr int rows = order::tile_rows;
  constexpr bool shifted = How == reading::shifted;
  static_assert(L / P::size == warp_size / 2, "half a warp reads a row");
  static_assert(!shifted || (Fold::inputs == 1 && lanes_forget_rows<Fold>));
  const int thread = static_cast<int>(threadIdx.x % (warp_size / 2));
  const int shift = shifted ? in.shift : 0;
  const std::uint64_t first = tile * tile_elements<Fold> + static_cast<std::uint64_t>(thread * P::size) - shift;
  const auto late = [&](int c) { return shifted && thread == 0 && c < shift; };  // these positions belong one row further down
  // Where the array's first pack begins nothing is there; what is there of it is read by itself, and a pack that exists in its place.
  const bool is_start = late(0) && tile == 0;
  const int first_row = is_start ? 1 : 0;
  const E* const input = static_cast<const E*>(in.x);
  const auto load_row = [&](const E* from, int r) {
    return load_pack(reinterpret_cast<const P*>(from + first + (r == 0 ? first_row : r) * L));
  };

  // All loads ahead of all use; of those for which it has no registers yet the compiler takes care. Where the arithmetic is long it would begin
  // with that too early, were it not for the fence: behind half of the loads (14 % of a norm2), or behind the first (half of a shifted minimum).
  P x[rows];
  P y[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    x[r] = load_row(input, r);
    if constexpr (Fold::inputs == 2) y[r] = load_row(static_cast<const E*>(in.y), r);
  }
  P edge{};  // at the late positions of the row behind the last, and at the others, if they are the array's first, of the first row
  if constexpr (shifted) {
#pragma unroll
    for (int c = 0; c < P::size; ++c)
      if (late(c) || is_start) edge.element[c] = __ldg(input + first + (late(c) ? rows * L : 0) + c);
  }
  if constexpr (Fenced || has_long_arithmetic<Fold, shifted>) __syncwarp();
  lane_t<Fold> lane[P::size];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int c = 0; c < P::size; ++c) {
      const E element = r == 0 && is_start ? edge.element[c] : x[r].element[c];
      const auto value = value_of(fold, element, y[r].element[c]);
      if constexpr (shifted && Fold::is_plain) {
        if (r == 0)
          lane[c] = late(c) ? fold.neutral() : value;
        else
          lane[c] = fold.combine(lane[c], value);
      } else if constexpr (shifted) {
        if (r == 1 && late(c))
          lane[c] = first_of_lane(fold, value, 0);
        else
          lane[c] = r == 0 ? first_of_lane(fold, value, 0) : next_of_lane(fold, lane[c], value, r);
      } else {
        lane[c] = r == 0 ? first_of_lane(fold, value, r) : next_of_lane(fold, lane[c], value, r);
      }
    }
  }
  thread_lanes<Fold> mine;
#pragma unroll
  for (int c = 0; c < P::size; ++c) {
    if constexpr (shifted && Fold::is_plain) {
      mine.lane[c] = late(c) ? fold.combine(lane[c], value_of(fold, edge.element[c], E{})) : lane[c];
    } else if constexpr (shifted) {
      if (late(c)) lane[c] = next_of_lane(fold, lane[c], value_of(fold, edge.element[c], E{}), rows - 1);
      mine.lane[c] = node_of_lane(fold, lane[c], rows, 0);
    } else if constexpr (Fold::is_plain) {
      mine.lane[c] = lane[c];
    } else {
      const std::uint64_t begin = tile * tile_elements<Fold> + (thread_of_block() % (warp_size / 2)) * P::size;
      mine.lane[c] = node_of_lane(fold, lane[c], rows, begin + static_cast<unsigned>(c));
    }
  }
  return mine;
}

// What a thread has of each of `Tiles` (one or two) neighbouring tiles that a warp takes together: one lane, or two half a row apart and
// combined. Element by element from any alignment; `Whole` says that all of them exist. For plain folds of elements of 4 or 8 bytes.
template <class Fold, bool Whole, int Tiles>
__device__ inline void single_lanes(const Fold& fold, const tree_input& in, std::uint64_t tile,
                                    typename Fold::accumulator (&value)[Tiles]) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  constexpr int L = lanes<Fold>;
  constexpr int own = L / warp_size;
  static_assert(own == 1 || own == 2);
  constexpr int columns = Tiles * own;
  // At most 64 registers of loads. Beside accumulators that are wider than the elements a fence, without which the compiler asks for the other
  // rows all the same and saves registers to memory.
  constexpr bool many = Tiles * Fold::inputs > 2;
  constexpr bool crowded = many && sizeof(A) > sizeof(E);
  constexpr int rows = order::tile_rows / (many ? 2 : 1);
  const std::uint64_t begin = tile * tile_elements<Fold> + threadIdx.x % warp_size;
  constexpr int most = Tiles * static_cast<int>(tile_elements<Fold>);
  // Elements from `begin` on, so that the place of each, behind `begin`, is compared as a constant.
  const int left = begin < in.count ? static_cast<int>(::min(in.count - begin, std::uint64_t{most})) : 0;
  const auto place = [](int r, int k) { return (k / own * order::tile_rows + r) * L + k % own * warp_size; };
  // With the hint every load of a cut tile would compute an address of its own.
  const auto load = [](const E* from) {
    if constexpr (Whole)
      return __ldcs(from);
    else
      return *from;
  };
  lane_t<Fold> lane[columns];
  [[maybe_unused]] int present[columns] = {};
  if constexpr (Fold::is_plain) {
#pragma unroll
    for (int k = 0; k < columns; ++k) lane[k] = fold.neutral();
  }
#pragma unroll
  for (int above = 0; above < order::tile_rows; above += rows) {
    if (crowded && above > 0) __syncwarp();
    E x[rows][columns];
    E y[rows][columns];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        // What is not loaded is written all the same: a register that only the load wrote would be kept from the kernel's start.
        if constexpr (!Whole) {
          x[r][k] = E{};
          y[r][k] = E{};
        }
        if (Whole || place(above + r, k) < left) {
          x[r][k] = load(static_cast<const E*>(in.x) + begin + place(above + r, k));
          if constexpr (Fold::inputs == 2) y[r][k] = load(static_cast<const E*>(in.y) + begin + place(above + r, k));
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        const auto item = value_of(fold, x[r][k], y[r][k]);
        if constexpr (Fold::is_plain) {
          A mapped = item;
          if (!Whole && place(above + r, k) >= left) mapped = fold.neutral();
          lane[k] = Whole && above + r == 0 ? mapped : fold.combine(lane[k], mapped);
        } else if (above + r == 0) {
          lane[k] = first_of_lane(fold, item, 0);
          present[k] = Whole || place(0, k) < left ? 1 : 0;
        } else if (Whole || place(above + r, k) < left) {
          lane[k] = next_of_lane(fold, lane[k], item, above + r);
          ++present[k];
        }
      }
    }
  }
  A node[columns];
#pragma unroll
  for (int k = 0; k < columns; ++k) {
    if constexpr (Fold::is_plain)
      node[k] = lane[k];
    else if (Whole || present[k] > 0)
      node[k] = node_of_lane(fold, lane[k], Whole ? order::tile_rows : present[k], begin + static_cast<unsigned>(place(0, k)));
    else
      node[k] = fold.neutral();
  }
#pragma unroll
  for (int k = 0; k < Tiles; ++k) value[k] = own == 1 ? node[k] : fold.combine(node[own * k], node[own * k + own - 1]);
}

// One of two, word by word: a choice between two structs would be one between their addresses, and so put them into memory.
template <class A>
__device__ inline A chosen(bool first, const A& a, const A& b) {
  if constexpr (std::is_arithmetic<A>::value) {
    return first ? a : b;
  } else {
    constexpr int words = static_cast<int>((sizeof(A) + 3) / 4);
    std::uint32_t of_a[words] = {};
    std::uint32_t of_b[words] = {};
    memcpy(of_a, &a, sizeof(A));
    memcpy(of_b, &b, sizeof(A));
#pragma unroll
    for (int w = 0; w < words; ++w) of_a[w] = first ? of_a[w] : of_b[w];
    A value;
    memcpy(&value, of_a, sizeof(A));
    return value;
  }
}

}  // namespace detail

/// The node over two tiles, of which half a warp has one each and a thread `Size` neighbouring lanes, in every lane of the calling warp. All 32 lanes
/// must call it together. While a thread holds several lanes, it keeps one half of them and exchanges the other for its partner's: 8 shuffles for 2048
/// elements of 4 bytes, 6 for 1024 of 8.
template <class Fold, int Size>
__device__ inline typename Fold::accumulator node_of_pair(const Fold& fold, const typename Fold::accumulator (&lane)[Size]) {
  using A = typename Fold::accumulator;
  __syncwarp();
  const unsigned thread = thread_of_block();

  // A lane's number has, from the highest bit, the thread's four and the pack's one or two. Each step combines over the highest bit left.
  // Until a thread has one lane, the bit of the pack that is to come last takes the place of the one just done.
  A value;
  if constexpr (Size == 4) {
    const bool keeps_high = (thread & 8) != 0;
    const A low = fold.combine(detail::chosen(keeps_high, lane[2], lane[0]),
                               device::exchange(detail::chosen(keeps_high, lane[0], lane[2]), 8));
    const A high = fold.combine(detail::chosen(keeps_high, lane[3], lane[1]),
                                device::exchange(detail::chosen(keeps_high, lane[1], lane[3]), 8));
    const bool keeps_odd = (thread & 4) != 0;
    value = fold.combine(detail::chosen(keeps_odd, high, low), device::exchange(detail::chosen(keeps_odd, low, high), 4));
    value = fold.combine(value, device::exchange(value, 2));
    value = fold.combine(value, device::exchange(value, 1));
    value = fold.combine(value, device::exchange(value, 8));
    value = fold.combine(value, device::exchange(value, 4));
  } else {
    static_assert(Size == 2, "elements of 4 or 8 bytes");
    const bool keeps_odd = (thread & 8) != 0;
    value =
        fold.combine(detail::chosen(keeps_odd, lane[1], lane[0]), device::exchange(detail::chosen(keeps_odd, lane[0], lane[1]), 8));
    value = fold.combine(value, device::exchange(value, 4));
    value = fold.combine(value, device::exchange(value, 2));
    value = fold.combine(value, device::exchange(value, 1));
    value = fold.combine(value, device::exchange(value, 8));
  }
  return fold.combine(value, device::exchange(value, 16));
}

/// The node over tiles 2 `pair` and 2 `pair` + 1, all of whose packs exist, in every lane of the calling warp, whose 32 threads must call it together.
/// `Fenced`: the arithmetic begins behind all loads, also that of a fold of which packed_tile() does not know that it is long.
template <reading How, bool Fenced = false, class Fold>
__device__ inline typename Fold::accumulator packed_pair_node(const Fold& fold, const tree_input& in, std::uint64_t pair) {
  const auto mine = detail::packed_tile<Fold, How, Fenced>(fold, in, 2 * pair + threadIdx.x % warp_size / (warp_size / 2));
  return node_of_pair(fold, mine.lane);
}

/// The node over one tile, in every lane of the calling warp, whose 32 threads must call it together. A thread reads whole lanes,
/// element by element from any alignment, and five shuffles do the rest: less to wait for than in packed_pair_node() where few
/// warps have anything to do, and more instructions for each byte. `Whole` says that the tile exists as a whole; otherwise what
/// does not exist of it counts as absent.
template <bool Whole, class Fold>
__device__ inline typename Fold::accumulator tile_node(const Fold& fold, const tree_input& in, std::uint64_t tile) {
  typename Fold::accumulator value[1];
  detail::single_lanes<Fold, Whole>(fold, in, tile, value);
  return detail::halved(fold, value[0]);
}

/// The node over any pair, in every lane of the calling warp; what does not exist of it counts as absent. Element by element, both tiles at
/// once: one wait for memory, as in packed_pair_node(), and more instructions.
template <class Fold>
__device__ inline typename Fold::accumulator any_pair_node(const Fold& fold, const tree_input& in, std::uint64_t pair) {
  using A = typename Fold::accumulator;
  A of_tile[2];
  detail::single_lanes<Fold, false>(fold, in, 2 * pair, of_tile);
  const bool second = threadIdx.x % warp_size >= warp_size / 2;
  A value = fold.combine(detail::chosen(second, of_tile[1], of_tile[0]),
                         device::exchange(detail::chosen(second, of_tile[0], of_tile[1]), warp_size / 2));
#pragma unroll
  for (int distance = warp_size / 4; distance > 0; distance /= 2) value = fold.combine(value, device::exchange(value, distance));
  return fold.combine(value, device::exchange(value, warp_size / 2));
}

/// The tree over one value per lane of the warp, from neighbours up; the node over each aligned `span` of lanes is in all of them.
template <class Fold>
__device__ inline typename Fold::accumulator neighbours_node(const Fold& fold, typename Fold::accumulator value, int span) {
  for (int distance = 1; distance < span; distance *= 2) value = fold.combine(value, device::exchange(value, distance));
  return value;
}

}  // namespace onefold::device
