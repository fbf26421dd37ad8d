#pragma once
/// @file joined.cuh  The block that puts the images of an array's parts together, for any of the folds in a list.
///
/// It does what append() of src/range_state.cpp does for one part after the other, and all parts at the same time. Where there are few values, the host has
/// planned when they are joined (plan_items()). Else warps read values of subtrees into
/// shared memory, and fold the tiles that borders cut, whose elements lie in the images of two parts or more. Then a thread for each border joins what is next to
/// it, as far up as it goes, which is the longest chain of operations; one thread joins what is left of that, and stores the result. The tree is that of
/// docs/order.md: an operation is done where both operands are there, in whatever order that comes to pass.

#include <onefold/device/conclude.cuh>
#include <onefold/device/fold.cuh>
#include <onefold/device/tree.cuh>
#include <onefold/device/warp.cuh>

#include "joined.hpp"
#include "joined_folds.hpp"

namespace onefold::cuda_backend {

namespace detail {

/// What the block knows of a part.
struct joined_part {
  std::uint32_t first_node;   ///< of its subtrees, among those of all parts
  std::int16_t height;        ///< of the value that stands at its begin, or -1 if there is none
  std::uint8_t left_joined;   ///< how many of the subtrees left of its middle have become part of that value,
  std::uint8_t right_joined;  ///< and how many of those right of it, of the value at the next part's begin
};

/// What the warps share. Behind the last part stands what ends the array: the value of a tile that is not whole.
struct joined_memory {
  std::uint64_t borders[most_joined_parts + 1];
  joined_part parts[most_joined_parts + 1];
  alignas(16) unsigned char values[joined_value_bytes];

  template <class A>
  __device__ A* waiting() {  // complete subtrees, as a binary number has ones
    return reinterpret_cast<A*>(values);
  }
  template <class A>
  __device__ A* at_borders() {  // a value at each part's begin, and one at the end
    return waiting<A>() + most_joined_levels;
  }
  template <class A>
  __device__ A* nodes(std::uint32_t parts_of_array) {
    return at_borders<A>() + parts_of_array + 1;
  }
};

// Which elements a part has, in tiles of 2^log_tile elements. Whole tiles from first_tile to end_tile - 1, if that is more than none.
struct joined_extent {
  std::uint64_t begin, end;
  std::uint64_t first_tile, end_tile;
  int log_tile;

