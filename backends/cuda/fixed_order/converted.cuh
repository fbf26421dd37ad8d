#pragma once
/// @file converted.cuh  The blocks of the second kernel of batches: of arrays of any type, whose elements are converted as they are read (converted_folds.hpp).
///
///     lanes of a tile of bytes     0 .. 31 | 32 .. 63 |  ..  | 224 .. 255     a thread has eight of them, one after the other
///                                     x        x                 x
///                                     x        x                 x            16 rows of a lane are on their way together
///
/// Of small elements pairs of whole tiles are read as their own kernels do that, in packs (packed.cuh), by the forms that has_packs_of() names.
///
/// What a tile has in how many lanes its elements' size says, as docs/order.md does, and the value's type does not. What is not there of a lane is not read:
/// one code for whole tiles and others.
///
/// Of a subtree that its form's own kernel reads, ahead of this one, a block collects the leaves' values, which are converted too (decision 0066).

#include "batched.cuh"
#include "converted.hpp"
#include "converted_folds.hpp"

namespace onefold::cuda_backend {

namespace detail {

/// A fold of the second kernel, whose results are made of what it has been told of an item.
template <class Fold>
struct converted : Fold {};

template <class Fold>
inline constexpr std::size_t state_bytes_beside<converted<Fold>> = most_converted_state_bytes;

// Whether a fold compares, or combines bits: then elements have their bits changed, and results theirs changed back.
template <class Fold>
inline constexpr bool is_of_changed_bits = false;
template <class E>
inline constexpr bool is_of_changed_bits<fold<E, E, as_is, op::max>> = true;
template <class E>
inline constexpr bool is_of_changed_bits<fold<E, E, as_is, op::max_number>> = true;
template <class E>
inline constexpr bool is_of_changed_bits<fold<E, E, as_is, op::bit_or>> = true;
template <class E>
inline constexpr bool is_of_changed_bits<arg_fold<E, op::max>> = true;
template <>
inline constexpr bool is_of_changed_bits<minmax_fold<std::int64_t>> = true;
template <>
inline constexpr bool is_of_changed_bits<argminmax_fold<std::int64_t>> = true;

/// What the kernel knows of an item's form and type.
__device__ inline conversion conversion_of_item(unsigned fold, unsigned how) {
  static constexpr auto rows = [] {
    std::array<conversions_of_type, element_type_count> made{};
    for (int type = 0; type < element_type_count; ++type)
      for (int wide = 0; wide < 2; ++wide)
        for (int what = 0; what < form_count + record_count; ++what)
          made[static_cast<std::size_t>(type)][static_cast<std::size_t>(wide)][static_cast<std::size_t>(what)] =
              conversion_of(static_cast<element_type>(type), static_cast<form>(what), wide != 0);
    return made;
  }();
  return rows[how & converted_type_bits][fold / forms_in_five_bits % 2][fold % forms_in_five_bits];
}

// Of type V with some of its bits changed, either way.
template <class V>
__device__ inline V changed_bits(V value, const conversion& of) {
  if constexpr (std::is_same_v<V, float>) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bits ^= of.is_negated ? std::uint32_t{1} << 31 : 0;
    memcpy(&value, &bits, sizeof(bits));
    return value;
  } else {
    const std::uint64_t changed = (of.is_unsigned ? std::uint64_t{1} << 63 : 0) ^ (of.is_negated ? ~std::uint64_t{0} : 0);
    return static_cast<V>(static_cast<std::uint64_t>(value) ^ changed);
  }
}

// Rows of a lane: `rows` (1 to 16) of elements of type E from number `index` on, and the first one in the place of others. All loads are made ahead of what
// is done with them, and none asks a condition first.
template <class E, class V>
__device__ inline void load_lane_of(const void* array, std::uint64_t index, int rows, V (&to)[order::tile_rows]) {
  const E* const from = static_cast<const E*>(array) + index;
  E element[order::tile_rows];
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) element[r] = from[r < rows ? r * order::lanes<E> : 0];
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) to[r] = static_cast<V>(element[r]);
}

// The same of elements of a type that an item names: of floats of up to 4 bytes, of integers, and of any.
__device__ inline void load_lane(element_type type, const void* array, std::uint64_t index, int rows,
                                 float (&to)[order::tile_rows]) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (type == element_type::name) return load_lane_of<T>(array, index, rows, to);
