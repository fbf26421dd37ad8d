#pragma once
/// @file joined.cuh  The block that puts the images of an array's parts together, for any of the families of folds in a list.
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

#include "converted.cuh"
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

// Where an element stands in a tile, from 0; borders that lie behind it or ahead are cut off.
__device__ inline int place_in_tile(std::uint64_t index, std::uint64_t tile, int log_tile) {
  const std::uint64_t begin = tile << log_tile;
  return index <= begin ? 0 : static_cast<int>(::min(index - begin, std::uint64_t{1} << log_tile));
}

// The pieces of a part and, if that is not the last one, of the part behind it.
__device__ inline joined_pieces two_pieces(const joined_table& table, const joined_memory& shared, std::uint32_t part,
                                           std::uint32_t last, int log_tile, std::uint64_t tile, int element_bytes, int inputs) {
  joined_pieces from;
  const std::uint32_t other = part == last ? part : part + 1;
  look_for_piece(table, shared, part, log_tile, tile, element_bytes, inputs, from, 0);
  look_for_piece(table, shared, other, log_tile, tile, element_bytes, inputs, from, 1);
  from.begin = place_in_tile(shared.borders[part], tile, log_tile);
  from.split = place_in_tile(shared.borders[part + 1], tile, log_tile);
  from.end = place_in_tile(shared.borders[other + 1], tile, log_tile);
  return from;
}

// What each thread of a warp has of a tile: rows of lanes that are 32 apart, as words of an element's size, zeros where there is none.
template <class Word>
struct joined_elements {
  static constexpr int lanes = order::lanes_of_bytes(sizeof(Word));
  static constexpr int own = lanes / device::warp_size;
  static constexpr int rows = order::tile_rows;
  alignas(16) Word x[rows][own];
  alignas(16) Word y[rows][own];  // of two inputs
  int count;                      // elements of the tile
};

// The elements of a tile that several parts have, from part `first` on, or that the array's end cuts. By a warp.
template <class Word, int Inputs>
__device__ inline void gather_tile(const joined_table& table, const joined_memory& shared, std::uint32_t first, std::uint32_t last,
                                   std::uint64_t tile, joined_elements<Word>& to) {
  constexpr int L = joined_elements<Word>::lanes;
  constexpr int own = joined_elements<Word>::own;
  constexpr int rows = joined_elements<Word>::rows;
  constexpr int log_tile = sizeof(Word) == 4 ? 10 : 9;
  static_assert(rows * L == 1 << log_tile);
  const int warp_lane = static_cast<int>(threadIdx.x % device::warp_size);
  const auto place_of = [&](std::uint64_t index) { return place_in_tile(index, tile, log_tile); };
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int k = 0; k < own; ++k) to.x[r][k] = to.y[r][k] = 0;
  // Two parts at a time, nearly always all that there are, so that all loads are on their way together.
  for (std::uint32_t part = first; part <= last; part += 2) {
    const joined_pieces from = two_pieces(table, shared, part, last, log_tile, tile, sizeof(Word), Inputs);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int k = 0; k < own; ++k) {
        const int place = r * L + k * device::warp_size + warp_lane;
        if (place < from.begin || place >= from.end) continue;
        const bool second = place >= from.split;
        const unsigned char* const at = (second ? from.x[1] : from.x[0]) + place * static_cast<int>(sizeof(Word));
        to.x[r][k] = *reinterpret_cast<const Word*>(at);
        if constexpr (Inputs == 2) to.y[r][k] = *reinterpret_cast<const Word*>(at + (second ? from.y_behind[1] : from.y_behind[0]));
      }
    }
  }
  to.count = place_of(shared.borders[last + 1]);
}

// --- converted elements and states --------------------------------------------------------------------------------------------------------------------

// Of a number that is compared, or of bits: as the fold has it, either way.
template <class V>
__device__ inline V joined_changed(V value, [[maybe_unused]] const joined_conversion& of) {
  using Bits = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits highest = Bits{1} << (8 * sizeof(V) - 1);
  Bits bits;
  memcpy(&bits, &value, sizeof(bits));
  if constexpr (std::is_floating_point_v<V>)
    bits ^= of.is_negated ? highest : 0;
  else
    bits ^= (of.is_negated ? ~Bits{0} : 0) ^ (of.is_unsigned ? highest : 0);
  memcpy(&value, &bits, sizeof(bits));
  return value;
}

