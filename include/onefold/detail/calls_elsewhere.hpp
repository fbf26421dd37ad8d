#pragma once
/// @file calls_elsewhere.hpp  Calls that run elsewhere than on one executor: over ranks (mpi.hpp), on several devices (devices.hpp) and over the ranks of an NCCL
/// communicator (nccl.hpp).

#include <cstdint>
#include <type_traits>

#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/function_calls.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {

template <class T>
class parts;  // of an array, on several devices: devices.hpp
template <class R>
class outputs;  // of a result that all of them get

namespace detail {

// --- on several ranks ---------------------------------------------------------------------------------------------------------------------
//
// What is more than an executor runs a form itself (mpi.hpp): of the ranks' arrays, each of which passes its own.

struct over_ranks {};
/// Ranks alone: a layout, whose .on(executor) calls take.
struct lacks_executor {};
template <class P>
inline constexpr bool is_over_ranks = std::is_base_of_v<over_ranks, P>;

/// What stands ahead of the data in a call.
template <class W>
inline constexpr bool is_place = std::is_same_v<W, executor> || is_over_ranks<W>;

template <form What>
struct reduction_of_ranks {
  template <class P, class T, ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T, M>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, M modifier, const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how, modifier);
  }
  template <class P, class T, class M, class N, ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, M first, N second,
                                const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how, first, second);
  }
  template <class P, class R, class T = element_of<const R>, ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how);
  }
  template <class P, class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T, M>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, M modifier, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how, modifier);
  }
  template <class P, class R, class M, class N, class T = element_of<const R>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, M first, N second, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how, first, second);
  }

  // A function of the index: `over` is the number of this rank's indices, or its box.
  template <class P, class S, class F, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_function<What, S, F>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, const options& how = {}) const {
    return where.template function<What>(over, f, how);
  }
  template <class P, class S, class F, class M, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_function<What, S, F, void, M>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, M modifier, const options& how = {}) const {
    return where.template function<What>(over, f, how, modifier);
  }
  template <class P, class S, class F, class M, class N, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_function<What, S, F, void, M, N>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, M first, N second, const options& how = {}) const {
    return where.template function<What>(over, f, how, first, second);
  }
};

// --- on several devices -------------------------------------------------------------------------------------------------------------------
//
// What has several executors, which each read a part of an array (devices.hpp).

struct on_parts {};
template <class P>
inline constexpr bool is_on_parts = std::is_base_of_v<on_parts, P>;

template <class X>
struct element_of_parts {
  using type = element_of<const X>;
};
template <class T>
struct element_of_parts<parts<T>> {
  using type = T;
};

template <form What>
struct reduction_of_parts {
  template <class P, class X, class T = typename element_of_parts<X>::type, ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const P& where, const X& input, const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how);
  }
  template <class P, class X, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const P& where, const X& input, M modifier, const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how, modifier);
  }
  template <class P, class X, class M, class N, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const P& where, const X& input, M first, N second,
                                                        const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how, first, second);
  }
};

struct dot_of_parts {
  template <class P, class X, class Y, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T>())>
  [[nodiscard]] form_result_t<form::dot, T> operator()(const P& where, const X& x, const Y& y, const options& how = {}) const {
    return where.template dot<T>(where.parts_of(x), where.parts_of(y), how);
  }
  template <class P, class X, class Y, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T, M>())>
  [[nodiscard]] form_result_t<form::dot, T, M> operator()(const P& where, const X& x, const Y& y, M modifier,
                                                          const options& how = {}) const {
    return where.template dot<T>(where.parts_of(x), where.parts_of(y), how, modifier);
  }
};

template <form What>
struct reduction_of_parts_into {
  template <class P, class X, class T = typename element_of_parts<X>::type, ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T>>& to, const options& how = {}) const {
    where.template value_into<What, T>(where.parts_of(input), to, how);
  }
  template <class P, class X, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T, M>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T, M>>& to, M modifier,
                  const options& how = {}) const {
    where.template value_into<What, T>(where.parts_of(input), to, how, modifier);
  }
  template <class P, class X, class M, class N, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T, M, N>>& to, M first, N second,
                  const options& how = {}) const {
    where.template value_into<What, T>(where.parts_of(input), to, how, first, second);
  }
};

struct dot_of_parts_into {
  template <class P, class X, class Y, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T>())>
  void operator()(const P& where, const X& x, const Y& y, const outputs<form_result_t<form::dot, T>>& to,
                  const options& how = {}) const {
    where.template dot_into<T>(where.parts_of(x), where.parts_of(y), to, how);
  }
  template <class P, class X, class Y, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T, M>())>
  void operator()(const P& where, const X& x, const Y& y, const outputs<form_result_t<form::dot, T, M>>& to, M modifier,
                  const options& how = {}) const {
    where.template dot_into<T>(where.parts_of(x), where.parts_of(y), to, how, modifier);
  }
};

template <class T, class U>
std::uint64_t common_size(array_view<T> x, array_view<U> y) {
  if (x.count != y.count) throw_different_lengths(x.count, y.count);
  return x.count;
}

template <class R, class S>
inline constexpr bool have_same_elements = is_range_of_elements<const R>&& std::is_same_v<element_of<const R>, element_of<const S>>;

/// Whether dot takes two arrays of elements of type T, with these modifiers.
template <class T, class... M>
inline constexpr bool dot_takes = takes<form::dot, T, M...>();

// --- in stream order, on several GPUs ---------------------------------------------------------------------------------------------------------
//
// What stores a form's result itself (nccl.hpp).

struct over_streams {};
template <class P>
inline constexpr bool is_over_streams = std::is_base_of_v<over_streams, P>;

template <form What>
struct reduction_of_streams_into {
  template <class P, class T, ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T>* output,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T, M>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how, modifier);
  }
  template <class P, class T, class M, class N, ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T, M, N>* output, M first, N second,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how, first, second);
  }
  template <class P, class R, class T = element_of<const R>, ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T>())>
  void operator()(const P& where, const R& input, form_result_t<What, T>* output, const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how);
  }
  template <class P, class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T, M>())>
  void operator()(const P& where, const R& input, form_result_t<What, T, M>* output, M modifier, const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how, modifier);
  }
  template <class P, class R, class M, class N, class T = element_of<const R>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const R& input, form_result_t<What, T, M, N>* output, M first, N second,
                  const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how, first, second);
  }
  template <class P, class S, class F, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes_function<What, S, F>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F>::one* output,
                  const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how);
  }
  template <class P, class S, class F, class M, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes_function<What, S, F, void, M>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M>::one* output, M modifier,
                  const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how, modifier);
  }
  template <class P, class S, class F, class M, class N, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes_function<What, S, F, void, M, N>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M, N>::one* output, M first,
                  N second, const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how, first, second);
  }
};

struct dot_of_streams_into {
  template <class P, class T, ONEFOLD_WHERE(is_over_streams<P>&& takes<form::dot, T>())>
  void operator()(const P& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T>* output,
                  const options& how = {}) const {
    where.template into<form::dot, T>(x, y, count, output, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_over_streams<P>&& takes<form::dot, T, M>())>
  void operator()(const P& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<form::dot, T>(x, y, count, output, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_over_streams<P>&& have_same_elements<R, S>)>
  void operator()(const P& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>>* output,
                  const options& how = {}) const {
    where.template into<form::dot, element_of<const R>>(std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output,
                                                        how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_over_streams<P>&& have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  void operator()(const P& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<form::dot, element_of<const R>>(std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output,
                                                        how, modifier);
  }
};

}  // namespace detail
}  // namespace onefold