#include <onefold/types.def>
  load_lane_of<float>(array, index, rows, to);
}
template <class V, std::enable_if_t<std::is_integral_v<V>, int> = 0>
__device__ inline void load_lane(element_type type, const void* array, std::uint64_t index, int rows, V (&to)[order::tile_rows]) {
  switch (type) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits)
#define ONEFOLD_SMALL_TYPE(name, T) \
  case element_type::name:          \
    return load_lane_of<T>(array, index, rows, to);
#include <onefold/types.def>
    case element_type::i32:
      return load_lane_of<std::int32_t>(array, index, rows, to);
    case element_type::u32:
      return load_lane_of<std::uint32_t>(array, index, rows, to);
    default:
      return load_lane_of<V>(array, index, rows, to);
  }
}
template <class V, class From>
__device__ inline void convert_lane(const From (&from)[order::tile_rows], V (&to)[order::tile_rows]) {
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) to[r] = static_cast<V>(from[r]);
}
__device__ inline void load_lane(element_type type, const void* array, std::uint64_t index, int rows,
                                 double (&to)[order::tile_rows]) {
  if (type == element_type::f64) return load_lane_of<double>(array, index, rows, to);
  if (is_float(type)) {
    float of_float[order::tile_rows];
    load_lane(type, array, index, rows, of_float);
    return convert_lane(of_float, to);
  }
  std::uint64_t of_whole[order::tile_rows];
  load_lane(type, array, index, rows, of_whole);
  if (type == element_type::u64) return convert_lane(of_whole, to);
#pragma unroll
  for (int r = 0; r < order::tile_rows; ++r) to[r] = static_cast<double>(static_cast<std::int64_t>(of_whole[r]));
}

// What a form makes of a value alone.
template <class V>
__device__ inline V mapped(converted_map map, V value) {
  if (map == converted_map::square) return onefold::detail::product_of(value, value);
  if constexpr (std::is_floating_point_v<V>) {
    return absolute::value<V>(value);
  } else {
    if (map == converted_map::absolute) return static_cast<std::int64_t>(value) < 0 ? V(0) - value : value;
    return (map == converted_map::nonzero_half ? value & V(0x7fff) : value) != V(0) ? V(1) : V(0);
  }
}

// Lanes of a tile, by the bytes of an element.
__device__ inline int lanes_of_converted(element_type type) { return static_cast<int>(order::row_bytes / size_of(type)); }

/// A lane's values: what a form makes of its elements.
template <class V>
struct lane_values {
  V of[order::tile_rows];
};

// Those of `rows` rows from element number `index` on. Out of line, once for all folds of a type.
template <class V>
__device__ __noinline__ lane_values<V> values_of_lane(const void* x, const void* y, std::uint64_t index, int rows,
                                                      unsigned item_fold, unsigned item_how) {
  const conversion of = conversion_of_item(item_fold, item_how);
  lane_values<V> value;
  load_lane(of.read, as_global(x), index, rows, value.of);
  if (of.map == converted_map::product) {
    V second[order::tile_rows];
    load_lane(of.read, as_global(y), index, rows, second);
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) value.of[r] = onefold::detail::product_of(value.of[r], second[r]);
  } else if (of.map != converted_map::as_is) {
#pragma unroll
    for (int r = 0; r < order::tile_rows; ++r) value.of[r] = mapped(of.map, value.of[r]);
  }
  if constexpr (!std::is_same_v<V, double>) {
    if (of.is_negated || of.is_unsigned) {
#pragma unroll
      for (int r = 0; r < order::tile_rows; ++r) value.of[r] = changed_bits(value.of[r], of);
    }
  }
  return value;
}

// The node over a lane's rows, as far as they exist; `index` is that of its first element.
template <class Fold>
__device__ inline typename Fold::accumulator converted_lane(const void* x, const void* y, std::uint64_t count, std::uint64_t index,
                                                            unsigned item_fold, unsigned item_how, int lanes) {
  using E = typename Fold::element;
  using V = std::conditional_t<std::is_integral_v<E>, std::uint64_t, E>;
  if (index >= count) return Fold::neutral();
  const std::uint64_t behind = (count - index - 1) / static_cast<unsigned>(lanes) + 1;
  const int rows = behind < order::tile_rows ? static_cast<int>(behind) : order::tile_rows;
  const lane_values<V> value = values_of_lane<V>(x, y, index, rows, item_fold, item_how);
  const Fold its{};
  auto lane = device::first_of_lane(its, Fold::value(static_cast<E>(value.of[0])), 0);
#pragma unroll
  for (int r = 1; r < order::tile_rows; ++r)
    if (r < rows) lane = device::next_of_lane(its, lane, Fold::value(static_cast<E>(value.of[r])), r);
  if constexpr (Fold::is_plain)
    return lane;
  else
    return Fold::close(lane, rows, index, lanes);
}