  __device__ joined_extent(const std::uint64_t* borders, std::uint32_t part, int log)
      : begin(borders[part]),
        end(borders[part + 1]),
        first_tile((begin + ((std::uint64_t{1} << log) - 1)) >> log),
        end_tile(end >> log),
        log_tile(log) {}
  [[nodiscard]] __device__ joined_nodes nodes() const { return {first_tile, end_tile}; }
  // Elements ahead of the first whole tile; all, where there is no border of tiles behind the begin.
  [[nodiscard]] __device__ std::uint64_t head() const { return ::min(first_tile << log_tile, end) - begin; }
  [[nodiscard]] __device__ bool cuts(std::uint64_t tile) const { return begin > tile << log_tile; }
};

// What is known before there are images. By all threads of the block, of which there is one for each part at least.
__device__ __noinline__ inline void prepare_joined(const joined_table& table, int log_tile, joined_memory& shared) {
  for (std::uint32_t p = threadIdx.x; p <= table.parts; p += blockDim.x) shared.borders[p] = table.borders[p];
  __syncthreads();
  const std::uint32_t mine = threadIdx.x;
  const bool has_one = mine < table.parts;
  if (has_one) shared.parts[mine].first_node = joined_extent(shared.borders, mine, log_tile).nodes().count();
  __syncthreads();
  std::uint32_t before = 0;
  for (std::uint32_t p = 0; has_one && p < mine; ++p) before += shared.parts[p].first_node;
  __syncthreads();
  if (has_one) shared.parts[mine] = {before, -1, 0, 0};
  __syncthreads();
}

// Where elements of one tile lie: some in one image, those behind them in that of a later part, by their places in the tile.
struct joined_pieces {
  const unsigned char* x[2];  ///< where the tile's first element would lie
  std::uint64_t y_behind[2];  ///< bytes from an element of x to that of y
  int begin, split, end;
};

// Elements of a tile of which the part has some. Its image begins with its subtrees.
__device__ inline void look_for_piece(const joined_table& table, const joined_memory& shared, std::uint32_t part, int log_tile,
                                      std::uint64_t tile, int element_bytes, int inputs, joined_pieces& found, int which) {
  const joined_extent of(shared.borders, part, log_tile);
  const std::uint32_t nodes = of.nodes().count();
  const auto in_places = [](std::uint64_t bytes) {
    return (bytes + joined_place_bytes - 1) / joined_place_bytes * joined_place_bytes;
  };
  const std::uint64_t head_bytes = in_places(of.head() * element_bytes);
  const unsigned char* at = table.images + part * table.stride + (nodes == 0 ? 1 : nodes) * joined_place_bytes;
  if (of.cuts(tile)) {
    found.y_behind[which] = head_bytes;
    at -= (of.begin - (tile << log_tile)) * element_bytes;
  } else {
    at += inputs * head_bytes;
    found.y_behind[which] = in_places((of.end - (tile << log_tile)) * element_bytes);
  }
  found.x[which] = at;
}

// The value of a tile that several parts have, from part `first` on, or that the array's end cuts. By a warp; it is in all lanes.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator joined_tile(const joined_table& table, const joined_memory& shared,
                                                               std::uint32_t first, std::uint32_t last, std::uint64_t tile) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  static_assert(Fold::is_plain && (sizeof(E) == 4 || sizeof(E) == 8));
  constexpr int log_tile = sizeof(E) == 4 ? 10 : 9;
  static_assert(device::tile_elements<Fold> == std::uint64_t{1} << log_tile);
  constexpr int L = device::lanes<Fold>;
  constexpr int own = L / device::warp_size;
  constexpr int rows = order::tile_rows;
  const int lane = static_cast<int>(threadIdx.x % device::warp_size);
  // Where an element stands in the tile, from 0; borders that lie behind it or ahead are cut off.
  const auto place_of = [&](std::uint64_t index) {
    const std::uint64_t begin = tile << log_tile;
    return index <= begin ? 0 : static_cast<int>(::min(index - begin, std::uint64_t{1} << log_tile));
  };
  E x[rows][own];
  E y[rows][own];
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int k = 0; k < own; ++k) x[r][k] = y[r][k] = E{};
  // Two parts at a time, nearly always all that there are, so that all loads are on their way together.
  for (std::uint32_t part = first; part <= last; part += 2) {
    joined_pieces from;
    const std::uint32_t other = part == last ? part : part + 1;
    look_for_piece(table, shared, part, log_tile, tile, sizeof(E), Fold::inputs, from, 0);
    look_for_piece(table, shared, other, log_tile, tile, sizeof(E), Fold::inputs, from, 1);
    from.begin = place_of(shared.borders[part]);
    from.split = place_of(shared.borders[part + 1]);
    from.end = place_of(shared.borders[other + 1]);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < own; ++k) {
        const int place = r * L + k * device::warp_size + lane;
        if (place < from.begin || place >= from.end) continue;
        const bool second = place >= from.split;
        const unsigned char* const at = (second ? from.x[1] : from.x[0]) + place * static_cast<int>(sizeof(E));
        x[r][k] = *reinterpret_cast<const E*>(at);
        if constexpr (Fold::inputs == 2) y[r][k] = *reinterpret_cast<const E*>(at + (second ? from.y_behind[1] : from.y_behind[0]));
      }
    }
  }
  const int count = place_of(shared.borders[last + 1]);
  A value[own];
#pragma unroll
  for (int k = 0; k < own; ++k) {
    value[k] = Fold::neutral();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      A item = device::detail::value_of(Fold{}, x[r][k], y[r][k]);
      if (r * L + k * device::warp_size + lane >= count) item = Fold::neutral();
      value[k] = Fold::combine(value[k], item);
    }
  }
  return device::detail::halved(Fold{}, own == 1 ? value[0] : Fold::combine(value[0], value[own - 1]));
}

// Whether a tile ends in part `number`, 1 or higher, that parts before it have a share of, or, behind the last part, whether the array ends within a tile;
// which tile that is, and the first part that has elements of it.
__device__ inline bool is_cut_at(const joined_memory& shared, std::uint32_t parts, std::uint32_t number, int log_tile,
                                 std::uint64_t& tile, std::uint32_t& first) {
  const std::uint64_t border = shared.borders[number];
  tile = border >> log_tile;
  const std::uint64_t begin = tile << log_tile;
  if (border == begin) return false;
  if (number < parts && shared.borders[number + 1] < begin + (std::uint64_t{1} << log_tile)) return false;
  first = number - 1;
  while (shared.borders[first] > begin) --first;
  return true;
}

// The highest of a number's ones but `skipped` of the lowest, which are taken away.
__device__ inline std::uint64_t without_lowest(std::uint64_t ones_of, std::uint32_t skipped) {
  for (; skipped > 0; --skipped) ones_of &= ones_of - 1;
  return ones_of;
}

