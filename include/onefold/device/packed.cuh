#pragma once
/// @file packed.cuh  Two tiles at a time in packs of 16 bytes, wherever the inputs begin, of elements of 1 to 8 bytes.
///
/// Where an input begins behind a 16-byte boundary, a thread reads the two packs that its 16 bytes lie in; the second is its neighbour's first, and
/// comes from the nearest cache. So every thread has the lanes that docs/order.md gives it, and no byte is read but of packs that hold elements.

#include <onefold/device/fold.cuh>
#include <onefold/device/input.hpp>
#include <onefold/device/load.cuh>
#include <onefold/device/one_of.cuh>
#include <onefold/device/places.cuh>
#include <onefold/device/tree.cuh>
#include <onefold/device/warp.cuh>
#include <onefold/device/words.cuh>

namespace onefold::device {

namespace detail {

__device__ inline std::uint32_t funnel(std::uint32_t low, std::uint32_t high, unsigned bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
#endif
}

// The 16 bytes `behind` (1 to 15) bytes behind the beginning of two packs side by side. Which way is the same for all threads.
template <std::size_t Size>
__device__ inline words across(const words& low, const words& high, unsigned behind) {
  std::uint32_t part[8];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    part[w] = low.of[w];
    part[4 + w] = high.of[w];
  }
#pragma unroll
  for (int w = 0; w < 6; ++w) part[w] = (behind & 8) != 0 ? part[w + 2] : part[w];
  if constexpr (Size < 8) {
#pragma unroll
    for (int w = 0; w < 5; ++w) part[w] = (behind & 4) != 0 ? part[w + 1] : part[w];
  }
  words found;
#pragma unroll
  for (int w = 0; w < 4; ++w) found.of[w] = Size < 4 ? funnel(part[w], part[w + 1], behind % 4 * 8) : part[w];
  return found;
}

__device__ inline words load_words_of_pack(const words* from) {
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(from));
  words value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// Of what is in the nearest cache, which the loads of load_words_of_pack() go past.
__device__ inline words load_kept_words(const words* from) {
  const int4 bits = *reinterpret_cast<const int4*>(from);
  words value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// A thread's 16 bytes of so many rows, from that at `from` on.
template <std::size_t Size, int Rows>
__device__ inline void load_rows(const void* from, unsigned behind, words (&row)[Rows]) {
  constexpr int packs = static_cast<int>(order::row_bytes / sizeof(words));
  const auto* const first = reinterpret_cast<const words*>(static_cast<const unsigned char*>(from) - behind);
#pragma unroll
  for (int r = 0; r < Rows; ++r) row[r] = load_words_of_pack(first + r * packs);
  if (behind != 0) {
    words next[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) next[r] = load_words_of_pack(first + r * packs + 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) row[r] = across<Size>(row[r], next[r], behind);
  }
}

// What a thread keeps of two whole tiles of a fold whose bits the order decides: the lanes of its pack.
template <class Fold>
struct ordered_lanes {
  using E = typename Fold::element;
  using A = typename Fold::accumulator;
  static constexpr int size = pack<E>::size;
  lane_t<Fold> lane[size];

  __device__ void add(const Fold& fold, const words& x, const words& y, int row) {
    pack<E> of_x;
    pack<E> of_y;
    memcpy(&of_x, &x, sizeof(x));
    memcpy(&of_y, &y, sizeof(y));
#pragma unroll
    for (int c = 0; c < size; ++c) {
      const auto value = value_of(fold, of_x.element[c], of_y.element[c]);
      lane[c] = row == 0 ? first_of_lane(fold, value, row) : next_of_lane(fold, lane[c], value, row);
    }
  }

  // With those of the pack's elements that have a lesser number than `some`.
  __device__ void add_some(const Fold& fold, const words& x, const words& y, int row, int some) {
    ordered_lanes with = *this;
    with.add(fold, x, y, row);
#pragma unroll
    for (int c = 0; c < size; ++c)
      if (c < some) lane[c] = with.lane[c];
  }

  __device__ A node(const Fold& fold, std::uint64_t pair) const {
    const std::uint64_t begin = first_of(pair);
    A of[size];
#pragma unroll
    for (int c = 0; c < size; ++c) of[c] = node_of_lane(fold, lane[c], order::tile_rows, begin + static_cast<unsigned>(c));
    return node_of_lanes(fold, of);
  }
  // Where so many elements exist from the thread's first one on.
  __device__ A node_of_some(const Fold& fold, std::uint64_t pair, int some) const {
    const std::uint64_t begin = first_of(pair);
    A of[size];
#pragma unroll
    for (int c = 0; c < size; ++c) {
      const int rows = ::min((some - c - 1) / lanes<Fold> + 1, order::tile_rows);
      of[c] = c < some ? node_of_lane(fold, lane[c], rows, begin + static_cast<unsigned>(c)) : fold.neutral();
    }
    return node_of_lanes(fold, of);
  }
  // The thread's first element: half a warp has a tile.
  static __device__ std::uint64_t first_of(std::uint64_t pair) {
    const unsigned thread = threadIdx.x % warp_size;
    return (2 * pair + thread / (warp_size / 2)) * tile_elements<Fold> + thread % (warp_size / 2) * size;
  }

 private:
  // While a thread holds several lanes, it keeps one half of them and exchanges the other for its partner's; the bits of its number that have so
  // become those of lanes in a pack are combined over last.
  static __device__ A node_of_lanes(const Fold& fold, A (&of)[size]) {
    const unsigned thread = threadIdx.x % warp_size;
    constexpr int highest = warp_size / 4;
    halve<size / 2, highest>(fold, of, thread);
    A value = of[0];
#pragma unroll
    for (int distance = highest / size; distance > 0; distance /= 2) value = fold.combine(value, device::exchange(value, distance));
#pragma unroll
    for (int distance = highest; distance > highest / size; distance /= 2)
      value = fold.combine(value, device::exchange(value, distance));
    return fold.combine(value, device::exchange(value, warp_size / 2));
  }
  // Written as a loop it was not unrolled for eight lanes of moments, whose array was in memory then.
  template <int Left, int Distance>
  static __device__ void halve(const Fold& fold, A (&of)[size], unsigned thread) {
    if constexpr (Left > 0) {
      const bool keeps_high = (thread & static_cast<unsigned>(Distance)) != 0;
#pragma unroll
      for (int c = 0; c < Left; ++c)
        of[c] = fold.combine(chosen(keeps_high, of[c + Left], of[c]),
                             device::exchange(chosen(keeps_high, of[c], of[c + Left]), Distance));
      halve<Left / 2, Distance / 2>(fold, of, thread);
    }
  }
};

// Rows whose packs are on their way together: with those behind them, of all inputs, 64 registers, and 32 beside large lanes.
template <class Fold>
constexpr int rows_of_packs() noexcept {
  constexpr bool large = !lanes_in_words<Fold>::exist && sizeof(ordered_lanes<Fold>) > 64;
  return 8 / Fold::inputs / (large ? 2 : 1);
}

// What a thread keeps of two whole tiles.
template <class Fold>
using lanes_of_packs = std::conditional_t<lanes_in_words<Fold>::exist, lanes_in_words<Fold>, ordered_lanes<Fold>>;
template <class Fold>
__device__ inline void add_row(lanes_of_packs<Fold>& mine, const Fold& fold, const words& x, const words& y, int row) {
  if constexpr (lanes_in_words<Fold>::exist)
    mine.add(x, y, row);
  else
    mine.add(fold, x, y, row);
}

// Whether all rows of an input that begins on a boundary are on their way together: they have the registers that the packs behind them would take.
template <class Fold>
inline constexpr bool has_all_rows_together = Fold::inputs == 1 &&
                                              (lanes_in_words<Fold>::exist
                                                   ? lanes_in_words<Fold>::gain_by_all_rows
                                                   : sizeof(typename Fold::element) >= 4 && sizeof(ordered_lanes<Fold>) <= 64);

// What whole_packs_node() gives where they are: argminmax of floats on an H200 had 0.93 of a bare read's speed with eight rows at a time.
template <class Fold>
__device__ inline typename Fold::accumulator whole_aligned_node(const Fold& fold, const tree_input& in, std::uint64_t pair) {
  constexpr int packs = static_cast<int>(order::row_bytes / sizeof(words));
  const unsigned thread = threadIdx.x % warp_size;
  const words* const first =
      static_cast<const words*>(in.x) + (2 * pair + thread / packs) * (order::tile_rows * packs) + thread % packs;
  words row[order::tile_rows];
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) row[r] = load_words_of_pack(first + r * packs);
  __syncwarp();  // or the arithmetic begins behind some of the loads
  lanes_of_packs<Fold> mine{};
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) add_row(mine, fold, row[r], row[r], r);
  return mine.node(fold, pair);
}

