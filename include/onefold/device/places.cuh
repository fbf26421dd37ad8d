#pragma once
/// @file places.cuh  Where an extremum is, found when its value is known.
///
/// Who keeps an index beside each value has three times the instructions, and twice or three times the words to exchange (argminmax at 0.71 of the read limit,
/// where minmax has 0.98). So a unit's elements are folded as values alone. Its node goes through the tree as if the value were in the unit's first element: of
/// equal ones the first unit's comes first. When the tree is known, one warp looks for the value in the unit that had it.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/device/fold.cuh>
#include <onefold/device/load.cuh>
#include <onefold/device/warp.cuh>

namespace onefold::device {

namespace detail {

/// The fold of the values alone of one that finds places, and the state made of its node; does not exist for others.
template <class Fold>
struct place_by_value {
  static constexpr bool exists = false;
};
template <class E, class Op, class Map>
struct place_by_value<onefold::detail::arg_fold<E, Op, Map>> {
  using V = typename onefold::detail::arg_fold<E, Op, Map>::V;
  using fold = onefold::detail::fold<E, V, Map, Op>;
  static constexpr bool exists = true;
  // A minimum of doubles is several comparisons, with which the compiler began behind 13 loads of 16, and asked for the others one by one
  // (decision 0038). With those of a maximum it waits for all.
  static constexpr bool is_fenced = std::is_same_v<V, double> && Op::id == operation::min;
  static __device__ onefold::detail::arg_state<V> state(V value, std::uint64_t index) { return {value, index}; }
};
template <class E>
struct place_by_value<onefold::detail::argminmax_fold<E>> {
  using fold = onefold::detail::minmax_fold<E>;
  using V = typename fold::V;
  static constexpr bool exists = true;
  static constexpr bool is_fenced = false;
  static __device__ onefold::detail::two_args<V> state(const onefold::detail::two_values<V>& value, std::uint64_t index) {
    return {{value.min, index}, {value.max, index}};
  }
};

// Whether both are the same value: of NaNs any two are, and of zeros those of one sign.
template <class V>
__device__ inline bool is_same_value(V a, V b) {
  std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t> of_a;
  std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t> of_b;
  a = onefold::detail::canonical(a);
  b = onefold::detail::canonical(b);
  static_assert(sizeof(V) == sizeof(of_a));
  memcpy(&of_a, &a, sizeof(V));
  memcpy(&of_b, &b, sizeof(V));
  return of_a == of_b;
}

// The first of the elements from `begin` up to `end` that becomes this value, by one warp; `begin` if there is none.
template <class Fold, class V>
__device__ inline std::uint64_t place_of_value(const typename Fold::element* x, std::uint64_t begin, std::uint64_t end, V value) {
  using E = typename Fold::element;
  constexpr unsigned each = 16;
  constexpr unsigned together = each * warp_size;
  const unsigned warp_lane = threadIdx.x % warp_size;
#pragma unroll 1
  for (std::uint64_t at = begin; at < end; at += together) {
    const E* const from = x + at;
    const auto left = static_cast<unsigned>(::min(end - at, std::uint64_t{together}));
    E element[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) element[k] = from[::min(warp_lane + k * warp_size, left - 1)];
    unsigned place = together;
#pragma unroll
    for (unsigned k = each; k-- > 0;)  // what is behind the last one is the last one
      if (is_same_value(static_cast<V>(Fold::value(element[k])), value)) place = ::min(warp_lane + k * warp_size, left - 1);
    place = least_of_warp(place);
    if (place < together) return at + place;
  }
  return begin;
}

// The same for a state of which it is known in which unit the value is, or, of a cut one, where.
template <class Fold, class V>
__device__ inline onefold::detail::arg_state<V> with_place(const void* x, std::uint64_t count,
                                                           const onefold::detail::arg_state<V>& of) {
  constexpr std::uint64_t unit = 2 * tile_elements<Fold>;
  const std::uint64_t end = of.index < count ? ::min(count, of.index / unit * unit + unit) : of.index;  // an absent one stays
  return {of.value, place_of_value<Fold>(static_cast<const typename Fold::element*>(x), of.index, end, of.value)};
}
template <class Fold, class V>
__device__ inline void ask_for_place(const void* x, std::uint64_t count, const onefold::detail::arg_state<V>& of) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const std::uint64_t begin = of.index + static_cast<unsigned>(k) * tile_elements<Fold>;
    if (begin < count) ask_for_tile<typename Fold::element>(x, begin, ::min(count, begin + tile_elements<Fold>));
  }
}

// What is asked for first is on its way together. Out of line: the others would wait for its instructions.
template <class Fold, class V>
__device__ __noinline__ onefold::detail::arg_state<V> with_places(const void* x, std::uint64_t count,
                                                                  onefold::detail::arg_state<V> of) {
  ask_for_place<Fold>(x, count, of);
  return with_place<Fold>(x, count, of);
}
template <class Fold, class V>
__device__ __noinline__ onefold::detail::two_args<V> with_places(const void* x, std::uint64_t count,
                                                                 onefold::detail::two_args<V> of) {
  ask_for_place<Fold>(x, count, of.min);
  ask_for_place<Fold>(x, count, of.max);
  return {with_place<Fold>(x, count, of.min), with_place<Fold>(x, count, of.max)};
}

}  // namespace detail

}  // namespace onefold::device