// A number of an image's state.
template <class V>
__device__ inline V joined_number(const unsigned char* at, [[maybe_unused]] const joined_conversion& of) {
  if constexpr (std::is_floating_point_v<V>) {
    return joined_changed(*reinterpret_cast<const V*>(at), of);
  } else {
    std::uint64_t bits;
    if (of.bytes == 8) {
      bits = *reinterpret_cast<const std::uint64_t*>(at);
    } else {
      const std::uint32_t low = *reinterpret_cast<const std::uint32_t*>(at);
      bits = of.is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)}) : low;
    }
    return joined_changed(static_cast<V>(bits), of);
  }
}

// Accumulators: out of an image, and as results have them. Some depend on where elements stand: those of an image, and of a tile that is cut, are as of an array
// that begins there; and of moments an image has no count.
template <class A>
struct joined_value {
  static constexpr bool has_place = false;
  static __device__ A of(const unsigned char* image, [[maybe_unused]] const joined_conversion& how) {
    if constexpr (std::is_arithmetic_v<A>)
      return joined_number<A>(image, how);
    else
      return *reinterpret_cast<const A*>(image);
  }
  static __device__ A placed(const A& value, std::uint64_t, std::uint64_t) { return value; }
  static __device__ A changed_back(const A& value, [[maybe_unused]] const joined_conversion& how) {
    if constexpr (std::is_arithmetic_v<A>)
      return joined_changed(value, how);
    else
      return value;
  }
};
template <class V>
struct joined_value<onefold::detail::two_values<V>> {
  using A = onefold::detail::two_values<V>;
  static constexpr bool has_place = false;
  static __device__ A of(const unsigned char* image, const joined_conversion& how) {
    return {joined_number<V>(image, how), joined_number<V>(image + how.bytes, how)};
  }
  static __device__ A placed(const A& value, std::uint64_t, std::uint64_t) { return value; }
  static __device__ A changed_back(const A& value, const joined_conversion& how) {
    return {joined_changed(value.min, how), joined_changed(value.max, how)};
  }
};
template <class V>
struct joined_value<onefold::detail::arg_state<V>> {
  using A = onefold::detail::arg_state<V>;
  static constexpr bool has_place = true;
  static __device__ A of(const unsigned char* image, const joined_conversion& how) {
    return {joined_number<V>(image, how), *reinterpret_cast<const std::uint64_t*>(image + 8)};
  }
  static __device__ A placed(const A& value, std::uint64_t begin, std::uint64_t) { return {value.value, value.index + begin}; }
  static __device__ A changed_back(const A& value, const joined_conversion& how) {
    return {joined_changed(value.value, how), value.index};
  }
};
template <class V>
struct joined_value<onefold::detail::two_args<V>> {
  using A = onefold::detail::two_args<V>;
  using one = joined_value<onefold::detail::arg_state<V>>;
  static constexpr bool has_place = true;
  static __device__ A of(const unsigned char* image, const joined_conversion& how) {
    return {one::of(image, how), one::of(image + 16, how)};
  }
  static __device__ A placed(const A& value, std::uint64_t begin, std::uint64_t elements) {
    return {one::placed(value.min, begin, elements), one::placed(value.max, begin, elements)};
  }
  static __device__ A changed_back(const A& value, const joined_conversion& how) {
    return {one::changed_back(value.min, how), one::changed_back(value.max, how)};
  }
};
template <>
struct joined_value<onefold::detail::moments> {
  using A = onefold::detail::moments;
  static constexpr bool has_place = true;
  static __device__ A of(const unsigned char* image, const joined_conversion&) {
    const auto* const both = reinterpret_cast<const double*>(image);
    return {0, both[0], both[1]};
  }
  static __device__ A placed(const A& value, std::uint64_t, std::uint64_t elements) {
    return {value.count == 0 ? elements : value.count, value.mean, value.deviation};
  }
  static __device__ A changed_back(const A& value, const joined_conversion&) { return value; }
};

/// What a thread has of two lanes of a tile at a time, or of one of elements of 8 bytes, of which a warp has no more: the bits of elements, or of values.
struct joined_lanes {
  std::uint64_t bits[2][order::tile_rows];
};

