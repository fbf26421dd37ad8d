#pragma once
/// @file units.cuh  What a warp takes at a time: a unit of tiles, for a fold of any kind.

#include <onefold/device/packed.cuh>
#include <onefold/device/places.cuh>
#include <onefold/device/rows.cuh>
#include <onefold/device/tree.cuh>

namespace onefold::device {

namespace detail {

// A minimum or maximum of doubles is several comparisons, with which the compiler would begin behind some of a tile's loads (see place_by_value).
template <class Fold>
inline constexpr bool begins_behind_loads = false;
template <class Map, class Op>
inline constexpr bool begins_behind_loads<onefold::detail::fold<double, double, Map, Op>> =
    std::is_same<Op, op::min>::value || std::is_same<Op, op::max>::value;
template <>
inline constexpr bool begins_behind_loads<onefold::detail::minmax_fold<double>> = true;

// What a warp takes at a time, and how. Where it `leaves_places`, a whole unit's node has the unit's first element in the place of the one that has the
// value, until with_places() looks for it.
template <class Fold, reading How>
struct pairs {
  static constexpr int log_tiles = 1;
  static constexpr bool leaves_places = place_by_value<Fold>::exists;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) { return is_packed(in, unit); }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return 2 * unit < in.end_tile; }
  static __device__ auto whole_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    if constexpr (leaves_places)
      return place_by_value<Fold>::state(
          packed_pair_node<How, place_by_value<Fold>::is_fenced>(typename place_by_value<Fold>::fold{}, in, unit),
          unit * 2 * tile_elements<Fold>);
    else
      return packed_pair_node<How, begins_behind_loads<Fold>>(for_whole_tiles(fold), in, unit);
  }
  static __device__ auto any_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return any_pair_node(fold, in, unit);
  }
  static __device__ auto with_places(const Fold&, const tree_input& in, const typename Fold::accumulator& value) {
    return detail::with_places<Fold>(in.x, in.count, value);
  }
};
template <class Fold>
struct single_tiles {
  static constexpr int log_tiles = 0;
  static constexpr bool leaves_places = false;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) { return unit < whole_tiles<Fold>(in); }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return unit < in.end_tile; }
  static __device__ auto whole_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return tile_node<true>(for_whole_tiles(fold), in, unit);
  }
  static __device__ auto any_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return tile_node<false>(fold, in, unit);
  }
};
template <class Fold, std::size_t Alignment>
struct tiles_by_rows {
  static constexpr int log_tiles = log_tiles_of_rows<Fold>;
  static constexpr bool leaves_places = false;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) {
    return (unit + 1) << log_tiles <= whole_tiles<Fold>(in);
  }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return unit << log_tiles < in.end_tile; }
  static __device__ auto whole_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return rows_node<Fold, true, Alignment>(fold, in, unit);
  }
  static __device__ auto any_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return rows_node<Fold, false, Alignment>(fold, in, unit);
  }
};

template <class Fold, reading How, bool Own = is_own<Fold>>
struct choice_of_units {
  using type = std::conditional_t<How == reading::single, single_tiles<Fold>, pairs<Fold, How>>;
};
template <class Fold>
struct choice_of_units<Fold, reading::packed, false> {
  using type = packed_tiles<Fold>;
};
template <class Fold, reading How>
struct choice_of_units<Fold, How, true> {
  using by_rows = tiles_by_rows<Fold, (How == reading::single ? 1 : 16)>;
  using type = std::conditional_t<How != reading::single && reads_pairs<Fold>, pairs<Fold, How>, by_rows>;
};
template <class Fold, reading How>
using units_of = typename choice_of_units<Fold, How>::type;

template <class Fold>
struct two_units {
  using one = units_of<Fold, reading::single>;
  static constexpr int log_tiles = one::log_tiles + 1;
  static constexpr bool leaves_places = false;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) {
    return (unit + 1) << log_tiles <= whole_tiles<Fold>(in);
  }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return unit << log_tiles < in.end_tile; }
  static __device__ auto whole_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return two_units_node<true>(fold, for_whole_tiles(fold), in, 2 * unit);
  }
  static __device__ auto any_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return one::is_whole(in, 2 * unit) ? cut_two_units_node(fold, in, 2 * unit) : one::any_node(fold, in, 2 * unit);
  }
};

// What a warp takes of an array that is read by more warps than a cluster has.
template <class Fold, reading How>
using stream_units = std::conditional_t<takes_two_units<Fold>() && How == reading::single, two_units<Fold>, units_of<Fold, How>>;

// Out of line: the others would wait for its instructions.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator cut_unit_node(const void* x, const void* y, std::uint64_t count,
                                                                 std::uint64_t unit) {
  tree_input in{};
  in.x = x;  // passed by themselves, so that the compiler knows them for pointers to global memory
  in.y = y;
  in.count = count;
  return units_of<Fold, reading::single>::any_node(Fold{}, in, unit);
}

}  // namespace detail

}  // namespace onefold::device