// What meets at the begin of part `number`, 1 or higher, becomes one value as far as the subtrees of the two parts go that are next to it. By one thread.
template <class C>
__device__ inline void join_at(joined_memory& shared, std::uint32_t parts, std::uint32_t number, int log_tile) {
  using A = typename C::accumulator;
  const joined_extent right_part(shared.borders, number, log_tile);
  if (right_part.begin == right_part.end) return;
  std::uint64_t tile = 0;
  std::uint32_t left = 0;
  const bool is_cut = is_cut_at(shared, parts, number, log_tile, tile, left);
  if (!is_cut) {
    if (right_part.cuts(tile) || right_part.begin == 0) return;
    left = number - 1;
    while (shared.borders[left] == right_part.begin) --left;
  }
  const joined_nodes before = joined_extent(shared.borders, left, log_tile).nodes(), behind = right_part.nodes();
  const std::uint32_t most_left = ones(before.right), most_right = behind.left_is_half ? 0 : ones(behind.left);
  // From the border on to the left, and to the right.
  const A* lefts = shared.nodes<A>(parts) + shared.parts[left].first_node + before.count();
  const A* rights = shared.nodes<A>(parts) + shared.parts[number].first_node;
  std::uint32_t left_joined = 0, right_joined = 0;
  A value;
  int height = 0;
  if (is_cut) {
    value = shared.at_borders<A>()[number];
  } else {
    if (most_left == 0 || most_right == 0) return;  // else both are siblings
    value = C::combine(*--lefts, *rights++);
    left_joined = right_joined = 1;
    height = lowest_bit(tile);
    tile -= std::uint64_t{1} << height;
    ++height;
  }
  for (;; ++height) {
    if ((tile >> height & 1) != 0) {
      if (left_joined == most_left) break;
      value = C::combine(*--lefts, value);
      ++left_joined;
      tile -= std::uint64_t{1} << height;
    } else {
      if (right_joined == most_right) break;
      value = C::combine(value, *rights++);
      ++right_joined;
    }
  }
  shared.at_borders<A>()[number] = value;
  shared.parts[number].height = static_cast<std::int16_t>(height);
  shared.parts[number].left_joined = static_cast<std::uint8_t>(right_joined);
  shared.parts[left].right_joined = static_cast<std::uint8_t>(left_joined);
}

// From what borders have left to the tree's value, by one thread.
template <class C>
__device__ inline typename C::accumulator join_rest(joined_memory& shared, std::uint32_t parts, int log_tile) {
  using A = typename C::accumulator;
  A* const waiting = shared.waiting<A>();
  std::uint64_t tiles = 0;  // that are complete
  const auto push = [&](A value, int height) {
    int level = height;
    for (; (tiles >> level & 1) != 0; ++level) value = C::combine(waiting[level], value);
    waiting[level] = value;
    tiles += std::uint64_t{1} << height;
  };
  for (std::uint32_t p = 0; p < parts; ++p) {
    const joined_part of = shared.parts[p];
    if (of.height >= 0) push(shared.at_borders<A>()[p], of.height);
    const joined_nodes its = joined_extent(shared.borders, p, log_tile).nodes();
    const A* next = shared.nodes<A>(parts) + of.first_node + of.left_joined;
    for (std::uint64_t left = without_lowest(its.left, of.left_joined); left != 0; left &= left - 1)
      push(*next++, lowest_bit(left));
    for (std::uint64_t right = without_lowest(its.right, of.right_joined); right != 0;) {
      const int height = highest_bit(right);
      push(*next++, height);
      right ^= std::uint64_t{1} << height;
    }
  }
  // A node without a right sibling goes up to where it is one itself.
  bool has_value = (shared.borders[parts] & ((std::uint64_t{1} << log_tile) - 1)) != 0;
  A value = has_value ? shared.at_borders<A>()[parts] : C::neutral();
  for (; tiles != 0; tiles &= tiles - 1) {
    const A& left = waiting[lowest_bit(tiles)];
    value = has_value ? C::combine(left, value) : left;
    has_value = true;
  }
  return value;
}

// Behind all values. By the first warp. Out of line: folds that combine alike share it.
template <class C>
__device__ __noinline__ void conclude_joined(const joined_table& table, int log_tile, joined_memory& shared) {
  for (std::uint32_t number = threadIdx.x + 1; number < table.parts; number += device::warp_size)
    join_at<C>(shared, table.parts, number, log_tile);
  __syncwarp();
  if (threadIdx.x != 0) return;
  device::detail::store_sized(join_rest<C>(shared, table.parts, log_tile), shared.borders[table.parts], table.to);
}

