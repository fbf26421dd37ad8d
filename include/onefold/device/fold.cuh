#pragma once
/// @file fold.cuh  What the kernels ask of a fold beside what it must have (onefold/detail/folds.hpp, and device.cuh for those of users).

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <onefold/detail/folds.hpp>
#include <onefold/order.hpp>

namespace onefold::device {

namespace detail {

template <class Fold, class = void>
struct value_bytes {
  static constexpr std::size_t of = sizeof(typename Fold::element);
};
template <class Fold>
struct value_bytes<Fold, std::void_t<decltype(Fold::value_bytes)>> {
  static constexpr std::size_t of = Fold::value_bytes;
};

// What a lane of a plain fold is: an accumulator.
template <class Fold, bool Plain = Fold::is_plain>
struct lane_of_fold {
  using type = typename Fold::accumulator;
};
template <class Fold>
struct lane_of_fold<Fold, false> {
  using type = typename Fold::lane;
};

template <class Fold, class Item, class = void>
struct begins_at_a_row : std::false_type {};
template <class Fold, class Item>
struct begins_at_a_row<Fold, Item, std::void_t<decltype(std::declval<const Fold&>().first(std::declval<Item>(), 0))>>
    : std::true_type {};

template <class Fold, class = void>
struct own : std::false_type {};
template <class Fold>
struct own<Fold, std::void_t<decltype(Fold::reads_pairs)>> : std::true_type {};

}  // namespace detail

/// Whether it is a user's, whose values are of any size and made of any inputs.
template <class Fold>
inline constexpr bool is_own = detail::own<Fold>::value;

/// Whether an aligned input of it can be read in packs, two tiles at a time: it is the only one, and of the values' size.
template <class Fold>
constexpr bool reads_pairs_of() noexcept {
  if constexpr (is_own<Fold>)
    return Fold::reads_pairs;
  else
    return true;
}
template <class Fold>
inline constexpr bool reads_pairs = reads_pairs_of<Fold>();

/// Lanes of a tile (docs/order.md).
template <class Fold>
inline constexpr int lanes = order::lanes_of_bytes(detail::value_bytes<Fold>::of);
template <class Fold>
inline constexpr std::uint64_t tile_elements = std::uint64_t{order::tile_rows} * lanes<Fold>;

/// What a thread keeps of a lane.
template <class Fold>
using lane_t = typename detail::lane_of_fold<Fold>::type;

namespace detail {
template <class Fold, class = void>
struct whole_fold {
  static __device__ const Fold& of(const Fold& fold) { return fold; }
};
template <class Fold>
struct whole_fold<Fold, std::void_t<typename Fold::of_whole_tiles>> {
  static __device__ typename Fold::of_whole_tiles of(const Fold&) { return {}; }
};
}  // namespace detail

/// The fold as it may be where all elements of the tiles exist.
template <class Fold>
__device__ inline decltype(auto) for_whole_tiles(const Fold& fold) {
  if constexpr (is_own<Fold>)
    return fold.of_whole();
  else
    return detail::whole_fold<Fold>::of(fold);
}

namespace detail {
template <class Fold>
inline constexpr bool has_rows_in_lanes = !Fold::is_plain;
template <class E, bool Alike>
inline constexpr bool has_rows_in_lanes<onefold::detail::mean_variance_fold<E, Alike>> = false;
}  // namespace detail

/// Whether what becomes of a lane depends on its elements and their order alone, and neither on their rows nor on their numbers.
template <class Fold>
inline constexpr bool lanes_forget_rows = !detail::has_rows_in_lanes<Fold>;

/// Whether accumulators are larger than elements.
template <class Fold>
inline constexpr bool has_large_accumulators = sizeof(typename Fold::accumulator) > detail::value_bytes<Fold>::of;

namespace detail {
template <class Fold, class = void>
struct has_origin : std::false_type {};
template <class Fold>
struct has_origin<Fold, std::void_t<decltype(std::declval<const Fold&>().origin(std::uint64_t{}))>> : std::true_type {};

// Whether what a fold makes of the index lies in the rows of a box.
template <class Fold, bool Origins = has_origin<Fold>::value>
inline constexpr bool has_places = false;
template <class Fold>
inline constexpr bool has_places<Fold, true> =
    !std::is_integral<decltype(std::declval<const Fold&>().origin(std::uint64_t{}))>::value;
}  // namespace detail

/// Where a thread's indices begin, as a fold of the index likes to know it: it may find neighbours from there for less than from their numbers.
template <class Fold>
__device__ inline auto origin_of([[maybe_unused]] const Fold& fold, std::uint64_t begin) {
  if constexpr (detail::has_places<Fold>)
    return fold.origin(begin).nearby();
  else if constexpr (detail::has_origin<Fold>::value)
    return fold.origin(begin);
  else
    return begin;
}
/// The value `offset` indices behind an origin.
template <class Fold, class Origin>
__device__ inline auto value_at(const Fold& fold, const Origin& origin, int offset) {
  if constexpr (detail::has_origin<Fold>::value)
    return fold.value_from(origin, offset);
  else
    return fold.value(origin + static_cast<std::uint64_t>(offset));
}

/// A lane that begins with this value, which stands in row `row`.
template <class Fold, class Item>
__device__ inline lane_t<Fold> first_of_lane(const Fold& fold, const Item& value, [[maybe_unused]] int row) {
  if constexpr (Fold::is_plain)
    return value;
  else if constexpr (detail::begins_at_a_row<Fold, Item>::value)
    return fold.first(value, row);
  else
    return fold.first(value);
}

/// With the value of row `row` (1 to 15) below it.
template <class Fold, class Item>
__device__ inline lane_t<Fold> next_of_lane(const Fold& fold, const lane_t<Fold>& lane, const Item& value,
                                            [[maybe_unused]] int row) {
  if constexpr (Fold::is_plain)
    return fold.combine(lane, value);
  else
    return fold.next(lane, value, row);
}

/// The node of a lane of `rows` rows (1 to 16), whose first element has the number `index`.
template <class Fold>
__device__ inline typename Fold::accumulator node_of_lane(const Fold& fold, const lane_t<Fold>& lane, [[maybe_unused]] int rows,
                                                          [[maybe_unused]] std::uint64_t index) {
  if constexpr (Fold::is_plain)
    return lane;
  else
    return fold.close(lane, rows, index, lanes<Fold>);
}

namespace detail {

// Folds whose combination is the same have the same one of these.
template <class Fold>
struct combination_of {
  using type = Fold;
};
template <class E, class A, class Map, class Op>
struct combination_of<onefold::detail::fold<E, A, Map, Op>> {
  using type = onefold::detail::fold<A, A, onefold::detail::as_is, Op>;
};
template <class E, class Op, class Map>
struct combination_of<onefold::detail::arg_fold<E, Op, Map>> {
  using type = onefold::detail::arg_fold<typename onefold::detail::arg_fold<E, Op, Map>::V, Op>;
};
template <class E>
struct combination_of<onefold::detail::argminmax_fold<E>> {
  using type = onefold::detail::argminmax_fold<typename onefold::detail::argminmax_fold<E>::V>;
};
template <class E>
struct combination_of<onefold::detail::minmax_fold<E>> {
  using type = onefold::detail::minmax_fold<typename onefold::detail::minmax_fold<E>::V>;
};
template <class E>
struct combination_of<onefold::detail::mean_variance_fold<E>> {
  using type = onefold::detail::mean_variance_fold<double>;
};
template <class E, class V>
struct combination_of<onefold::detail::together_fold<E, V>> {
  using type = onefold::detail::together_fold<V, V>;
};

}  // namespace detail

/// A fold that combines as this one does, of elements that are values already.
template <class Fold>
using combination_of = typename detail::combination_of<Fold>::type;

/// Folds of the library's own that combine alike and differ in what they read: one kernel has them all, for nearly all of a kernel is what follows the
/// reading. `which` of them a launch means is the same for all threads.
template <class Combination, class... Folds>
struct fold_family : Combination {
  using combination = Combination;
  int which;
};
template <class Fold>
inline constexpr bool is_family = false;
template <class Combination, class... Folds>
inline constexpr bool is_family<fold_family<Combination, Folds...>> = true;

}  // namespace onefold::device