// The node over tiles 2 `pair` and 2 `pair` + 1, which exist as a whole, in every thread of the warp.
template <class Fold>
__device__ inline typename Fold::accumulator whole_packs_node(const Fold& fold, const tree_input& in, std::uint64_t pair) {
  using E = typename Fold::element;
  constexpr int rows = rows_of_packs<Fold>();
  const unsigned thread = threadIdx.x % warp_size;
  const std::uint64_t begin =
      (2 * pair + thread / (warp_size / 2)) * (order::tile_rows * order::row_bytes) + thread % (warp_size / 2) * sizeof(words);
  const auto behind = [](const void* input) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(input) % sizeof(words));
  };
  if constexpr (has_all_rows_together<Fold>)
    if (behind(in.x) == 0) return whole_aligned_node(fold, in, pair);
  lanes_of_packs<Fold> mine{};
#pragma unroll 1
  for (int above = 0; above < order::tile_rows; above += rows) {
    words x[rows];
    words y[rows];
    const std::uint64_t at = begin + static_cast<unsigned>(above) * order::row_bytes;
    load_rows<sizeof(E)>(static_cast<const unsigned char*>(in.x) + at, behind(in.x), x);
    if constexpr (Fold::inputs == 2) load_rows<sizeof(E)>(static_cast<const unsigned char*>(in.y) + at, behind(in.y), y);
#pragma unroll
    for (int r = 0; r < rows; ++r) add_row(mine, fold, x[r], Fold::inputs == 2 ? y[r] : x[r], above + r);
  }
  return mine.node(fold, pair);
}

