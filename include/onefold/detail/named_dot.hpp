#pragma once
/// @file named_dot.hpp  The calls of dot.

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <onefold/detail/array_calls.hpp>
#include <onefold/detail/calls_elsewhere.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/executor.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {

template <class T, class... M>
void run_dot(const executor& where, const T* x, const T* y, std::uint64_t count, void* output, bool waits, const options& how,
             M... modifiers) {
  request what{where, element_type_of<T>, form::dot, x, count, output, waits, y};
  (apply<T>(what, modifiers), ...);
  run(what, how);
}

/// Two arrays of elements of two types, in C's types.
template <class T, class U>
onefold_products products_of(const T* x, const U* y) noexcept {
  return {x, y, static_cast<std::int32_t>(element_type_of<T>), static_cast<std::int32_t>(element_type_of<U>)};
}

template <class T, class U, class... M>
void run_mixed_dot(const executor& where, array_view<T> x, array_view<U> y, void* output, bool waits, const options& how,
                   M... modifiers) {
  request what = mixed_request<T, U>(where, x.count, output, waits, modifiers...);
  what.input = x.data;
  what.second = y.data;
  run(what, how);
}

struct no_dot_takes_this {
  void operator()(...) const = delete;  // It takes [where,] two ranges | two pointers, n [, accumulate_as, count_at][, options]
};
struct no_dot_into_takes_this {
  void operator()(...) const = delete;  // It takes where, two ranges | two pointers, n, the result's address [, ..]
};

struct dot_of_ranks {
  template <class P, class T, class... M, ONEFOLD_WHERE(is_over_ranks<P>&& dot_takes<T, M...>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, M... modifiers) const {
    return where.dot(x, y, count, {}, modifiers...);
  }
  template <class P, class T, ONEFOLD_WHERE(is_over_ranks<P>&& dot_takes<T>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, const options& how) const {
    return where.dot(x, y, count, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_over_ranks<P>&& dot_takes<T, M>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, M modifier, const options& how) const {
    return where.dot(x, y, count, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_over_ranks<P>&& have_same_elements<R, S>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, const options& how = {}) const {
    return where.dot_of_ranges(x, y, how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_over_ranks<P>&& have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, M modifier, const options& how = {}) const {
    return where.dot_of_ranges(x, y, how, modifier);
  }
  // Of two types.
  template <class P, class T, class U, class... M, ONEFOLD_WHERE(is_over_ranks<P>&& takes_mixed<T, U, M...>())>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, M... modifiers) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, {}, modifiers...);
  }
  template <class P, class T, class U, ONEFOLD_WHERE(is_over_ranks<P>&& are_mixed<T, U>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, const options& how) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, how);
  }
  template <class P, class T, class U, class M, ONEFOLD_WHERE(is_over_ranks<P>&& takes_mixed<T, U, M>())>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, M modifier, const options& how) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_over_ranks<P>&& are_mixed<element_of<const R>, element_of<const S>>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, const options& how = {}) const {
    return where.dot_of_two_types(view_of(x), view_of(y), how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_mixed<element_of<const R>, element_of<const S>, M>())>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, M modifier, const options& how = {}) const {
    return where.dot_of_two_types(view_of(x), view_of(y), how, modifier);
  }
};

struct named_dot : dot_at, dot_of_ranks, dot_of_parts, no_dot_takes_this {
  using no_dot_takes_this::operator();
  using dot_at::operator();
  using dot_of_ranks::operator();
  using dot_of_parts::operator();

