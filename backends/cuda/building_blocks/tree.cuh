#pragma once
/// @file tree.cuh  Tree v1 (docs/order.md) within a warp: from two sibling tiles in memory to their common node.

#include "../../forms.hpp"
#include "load.cuh"
#include "warp.cuh"

namespace onefold::cuda_backend {

/// The inputs of a fold as the device reads them, 16 bytes at a time from any alignment.
///
/// Where the first input starts `shift` elements behind a 16-byte boundary, the packs are read from that boundary on: the element at
/// position p of a row is then that of lane (p - shift) mod L. All steps of the halving pair lanes by their distance mod L, so they may be
/// done on positions as if those were lanes. Only the first `shift` positions of a row hold elements of the row above, and for those the
/// rows are taken one further down, by one thread of sixteen.
template <class Fold>
struct tree_input {
  using E = typename Fold::element;
  using P = pack<E>;
  static constexpr int lanes = order::lanes<E>;
  static constexpr int packs_per_row = lanes / P::size;
  static_assert(packs_per_row == warp_size / 2, "half a warp reads a row");

  const E* x;
  const E* y;  ///< the second input, or null
  std::uint64_t count;
  int shift;                ///< elements of x behind a 16-byte boundary
  bool packed_y;            ///< y lies behind a boundary as x does, so that packs of both hold the same elements
  std::uint64_t end_whole;  ///< tiles before this one exist as a whole
  std::uint64_t end_tile;

  __host__ tree_input(const void* first, const void* second, std::uint64_t n)
      : x(static_cast<const E*>(first)), y(static_cast<const E*>(second)), count(n) {
    shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(E));
    packed_y = Fold::inputs == 1 || reinterpret_cast<std::uintptr_t>(y) % 16 == reinterpret_cast<std::uintptr_t>(x) % 16;
    end_tile = order::tiles<E>(n);
    end_whole = n / order::tile_elements<E>;
  }

  __host__ bool aligned() const { return shift == 0 && packed_y; }
  __device__ bool is_whole(std::uint64_t pair) const { return 2 * pair + 2 <= end_whole; }
};

/// The lanes that one thread holds of a tile.
template <class Fold>
struct thread_lanes {
  static constexpr int size = pack<typename Fold::element>::size;
  typename Fold::accumulator lane[size];
};