// Lane `lane` of a tile, as far as it exists. One warp does this while nobody else works, so every instruction is waited for: none but those of an element are
// made for each (decision 0068).
template <class Fold>
__device__ inline typename Fold::accumulator cut_lane_node(const Fold& fold, const tree_input& in, std::uint64_t tile, int lane) {
  using E = typename Fold::element;
  const std::uint64_t index = tile * tile_elements<Fold> + static_cast<unsigned>(lane);
  if (index >= in.count) return fold.neutral();
  const std::uint64_t behind = (in.count - index - 1) / lanes<Fold> + 1;
  const int rows = behind < order::tile_rows ? static_cast<int>(behind) : order::tile_rows;
  const E* x = static_cast<const E*>(in.x) + index;
  const E* y = Fold::inputs == 2 ? static_cast<const E*>(in.y) + index : x;
  lane_t<Fold> so_far = first_of_lane(fold, value_of(fold, *x, *y), 0);
  // `Rows` more, the first of which is number `row`.
  const auto take = [&](auto of_rows, int row) {
    constexpr int together = decltype(of_rows)::value;
    E of_x[together];
    E of_y[together];
#pragma unroll
    for (int r = 0; r < together; ++r) {
      of_x[r] = x[(r + 1) * static_cast<int>(lanes<Fold>)];
      of_y[r] = Fold::inputs == 2 ? y[(r + 1) * static_cast<int>(lanes<Fold>)] : of_x[r];
    }
#pragma unroll
    for (int r = 0; r < together; ++r) so_far = next_of_lane(fold, so_far, value_of(fold, of_x[r], of_y[r]), row + r);
    x += together * static_cast<int>(lanes<Fold>);
    y += together * static_cast<int>(lanes<Fold>);
  };
  constexpr int many = 5;
  int row = 1;
#pragma unroll 1
  for (; row + many <= rows; row += many) take(std::integral_constant<int, many>(), row);
#pragma unroll 1
  for (; row < rows; ++row) take(std::integral_constant<int, 1>(), row);
  return node_of_lane(fold, so_far, rows, index);
}