// Elements of one array as their bits: of the lanes that begin at two places of the tile. They are loaded into registers, all ahead of the first one that is stored: the
// threads' own memory might lie where images do, for all that the compiler knows.
template <class Word>
__device__ inline void gather_lanes_of(const joined_table& table, const joined_memory& shared, std::uint32_t first,
                                       std::uint32_t last, std::uint64_t tile, bool is_second, int lane0, int lane1,
                                       joined_lanes& to) {
  constexpr int L = order::lanes_of_bytes(sizeof(Word));
  constexpr int log_tile = sizeof(Word) == 8 ? 9 : sizeof(Word) == 4 ? 10 : sizeof(Word) == 2 ? 11 : 12;
  static_assert(L * order::tile_rows == 1 << log_tile);
  constexpr int lanes = sizeof(Word) == 8 ? 1 : 2;
  const int inputs = table.conversion.map == converted_map::product ? 2 : 1;
  const int lane[2] = {lane0, lane1};
  Word element[lanes][order::tile_rows];
#pragma unroll
  for (int g = 0; g < lanes; ++g)
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) element[g][r] = 0;
#pragma unroll 1
  for (std::uint32_t part = first; part <= last; part += 2) {
    const joined_pieces from = two_pieces(table, shared, part, last, log_tile, tile, sizeof(Word), inputs);
    const auto* const x = reinterpret_cast<const Word*>(from.x[0] + (is_second ? from.y_behind[0] : 0));
    const auto* const behind_split = reinterpret_cast<const Word*>(from.x[1] + (is_second ? from.y_behind[1] : 0));
#pragma unroll
    for (int g = 0; g < lanes; ++g)
#pragma unroll
      for (int r = 0; r < order::tile_rows; ++r) {
        const int place = r * L + lane[g];
        if (place >= from.begin && place < from.end) element[g][r] = (place >= from.split ? behind_split : x)[place];
      }
  }
#pragma unroll
  for (int g = 0; g < lanes; ++g)
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) to.bits[g][r] = element[g][r];
}
// Once for each size of elements.
__device__ __noinline__ inline void gather_lanes(const joined_table& table, const joined_memory& shared, std::uint32_t first,
                                                 std::uint32_t last, std::uint64_t tile, bool is_second, int lane0, int lane1,
                                                 joined_lanes& to) {
  const std::size_t bytes = size_of(table.conversion.read);
  if (bytes == 1) return gather_lanes_of<std::uint8_t>(table, shared, first, last, tile, is_second, lane0, lane1, to);
  if (bytes == 2) return gather_lanes_of<std::uint16_t>(table, shared, first, last, tile, is_second, lane0, lane1, to);
  if (bytes == 4) return gather_lanes_of<std::uint32_t>(table, shared, first, last, tile, is_second, lane0, lane1, to);
  gather_lanes_of<std::uint64_t>(table, shared, first, last, tile, is_second, lane0, lane1, to);
}

template <class E>
__device__ inline E number_of_bits(std::uint64_t bits) {  // the lowest ones
  E number;
  memcpy(static_cast<void*>(&number), &bits, sizeof(number));
  return number;
}

// A lane's elements of any type as values. The type is asked for once, ahead of them all.
template <class E, class V>
__device__ inline void convert_as(const std::uint64_t (&bits)[order::tile_rows], V (&to)[order::tile_rows]) {
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) to[r] = static_cast<V>(number_of_bits<E>(bits[r]));
}
__device__ inline void convert_lane(element_type type, const std::uint64_t (&bits)[order::tile_rows],
                                    std::uint64_t (&to)[order::tile_rows]) {
  const unsigned above = 64 - 8 * static_cast<unsigned>(size_of(type));
  if (!is_signed_integer(type)) return convert_as<std::uint64_t>(bits, to);
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r)
    to[r] = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits[r] << above) >> above);
}
__device__ inline void convert_lane(element_type type, const std::uint64_t (&bits)[order::tile_rows],
                                    float (&to)[order::tile_rows]) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (type == element_type::name) return convert_as<T>(bits, to);
