#pragma once
/// @file named_reductions.hpp  The calls of a form with one array, or a function of the index.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/array_calls.hpp>
#include <onefold/detail/calls_elsewhere.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/function_calls.hpp>
#include <onefold/executor.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {

// They are function objects, as the algorithms of std::ranges are: one definition serves every form, and argument-dependent lookup never
// confuses onefold::min with std::min.

// An array or a pointer to complex numbers among the arguments of a call.
template <class A>
constexpr bool is_complex_argument() {
  using T = std::conditional_t<std::is_pointer_v<A>, std::remove_cv_t<std::remove_pointer_t<A>>, element_of<const A>>;
  if constexpr (is_element<T>)
    return is_complex(element_type_of<T>);
  else
    return false;
}

/// Of a call that asks for the least or largest complex number compilers say that it is deleted, and here is why.
template <form What>
struct complex_numbers_have_no_order {
  template <class... A, ONEFOLD_WHERE(asks_for_order(What) && (is_complex_argument<A>() || ...))>
  void operator()(const A&... arguments) const = delete;  // Complex numbers have no order: reduce abs(x[i])
};

/// Of likely slips, too.
struct ranks_lack_an_executor {
  template <class P, class... A, ONEFOLD_WHERE(std::is_base_of_v<lacks_executor, P>)>
  void operator()(const P& ranks, const A&... arguments) const = delete;  // A layout or communicator says where: rows.on(openmp())
};
template <form What>
struct function_gives_no_element {
  template <class S, class F, class... A, ONEFOLD_WHERE(gives_no_element<What, S, F>())>
  void operator()(const S& over, F&& f, const A&... more) const = delete;  // f gives floats or integers of 4 or 8 bytes
  template <class W, class S, class F, class... A, ONEFOLD_WHERE(is_place<W>&& gives_no_element<What, S, F>())>
  void operator()(const W& on, const S& over, F&& f, const A&... etc) const = delete;  // f gives floats or integers, 4 or 8 bytes
};

// Where no other call fits these do, and compilers show the one line that says it is deleted, and what it takes, in the place of all the others.
struct no_reduction_takes_this {
  void operator()(...) const = delete;  // It takes [where,] a range | pointer, n | n, f | box, f [, accumulate_as, ddof][, options]
};
struct no_reduction_into_takes_this {
  void operator()(...) const = delete;  // It takes where, a range | pointer, n | n, f | box, f, the result's address [, ..]
};

template <form What>
struct named_reduction : reduction_at<What>,
                         reduction_of_ranks<What>,
                         reduction_of_parts<What>,
                         complex_numbers_have_no_order<What>,
                         ranks_lack_an_executor,
                         function_gives_no_element<What>,
                         no_reduction_takes_this {
  using no_reduction_takes_this::operator();
  using reduction_at<What>::operator();
  using reduction_of_ranks<What>::operator();
  using reduction_of_parts<What>::operator();
  using complex_numbers_have_no_order<What>::operator();
  using ranks_lack_an_executor::operator();
  using function_gives_no_element<What>::operator();

  // A pointer and a count.
  template <class T, ONEFOLD_WHERE(takes<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const executor& where, const T* input, std::uint64_t count,
                                                  const options& how = {}) const {
    return value<T>(where, {input, count}, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const executor& where, const T* input, std::uint64_t count, M modifier,
                                                     const options& how = {}) const {
    return value<T>(where, {input, count}, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const executor& where, const T* input, std::uint64_t count, M first,
                                                        N second, const options& how = {}) const {
    return value<T>(where, {input, count}, how, first, second);
  }
  template <class T, ONEFOLD_WHERE(takes<What, T>())>
  [[nodiscard]] auto operator()(const T* input, std::uint64_t count, const options& how = {}) const {
    return value<T>(best(), {input, count}, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes<What, T, M>())>
  [[nodiscard]] auto operator()(const T* input, std::uint64_t count, M modifier, const options& how = {}) const {
    return value<T>(best(), {input, count}, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const T* input, std::uint64_t count, M first, N second, const options& how = {}) const {
    return value<T>(best(), {input, count}, how, first, second);
  }

  // A range.
  template <class R, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const executor& where, const R& input, const options& how = {}) const {
    return value<T>(where, view_of(input), how);
  }
  template <class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const executor& where, const R& input, M modifier,
                                                     const options& how = {}) const {
    return value<T>(where, view_of(input), how, modifier);
  }
  template <class R, class M, class N, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const executor& where, const R& input, M first, N second,
                                                        const options& how = {}) const {
    return value<T>(where, view_of(input), how, first, second);
  }
  template <class R, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T>())>
  [[nodiscard]] auto operator()(const R& input, const options& how = {}) const {
    return value<T>(best(), view_of(input), how);
  }
  template <class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M>())>
  [[nodiscard]] auto operator()(const R& input, M modifier, const options& how = {}) const {
    return value<T>(best(), view_of(input), how, modifier);
  }
  template <class R, class M, class N, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const R& input, M first, N second, const options& how = {}) const {
    return value<T>(best(), view_of(input), how, first, second);
  }

  // A function of the index: `over` is a number of indices, or a box.
  template <class S, class F, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F>::value)>
  [[nodiscard]] index_result_t<What, space_of<S>, F> operator()(const executor& where, const S& over, F&& f,
                                                                const options& how = {}) const {
    return of_function<OnDevice>(where, over, f, how);
  }
  template <class S, class F, class M, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F, void, M>::value)>
  [[nodiscard]] index_result_t<What, space_of<S>, F, M> operator()(const executor& where, const S& over, F&& f, M modifier,
                                                                   const options& how = {}) const {
    return of_function<OnDevice>(where, over, f, how, modifier);
  }
  template <class S, class F, class M, class N, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<What, S, F, void, M, N>::value)>
  [[nodiscard]] index_result_t<What, space_of<S>, F, M, N> operator()(const executor& where, const S& over, F&& f, M first,
                                                                      N second, const options& how = {}) const {
    return of_function<OnDevice>(where, over, f, how, first, second);
  }
  template <class S, class F, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F>::value)>
  [[nodiscard]] auto operator()(const S& over, F&& f, const options& how = {}) const {
    return of_function<OnDevice>(best(), over, f, how);
  }
  template <class S, class F, class M, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F, void, M>::value)>
  [[nodiscard]] auto operator()(const S& over, F&& f, M modifier, const options& how = {}) const {
    return of_function<OnDevice>(best(), over, f, how, modifier);
  }
  template <class S, class F, class M, class N, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<What, S, F, void, M, N>::value)>
  [[nodiscard]] auto operator()(const S& over, F&& f, M first, N second, const options& how = {}) const {
    return of_function<OnDevice>(best(), over, f, how, first, second);
  }

 private:
  template <bool OnDevice, class S, class F, class... M>
  static index_result_t<What, space_of<S>, F, M...> of_function(const executor& where, const S& over, F& f, const options& how,
                                                                M... modifiers) {
    index_result_t<What, space_of<S>, F, M...> result;
    run_function<OnDevice, What>(where, over, f, &result, true, how, modifiers...);
    return result;
  }
  template <class T, class... M>
  static form_result_t<What, T, M...> value(const executor& where, array_view<T> input, const options& how, M... modifiers) {
    form_result_t<What, T, M...> result;
    run_array<What>(where, input, &result, true, how, modifiers...);
    return result;
  }
};