  // Of two types: the sum of the products in the larger one, with the bits of an array that holds them.
  template <class T, class U, ONEFOLD_WHERE(are_mixed<T, U>)>
  [[nodiscard]] common_accumulator<T, U> operator()(const executor& where, const T* x, const U* y, std::uint64_t count,
                                                    const options& how = {}) const {
    common_accumulator<T, U> value;
    run_mixed_dot(where, array_view<T>{x, count}, array_view<U>{y, count}, &value, true, how);
    return value;
  }
  template <class R, class S, ONEFOLD_WHERE(are_mixed<element_of<const R>, element_of<const S>>)>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, const options& how = {}) const {
    common_accumulator<element_of<const R>, element_of<const S>> value;
    common_size(view_of(x), view_of(y));
    run_mixed_dot(where, view_of(x), view_of(y), &value, true, how);
    return value;
  }
  template <class T, class U, ONEFOLD_WHERE(are_mixed<T, U>)>
  [[nodiscard]] auto operator()(const T* x, const U* y, std::uint64_t count, const options& how = {}) const {
    return (*this)(best(), x, y, count, how);
  }
  template <class R, class S, ONEFOLD_WHERE(are_mixed<element_of<const R>, element_of<const S>>)>
  [[nodiscard]] auto operator()(const R& x, const S& y, const options& how = {}) const {
    return (*this)(best(), x, y, how);
  }
  template <class T, class U, class M, ONEFOLD_WHERE(takes_mixed<T, U, M>())>
  [[nodiscard]] mixed_result_t<T, U, M> operator()(const executor& where, const T* x, const U* y, std::uint64_t count, M modifier,
                                                   const options& how = {}) const {
    return mixed(where, array_view<T>{x, count}, array_view<U>{y, count}, how, modifier);
  }
  template <class T, class U, class M, class N, ONEFOLD_WHERE(takes_mixed<T, U, M, N>())>
  [[nodiscard]] mixed_result_t<T, U, M, N> operator()(const executor& where, const T* x, const U* y, std::uint64_t count, M first,
                                                      N second, const options& how = {}) const {
    return mixed(where, array_view<T>{x, count}, array_view<U>{y, count}, how, first, second);
  }
  template <class R, class S, class M, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M>())>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, M modifier, const options& how = {}) const {
    common_size(view_of(x), view_of(y));
    return mixed(where, view_of(x), view_of(y), how, modifier);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M, N>())>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, M first, N second, const options& how = {}) const {
    common_size(view_of(x), view_of(y));
    return mixed(where, view_of(x), view_of(y), how, first, second);
  }
  template <class T, class U, class M, ONEFOLD_WHERE(takes_mixed<T, U, M>())>
  [[nodiscard]] auto operator()(const T* x, const U* y, std::uint64_t count, M modifier, const options& how = {}) const {
    return (*this)(best(), x, y, count, modifier, how);
  }
  template <class R, class S, class M, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M>())>
  [[nodiscard]] auto operator()(const R& x, const S& y, M modifier, const options& how = {}) const {
    return (*this)(best(), x, y, modifier, how);
  }
  template <class T, class U, class M, class N, ONEFOLD_WHERE(takes_mixed<T, U, M, N>())>
  [[nodiscard]] auto operator()(const T* x, const U* y, std::uint64_t count, M first, N second, const options& how = {}) const {
    return (*this)(best(), x, y, count, first, second, how);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M, N>())>
  [[nodiscard]] auto operator()(const R& x, const S& y, M first, N second, const options& how = {}) const {
    return (*this)(best(), x, y, first, second, how);
  }

  template <class T, ONEFOLD_WHERE(dot_takes<T>)>
  [[nodiscard]] form_result_t<form::dot, T> operator()(const executor& where, const T* x, const T* y, std::uint64_t count,
                                                       const options& how = {}) const {
    form_result_t<form::dot, T> value;
    run_dot(where, x, y, count, &value, true, how);
    return value;
  }
  template <class R, class S, ONEFOLD_WHERE(have_same_elements<R, S>)>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, const options& how = {}) const {
    return (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), how);
  }
  template <class T, ONEFOLD_WHERE(dot_takes<T>)>
  [[nodiscard]] auto operator()(const T* x, const T* y, std::uint64_t count, const options& how = {}) const {
    return (*this)(best(), x, y, count, how);
  }
  template <class R, class S, ONEFOLD_WHERE(have_same_elements<R, S>)>
  [[nodiscard]] auto operator()(const R& x, const S& y, const options& how = {}) const {
    return (*this)(best(), x, y, how);
  }

  template <class T, class M, ONEFOLD_WHERE(dot_takes<T, M>)>
  [[nodiscard]] form_result_t<form::dot, T, M> operator()(const executor& where, const T* x, const T* y, std::uint64_t count,
                                                          M modifier, const options& how = {}) const {
    form_result_t<form::dot, T, M> value;
    run_dot(where, x, y, count, &value, true, how, modifier);
    return value;
  }
  template <class T, class M, class N, ONEFOLD_WHERE(dot_takes<T, M, N>)>
  [[nodiscard]] form_result_t<form::dot, T, M, N> operator()(const executor& where, const T* x, const T* y, std::uint64_t count,
                                                             M first, N second, const options& how = {}) const {
    form_result_t<form::dot, T, M, N> value;
    run_dot(where, x, y, count, &value, true, how, first, second);
    return value;
  }
  template <class R, class S, class M, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, M modifier, const options& how = {}) const {
    return (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), modifier, how);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M, N>)>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, M first, N second, const options& how = {}) const {
    return (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), first, second, how);
  }
  template <class T, class M, ONEFOLD_WHERE(dot_takes<T, M>)>
  [[nodiscard]] auto operator()(const T* x, const T* y, std::uint64_t count, M modifier, const options& how = {}) const {
    return (*this)(best(), x, y, count, modifier, how);
  }
  template <class R, class S, class M, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  [[nodiscard]] auto operator()(const R& x, const S& y, M modifier, const options& how = {}) const {
    return (*this)(best(), x, y, modifier, how);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(dot_takes<T, M, N>)>
  [[nodiscard]] auto operator()(const T* x, const T* y, std::uint64_t count, M first, N second, const options& how = {}) const {
    return (*this)(best(), x, y, count, first, second, how);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M, N>)>
  [[nodiscard]] auto operator()(const R& x, const S& y, M first, N second, const options& how = {}) const {
    return (*this)(best(), x, y, first, second, how);
  }

 private:
  template <class T, class U, class... M>
  static mixed_result_t<T, U, M...> mixed(const executor& where, array_view<T> x, array_view<U> y, const options& how,
                                          M... modifiers) {
    mixed_result_t<T, U, M...> value;
    run_mixed_dot(where, x, y, &value, true, how, modifiers...);
    return value;
  }
};