#include <onefold/types.def>
  convert_as<float>(bits, to);
}
__device__ inline void convert_lane(element_type type, const std::uint64_t (&bits)[order::tile_rows],
                                    double (&to)[order::tile_rows]) {
  if (type == element_type::f64) return convert_as<double>(bits, to);
  if (is_float(type)) {
    float narrow[order::tile_rows];
    convert_lane(type, bits, narrow);
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) to[r] = static_cast<double>(narrow[r]);
    return;
  }
  if (type == element_type::u64) return convert_as<std::uint64_t>(bits, to);
  std::uint64_t whole[order::tile_rows];
  convert_lane(type, bits, whole);
  convert_as<std::int64_t>(whole, to);
}

// What a form makes of the elements of two lanes. Out of line, once for all folds of a type. What is asked of the table is copied out of it: read again behind each
// store it would be most of the time.
template <class V>
__device__ __noinline__ void values_of_lanes(const joined_table& table, const joined_memory& shared, std::uint32_t first,
                                             std::uint32_t last, std::uint64_t tile, int lane0, int lane1, joined_lanes& to) {
  const joined_conversion how = table.conversion;
  joined_lanes second;
  gather_lanes(table, shared, first, last, tile, false, lane0, lane1, to);
  if (how.map == converted_map::product) gather_lanes(table, shared, first, last, tile, true, lane0, lane1, second);
  const int lanes = size_of(how.read) == 8 ? 1 : 2;
#pragma unroll 1
  for (int g = 0; g < lanes; ++g) {
    V value[order::tile_rows];
    convert_lane(how.read, to.bits[g], value);
    if (how.map == converted_map::product) {
      V other[order::tile_rows];
      convert_lane(how.read, second.bits[g], other);
#pragma unroll
      for (int r = 0; r < order::tile_rows; ++r) value[r] = onefold::detail::product_of(value[r], other[r]);
    } else if (how.map != converted_map::as_is) {
#pragma unroll
      for (int r = 0; r < order::tile_rows; ++r) value[r] = mapped(how.map, value[r]);
    }
    if (how.is_negated || how.is_unsigned) {
#pragma unroll
      for (int r = 0; r < order::tile_rows; ++r) value[r] = joined_changed(value[r], how);
    }
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) memcpy(&to.bits[g][r], &value[r], sizeof(V));
  }
}

// The node over a lane whose values begin at place `begin` of a tile of which `count` elements are there.
template <class Fold, class V>
__device__ inline typename Fold::accumulator node_of_values(const std::uint64_t (&bits)[order::tile_rows], int begin, int count,
                                                            int lanes) {
  using E = typename Fold::element;
  if (begin >= count) return Fold::neutral();
  const int behind = (count - begin - 1) / lanes + 1;
  const int rows = behind < order::tile_rows ? behind : order::tile_rows;
  const Fold its{};
  const auto value = [&](int r) { return Fold::value(static_cast<E>(number_of_bits<V>(bits[r]))); };
  auto lane = device::first_of_lane(its, value(0), 0);
#pragma unroll
  for (int r = 1; r < order::tile_rows; ++r)
    if (r < rows) lane = device::next_of_lane(its, lane, value(r), r);
  if constexpr (Fold::is_plain)
    return lane;
  else
    return Fold::close(lane, rows, static_cast<std::uint64_t>(begin), lanes);
}

// The value of a tile that is cut, as of an array that begins with it; in all threads of the warp. Lanes of a tile that are further apart meet first: they come in the
// order of their numbers' bits turned round.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator joined_tile(joined_converted<Fold>, const joined_table& table,
                                                               const joined_memory& shared, std::uint32_t first, std::uint32_t last,
                                                               std::uint64_t tile) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  using V = std::conditional_t<std::is_integral_v<E>, std::uint64_t, E>;
  const int log_tile = table.conversion.log_tile;
  const int lanes = (1 << log_tile) / order::tile_rows;
  const int each = lanes / device::warp_size;  // of a thread: 1, 2, 4 or 8
  const int count = place_in_tile(shared.borders[last + 1], tile, log_tile);
  const auto begin_of = [&](int k) {
    const int turned = ((k & 1) * 4 | (k & 2) | (k & 4) / 4) * each / 8;
    return turned * device::warp_size + static_cast<int>(threadIdx.x % device::warp_size);
  };
  A node = Fold::neutral(), of_two = node, of_four = node, of_eight = node;
  joined_lanes value;
