#pragma once
/// @file array_calls.hpp  Calls of arrays as requests: of one, of one whose address stands in memory, and of two.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {

template <form What, class T, class... M>
void run_array(const executor& where, array_view<T> input, void* output, bool waits, const options& how, M... modifiers) {
  request what{where, element_type_of<T>, What, input.data, input.count, output, waits};
  (apply<T>(what, modifiers), ...);
  run(what, how);
}

// --- arrays whose addresses stand in memory ------------------------------------------------------------------------------------------------

template <class T>
const void* const* place_of(array_at<T> array) noexcept {
  return reinterpret_cast<const void* const*>(array.place);
}

template <form What, class T, class... M>
request request_at(const executor& where, array_at<T> input, std::uint64_t count, void* output, bool waits, M... modifiers) {
  request what{where, element_type_of<T>, What, nullptr, count, output, waits};
  what.input_at = place_of(input);
  (apply<T>(what, modifiers), ...);
  return what;
}

template <form What>
struct reduction_at {
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const executor& where, array_at<T> input, std::uint64_t count,
                                                  const options& how = {}) const {
    return value<T>(where, input, count, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const executor& where, array_at<T> input, std::uint64_t count, M modifier,
                                                     const options& how = {}) const {
    return value<T>(where, input, count, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const executor& where, array_at<T> input, std::uint64_t count, M first,
                                                        N second, const options& how = {}) const {
    return value<T>(where, input, count, how, first, second);
  }
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, const options& how = {}) const {
    return value<T>(best(), input, count, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, M modifier, const options& how = {}) const {
    return value<T>(best(), input, count, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, M first, N second, const options& how = {}) const {
    return value<T>(best(), input, count, how, first, second);
  }

 private:
  template <class T, class... M>
  static form_result_t<What, T, M...> value(const executor& where, array_at<T> input, std::uint64_t count, const options& how,
                                            M... modifiers) {
    form_result_t<What, T, M...> result;
    run(request_at<What>(where, input, count, &result, true, modifiers...), how);
    return result;
  }
};

template <form What>
struct reduction_at_into {
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T>* output,
                  const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false), how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false, modifier), how);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T, M, N>* output, M first,
                  N second, const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false, first, second), how);
  }
};

/// Whether T is an element type of real numbers.
template <class T>
constexpr bool is_real_element() {
  if constexpr (is_element<T>)
    return !is_complex(element_type_of<T>);
  else
    return false;
}
template <class T>
inline constexpr bool is_real = is_real_element<T>();

template <class T, class U>
inline constexpr bool are_mixed = is_real<T>&& is_real<U> && !std::is_same_v<T, U>;
/// What two types are accumulated in: the larger of their accumulators, or what C++ adds these in.
template <class T, class U>
using common_accumulator = std::common_type_t<accumulator_t<T, false>, accumulator_t<U, false>>;
/// What accumulate_as may ask for in its place: double for float, 64 bits for 32; for others there is no wider one.
template <class A>
using wider_accumulator =
    std::conditional_t<std::is_same_v<A, float>, double, std::conditional_t<std::is_same_v<A, std::uint32_t>, std::uint64_t, A>>;

template <class T, class U, class M>
constexpr bool is_wide_of_two() {
  if constexpr (std::is_same_v<M, count_at>)
    return false;
  else
    return accumulator_of<M>::type != element_type_of<common_accumulator<T, U>>;
}
template <class T, class U, class M>
constexpr bool takes_modifier_of_two() {
  if constexpr (!is_modifier<M> || std::is_same_v<M, ddof>)
    return false;
  else if constexpr (std::is_same_v<M, count_at>)
    return true;
  else
    return !is_wide_of_two<T, U, M>() || accumulator_of<M>::type == element_type_of<wider_accumulator<common_accumulator<T, U>>>;
}
/// Whether dot takes two arrays of elements of two types with these modifiers.
template <class T, class U, class... M>
constexpr bool takes_mixed() {
  if constexpr (!are_mixed<T, U>) {
    return false;
  } else {
    constexpr int counts = (0 + ... + (std::is_same_v<M, count_at> ? 1 : 0));
    return (takes_modifier_of_two<T, U, M>() && ...) && counts <= 1 && static_cast<int>(sizeof...(M)) - counts <= 1;
  }
}
template <class T, class U, class... M>
struct result_of_dot {
  using common = common_accumulator<T, U>;
  using type = std::conditional_t<(is_wide_of_two<T, U, M>() || ...), wider_accumulator<common>, common>;
};
template <class T, class... M>
struct result_of_dot<T, T, M...> {
  using type = form_result_t<form::dot, T, M...>;
};
/// What a dot of two types gives.
template <class T, class U, class... M>
using mixed_result_t = typename result_of_dot<T, U, M...>::type;