// The node over the thread's lanes `lane`, `lane` + 32 step, .. of a tile: those that are further apart meet first.
template <int Step, class Fold>
__device__ inline typename Fold::accumulator cut_lanes_node(const Fold& fold, const tree_input& in, std::uint64_t tile, int lane) {
  if constexpr (Step * warp_size == lanes<Fold>) {
    return cut_lane_node(fold, in, tile, lane);
  } else {
    auto value = fold.neutral();
#pragma unroll 1
    for (int k = 0; k < 2; ++k) value = fold.combine(value, cut_lanes_node<2 * Step>(fold, in, tile, lane + k * Step * warp_size));
    return value;
  }
}

// What a thread keeps of two tiles that are cut, and whether it has the registers for the lanes of a pack. Else they are folded a lane at a time.
template <class Fold>
using lanes_of_cut_packs = std::conditional_t<lanes_in_words<Fold>::take_some, lanes_in_words<Fold>, ordered_lanes<Fold>>;
template <class Fold>
inline constexpr bool has_lanes_of_cut_packs = lanes_in_words<Fold>::take_some || sizeof(ordered_lanes<Fold>) <= 128;

// The first `some` elements of a thread's 16 bytes, one after the other. (As an array of words what has been read was in memory.)
template <class E>
__device__ inline words load_elements(const E* from, int some) {
  using bits = std::conditional_t<sizeof(E) == 1, std::uint8_t, std::conditional_t<sizeof(E) == 2, std::uint16_t, std::uint32_t>>;
  constexpr int width = 8 * static_cast<int>(sizeof(bits));
  const auto* const its = reinterpret_cast<const bits*>(from);
  std::uint64_t low = 0;
  std::uint64_t high = 0;
#pragma unroll 1
  for (int e = some * static_cast<int>(sizeof(E) / sizeof(bits)); e-- > 0;) {
    high = high << width | low >> (64 - width);
    low = low << width | its[e];
  }
  return {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), static_cast<std::uint32_t>(high),
           static_cast<std::uint32_t>(high >> 32)}};
}

// A thread's 16 bytes from that at `from` on, of which `some` elements exist, at least one. Nothing is read behind the array's end, which may be that of an
// allocation: compute-sanitizer would say so.
template <class E>
__device__ inline words load_some(const E* from, int some) {
  constexpr int size = static_cast<int>(sizeof(E));
  const int behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % sizeof(words));
  const int all = static_cast<int>(sizeof(words)) * (behind == 0 ? 1 : 2) - behind;
  if (some * size < all) return load_elements(from, ::min(some, static_cast<int>(sizeof(words)) / size));
  const auto* const first = reinterpret_cast<const words*>(reinterpret_cast<const unsigned char*>(from) - behind);
  const words low = load_kept_words(first);
  return behind == 0 ? low : across<sizeof(E)>(low, load_kept_words(first + 1), static_cast<unsigned>(behind));
}

// The node over two tiles that are cut, row by row, the next on its way: the lanes of a thread do not wait for each other (decision 0068).
template <class Fold>
__device__ inline typename Fold::accumulator cut_packs_by_rows(const Fold& fold, const tree_input& in, std::uint64_t pair) {
  using E = typename Fold::element;
  constexpr bool in_words = lanes_in_words<Fold>::take_some;
  const std::uint64_t begin = ordered_lanes<Fold>::first_of(pair);
  const int some = begin < in.count ? static_cast<int>(::min(in.count - begin, tile_elements<Fold>)) : 0;
  const auto load = [&](const void* input, int behind) {
    return load_some(static_cast<const E*>(input) + begin + static_cast<unsigned>(behind), some - behind);
  };
  lanes_of_cut_packs<Fold> mine{};
  words x{};
  words y{};
  const auto load_row = [&](int behind) {
    x = load(in.x, behind);
    if constexpr (Fold::inputs == 2) y = load(in.y, behind);
  };
  if (some > 0) load_row(0);
#pragma unroll 1
  for (int behind = 0, row = 0; behind < some; behind += lanes<Fold>, ++row) {
    const words of_x = x;
    const words of_y = Fold::inputs == 2 ? y : x;
    if (behind + lanes<Fold> < some) load_row(behind + lanes<Fold>);
    if constexpr (in_words)
      mine.add_some(of_x, of_y, row, some - behind);
    else
      mine.add_some(fold, of_x, of_y, row, some - behind);
  }
  __syncwarp();
  if constexpr (in_words)
    return mine.node(fold, pair);
  else
    return mine.node_of_some(fold, pair, some);
}