template <form What>
struct named_reduction_into : reduction_at_into<What>,
                              reduction_of_streams_into<What>,
                              reduction_of_parts_into<What>,
                              no_reduction_into_takes_this {
  using no_reduction_into_takes_this::operator();
  using reduction_at_into<What>::operator();
  using reduction_of_parts_into<What>::operator();
  using reduction_of_streams_into<What>::operator();

  // A pointer and a count.
  template <class T, ONEFOLD_WHERE(takes<What, T>())>
  void operator()(const executor& where, const T* input, std::uint64_t count, form_result_t<What, T>* output,
                  const options& how = {}) const {
    run_array<What>(where, array_view<T>{input, count}, output, false, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes<What, T, M>())>
  void operator()(const executor& where, const T* input, std::uint64_t count, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    run_array<What>(where, array_view<T>{input, count}, output, false, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes<What, T, M, N>())>
  void operator()(const executor& where, const T* input, std::uint64_t count, form_result_t<What, T, M, N>* output, M first,
                  N second, const options& how = {}) const {
    run_array<What>(where, array_view<T>{input, count}, output, false, how, first, second);
  }

  // A range.
  template <class R, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T>())>
  void operator()(const executor& where, const R& input, form_result_t<What, T>* output, const options& how = {}) const {
    run_array<What>(where, view_of(input), output, false, how);
  }
  template <class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M>())>
  void operator()(const executor& where, const R& input, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    run_array<What>(where, view_of(input), output, false, how, modifier);
  }
  template <class R, class M, class N, class T = element_of<const R>, ONEFOLD_WHERE(takes<What, T, M, N>())>
  void operator()(const executor& where, const R& input, form_result_t<What, T, M, N>* output, M first, N second,
                  const options& how = {}) const {
    run_array<What>(where, view_of(input), output, false, how, first, second);
  }

  // A function of the index. Of K values `output` is the first of K results side by side.
  template <class S, class F, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F>::value)>
  void operator()(const executor& where, const S& over, F&& f, typename index_result<What, space_of<S>, F>::one* output,
                  const options& how = {}) const {
    run_function<OnDevice, What>(where, over, f, output, false, how);
  }
  template <class S, class F, class M, bool OnDevice = on_device<F>, ONEFOLD_WHERE(takes_function<What, S, F, void, M>::value)>
  void operator()(const executor& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M>::one* output,
                  M modifier, const options& how = {}) const {
    run_function<OnDevice, What>(where, over, f, output, false, how, modifier);
  }
  template <class S, class F, class M, class N, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<What, S, F, void, M, N>::value)>
  void operator()(const executor& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M, N>::one* output,
                  M first, N second, const options& how = {}) const {
    run_function<OnDevice, What>(where, over, f, output, false, how, first, second);
  }
};

}  // namespace detail
}  // namespace onefold
