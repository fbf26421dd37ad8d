#pragma once
/// @file own.cuh  A user's fold, total: made into what the kernels take. Where it has no neutral element, or leaves values out, nodes of the
/// tree may be absent, and say so.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <onefold/device/fold.cuh>
#include <onefold/maybe.hpp>

namespace onefold::device {

namespace detail {

template <class T>
struct is_maybe : std::false_type {};
template <class T>
struct is_maybe<maybe<T>> : std::true_type {};

template <class Fold, class = void>
struct says_neutral : std::false_type {};
template <class Fold>
struct says_neutral<Fold, std::void_t<decltype(Fold::has_neutral)>> : std::integral_constant<bool, Fold::has_neutral> {};

template <class Fold, class = void>
struct says_plain : std::true_type {};
template <class Fold>
struct says_plain<Fold, std::void_t<decltype(Fold::is_plain)>> : std::integral_constant<bool, Fold::is_plain> {};

template <class Fold, class = void>
struct says_reads_many : std::false_type {};
template <class Fold>
struct says_reads_many<Fold, std::void_t<decltype(Fold::reads_many)>> : std::integral_constant<bool, Fold::reads_many> {};

// The element types of the inputs: `element`, or input<k>. Of a function of the index, the type of its values.
template <class Fold, int K, class = void>
struct input_of {
  using type = typename Fold::element;
};
template <class Fold, int K>
struct input_of<Fold, K, std::void_t<typename Fold::template input<K>>> {
  using type = typename Fold::template input<K>;
};
template <class Fold, int K, int Inputs = Fold::inputs>
struct input_or_value : input_of<Fold, K> {};
template <class Fold, int K>
struct input_or_value<Fold, K, 0> {
  using type = typename Fold::value_type;
};

template <class Fold, int Inputs = Fold::inputs>
struct item_of;
template <class Fold>
struct item_of<Fold, 0> {
  using type = decltype(std::declval<const Fold&>().value(std::uint64_t{}));
};
template <class Fold>
struct item_of<Fold, 1> {
  using type = decltype(std::declval<const Fold&>().value(std::declval<const typename input_of<Fold, 0>::type&>()));
};
template <class Fold>
struct item_of<Fold, 2> {
  using type = decltype(std::declval<const Fold&>().value(std::declval<const typename input_of<Fold, 0>::type&>(),
                                                          std::declval<const typename input_of<Fold, 1>::type&>()));
};
template <class Fold>
struct item_of<Fold, 3> {
  using type = decltype(std::declval<const Fold&>().value(std::declval<const typename input_of<Fold, 0>::type&>(),
                                                          std::declval<const typename input_of<Fold, 1>::type&>(),
                                                          std::declval<const typename input_of<Fold, 2>::type&>()));
};

// What a lane of a fold that is not plain keeps: beside the fold's own, where values may be absent, how many were there.
template <class Fold, bool Filters>
struct own_lane {
  typename Fold::lane lane;
};
template <class Fold>
struct own_lane<Fold, true> {
  typename Fold::lane lane;
  int rows;
};

// What a fold is where all elements of the tiles exist: itself, or what it names, which has no data.
template <class Fold, class = void>
struct own_whole {
  using type = Fold;
  static __device__ const Fold& of(const Fold& fold) { return fold; }
};
template <class Fold>
struct own_whole<Fold, std::void_t<typename Fold::of_whole_tiles>> {
  using type = typename Fold::of_whole_tiles;
  static_assert(std::is_empty<type>::value, "it is made anew for every tile");
  static __device__ type of(const Fold&) { return {}; }
};

template <class Fold, bool Plain, bool Filters>
struct own_lane_of {
  using type = own_lane<Fold, Filters>;
};
template <class Fold, bool Filters>
struct own_lane_of<Fold, true, Filters> {
  using type = int;  // nobody's
};

}  // namespace detail

/// The kernels' view of a fold of a user's, whose bytes are the same.
///
/// There   a view of whole tiles: where values cannot be absent, no node of them is
template <class Fold, bool There = false>
struct own_fold {
  std::conditional_t<There && !std::is_empty<Fold>::value, const Fold&, Fold> fold;

  static constexpr int inputs = Fold::inputs;
  static_assert(inputs >= 0 && inputs <= 3, "a fold has no input, or up to three");
  template <int K>
  using input = typename detail::input_or_value<Fold, K>::type;
  using element = input<0>;
  using result = typename Fold::result;
  using item = std::decay_t<typename detail::item_of<Fold>::type>;