inline void apply_to_mixed(request& to, count_at of) { apply_count(to, of); }
template <class A>
void apply_to_mixed(request&, accumulate_as_t<A>) {}

/// A dot of two types, whose arrays are still to be named.
template <class T, class U, class... M>
request mixed_request(const executor& where, std::uint64_t count, void* output, bool waits, M... modifiers) {
  request what{where, element_type_of<T>, form::dot, nullptr, count, output, waits};
  what.second_type = 1 + static_cast<std::int32_t>(element_type_of<U>);
  what.wide = (is_wide_of_two<T, U, M>() || ...);
  (apply_to_mixed(what, modifiers), ...);
  return what;
}

// What stands for an array among the arguments of dot: a pointer, or array_at.
template <class X>
struct array_argument {
  using type = void;
  static constexpr bool is_in_memory = false;
};
template <class T>
struct array_argument<T*> {
  using type = std::remove_const_t<T>;
  static constexpr bool is_in_memory = false;
};
template <class T>
struct array_argument<array_at<T>> {
  using type = T;
  static constexpr bool is_in_memory = true;
};

/// Whether dot takes these two, of which the address of one at least stands in memory.
template <class X, class Y, class... M>
constexpr bool dot_takes_at() {
  using T = typename array_argument<X>::type;
  using U = typename array_argument<Y>::type;
  if constexpr (!array_argument<X>::is_in_memory && !array_argument<Y>::is_in_memory)
    return false;
  else if constexpr (std::is_same_v<T, U>)
    return takes_at<form::dot, T, M...>();
  else
    return takes_mixed<T, U, M...>();
}
template <class X, class Y, class... M>
using dot_at_result = typename result_of_dot<typename array_argument<X>::type, typename array_argument<Y>::type, M...>::type;

template <class X, class Y, class... M>
request dot_request_at(const executor& where, X x, Y y, std::uint64_t count, void* output, bool waits, M... modifiers) {
  using T = typename array_argument<X>::type;
  using U = typename array_argument<Y>::type;
  request what{where, element_type_of<T>, form::dot, nullptr, count, output, waits};
  if constexpr (std::is_same_v<T, U>)
    (apply<T>(what, modifiers), ...);
  else
    what = mixed_request<T, U>(where, count, output, waits, modifiers...);
  if constexpr (array_argument<X>::is_in_memory)
    what.input_at = place_of(x);
  else
    what.input = x;
  if constexpr (array_argument<Y>::is_in_memory)
    what.second_at = place_of(y);
  else
    what.second = y;
  return what;
}

struct dot_at {
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  [[nodiscard]] dot_at_result<X, Y> operator()(const executor& where, X x, Y y, std::uint64_t count,
                                               const options& how = {}) const {
    return value(where, x, y, count, how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  [[nodiscard]] dot_at_result<X, Y, M> operator()(const executor& where, X x, Y y, std::uint64_t count, M modifier,
                                                  const options& how = {}) const {
    return value(where, x, y, count, how, modifier);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  [[nodiscard]] dot_at_result<X, Y, M, N> operator()(const executor& where, X x, Y y, std::uint64_t count, M first, N second,
                                                     const options& how = {}) const {
    return value(where, x, y, count, how, first, second);
  }
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, const options& how = {}) const {
    return value(best(), x, y, count, how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, M modifier, const options& how = {}) const {
    return value(best(), x, y, count, how, modifier);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, M first, N second, const options& how = {}) const {
    return value(best(), x, y, count, how, first, second);
  }

 private:
  template <class X, class Y, class... M>
  static dot_at_result<X, Y, M...> value(const executor& where, X x, Y y, std::uint64_t count, const options& how, M... modifiers) {
    dot_at_result<X, Y, M...> result;
    run(dot_request_at(where, x, y, count, &result, true, modifiers...), how);
    return result;
  }
};

struct dot_at_into {
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y>* output,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false), how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y, M>* output, M modifier,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false, modifier), how);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y, M, N>* output, M first, N second,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false, first, second), how);
  }
};

}  // namespace detail
}  // namespace onefold