struct named_dot_into : dot_at_into, dot_of_streams_into, dot_of_parts_into, no_dot_into_takes_this {
  using no_dot_into_takes_this::operator();
  using dot_at_into::operator();
  using dot_of_parts_into::operator();
  using dot_of_streams_into::operator();

  template <class T, class U, ONEFOLD_WHERE(are_mixed<T, U>)>
  void operator()(const executor& where, const T* x, const U* y, std::uint64_t count, common_accumulator<T, U>* output,
                  const options& how = {}) const {
    run_mixed_dot(where, array_view<T>{x, count}, array_view<U>{y, count}, output, false, how);
  }
  template <class R, class S, ONEFOLD_WHERE(are_mixed<element_of<const R>, element_of<const S>>)>
  void operator()(const executor& where, const R& x, const S& y,
                  common_accumulator<element_of<const R>, element_of<const S>>* output, const options& how = {}) const {
    common_size(view_of(x), view_of(y));
    run_mixed_dot(where, view_of(x), view_of(y), output, false, how);
  }
  template <class T, class U, class M, ONEFOLD_WHERE(takes_mixed<T, U, M>())>
  void operator()(const executor& where, const T* x, const U* y, std::uint64_t count, mixed_result_t<T, U, M>* output, M modifier,
                  const options& how = {}) const {
    run_mixed_dot(where, array_view<T>{x, count}, array_view<U>{y, count}, output, false, how, modifier);
  }
  template <class T, class U, class M, class N, ONEFOLD_WHERE(takes_mixed<T, U, M, N>())>
  void operator()(const executor& where, const T* x, const U* y, std::uint64_t count, mixed_result_t<T, U, M, N>* output, M first,
                  N second, const options& how = {}) const {
    run_mixed_dot(where, array_view<T>{x, count}, array_view<U>{y, count}, output, false, how, first, second);
  }
  template <class R, class S, class M, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M>())>
  void operator()(const executor& where, const R& x, const S& y,
                  mixed_result_t<element_of<const R>, element_of<const S>, M>* output, M modifier, const options& how = {}) const {
    common_size(view_of(x), view_of(y));
    run_mixed_dot(where, view_of(x), view_of(y), output, false, how, modifier);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(takes_mixed<element_of<const R>, element_of<const S>, M, N>())>
  void operator()(const executor& where, const R& x, const S& y,
                  mixed_result_t<element_of<const R>, element_of<const S>, M, N>* output, M first, N second,
                  const options& how = {}) const {
    common_size(view_of(x), view_of(y));
    run_mixed_dot(where, view_of(x), view_of(y), output, false, how, first, second);
  }

  template <class T, ONEFOLD_WHERE(dot_takes<T>)>
  void operator()(const executor& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T>* output,
                  const options& how = {}) const {
    run_dot(where, x, y, count, output, false, how);
  }
  template <class R, class S, ONEFOLD_WHERE(have_same_elements<R, S>)>
  void operator()(const executor& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>>* output,
                  const options& how = {}) const {
    (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output, how);
  }
  template <class T, class M, ONEFOLD_WHERE(dot_takes<T, M>)>
  void operator()(const executor& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T, M>* output,
                  M modifier, const options& how = {}) const {
    run_dot(where, x, y, count, output, false, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(dot_takes<T, M, N>)>
  void operator()(const executor& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T, M, N>* output,
                  M first, N second, const options& how = {}) const {
    run_dot(where, x, y, count, output, false, how, first, second);
  }
  template <class R, class S, class M, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  void operator()(const executor& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>, M>* output,
                  M modifier, const options& how = {}) const {
    (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output, modifier, how);
  }
  template <class R, class S, class M, class N, ONEFOLD_WHERE(have_same_elements<R, S>&& dot_takes<element_of<const R>, M, N>)>
  void operator()(const executor& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>, M, N>* output,
                  M first, N second, const options& how = {}) const {
    (*this)(where, std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output, first, second, how);
  }
};

}  // namespace detail
}  // namespace onefold