#pragma unroll 1
  for (int k = 0; k < each; ++k) {
    if ((k & 1) == 0) values_of_lanes<V>(table, shared, first, last, tile, begin_of(k), each > 1 ? begin_of(k + 1) : 0, value);
    node = node_of_values<Fold, V>(value.bits[k & 1], begin_of(k), count, lanes);
    if ((k & 1) == 0) {
      of_two = node;
      continue;
    }
    node = Fold::combine(of_two, node);
    if ((k & 2) == 0) {
      of_four = node;
      continue;
    }
    node = Fold::combine(of_four, node);
    if ((k & 4) == 0) {
      of_eight = node;
      continue;
    }
    node = Fold::combine(of_eight, node);
  }
#pragma unroll 1
  for (int distance = device::warp_size / 2; distance > 0; distance /= 2)
    node = Fold::combine(node, device::exchange(node, distance));
  return node;
}

// --- elements as they are -----------------------------------------------------------------------------------------------------------------------------

// The same where all that is done with an element is the fold's.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator joined_tile(Fold, const joined_table& table, const joined_memory& shared,
                                                               std::uint32_t first, std::uint32_t last, std::uint64_t tile) {
  using A = typename Fold::accumulator;
  using E = typename Fold::element;
  using Word = std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>;
  static_assert(sizeof(E) == sizeof(Word));
  constexpr int L = device::lanes<Fold>;
  static_assert(L == joined_elements<Word>::lanes);
  constexpr int own = L / device::warp_size;
  constexpr int rows = order::tile_rows;
  joined_elements<Word> of;
  static_assert(device::detail::is_one_number<A>);
  gather_tile<Word, Fold::inputs>(table, shared, first, last, tile, of);
  const int warp_lane = static_cast<int>(threadIdx.x % device::warp_size);
  const auto item = [&](int r, int k) {
    E x{}, y{};
    memcpy(&x, &of.x[r][k], sizeof(x));
    if constexpr (Fold::inputs == 2) memcpy(&y, &of.y[r][k], sizeof(y));
    return device::detail::value_of(Fold{}, x, y);
  };
  A value[own];
#pragma unroll
  for (int k = 0; k < own; ++k) {
    const int begin = k * device::warp_size + warp_lane;
    value[k] = Fold::neutral();
    if constexpr (Fold::is_plain) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        A one = item(r, k);
        if (r * L + begin >= of.count) one = Fold::neutral();
        value[k] = Fold::combine(value[k], one);
      }
    } else if (begin < of.count) {
      typename Fold::lane so_far = Fold::first(item(0, k));
      int present = 1;
#pragma unroll
      for (int r = 1; r < rows; ++r) {
        if (r * L + begin >= of.count) continue;
        so_far = Fold::next(so_far, item(r, k), r);
        ++present;
      }
      value[k] = Fold::close(so_far, present, static_cast<std::uint64_t>(begin), L);
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
  // One operation waits for the one ahead of it, here and below: copies of a loop's body would be code for every fold, and save nothing.
#pragma unroll 1
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

// The result, of one thread. Out of line: it is the same for all folds with these accumulators, and has divisions and roots.
template <class A>
__device__ __noinline__ void store_joined(const A& value, std::uint64_t count, const joined_table& table) {
  device::detail::store_sized(joined_value<A>::changed_back(value, table.conversion), count, table.to);
}

// Where the combination of the values says more of the result than they do.
template <class C>
struct result_of_joined {
  static __device__ void store(const typename C::accumulator& value, std::uint64_t count, const joined_table& table) {
    store_joined(value, count, table);
  }
};

// A subtree of 2^height tiles, behind all that are there, joins those that are its siblings. Out of line: three loops have one.
template <class C>
__device__ __noinline__ void push_subtree(typename C::accumulator* waiting, std::uint64_t& tiles, typename C::accumulator value,
                                          int height) {
  int level = height;
#pragma unroll 1
  for (; (tiles >> level & 1) != 0; ++level) value = C::combine(waiting[level], value);
  waiting[level] = value;
  tiles += std::uint64_t{1} << height;
}

// From what borders have left to the tree's value, by one thread.
template <class C>
__device__ inline typename C::accumulator join_rest(joined_memory& shared, std::uint32_t parts, int log_tile) {
  using A = typename C::accumulator;
  A* const waiting = shared.waiting<A>();
  std::uint64_t tiles = 0;  // that are complete
  const auto push = [&](const A& value, int height) { push_subtree<C>(waiting, tiles, value, height); };
#pragma unroll 1
  for (std::uint32_t p = 0; p < parts; ++p) {
    const joined_part of = shared.parts[p];
    if (of.height >= 0) push(shared.at_borders<A>()[p], of.height);
    const joined_nodes its = joined_extent(shared.borders, p, log_tile).nodes();
    const A* next = shared.nodes<A>(parts) + of.first_node + of.left_joined;
#pragma unroll 1
    for (std::uint64_t left = without_lowest(its.left, of.left_joined); left != 0; left &= left - 1)
      push(*next++, lowest_bit(left));
#pragma unroll 1
    for (std::uint64_t right = without_lowest(its.right, of.right_joined); right != 0;) {
      const int height = highest_bit(right);
      push(*next++, height);
      right ^= std::uint64_t{1} << height;
    }
  }
  // A node without a right sibling goes up to where it is one itself.
  bool has_value = (shared.borders[parts] & ((std::uint64_t{1} << log_tile) - 1)) != 0;
  A value = has_value ? shared.at_borders<A>()[parts] : C::neutral();
#pragma unroll 1
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
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x + 1; number < table.parts; number += device::warp_size)
    join_at<C>(shared, table.parts, number, log_tile);
  __syncwarp();
  if (threadIdx.x != 0) return;
  result_of_joined<C>::store(join_rest<C>(shared, table.parts, log_tile), shared.borders[table.parts], table);
}

