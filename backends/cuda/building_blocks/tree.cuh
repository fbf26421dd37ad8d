#pragma once
/// @file tree.cuh  Tree v1 (docs/order.md) within a warp: from two sibling tiles in memory to their common node.

#include "../../forms.hpp"
#include "load.cuh"
#include "warp.cuh"

namespace onefold::cuda_backend {

/// How a warp reads tiles.
enum class reading {
  aligned,  ///< a pair at a time, in packs: all inputs begin on a 16-byte boundary
  shifted,  ///< a pair at a time, in packs: the input, the only one, begins behind a boundary
  single,   ///< a tile at a time, element by element: any
};

/// The inputs of a fold as the device reads them, 16 bytes at a time from any alignment.
///
/// Where the only input starts `shift` elements behind a 16-byte boundary, the packs are read from that boundary on: the element at
/// position p of a row is then that of lane (p - shift) mod L. All steps of the halving pair lanes by their distance mod L, so they may be
/// done on positions as if those were lanes. Only the first `shift` positions of a row hold elements of the row above, and for those one
/// thread of sixteen leaves out the first row and takes one more behind the last.
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
  int shift;  ///< elements of x behind a 16-byte boundary
  /// Tiles before this one exist as a whole, and so do the packs that hold them, but for the beginning of a shifted array's first.
  std::uint64_t end_packed;
  std::uint64_t end_tile;

  __host__ tree_input(const void* first, const void* second, std::uint64_t n)
      : x(static_cast<const E*>(first)), y(static_cast<const E*>(second)), count(n) {
    shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(E));
    const std::uint64_t behind = shift == 0 ? 0 : P::size - static_cast<std::uint64_t>(shift);  // elements of the last pack
    end_packed = n < behind ? 0 : (n - behind) / order::tile_elements<E>;
    end_tile = order::tiles<E>(n);
  }

  __host__ bool aligned() const { return shift == 0 && (Fold::inputs == 1 || reinterpret_cast<std::uintptr_t>(y) % 16 == 0); }
  __device__ std::uint64_t whole_tiles() const { return count / order::tile_elements<E>; }
  __device__ bool is_packed(std::uint64_t pair) const { return 2 * pair + 2 <= end_packed; }
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

// What becomes of an element, or of one of each input. A fold of one input has no use for y, which nobody has written then: so by reference.
template <class Fold>
__device__ inline typename Fold::accumulator value_of(typename Fold::element x, [[maybe_unused]] const typename Fold::element& y) {
  if constexpr (Fold::inputs == 2)
    return Fold::value(x, y);
  else
    return Fold::value(x);
}

// The tile's lanes at this thread's positions, read in packs.
template <class Fold, reading How>
__device__ inline thread_lanes<Fold> packed_tile(const tree_input<Fold>& in, std::uint64_t tile) {
  using E = typename Fold::element;
  using P = pack<E>;
  constexpr int L = tree_input<Fold>::lanes;
  constexpr int rows = order::tile_rows;
  constexpr bool shifted = How == reading::shifted;
  static_assert(!shifted || Fold::inputs == 1);
  const int thread = static_cast<int>(threadIdx.x % (warp_size / 2));
  const int shift = shifted ? in.shift : 0;
  const std::uint64_t first = tile * order::tile_elements<E> + static_cast<std::uint64_t>(thread * P::size) - shift;
  const auto late = [&](int c) { return shifted && thread == 0 && c < shift; };  // these positions belong one row further down
  // Where the array's first pack begins nothing is there; what is there of it is read by itself, and a pack that exists in its place.
  const bool is_start = late(0) && tile == 0;
  const int first_row = is_start ? 1 : 0;
  const auto load_row = [&](const E* from, int r) {
    return load_pack(reinterpret_cast<const P*>(from + first + (r == 0 ? first_row : r) * L));
  };

  // All loads ahead of all use; of those for which it has no registers yet the compiler takes care. Where the arithmetic is long it would begin
  // with that too early, were it not for the fence: behind half of the loads (14 % of a norm2), or behind the first (half of a shifted minimum).
  constexpr bool long_arithmetic =
      std::is_same_v<typename Fold::accumulator, onefold::detail::squares> || (shifted && sizeof(E) == 8);
  P x[rows];
  P y[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    x[r] = load_row(in.x, r);
    if constexpr (Fold::inputs == 2) y[r] = load_row(in.y, r);
  }
  P edge{};  // at the late positions of the row behind the last, and at the others, if they are the array's first, of the first row
#pragma unroll
  for (int c = 0; c < P::size; ++c)
    if (late(c) || is_start) edge.element[c] = __ldg(in.x + first + (late(c) ? rows * L : 0) + c);
  if constexpr (long_arithmetic) __syncwarp();
  thread_lanes<Fold> mine;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int c = 0; c < P::size; ++c) {
      const E element = r == 0 && is_start ? edge.element[c] : x[r].element[c];
      const auto value = value_of<Fold>(element, y[r].element[c]);
      if (r == 0)
        mine.lane[c] = late(c) ? Fold::neutral() : value;
      else
        mine.lane[c] = Fold::combine(mine.lane[c], value);
    }
  }
#pragma unroll
  for (int c = 0; c < P::size; ++c)
    if (late(c)) mine.lane[c] = Fold::combine(mine.lane[c], value_of<Fold>(edge.element[c], E{}));
  return mine;
}

