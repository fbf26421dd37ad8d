#pragma once
/// @file units.cuh  What a warp takes at a time: a unit of tiles, for a fold of any kind.

#include <onefold/device/packed.cuh>
#include <onefold/device/rows.cuh>
#include <onefold/device/tree.cuh>

namespace onefold::device {

namespace detail {

// What a warp takes at a time, and how.
template <class Fold, reading How>
struct pairs {
  static constexpr int log_tiles = 1;
  static __device__ bool is_whole(const tree_input& in, std::uint64_t unit) { return is_packed(in, unit); }
  static __device__ bool exists(const tree_input& in, std::uint64_t unit) { return 2 * unit < in.end_tile; }
  static __device__ auto whole_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return packed_pair_node<How>(for_whole_tiles(fold), in, unit);
  }
  static __device__ auto any_node(const Fold& fold, const tree_input& in, std::uint64_t unit) {
    return any_pair_node(fold, in, unit);
  }
};
template <class Fold>
struct single_tiles {
  static constexpr int log_tiles = 0;
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