// Of items, which stand side by side. By one thread, which has the stack of values that wait in the place of those that it has taken.
template <class C>
__device__ __noinline__ void conclude_items(const joined_table& table, int log_tile, joined_memory& shared) {
  using A = typename C::accumulator;
  A* const values = reinterpret_cast<A*>(shared.values);
  std::uint32_t waiting = 0;
  std::uint64_t tile = 0;
  A value;
#pragma unroll 1
  for (std::uint32_t i = 0; i < table.items; ++i) {
    value = values[i];
    if constexpr (joined_value<A>::has_place) {
      const std::uint64_t tiles = std::uint64_t{1} << table.height_of(i);
      value = joined_value<A>::placed(value, tile << log_tile, tiles << log_tile);
      tile += tiles;
    }
#pragma unroll 1
    for (std::uint32_t joined = table.joined_by(i); joined > 0; --joined) value = C::combine(values[--waiting], value);
    values[waiting++] = value;
  }
#pragma unroll 1
  for (--waiting; waiting > 0;) value = C::combine(values[--waiting], value);
  result_of_joined<C>::store(value, table.borders[table.parts], table);
}

// What the folds of a family combine as.
template <class Family>
struct family_of_joined;
template <class First, class... Others>
struct family_of_joined<joined_family<First, Others...>> {
  using combination = device::combination_of<First>;
};
template <class First, class... Others>
struct family_of_joined<joined_family<joined_converted<First>, Others...>> {
  using combination = device::combination_of<First>;
};
template <class Family>
using combination_of_family = typename family_of_joined<Family>::combination;

// By the fold that has number `which` in its family.
template <class First, class... Others>
__device__ inline auto joined_tile(joined_family<First, Others...>, int which, const joined_table& table,
                                   const joined_memory& shared, std::uint32_t first, std::uint32_t last, std::uint64_t tile) {
  static_assert(std::is_same_v<typename First::accumulator, typename combination_of_family<joined_family<First>>::accumulator>);
  if constexpr (sizeof...(Others) == 0)
    return joined_tile(First{}, table, shared, first, last, tile);
  else
    return which == 0 ? joined_tile(First{}, table, shared, first, last, tile)
                      : joined_tile(joined_family<Others...>{}, which - 1, table, shared, first, last, tile);
}