// Asks for a tile of all inputs of a fold.
template <class Fold>
__device__ inline void ask_for_tile(const tree_input& in, std::uint64_t tile) {
  using E = typename Fold::element;
  const std::uint64_t begin = tile * tile_elements<Fold>;
  const std::uint64_t end = ::min(begin + tile_elements<Fold>, in.count);
  if (begin >= end) return;
  ask_for_tile<E>(in.x, begin, end);
  if constexpr (Fold::inputs == 2) ask_for_tile<E>(in.y, begin, end);
}

// The node over any two tiles; what does not exist of them counts as absent. There is one in an array: so little code, out of line, and no haste.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_packs_node(const tree_input& in, std::uint64_t pair) {
  const Fold fold{};
#pragma unroll 1
  for (int k = 0; k < 2; ++k) ask_for_tile<Fold>(in, 2 * pair + static_cast<unsigned>(k));
  if constexpr (has_lanes_of_cut_packs<Fold>) {
    return cut_packs_by_rows(fold, in, pair);
  } else {
    auto value = fold.neutral();
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
      auto of_tile = cut_lanes_node<1>(fold, in, 2 * pair + static_cast<unsigned>(k), static_cast<int>(threadIdx.x % warp_size));
#pragma unroll 1
      for (int distance = warp_size / 2; distance > 0; distance /= 2)
        of_tile = fold.combine(of_tile, device::exchange(of_tile, distance));
      value = fold.combine(value, of_tile);
    }
    return value;
  }
}

}  // namespace detail

namespace detail {

// The node over a unit that exists as a whole. Of a fold that finds a place its values alone, as if all were in the unit's first element.
template <class Fold>
__device__ inline typename Fold::accumulator packed_unit_node(const tree_input& in, std::uint64_t unit) {
  if constexpr (place_by_value<Fold>::exists) {
    const typename place_by_value<Fold>::fold values{};
    return place_by_value<Fold>::state(whole_packs_node(values, in, unit), unit * 2 * tile_elements<Fold>);
  } else {
    return whole_packs_node(for_whole_tiles(Fold{}), in, unit);
  }
}

}  // namespace detail

/// What a warp takes at a time, of one fold of a family. The host says in `end_packed` how many tiles exist as a whole.
template <class Family>
struct packed_tiles;
template <class Combination, class... Folds>
struct packed_tiles<fold_family<Combination, Folds...>> {
  using family = fold_family<Combination, Folds...>;
  using A = typename Combination::accumulator;
  static constexpr int log_tiles = 1;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) { return is_packed(in, unit); }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return 2 * unit < in.end_tile; }
  static __device__ A whole_node(const family& fold, const tree_input& in, std::uint64_t unit) {
    A node = fold.neutral();
    with_one_of<Folds...>(fold.which, [&](auto its) { node = detail::packed_unit_node<typename decltype(its)::type>(in, unit); });
    return node;
  }
  static __device__ A any_node(const family& fold, const tree_input& in, std::uint64_t unit) {
    A node = fold.neutral();
    with_one_of<Folds...>(fold.which, [&](auto its) { node = detail::cut_packs_node<typename decltype(its)::type>(in, unit); });
    return node;
  }
  static constexpr bool leaves_places = (detail::place_by_value<Folds>::exists || ...);
  static __device__ A with_places(const family& fold, const tree_input& in, const A& value) {
    A found = value;
    with_one_of<Folds...>(fold.which,
                          [&](auto its) { found = detail::with_places<typename decltype(its)::type>(in.x, in.count, value); });
    return found;
  }
};

}  // namespace onefold::device