/// threadIdx.x and blockIdx.x, read anew. What is computed from them again behind the loads need not be kept in registers while those are
/// on their way. A register that is spilled is a write to memory, of every thread of every block: 4 to 6 % of the whole time.
__device__ inline unsigned thread_of_block() {
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
__device__ inline unsigned block_of_grid() {
  unsigned block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

namespace detail {

template <class A>
__device__ inline A exchange(A value, int distance) {
  if constexpr (std::is_same_v<A, onefold::detail::squares>)
    return {exchange(value.small, distance), exchange(value.medium, distance), exchange(value.big, distance)};
  else
    return __shfl_xor_sync(whole_warp, value, distance);
}

// Rows that are asked for together: 64 registers of loads, so that each thread has 256 bytes on their way. Fewer where more registers are
// needed beside them; the compiler begins with the next ones as registers become free.
template <class Fold, bool Shifted>
constexpr int rows_in_flight() {
  if (Fold::inputs == 2) return order::tile_rows / 4;
  const bool wide = sizeof(typename Fold::accumulator) > sizeof(typename Fold::element);
  return wide && Shifted ? order::tile_rows / 2 : order::tile_rows;
}

// The tile's lanes at this thread's positions: a whole tile, read in packs. `Shifted` and `PackedY` as in tree_input.
template <class Fold, bool Shifted, bool PackedY>
__device__ inline thread_lanes<Fold> whole_tile(const tree_input<Fold>& in, std::uint64_t tile) {
  using E = typename Fold::element;
  using P = pack<E>;
  constexpr int L = tree_input<Fold>::lanes;
  constexpr int rows = rows_in_flight<Fold, Shifted>();
  const int thread = static_cast<int>(threadIdx.x % (warp_size / 2));
  const int shift = Shifted ? in.shift : 0;
  const bool wraps = Shifted && thread == 0;  // this thread's first `shift` positions belong one row further down
  const std::uint64_t first = tile * order::tile_elements<E> + static_cast<std::uint64_t>(thread * P::size);
  thread_lanes<Fold> mine;

#pragma unroll
  for (int begin = 0; begin < order::tile_rows; begin += rows) {
    P a[rows];
    P b[Fold::inputs == 2 ? rows : 1];
    // Where a thread wraps, what it needs of the first pack and of the one behind the last, element by element: the rest of those two packs may
    // lie outside the array. Without branches, so that all loads are on their way together.
    E edge_a[P::size];
    E edge_b[P::size];
    const auto load_rows = [&](const E* from, auto& to, auto& edge) {
      const E* const start = from - shift + first + begin * L;
#pragma unroll
      for (int r = 0; r < rows; ++r)
        if (!Shifted || r > 0 || !wraps) to[r] = load_pack(reinterpret_cast<const P*>(start + r * L));
      if constexpr (Shifted) {
#pragma unroll
        for (int c = 0; c < P::size; ++c)
          if (wraps) edge[c] = __ldcs(start + c + (c < shift ? rows * L : 0));
      }
    };
    const auto element = [&](const auto& of, const auto& edge, int r, int c) {
      if constexpr (Shifted) {
        if (wraps && c < shift) return r + 1 < rows ? of[(r + 1) % rows].element[c] : edge[c];
        if (wraps && r == 0) return edge[c];
      }
      return of[r].element[c];
    };
    load_rows(in.x, a, edge_a);
    if constexpr (Fold::inputs == 2 && PackedY) {
      load_rows(in.y, b, edge_b);
    } else if constexpr (Fold::inputs == 2) {
#pragma unroll
      for (int c = 0; c < P::size; ++c) {
        const E* ys = in.y - shift + first + c + (wraps && c < shift ? L : 0);
#pragma unroll
        for (int r = 0; r < rows; ++r) b[r].element[c] = __ldg(ys + (begin + r) * L);
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int c = 0; c < P::size; ++c) {
        typename Fold::accumulator value;
        if constexpr (Fold::inputs == 2)
          value = Fold::value(element(a, edge_a, r, c), PackedY ? element(b, edge_b, r, c) : b[r].element[c]);
        else
          value = Fold::value(element(a, edge_a, r, c));
        mine.lane[c] = begin + r == 0 ? value : Fold::combine(mine.lane[c], value);
      }
    }
  }
  return mine;
}

// Lane `lane` of a tile, or with it the lane half a row further, element by element, all loads ahead of their use. `Whole` says that all of
// the tile exists.
template <class Fold, bool Whole, int Lanes>
__device__ inline void single_lanes(const tree_input<Fold>& in, std::uint64_t tile, int lane,
                                    typename Fold::accumulator (&value)[Lanes]) {
  using E = typename Fold::element;
  constexpr int L = tree_input<Fold>::lanes;
  const std::uint64_t begin = tile * order::tile_elements<E>;
  const std::uint64_t left = in.count - begin;
  const int end = left < order::tile_elements<E> ? static_cast<int>(left) : static_cast<int>(order::tile_elements<E>);
  const auto exists = [&](int r, int k) { return Whole || lane + r * L + k * warp_size < end; };
  // With the hint every load of a cut tile would compute an address of its own.
  const auto load = [](const E* from) { return Whole ? __ldcs(from) : *from; };
  E x[order::tile_rows][Lanes];
  E y[Fold::inputs == 2 ? order::tile_rows : 1][Lanes];
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) {
#pragma unroll
    for (int k = 0; k < Lanes; ++k) {
      const std::uint64_t i = begin + static_cast<std::uint64_t>(lane) + r * L + k * warp_size;
      if (exists(r, k)) {
        x[r][k] = load(in.x + i);
        if constexpr (Fold::inputs == 2) y[r][k] = load(in.y + i);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < Lanes; ++k) value[k] = Fold::neutral();
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) {
#pragma unroll
    for (int k = 0; k < Lanes; ++k) {
      if (!exists(r, k)) continue;
      typename Fold::accumulator mapped;
      if constexpr (Fold::inputs == 2)
        mapped = Fold::value(x[r][k], y[r][k]);
      else
        mapped = Fold::value(x[r][k]);
      value[k] = Whole && r == 0 ? mapped : Fold::combine(value[k], mapped);
    }
  }
}

// What a thread has of a tile that its warp has for itself: one lane, or two half a row apart and combined.
template <class Fold, bool Whole>
__device__ inline typename Fold::accumulator tile_of_warp(const tree_input<Fold>& in, std::uint64_t tile) {
  constexpr int own = tree_input<Fold>::lanes / warp_size;
  static_assert(own == 1 || own == 2);
  typename Fold::accumulator value[own];
  single_lanes<Fold, Whole>(in, tile, static_cast<int>(threadIdx.x % warp_size), value);
  return own == 1 ? value[0] : Fold::combine(value[0], value[own - 1]);
}

template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_tile_of_warp(const tree_input<Fold>& in, std::uint64_t tile) {
  return tile_of_warp<Fold, false>(in, tile);
}

// The halving over one value of each thread of a warp.
template <class Fold>
__device__ inline typename Fold::accumulator halved(typename Fold::accumulator value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) value = Fold::combine(value, exchange(value, distance));
  return value;
}

}  // namespace detail

/// The node over tiles 2 `pair` and 2 `pair` + 1, which are whole, in every lane of the calling warp. `Shifted` and `PackedY` as in
/// tree_input. All 32 lanes must call it together. Half a warp has a tile, a thread the lanes of one pack. While a thread holds several
/// lanes, it keeps one half of them and exchanges the other for its partner's: 8 shuffles for 2048 elements of 4 bytes, 6 for 1024 of 8.
template <class Fold, bool Shifted, bool PackedY>
__device__ inline typename Fold::accumulator whole_pair_node(const tree_input<Fold>& in, std::uint64_t pair) {
  using A = typename Fold::accumulator;
  constexpr int size = pack<typename Fold::element>::size;
  const auto mine = detail::whole_tile<Fold, Shifted, PackedY>(in, 2 * pair + threadIdx.x % warp_size / (warp_size / 2));
  const auto& lane = mine.lane;
  __syncwarp();
  const unsigned thread = thread_of_block();

  // A lane's number has, from the highest bit, the thread's four and the pack's one or two. Each step combines over the highest bit left.
  // Until a thread has one lane, the bit of the pack that is to come last takes the place of the one just done.
  A value;
  if constexpr (size == 4) {
    const bool keeps_high = (thread & 8) != 0;
    const A low = Fold::combine(keeps_high ? lane[2] : lane[0], detail::exchange(keeps_high ? lane[0] : lane[2], 8));
    const A high = Fold::combine(keeps_high ? lane[3] : lane[1], detail::exchange(keeps_high ? lane[1] : lane[3], 8));
    const bool keeps_odd = (thread & 4) != 0;
    value = Fold::combine(keeps_odd ? high : low, detail::exchange(keeps_odd ? low : high, 4));
    value = Fold::combine(value, detail::exchange(value, 2));
    value = Fold::combine(value, detail::exchange(value, 1));
    value = Fold::combine(value, detail::exchange(value, 8));
    value = Fold::combine(value, detail::exchange(value, 4));
  } else {
    static_assert(size == 2, "elements of 4 or 8 bytes");
    const bool keeps_odd = (thread & 8) != 0;
    value = Fold::combine(keeps_odd ? lane[1] : lane[0], detail::exchange(keeps_odd ? lane[0] : lane[1], 8));
    value = Fold::combine(value, detail::exchange(value, 4));
    value = Fold::combine(value, detail::exchange(value, 2));
    value = Fold::combine(value, detail::exchange(value, 1));
    value = Fold::combine(value, detail::exchange(value, 8));
  }
  return Fold::combine(value, detail::exchange(value, 16));
}

/// The node over one tile, in every lane of the calling warp, whose 32 threads must call it together. A thread reads whole lanes, element by
/// element from any alignment, and five shuffles do the rest: less to wait for than in whole_pair_node() where few warps have anything to do, and
/// more instructions for each byte.
template <class Fold>
__device__ inline typename Fold::accumulator tile_node(const tree_input<Fold>& in, std::uint64_t tile) {
  typename Fold::accumulator value = Fold::neutral();
  if ((tile + 1) * order::tile_elements<typename Fold::element> <= in.count) [[likely]]
    value = detail::tile_of_warp<Fold, true>(in, tile);
  else if (tile < in.end_tile)
    value = detail::cut_tile_of_warp<Fold>(in, tile);
  return detail::halved<Fold>(value);
}

/// The node over a pair at the array's end; what does not exist of it counts as absent. A tile after the other, each by the whole
/// warp. Out of line, like all that is unusual: with little to do, a third of a warp's time is waiting for instructions.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator end_pair_node(const tree_input<Fold>& in, std::uint64_t pair) {
  typename Fold::accumulator value = Fold::neutral();
#pragma unroll 1
  for (std::uint64_t tile = 2 * pair; tile < in.end_tile && tile < 2 * pair + 2; ++tile) {
    const auto node = tile_node<Fold>(in, tile);
    value = tile == 2 * pair ? node : Fold::combine(value, node);
  }
  return value;
}

/// The tree over one value per lane of the warp, from neighbours up; the node over each aligned `span` of lanes is in all of them.
template <class Fold>
__device__ inline typename Fold::accumulator neighbours_node(typename Fold::accumulator value, int span) {
  for (int distance = 1; distance < span; distance *= 2) value = Fold::combine(value, detail::exchange(value, distance));
  return value;
}

}  // namespace onefold::cuda_backend