// Of items, which stand side by side. By one thread, which has the stack of values that wait in the place of those that it has taken.
template <class C>
__device__ __noinline__ void conclude_items(const joined_table& table, joined_memory& shared) {
  using A = typename C::accumulator;
  A* const values = reinterpret_cast<A*>(shared.values);
  std::uint32_t waiting = 0;
  A value;
  for (std::uint32_t i = 0; i < table.items; ++i) {
    value = values[i];
    for (std::uint32_t joined = table.joined[i]; joined > 0; --joined) value = C::combine(values[--waiting], value);
    values[waiting++] = value;
  }
  for (--waiting; waiting > 0;) value = C::combine(values[--waiting], value);
  device::detail::store_sized(value, table.borders[table.parts], table.to);
}

// Where the host has planned it: a warp for the subtrees, and one for each tile that is cut.
template <class Fold, class Wait>
__device__ inline void join_items(const joined_table& table, joined_memory& shared, const Wait& wait_for_images) {
  using A = typename Fold::accumulator;
  constexpr int log_tile = sizeof(typename Fold::element) == 4 ? 10 : 9;
  A* const values = reinterpret_cast<A*>(shared.values);
  if (table.cuts > 0) {
    for (std::uint32_t p = threadIdx.x; p <= table.parts; p += blockDim.x) shared.borders[p] = table.borders[p];
    __syncthreads();
  }
  wait_for_images();
  const unsigned warp = threadIdx.x / device::warp_size, lane = threadIdx.x % device::warp_size;
  if (warp == 0) {
    for (std::uint32_t i = lane; i < table.items; i += device::warp_size)
      if (table.place[i] != joined_table::of_cut) values[i] = *reinterpret_cast<const A*>(table.images + table.place[i]);
  } else {
    const std::uint32_t number = table.cut_at[warp - 1];
    std::uint64_t tile = 0;
    std::uint32_t first = 0;
    is_cut_at(shared, table.parts, number, log_tile, tile, first);
    const A value = joined_tile<Fold>(table, shared, first, number < table.parts ? number : table.parts - 1, tile);
    if (lane == 0) values[table.cut_item[warp - 1]] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) conclude_items<device::combination_of<Fold>>(table, shared);
}

template <class Fold, class Wait>
__device__ inline void run_joined_block(const joined_table& table, joined_memory& shared, const Wait& wait_for_images) {
  using A = typename Fold::accumulator;
  using C = device::combination_of<Fold>;
  static_assert(std::is_same_v<A, typename C::accumulator>);
  static_assert(most_joined_items * sizeof(A) <= joined_value_bytes);
  constexpr int log_tile = sizeof(typename Fold::element) == 4 ? 10 : 9;
  if (table.items > 0) return join_items<Fold>(table, shared, wait_for_images);
  prepare_joined(table, log_tile, shared);
  wait_for_images();
  const std::uint32_t warps = blockDim.x / device::warp_size, warp = threadIdx.x / device::warp_size;
  const unsigned lane = threadIdx.x % device::warp_size;
  for (std::uint32_t task = warp; task < 2 * table.parts; task += warps) {
    if (task < table.parts) {
      const std::uint32_t count = joined_extent(shared.borders, task, log_tile).nodes().count();
      A* const nodes = shared.nodes<A>(table.parts) + shared.parts[task].first_node;
      const unsigned char* const image = table.images + task * table.stride;
      for (unsigned i = lane; i < count; i += device::warp_size)
        nodes[i] = *reinterpret_cast<const A*>(image + i * joined_place_bytes);
    } else {
      const std::uint32_t number = task - table.parts + 1;
      std::uint64_t tile = 0;
      std::uint32_t first = 0;
      if (is_cut_at(shared, table.parts, number, log_tile, tile, first)) {
        const std::uint32_t last = number < table.parts ? number : table.parts - 1;
        const A value = joined_tile<Fold>(table, shared, first, last, tile);
        if (lane == 0) shared.at_borders<A>()[number] = value;
      }
    }
  }
  __syncthreads();
  if (warp == 0) conclude_joined<C>(table, log_tile, shared);
}

// By the fold that has number `which` in the list.
template <class First, class... Others, class Wait>
__device__ inline void run_joined_block(fold_list<First, Others...>, int which, const joined_table& table, joined_memory& shared,
                                        const Wait& wait_for_images) {
  if (which == 0 || sizeof...(Others) == 0)
    run_joined_block<First>(table, shared, wait_for_images);
  else if constexpr (sizeof...(Others) > 0)
    run_joined_block(fold_list<Others...>{}, which - 1, table, shared, wait_for_images);
}

}  // namespace detail

/// The work of the one block of a launch, by all its threads. wait_for_images() returns when the images are there.
template <class... Folds, class Wait>
__device__ inline void run_joined_block(fold_list<Folds...> folds, const joined_table& table, detail::joined_memory& shared,
                                        const Wait& wait_for_images) {
  detail::run_joined_block(folds, table.fold, table, shared, wait_for_images);
}

}  // namespace onefold::cuda_backend