// What a thread has of each of `Tiles` (one or two) neighbouring tiles that a warp takes together: one lane, or two half a row apart and
// combined. Element by element from any alignment; `Whole` says that all of them exist.
template <class Fold, bool Whole, int Tiles>
__device__ inline void single_lanes(const tree_input<Fold>& in, std::uint64_t tile, typename Fold::accumulator (&value)[Tiles]) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  constexpr int L = tree_input<Fold>::lanes;
  constexpr int own = L / warp_size;
  static_assert(own == 1 || own == 2);
  constexpr int columns = Tiles * own;
  // At most 64 registers of loads. Beside accumulators that are wider than the elements a fence, without which the compiler asks for the other
  // rows all the same and saves registers to memory.
  constexpr bool many = Tiles * Fold::inputs > 2;
  constexpr bool crowded = many && sizeof(A) > sizeof(E);
  constexpr int rows = order::tile_rows / (many ? 2 : 1);
  const std::uint64_t begin = tile * order::tile_elements<E> + threadIdx.x % warp_size;
  constexpr int most = Tiles * static_cast<int>(order::tile_elements<E>);
  // Elements from `begin` on, so that the place of each, behind `begin`, is compared as a constant.
  const int left = begin < in.count ? static_cast<int>(min(in.count - begin, std::uint64_t{most})) : 0;
  const auto place = [](int r, int k) { return (k / own * order::tile_rows + r) * L + k % own * warp_size; };
  // With the hint every load of a cut tile would compute an address of its own.
  const auto load = [](const E* from) { return Whole ? __ldcs(from) : *from; };
  A lanes[columns];
#pragma unroll
  for (int k = 0; k < columns; ++k) lanes[k] = Fold::neutral();
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
          x[r][k] = load(in.x + begin + place(above + r, k));
          if constexpr (Fold::inputs == 2) y[r][k] = load(in.y + begin + place(above + r, k));
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < columns; ++k) {
        A mapped = value_of<Fold>(x[r][k], y[r][k]);
        if (!Whole && place(above + r, k) >= left) mapped = Fold::neutral();
        lanes[k] = Whole && above + r == 0 ? mapped : Fold::combine(lanes[k], mapped);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < Tiles; ++k) value[k] = own == 1 ? lanes[k] : Fold::combine(lanes[own * k], lanes[own * k + own - 1]);
}

// The halving over one value of each thread of a warp.
template <class Fold>
__device__ inline typename Fold::accumulator halved(typename Fold::accumulator value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2) value = Fold::combine(value, exchange(value, distance));
  return value;
}

}  // namespace detail

/// The node over tiles 2 `pair` and 2 `pair` + 1, all of whose packs exist, in every lane of the calling warp. All 32 lanes must
/// call it together. Half a warp has a tile, a thread the lanes of one pack. While a thread holds several lanes, it keeps one half
/// of them and exchanges the other for its partner's: 8 shuffles for 2048 elements of 4 bytes, 6 for 1024 of 8.
template <class Fold, reading How>
__device__ inline typename Fold::accumulator packed_pair_node(const tree_input<Fold>& in, std::uint64_t pair) {
  using A = typename Fold::accumulator;
  constexpr int size = pack<typename Fold::element>::size;
  const auto mine = detail::packed_tile<Fold, How>(in, 2 * pair + threadIdx.x % warp_size / (warp_size / 2));
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

/// The node over one tile, in every lane of the calling warp, whose 32 threads must call it together. A thread reads whole lanes,
/// element by element from any alignment, and five shuffles do the rest: less to wait for than in packed_pair_node() where few
/// warps have anything to do, and more instructions for each byte. `Whole` says that the tile exists as a whole; otherwise what
/// does not exist of it counts as absent.
template <class Fold, bool Whole>
__device__ inline typename Fold::accumulator tile_node(const tree_input<Fold>& in, std::uint64_t tile) {
  typename Fold::accumulator value[1];
  detail::single_lanes<Fold, Whole>(in, tile, value);
  return detail::halved<Fold>(value[0]);
}

/// The node over any pair, in every lane of the calling warp; what does not exist of it counts as absent. Element by element, both tiles at
/// once: one wait for memory, as in packed_pair_node(), and more instructions.
template <class Fold>
__device__ inline typename Fold::accumulator any_pair_node(const tree_input<Fold>& in, std::uint64_t pair) {
  using A = typename Fold::accumulator;
  A of_tile[2];
  detail::single_lanes<Fold, false>(in, 2 * pair, of_tile);
  const bool second = threadIdx.x % warp_size >= warp_size / 2;
  A value = Fold::combine(second ? of_tile[1] : of_tile[0], detail::exchange(second ? of_tile[0] : of_tile[1], warp_size / 2));
#pragma unroll
  for (int distance = warp_size / 4; distance > 0; distance /= 2) value = Fold::combine(value, detail::exchange(value, distance));
  return Fold::combine(value, detail::exchange(value, warp_size / 2));
}

/// The tree over one value per lane of the warp, from neighbours up; the node over each aligned `span` of lanes is in all of them.
template <class Fold>
__device__ inline typename Fold::accumulator neighbours_node(typename Fold::accumulator value, int span) {
  for (int distance = 1; distance < span; distance *= 2) value = Fold::combine(value, detail::exchange(value, distance));
  return value;
}

}  // namespace onefold::cuda_backend