// Where the host has planned it: a warp for the subtrees, and one for each tile that is cut.
template <class Family, class Wait>
__device__ inline void join_items(int which, const joined_table& table, joined_memory& shared, const Wait& wait_for_images) {
  using C = combination_of_family<Family>;
  using A = typename C::accumulator;
  const int log_tile = table.conversion.log_tile;
  A* const values = reinterpret_cast<A*>(shared.values);
  if (table.cuts > 0) {
    for (std::uint32_t p = threadIdx.x; p <= table.parts; p += blockDim.x) shared.borders[p] = table.borders[p];
    __syncthreads();
  }
  wait_for_images();
  const unsigned warp = threadIdx.x / device::warp_size, warp_lane = threadIdx.x % device::warp_size;
  if (warp == 0) {
    for (std::uint32_t i = warp_lane; i < table.items; i += device::warp_size)
      if (!table.is_cut(i)) values[i] = joined_value<A>::of(table.images + table.place_of(i), table.conversion);
  } else {
    const std::uint32_t number = table.cut_at[warp - 1];
    std::uint64_t tile = 0;
    std::uint32_t first = 0;
    is_cut_at(shared, table.parts, number, log_tile, tile, first);
    const A value = joined_tile(Family{}, which, table, shared, first, number < table.parts ? number : table.parts - 1, tile);
    if (warp_lane == 0) values[table.cut_item[warp - 1]] = value;
  }
  __syncthreads();
  if (threadIdx.x == 0) conclude_items<C>(table, log_tile, shared);
}

template <class Family, class Wait>
__device__ inline void run_joined_block(int which, const joined_table& table, joined_memory& shared, const Wait& wait_for_images) {
  using C = combination_of_family<Family>;
  using A = typename C::accumulator;
  static_assert(most_joined_items * sizeof(A) <= joined_value_bytes);
  const int log_tile = table.conversion.log_tile;
  if (table.items > 0) return join_items<Family>(which, table, shared, wait_for_images);
  prepare_joined(table, log_tile, shared);
  wait_for_images();
  const std::uint32_t warps = blockDim.x / device::warp_size, warp = threadIdx.x / device::warp_size;
  const unsigned warp_lane = threadIdx.x % device::warp_size;
  for (std::uint32_t task = warp; task < 2 * table.parts; task += warps) {
    if (task < table.parts) {
      const joined_extent part(shared.borders, task, log_tile);
      const joined_nodes its = part.nodes();
      const std::uint32_t count = its.count();
      A* const nodes = shared.nodes<A>(table.parts) + shared.parts[task].first_node;
      const unsigned char* const image = table.images + task * table.stride;
#pragma unroll 1
      for (unsigned i = warp_lane; i < count; i += device::warp_size) {
        A value = joined_value<A>::of(image + i * joined_place_bytes, table.conversion);
        if constexpr (joined_value<A>::has_place) {
          int height = 0;
          const std::uint64_t tile = part.first_tile + its.tiles_before(i, height);
          value = joined_value<A>::placed(value, tile << log_tile, std::uint64_t{1} << (height + log_tile));
        }
        nodes[i] = value;
      }
    } else {
      const std::uint32_t number = task - table.parts + 1;
      std::uint64_t tile = 0;
      std::uint32_t first = 0;
      if (is_cut_at(shared, table.parts, number, log_tile, tile, first)) {
        const std::uint32_t last = number < table.parts ? number : table.parts - 1;
        const A value = joined_tile(Family{}, which, table, shared, first, last, tile);
        if (warp_lane == 0) shared.at_borders<A>()[number] = joined_value<A>::placed(value, tile << log_tile, 0);
      }
    }
  }
  __syncthreads();
  if (warp == 0) conclude_joined<C>(table, log_tile, shared);
}

// By the family that has the fold with number `which`.
template <class First, class... Others, class Wait>
__device__ inline void run_joined_block(fold_list<First, Others...>, int which, const joined_table& table, joined_memory& shared,
                                        const Wait& wait_for_images) {
  if (which < folds_in(First{}) || sizeof...(Others) == 0)
    run_joined_block<First>(which, table, shared, wait_for_images);
  else if constexpr (sizeof...(Others) > 0)
    run_joined_block(fold_list<Others...>{}, which - folds_in(First{}), table, shared, wait_for_images);
}

}  // namespace detail

/// The work of the one block of a launch, by all its threads. wait_for_images() returns when the images are there.
template <class... Families, class Wait>
__device__ inline void run_joined_block(fold_list<Families...> families, const joined_table& table, detail::joined_memory& shared,
                                        const Wait& wait_for_images) {
  detail::run_joined_block(families, table.fold, table, shared, wait_for_images);
}

}  // namespace onefold::cuda_backend