// The node over a tile, in all threads of the warp.
template <class Fold>
__device__ __noinline__ typename Fold::accumulator converted_tile(const void* x, const void* y, std::uint64_t count,
                                                                  std::uint64_t tile, unsigned item_fold, unsigned item_how) {
  using A = typename Fold::accumulator;
  const int lanes = lanes_of_converted(conversion_of_item(item_fold, item_how).read);
  const unsigned each = static_cast<unsigned>(lanes) / device::warp_size;  // of a thread: 1, 2, 4 or 8
  const std::uint64_t begin = tile * static_cast<unsigned>(order::tile_rows * lanes) + threadIdx.x % device::warp_size;
  // Lanes that are further apart meet first: they come in the order of their numbers' bits turned round.
  A node = Fold::neutral(), of_two = node, of_four = node, of_eight = node;
#pragma unroll 1
  for (unsigned k = 0; k < each; ++k) {
    const unsigned turned = ((k & 1) * 4 | (k & 2) | (k & 4) / 4) * each / 8;
    node = converted_lane<Fold>(x, y, count, begin + turned * device::warp_size, item_fold, item_how, lanes);
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

// The least, or the greatest, that an element of a type can be, as a value.
template <class V>
__device__ inline V limit_of(element_type type, bool is_least) {
  if constexpr (std::is_floating_point_v<V>) {
    return is_least ? op::max::identity<V>() : op::min::identity<V>();
  } else {
    const int bits = 8 * static_cast<int>(size_of(type));
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
    if (!is_signed_integer(type)) return static_cast<V>(is_least ? 0 : all);
    const std::uint64_t greatest = all >> 1;
    return static_cast<V>(is_least ? ~greatest : greatest);
  }
}

// What the tree gives for no elements, ahead of the conclusion.
template <class A, class Op>
__device__ inline A converted_nothing(const fold<A, A, as_is, Op>&, const conversion& of, element_type type, form what) {
  if constexpr (std::is_same_v<Op, op::max> || std::is_same_v<Op, op::max_number>)
    return changed_bits(what == form::norm_inf ? A(0) : limit_of<A>(type, !of.is_negated), of);
  else
    return Op::template identity<A>();
}
template <class V>
__device__ inline arg_state<V> converted_nothing(const arg_fold<V, op::max>&, const conversion& of, element_type, form) {
  return {changed_bits(V(0), of), ~std::uint64_t{0}};
}
template <class V>
__device__ inline auto converted_nothing(const argminmax_fold<V>&, const conversion& of, element_type, form) {
  V zero(0);
  if constexpr (is_of_changed_bits<argminmax_fold<V>>) zero = changed_bits(zero, of);
  const arg_state<V> nowhere{zero, ~std::uint64_t{0}};
  return onefold::detail::two_args<V>{nowhere, nowhere};
}
template <class V>
__device__ inline auto converted_nothing(const minmax_fold<V>&, const conversion& of, element_type type, form) {
  onefold::detail::two_values<V> value{limit_of<V>(type, false), limit_of<V>(type, true)};
  if constexpr (is_of_changed_bits<minmax_fold<V>>) value = {changed_bits(value.min, of), changed_bits(value.max, of)};
  return value;
}
template <class V>
__device__ inline auto converted_nothing(const together_fold<V>&, const conversion&, element_type type, form) {
  using W = typename together_fold<V>::W;
  return onefold::detail::four_values<V>{W(0), W(1), limit_of<V>(type, false), limit_of<V>(type, true)};
}
__device__ inline auto converted_nothing(const mean_variance_fold<double>& fold, const conversion&, element_type, form) {
  return fold.neutral();
}

// Results, of numbers that have the bits that they had as elements, or as accumulators.
template <class V>
__device__ inline void store_converted(const onefold::detail::four_values<V>& value, element_type type, std::uint64_t,
                                       const device::destination& to) {
  const int size = static_cast<int>(size_of(accumulator_type(type)));
  for (int k = 0; k * size < to.bytes; ++k) {
    const auto op = static_cast<operation>(to.argument >> (4 * k) & 15);
    const V result = op == operation::sum    ? static_cast<V>(value.sum)
                     : op == operation::prod ? static_cast<V>(value.prod)
                     : op == operation::min  ? value.min
                                             : value.max;
    const V as_result = onefold::detail::canonical(result);
    std::uint64_t bits = 0;
    memcpy(&bits, &as_result, sizeof(as_result));
    device::detail::store_bits(to, k * size, bits, size);
  }
}
__device__ inline void store_converted(const onefold::detail::moments& value, element_type, std::uint64_t, device::destination to) {
  to.how = to.bytes == 2 * static_cast<int>(sizeof(float)) ? 1 : 0;
  device::detail::store_results(value, 0, to);
}
template <class A>
__device__ inline void store_converted(const A& value, element_type, std::uint64_t count, const device::destination& to) {
  device::detail::store_sized(value, count, to);
}

template <class V>
__device__ inline V changed_back(const V& value, const conversion& of) {
  return changed_bits(value, of);
}
template <class V>
__device__ inline arg_state<V> changed_back(const arg_state<V>& value, const conversion& of) {
  return {changed_bits(value.value, of), value.index};
}
template <class V>
__device__ inline auto changed_back(const onefold::detail::two_args<V>& value, const conversion& of) {
  return onefold::detail::two_args<V>{changed_back(value.min, of), changed_back(value.max, of)};
}
template <class V>
__device__ inline auto changed_back(const onefold::detail::two_values<V>& value, const conversion& of) {
  return onefold::detail::two_values<V>{changed_bits(value.min, of), changed_bits(value.max, of)};
}

// destination::how, of which the highest bits are batched_item::fold until the result is made.
template <class Fold>
struct results_in_batch<converted<Fold>> {
  static __device__ void store(typename Fold::accumulator value, std::uint64_t count, device::destination to) {
    const auto how = static_cast<unsigned>(to.how);
    const conversion of = conversion_of_item(how >> 8, how);
    const bool is_node = (how & converted_to_node) != 0;
    to.how = static_cast<int>(is_node ? onefold::detail::conclusion::none : of.how);
    // The deviation of moments is the variance that is divided by 1.
    if (std::is_same_v<typename Fold::accumulator, onefold::detail::moments> && is_node) to.argument = count - 1;
    if constexpr (is_of_changed_bits<Fold>) value = changed_back(value, of);
    store_converted(value, static_cast<element_type>(how & converted_type_bits), count, to);
  }
};

using converted_memory = memory_of_batch<most_converted_state_bytes>;

// The folds that small elements are read for in packs (has_packs_of()).
template <class Fold>
inline constexpr bool has_packs = false;
template <class A>
inline constexpr bool has_packs<fold<A, A, as_is, op::sum>> = true;
template <class A>
inline constexpr bool has_packs<fold<A, A, as_is, op::max>> = true;
template <>
inline constexpr bool has_packs<fold<std::uint64_t, std::uint64_t, as_is, op::bit_or>> = true;
template <>
inline constexpr bool has_packs<fold<std::uint64_t, std::uint64_t, as_is, op::bit_xor>> = true;
template <>
inline constexpr bool has_packs<minmax_fold<float>> = true;
template <>
inline constexpr bool has_packs<minmax_fold<std::int64_t>> = true;

// The node over a pair of whole tiles of elements of type E by a form, as their own kernels make it. Out of line, once for each.
template <form What, class E>
__device__ __noinline__ auto packed_pair(const batched_arrays& of, std::uint64_t pair) {
  using Fold = onefold::detail::form_fold_t<What, E, false>;
  device::tree_input in{};
  in.x = as_global(of.x);
  if constexpr (Fold::inputs == 2) in.y = as_global(of.y);
  return device::detail::packed_unit_node<Fold>(in, pair);
}

// Of elements of type E, for each fold that has packs: by the form whose node that fold's is, as a value of its own.
template <class E>
__device__ inline float packed_pair_of(const fold<float, float, as_is, op::sum>&, const conversion& of, const batched_arrays& in,
                                       std::uint64_t pair) {
  switch (of.map) {
    case converted_map::absolute:
      return packed_pair<form::norm1, E>(in, pair);
    case converted_map::square:
      return packed_pair<form::sum_of_squares, E>(in, pair);
    case converted_map::product:
      return packed_pair<form::dot, E>(in, pair);
    default:
      return packed_pair<form::sum, E>(in, pair);
  }
}
template <class E>
__device__ inline float packed_pair_of(const fold<float, float, as_is, op::max>&, const conversion& of, const batched_arrays& in,
                                       std::uint64_t pair) {
  if (of.map == converted_map::absolute) return changed_bits(packed_pair<form::norm_inf, E>(in, pair), of);
  return changed_bits(of.is_negated ? packed_pair<form::min, E>(in, pair) : packed_pair<form::max, E>(in, pair), of);
}
template <class E>
__device__ inline std::uint64_t packed_pair_of(const fold<std::uint64_t, std::uint64_t, as_is, op::sum>&, const conversion& of,
                                               const batched_arrays& in, std::uint64_t pair) {
  using U = std::make_unsigned_t<E>;
  switch (of.map) {
    case converted_map::absolute:
      if constexpr (std::is_signed_v<E>) return packed_pair<form::norm1, E>(in, pair);
      break;
    case converted_map::square:
      return packed_pair<form::sum_of_squares, E>(in, pair);
    case converted_map::product:
      return packed_pair<form::dot, E>(in, pair);
    case converted_map::nonzero:
      return packed_pair<form::count, U>(in, pair);
    case converted_map::nonzero_half:  // of any type: -0 has the same bits in all
      if constexpr (sizeof(E) == 2) return packed_pair<form::count, float16>(in, pair);
      break;
    default:
      break;
  }
  return packed_pair<form::sum, E>(in, pair);
}
template <class E>
__device__ inline std::int64_t packed_pair_of(const fold<std::int64_t, std::int64_t, as_is, op::max>&, const conversion& of,
                                              const batched_arrays& in, std::uint64_t pair) {
  if constexpr (std::is_signed_v<E>)
    if (of.map == converted_map::absolute)
      return changed_bits(static_cast<std::int64_t>(packed_pair<form::norm_inf, E>(in, pair)), of);
  return changed_bits(
      static_cast<std::int64_t>(of.is_negated ? packed_pair<form::min, E>(in, pair) : packed_pair<form::max, E>(in, pair)), of);
}
template <class E>
__device__ inline std::uint64_t packed_pair_of(const fold<std::uint64_t, std::uint64_t, as_is, op::bit_or>&, const conversion& of,
                                               const batched_arrays& in, std::uint64_t pair) {
  using U = std::make_unsigned_t<E>;
  return changed_bits(
      static_cast<std::uint64_t>(of.is_negated ? packed_pair<form::bit_and, U>(in, pair) : packed_pair<form::bit_or, U>(in, pair)),
      of);
}
template <class E>
__device__ inline std::uint64_t packed_pair_of(const fold<std::uint64_t, std::uint64_t, as_is, op::bit_xor>&, const conversion&,
                                               const batched_arrays& in, std::uint64_t pair) {
  return packed_pair<form::bit_xor, std::make_unsigned_t<E>>(in, pair);
}
// Sums of squares of doubles. Of integers they are whole numbers, which a double has until far more are added than two tiles have.
template <class E>
__device__ inline double packed_pair_of(const fold<double, double, as_is, op::sum>&, const conversion&, const batched_arrays& in,
                                        std::uint64_t pair) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<double>(packed_pair<form::sum_of_squares, E>(in, pair));
  else
    return packed_pair<form::norm2, E>(in, pair);
}
template <class E, class V>
__device__ inline onefold::detail::two_values<V> packed_pair_of(const minmax_fold<V>&, const conversion&, const batched_arrays& in,
                                                                std::uint64_t pair) {
  const auto both = packed_pair<form::minmax, E>(in, pair);
  return {static_cast<V>(both.min), static_cast<V>(both.max)};
}

// Whether elements of such a fold may be halves, and integers: of sums of doubles they may be both.
template <class Fold>
inline constexpr bool packs_halves = std::is_floating_point_v<typename Fold::element>;
template <class Fold>
inline constexpr bool packs_integers = !std::is_same_v<typename Fold::element, float>;
inline constexpr element_type last_of_small_floats = [] {
  element_type last{};
#define ONEFOLD_SMALL_FLOAT(name, T, digits) last = element_type::name;
#include <onefold/types.def>
  return last;
}();

template <class Fold>
__device__ inline typename Fold::accumulator packed_pair_node(const Fold& its, const conversion& of, const batched_arrays& in,
                                                              std::uint64_t pair) {
  if constexpr (packs_halves<Fold>) {
#define ONEFOLD_SMALL_FLOAT(name, T, digits)                                        \
  if constexpr (packs_integers<Fold> || element_type::name != last_of_small_floats) \
    if (of.read == element_type::name) return packed_pair_of<T>(its, of, in, pair);
#include <onefold/types.def>
  }
  if constexpr (packs_integers<Fold>) {
    switch (of.read) {
      case element_type::i8:
        return packed_pair_of<std::int8_t>(its, of, in, pair);
      case element_type::u8:
        return packed_pair_of<std::uint8_t>(its, of, in, pair);
      case element_type::i16:
        return packed_pair_of<std::int16_t>(its, of, in, pair);
      default:
        return packed_pair_of<std::uint16_t>(its, of, in, pair);
    }
  } else {
    return packed_pair_of<typename onefold::detail::c_type<last_of_small_floats>::type>(its, of, in, pair);
  }
}

// The units of a fold of the second kernel: single tiles, or pairs. Their nodes, and with them the arrays' types, are another function's matter.
template <class Fold>
struct converted_tiles {
  using A = typename Fold::accumulator;
  const batched_item& item;
  batched_arrays arrays;
  conversion of;
  std::uint64_t count = 0, end_tile = 0;

  __device__ std::uint64_t begin(std::uint64_t elements) {
    const std::uint64_t tile = order::tile_rows * static_cast<std::uint64_t>(lanes_of_converted(of.read));
    count = elements;
    end_tile = (elements + tile - 1) / tile;
    return of.is_in_packs ? (end_tile + 1) / 2 : end_tile;
  }
  __device__ A node(std::uint64_t unit) const {
    if constexpr (has_packs<Fold>) {
      if (of.is_in_packs) {
        const std::uint64_t tile = order::tile_rows * static_cast<std::uint64_t>(lanes_of_converted(of.read));
        if ((unit + 1) * 2 * tile <= count) return packed_pair_node(Fold{}, of, arrays, unit);
        const A first = tile_node(2 * unit);
        return Fold::combine(first, tile_node(2 * unit + 1));
      }
    }
    return tile_node(unit);
  }
  __device__ A tile_node(std::uint64_t tile) const {
    if (tile < end_tile) return converted_tile<Fold>(arrays.x, arrays.y, count, tile, item.fold, item.how);
    return Fold::neutral();
  }
  __device__ A nothing() const {
    return converted_nothing(Fold{}, of, static_cast<element_type>(item.how & converted_type_bits),
                             static_cast<form>(item.fold % forms_in_five_bits));
  }
  __device__ void note(device::destination& to) const { to.how |= static_cast<int>((item.fold & batched_item::fold_number) << 8); }
};

// --- subtrees whose leaves another kernel has read ---------------------------------------------------------------------------------------------------

// Folds whose results have places, and folds whose nodes nobody asks for alone.
template <class Fold>
inline constexpr bool has_places_in_leaves = false;
template <class V>
inline constexpr bool has_places_in_leaves<arg_fold<V, op::max>> = true;
template <class V>
inline constexpr bool has_places_in_leaves<argminmax_fold<V>> = true;
template <class Fold>
inline constexpr bool is_together = false;
template <class E, class V>
inline constexpr bool is_together<together_fold<E, V>> = true;

// A number that a form's own kernel has left, as the fold of this kernel has it: its own type has 4 bytes or 8, and a sign or none.
template <class Fold, class V, std::enable_if_t<std::is_arithmetic_v<V>, int> = 0>
__device__ inline V value_of_leaf(V number, const conversion& of, [[maybe_unused]] bool is_narrow) {
  if constexpr (is_of_changed_bits<Fold>) {
    if constexpr (std::is_integral_v<V>) {
      const bool has_sign = is_signed_integer(of.read) && !of.is_unsigned;
      const auto low = static_cast<std::uint32_t>(number);
      if (is_narrow) number = has_sign ? static_cast<V>(static_cast<std::int32_t>(low)) : static_cast<V>(low);
    }
    return changed_bits(number, of);
  } else {
    return number;  // what is wider than the result wraps as that does
  }
}
template <class Fold, class Left>
__device__ inline auto value_of_leaf(const onefold::detail::two_values<Left>& left, const conversion& of, bool is_narrow) {
  using V = typename Fold::V;
  return onefold::detail::two_values<V>{value_of_leaf<Fold>(static_cast<V>(left.min), of, is_narrow),
                                        value_of_leaf<Fold>(static_cast<V>(left.max), of, is_narrow)};
}
template <class Fold, class V>
__device__ inline arg_state<V> value_of_leaf(const arg_state<V>& left, const conversion& of, bool is_narrow) {
  return {value_of_leaf<Fold>(left.value, of, is_narrow), left.index};
}
template <class Fold, class V>
__device__ inline auto value_of_leaf(const onefold::detail::two_args<V>& left, const conversion& of, bool is_narrow) {
  return onefold::detail::two_args<V>{value_of_leaf<Fold>(left.min, of, is_narrow), value_of_leaf<Fold>(left.max, of, is_narrow)};
}
template <class Fold>
__device__ inline onefold::detail::moments value_of_leaf(const onefold::detail::moments& left, const conversion&, bool) {
  return left;
}

// What slots hold, as far as who waits for them has to know it.
template <class Left>
struct left_in_slots {
  using accumulator = Left;
  static __device__ Left neutral() { return {}; }
};

// The node over `count` leaves (1 to 2^log_part) from number `first` on, by one warp, in all its threads: as part_node() makes it, of values of another type.
template <class Fold, class Left>
__device__ inline typename Fold::accumulator part_of_leaves(const device::slot_word* slots, std::uint32_t first,
                                                            std::uint32_t count, unsigned long long launch, const conversion& of,
                                                            bool is_narrow) {
  using A = typename Fold::accumulator;
  constexpr int each = (1 << device::log_part) / device::warp_size;
  constexpr int together = sizeof(Left) <= 8 ? each : each / 2;  // of the others the code is long
  int levels = 0;
  while (count > static_cast<std::uint32_t>(device::warp_size) << levels) ++levels;
  const std::uint32_t begin = (threadIdx.x % device::warp_size) << levels;
  A node = Fold::neutral();
#pragma unroll 1
  for (int k = 0; k < each; k += together) {
    const auto exists = [&](int i) { return k + i < 1 << levels && begin + static_cast<std::uint32_t>(k + i) < count; };
    Left left[together];
    device::detail::wait_for_slots<together>(left_in_slots<Left>{}, slots, first + begin + static_cast<std::uint32_t>(k), launch,
                                             exists, left);
    A value[together];
#pragma unroll
    for (int i = 0; i < together; ++i) value[i] = exists(i) ? value_of_leaf<Fold>(left[i], of, is_narrow) : Fold::neutral();
#pragma unroll
    for (int span = 1; span < together; span *= 2)
#pragma unroll
      for (int i = 0; i < together; i += 2 * span) value[i] = Fold::combine(value[i], value[i + span]);
    node = k == 0 ? value[0] : Fold::combine(node, value[0]);
  }
  __syncwarp();
#pragma unroll 1
  for (int distance = 1; distance < device::warp_size; distance *= 2) node = Fold::combine(node, device::exchange(node, distance));
  return node;
}

// The node over an item's leaves, by all warps; the first one's first thread has it.
template <class Fold, class Left>
__device__ inline typename Fold::accumulator node_over_leaves(const batched_item& item, unsigned long long launch,
                                                              const conversion& of, typename Fold::accumulator* values) {
  const auto* const slots = static_cast<const device::slot_word*>(item.x);
  const auto leaves = static_cast<std::uint32_t>(item.count);
  int log_parts = 0;
  while (leaves > 1u << (device::log_part + log_parts)) ++log_parts;
  const std::uint32_t each = leaves >> log_parts;
#pragma unroll 1
  for (std::uint32_t part = threadIdx.x / device::warp_size; part < 1u << log_parts; part += blockDim.x / device::warp_size) {
    const auto node = part_of_leaves<Fold, Left>(slots, part * each, each, launch, of, item.argument == sizeof(std::uint32_t));
    if (threadIdx.x % device::warp_size == 0) values[part] = node;
  }
  __syncthreads();
  if (threadIdx.x >= device::warp_size) return Fold::neutral();
  return batched_part<converted<Fold>>(values, log_parts);
}

// Leaves' own kernels fold a unit of two tiles as values, as if all were in its first element (places.cuh), or find the place. This kernel reads elements with
// their places anyway: so what it makes of the tiles of that unit is the value and where it is first.
template <class Fold>
__device__ inline typename Fold::accumulator node_of_unit(const converted_tiles<Fold>& tiles, std::uint64_t index) {
  const std::uint64_t tile = index / (order::tile_rows * static_cast<std::uint64_t>(lanes_of_converted(tiles.of.read)));
  const auto node = tiles.tile_node(tile);
  return tile % 2 != 0 ? node : Fold::combine(node, tiles.tile_node(tile + 1));
}
template <class Fold, class V>
__device__ inline arg_state<V> with_place_in_unit(const converted_tiles<Fold>& tiles, const arg_state<V>& of,
                                                  std::uint64_t before) {
  return node_of_unit(tiles, of.index - before);
}
template <class Fold, class V>
__device__ inline auto with_place_in_unit(const converted_tiles<Fold>& tiles, const onefold::detail::two_args<V>& of,
                                          std::uint64_t before) {
  const auto min = node_of_unit(tiles, of.min.index - before).min;
  return onefold::detail::two_args<V>{min, node_of_unit(tiles, of.max.index - before).max};
}

// The node over an item's leaves, by all warps, and what becomes of it.
template <class Fold>
__device__ __noinline__ void conclude_leaves(const batched_table& table, const batched_item& item,
                                             typename Fold::accumulator* values) {
  using A = typename Fold::accumulator;
  const conversion of = conversion_of_item(item.fold, item.how);
  batched_place at = place_of(table, item);
  const unsigned long long launch = launch_of(at);
  A value;
  if constexpr (std::is_same_v<Fold, minmax_fold<std::int64_t>>) {
    value = item.argument == sizeof(std::int32_t)
                ? node_over_leaves<Fold, onefold::detail::two_values<std::int32_t>>(item, launch, of, values)
                : node_over_leaves<Fold, A>(item, launch, of, values);
  } else {
    value = node_over_leaves<Fold, A>(item, launch, of, values);
  }
  if (threadIdx.x >= device::warp_size) return;
  converted_tiles<Fold> tiles{item, {item.y, nullptr}, of};
  const std::uint64_t leaf = order::tile_rows * static_cast<std::uint64_t>(lanes_of_converted(of.read)) << item.log_leaf;
  at.count = item.count * leaf;
  if constexpr (has_places_in_leaves<Fold>) {
    const auto* const first_slot = reinterpret_cast<const unsigned char*>(at.header) + device::slot_header_bytes;
    const auto before = static_cast<std::uint64_t>(static_cast<const unsigned char*>(item.x) - first_slot) /
                        device::slot_bytes_of(sizeof(A)) * leaf;  // elements of the launch ahead of the subtree
    tiles.begin(at.count);
    if (threadIdx.x == 0) values[0] = value;  // of few parts the others have not the root
    __syncwarp();
    value = with_place_in_unit(tiles, values[0], before);
  }
  at.to.how &= ~batched_item::from_slots;
  tiles.note(at.to);
  conclude_leaf<converted<Fold>>(at, value);
  if (threadIdx.x == 0) count_ended(at, launch);  // behind the result, which would wait for the answer
}

template <class Fold>
__device__ inline void run_converted_block(const batched_table& table, std::uint32_t number, std::uint32_t block,
                                           const batched_arrays& arrays, converted_memory& shared) {
  static_assert(sizeof(typename Fold::accumulator) <= most_converted_state_bytes);
  const batched_item& item = table.item[number];
  if constexpr (!is_together<Fold>) {
    if ((item.how & batched_item::from_slots) != 0)
      return conclude_leaves<Fold>(table, item, reinterpret_cast<typename Fold::accumulator*>(shared.bytes));
  }
  const conversion of = conversion_of_item(item.fold, item.how);
  run_leaf<converted<Fold>>(table, number, block, shared, converted_tiles<Fold>{item, arrays, of});
}

template <class... Folds>
__device__ inline void run_converted_block(fold_list<Folds...>, converted_fold which, const batched_table& table,
                                           std::uint32_t number, std::uint32_t block, const batched_arrays& arrays,
                                           converted_memory& shared) {
  device::with_one_of<Folds...>(static_cast<int>(which), [&](auto its) {
    run_converted_block<typename decltype(its)::type>(table, number, block, arrays, shared);
  });
}

}  // namespace detail

/// The work of block number `block` of a launch. By all its threads.
__device__ inline void run_converted_block(const batched_table& table, std::uint32_t block, detail::converted_memory& shared) {
  const std::uint32_t number = detail::item_of_block(table, block);
  const batched_item& item = table.item[number];
  const unsigned which = item.fold & batched_item::fold_number;
  if (which == batched_item::copied) return detail::copy_bytes(item.x, item.output, item.count, item.argument, table.call_number);
  const conversion of = detail::conversion_of_item(item.fold, item.how);
  detail::batched_arrays arrays{item.x, item.y};
  if ((item.fold & (batched_item::x_in_memory | batched_item::y_in_memory)) != 0) {
    if (!detail::find_arrays(item, static_cast<unsigned>(size_of(of.read)), arrays))
      return detail::store_unreadable(table, number, block);
  }
  detail::run_converted_block(detail::converted_folds{}, of.fold, table, number, block, arrays, shared);
}

}  // namespace onefold::cuda_backend