  static constexpr std::size_t value_bytes = sizeof(typename Fold::value_type);
  static_assert(value_bytes >= 1 && value_bytes <= 64, "the values of a fold have 1 to 64 bytes");
  static constexpr bool is_plain = detail::says_plain<Fold>::value;
  static constexpr bool reads_many = detail::says_reads_many<Fold>::value;
  static constexpr bool filters = detail::is_maybe<item>::value;
  static constexpr bool may_be_absent = filters || (!There && !detail::says_neutral<Fold>::value);
  static constexpr bool reads_pairs = inputs == 1 && sizeof(element) == value_bytes && (value_bytes == 4 || value_bytes == 8);

  using node = typename Fold::accumulator;
  using accumulator = std::conditional_t<may_be_absent, maybe<node>, node>;
  using lane = typename detail::own_lane_of<Fold, is_plain, filters>::type;
  static_assert(std::is_trivially_copyable<node>::value, "accumulators are copied byte by byte");
  static_assert(sizeof(accumulator) <= 1024, "accumulators have at most 1 KiB");

  __device__ own_fold<typename detail::own_whole<Fold>::type, true> of_whole() const { return {detail::own_whole<Fold>::of(fold)}; }

  template <class... X>
  __device__ std::conditional_t<is_plain, accumulator, item> value(const X&... x) const {
    return noted(fold.value(x...));
  }
  /// For folds of the index that find neighbours of an origin faster than any index.
  template <class F = Fold, class Origin = decltype(std::declval<const F&>().origin(std::uint64_t{}))>
  __device__ Origin origin(std::uint64_t begin) const {
    return fold.origin(begin);
  }
  template <class Origin>
  __device__ std::conditional_t<is_plain, accumulator, item> value_from(const Origin& origin, int offset) const {
    return noted(fold.value_from(origin, offset));
  }

  __device__ lane first(const item& value, int row) const {
    if constexpr (filters) {
      lane made{};
      made.rows = value.present ? 1 : 0;
      if (value.present) made.lane = begun(value.value, row);
      return made;
    } else {
      return {begun(value, row)};
    }
  }
  __device__ lane next(const lane& so_far, const item& value, int row) const {
    if constexpr (filters) {
      if (!value.present) return so_far;
      return {so_far.rows == 0 ? begun(value.value, row) : fold.next(so_far.lane, value.value, row), so_far.rows + 1};
    } else {
      return {fold.next(so_far.lane, value, row)};
    }
  }
  __device__ accumulator close(const lane& of, [[maybe_unused]] int rows, std::uint64_t index, int lanes) const {
    if constexpr (filters) {
      if (of.rows == 0) return neutral();
      return accumulator(fold.close(of.lane, of.rows, index, lanes));
    } else if constexpr (may_be_absent) {
      return accumulator(fold.close(of.lane, rows, index, lanes));
    } else {
      return fold.close(of.lane, rows, index, lanes);
    }
  }

  // Absent nodes hold the neutral element where there is one: nothing depends on whether they are there, and there are no branches.
  static constexpr bool pads = filters && is_plain && detail::says_neutral<Fold>::value;

  __device__ accumulator combine(const accumulator& a, const accumulator& b) const {
    if constexpr (pads) {
      return accumulator(fold.combine(a.value, b.value), static_cast<bool>(a.present | b.present));
    } else if constexpr (may_be_absent) {
      if (!a.present) return b;
      if (!b.present) return a;
      return accumulator(fold.combine(a.value, b.value));
    } else {
      return fold.combine(a, b);
    }
  }
  __device__ accumulator neutral() const {
    if constexpr (pads)
      return accumulator(fold.neutral(), false);
    else if constexpr (may_be_absent)
      return accumulator();
    else
      return fold.neutral();
  }

  __device__ void conclude(const accumulator& value, std::uint64_t count, result* to) const {
    if constexpr (may_be_absent)
      fold.conclude(value.present ? &value.value : nullptr, count, to);
    else
      fold.conclude(count == 0 ? nullptr : &value, count, to);
  }

 private:
  // A value as what a lane takes.
  template <class V>
  __device__ std::conditional_t<is_plain, accumulator, item> noted(const V& one) const {
    if constexpr (!is_plain)
      return one;
    else if constexpr (pads)
      return accumulator(one.present ? static_cast<node>(one.value) : fold.neutral(), one.present);
    else if constexpr (filters)
      return one.present ? accumulator(static_cast<node>(one.value)) : accumulator();
    else if constexpr (may_be_absent)
      return accumulator(static_cast<node>(one));
    else
      return static_cast<node>(one);
  }
  template <class V>
  __device__ auto begun(const V& value, int row) const {
    if constexpr (detail::begins_at_a_row<Fold, V>::value)
      return fold.first(value, row);
    else
      return fold.first(value);
  }
};

}  // namespace onefold::device
