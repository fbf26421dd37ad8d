#pragma once
/// @file conclude.cuh  From the tree's value to the result in the caller's memory, or on its way to a host that waits for it.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/device/destination.hpp>
#include <onefold/device/fold.cuh>
#include <onefold/device/store.cuh>

namespace onefold::device {

namespace detail {

// Means and roots. Out of line, with their divisions and their table of jumps, which everyone else would wait for.
template <class A>
__device__ __noinline__ std::uint64_t other_conclusion(onefold::detail::conclusion how, A value, std::uint64_t count) {
  return onefold::detail::conclude<false>(how, value, count);
}

// The three sums of a norm, where they are wanted themselves.
__device__ __noinline__ inline void store_sums(double small, double medium, double big, const destination& to) {
  store_part(to, 0, small);
  store_part(to, 8, medium);
  store_part(to, 16, big);
}
constexpr int squares_bytes = static_cast<int>(sizeof(onefold::detail::squares));

// Several results, of the folds of onefold/records.def; out of line too.
template <class E>
__device__ __noinline__ void store_results(onefold::detail::arg_state<E> value, std::uint64_t, const destination& to) {
  store_part(to, 0, onefold::detail::canonical(value.value));
  if constexpr (sizeof(E) == 4) store_part(to, 4, std::uint32_t{0});
  store_part(to, 8, value.index);
}
template <class E>
__device__ __noinline__ void store_results(onefold::detail::two_values<E> value, std::uint64_t, const destination& to) {
  store_part(to, 0, onefold::detail::canonical(value.min));
  store_part(to, sizeof(E), onefold::detail::canonical(value.max));
}
// `how` 1: rounded to float.
template <class Moments, std::enable_if_t<std::is_same<Moments, onefold::detail::moments>::value, int> = 0>
__device__ __noinline__ void store_results(Moments value, std::uint64_t, const destination& to) {
  const auto result = onefold::detail::mean_and_variance(value, static_cast<std::int64_t>(to.argument));
  if (to.how == 0) {
    store_part(to, 0, onefold::detail::canonical(result.mean));
    store_part(to, 8, onefold::detail::canonical(result.variance));
  } else {
    store_part(to, 0, onefold::detail::canonical(onefold::detail::narrowed(result.mean)));
    store_part(to, 4, onefold::detail::canonical(onefold::detail::narrowed(result.variance)));
  }
}
// Four bits of the argument for each result, the first one's lowest: which operator.
template <class E>
__device__ __noinline__ void store_results(onefold::detail::four_values<E> value, std::uint64_t, const destination& to) {
  const int results = to.bytes / static_cast<int>(sizeof(E));
  for (int k = 0; k < results; ++k) {
    const auto op = static_cast<operation>(to.argument >> (4 * k) & 15);
    E result{};
    if (op == operation::sum)
      result = static_cast<E>(value.sum);
    else if (op == operation::prod)
      result = static_cast<E>(value.prod);
    else
      result = op == operation::min ? value.min : value.max;
    store_part(to, k * static_cast<int>(sizeof(E)), onefold::detail::canonical(result));
  }
}

// Results whose elements' size, and type, only the destination knows.
template <class A>
__device__ inline void store_sized(const A& value, std::uint64_t count, const destination& to) {
  store_bits(to, 0, onefold::detail::conclude(static_cast<onefold::detail::conclusion>(to.how), value, count), to.bytes);
}
__device__ inline void store_sized(const onefold::detail::squares& value, std::uint64_t count, const destination& to) {
  if (to.bytes == squares_bytes) return store_sums(value.small, value.medium, value.big, to);
  store_bits(to, 0, onefold::detail::conclude(onefold::detail::conclusion::root, value, count), to.bytes);
}
template <class V>
__device__ inline void store_sized(const onefold::detail::arg_state<V>& value, const destination& to, int place) {
  const int size = static_cast<int>(to.argument);
  const std::uint64_t bits = onefold::detail::conclude(static_cast<onefold::detail::conclusion>(to.how), value.value, 0);
  store_bits(to, place, bits, size);
  if (size <= 4 && to.output == nullptr) send_word(to, place / 4 + 1, 0);
  store_bits(to, place + 8, value.index, 8);
}
template <class V>
__device__ inline void store_sized(const onefold::detail::arg_state<V>& value, std::uint64_t, const destination& to) {
  store_sized(value, to, 0);
}
template <class V>
__device__ inline void store_sized(const onefold::detail::two_args<V>& value, std::uint64_t, const destination& to) {
  store_sized(value.min, to, 0);
  store_sized(value.max, to, 16);
}
template <class V>
__device__ inline void store_sized(const onefold::detail::two_values<V>& value, std::uint64_t, const destination& to) {
  const auto how = static_cast<onefold::detail::conclusion>(to.how);
  const int size = to.bytes / 2;
  std::uint64_t min = onefold::detail::conclude(how, value.min, 0);
  const std::uint64_t max = onefold::detail::conclude(how, value.max, 0);
  if (to.output == nullptr && size < 4) {  // both in a word
    min &= (std::uint64_t{1} << (8 * size)) - 1;
    return store_bits(to, 0, min | max << (8 * size), 4);
  }
  store_bits(to, 0, min, size);
  store_bits(to, size, max, size);
}
__device__ inline void store_sized(const onefold::detail::moments& value, std::uint64_t count, const destination& to) {
  store_results(value, count, to);
}
template <class V>
__device__ inline void store_sized(const onefold::detail::four_values<V>& value, std::uint64_t count, const destination& to) {
  store_results(value, count, to);
}

// Whether a result may be a single byte: of all, any and none.
template <class Fold>
inline constexpr bool may_be_a_byte = false;
template <class E>
inline constexpr bool may_be_a_byte<onefold::detail::fold<E, std::uint64_t, onefold::detail::nonzero, op::sum>> = true;

template <class A>
inline constexpr bool is_one_number = std::is_arithmetic<A>::value || std::is_same<A, onefold::detail::squares>::value;

// A fold that concludes by itself.
template <class Fold, class = void>
struct concludes : std::false_type {};
template <class Fold>
struct concludes<Fold, std::void_t<typename Fold::result>> : std::true_type {};

// A result of the library's own that knows where its parts belong.
template <class Result, class = void>
struct stores_itself : std::false_type {};
template <class Result>
struct stores_itself<Result, std::void_t<typename Result::stored_in_parts>> : std::true_type {};

template <class Fold>
__device__ inline void store_own_result(const Fold& fold, const typename Fold::accumulator& value, std::uint64_t count,
                                        const destination& to) {
  typename Fold::result result;
  fold.conclude(value, count, &result);
  if constexpr (stores_itself<typename Fold::result>::value)
    result.store([&to](int place, const auto& part) { store_part(to, place, part); });
  else if (to.output != nullptr)
    *static_cast<typename Fold::result*>(to.output) = result;
  else
    store_part(to, 0, result);
}

}  // namespace detail

/// Stores the result made of the tree's value. By one thread.
template <class Fold>
__device__ inline void deliver(const Fold& fold, const typename Fold::accumulator& value, std::uint64_t count,
                               const destination& to) {
  using A = typename Fold::accumulator;
  if constexpr (detail::concludes<Fold>::value) {
    detail::store_own_result(fold, value, count, to);
  } else if constexpr (is_family<Fold>) {
    detail::store_sized(value, count, to);
  } else if constexpr (!detail::is_one_number<A>) {
    detail::store_results(value, count, to);
  } else {
    if constexpr (std::is_same<A, onefold::detail::squares>::value)
      if (to.bytes == detail::squares_bytes) return detail::store_sums(value.small, value.medium, value.big, to);
    const auto how = static_cast<onefold::detail::conclusion>(to.how);
    std::uint64_t bits = 0;
    if (how == onefold::detail::conclusion::none) [[likely]]
      bits = onefold::detail::conclude<false>(onefold::detail::conclusion::none, value, count);
    else
      bits = detail::other_conclusion(how, value, count);
    if (to.output != nullptr) [[likely]] {
      if (detail::may_be_a_byte<Fold> && to.bytes == 1)
        *static_cast<std::uint8_t*>(to.output) = static_cast<std::uint8_t>(bits);
      else if (to.bytes == 4)
        *static_cast<std::uint32_t*>(to.output) = static_cast<std::uint32_t>(bits);
      else
        *static_cast<std::uint64_t*>(to.output) = bits;
      return;
    }
    detail::send_word(to, 0, static_cast<std::uint32_t>(bits));
    detail::send_word(to, 1, static_cast<std::uint32_t>(bits >> 32));
  }
}

}  // namespace onefold::device
