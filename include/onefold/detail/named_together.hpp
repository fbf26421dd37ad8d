#pragma once
/// @file named_together.hpp  The calls of reduce_together: several operators, one read.

#include <array>
#include <cstdint>
#include <type_traits>

#include <onefold/detail/array_calls.hpp>
#include <onefold/detail/calls_elsewhere.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/function_calls.hpp>
#include <onefold/executor.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {

template <class Op, class = void>
inline constexpr bool is_operation = false;
template <class Op>
inline constexpr bool is_operation<Op, std::enable_if_t<std::is_same_v<std::decay_t<decltype(Op::id)>, operation>>> = true;

template <class... Ops>
inline constexpr bool are_operators = sizeof...(Ops) >= 1 && sizeof...(Ops) <= most_results && (is_operation<Ops> && ...);

template <class T, class... Ops>
request together_request(const executor& where, array_view<T> input, void* output, bool waits, const operation* operators) {
  request what{where, element_type_of<T>, form::reduce_together, input.data, input.count, output, waits};
  what.results = static_cast<int>(sizeof...(Ops));
  what.operators = operators;
  return what;
}

struct no_together_takes_this {
  void operator()(...) const = delete;  // It takes [where,] a range | pointer, n | n, f | box, f [, options], operators
};
struct no_together_into_takes_this {
  void operator()(...) const = delete;  // It takes where, a range | pointer, n | n, f | box, f, the address [, options], operators
};

struct together_of_ranks {
  template <class P, class T, class... Ops, ONEFOLD_WHERE(is_over_ranks<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, const options& how, Ops... ops) const {
    return where.together(array_view<T>{input, count}, how, ops...);
  }
  template <class P, class T, class... Ops, ONEFOLD_WHERE(is_over_ranks<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, Ops... ops) const {
    return where.together(array_view<T>{input, count}, {}, ops...);
  }
  template <class P, class R, class... Ops, ONEFOLD_WHERE(is_over_ranks<P>&& is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const R& input, const options& how, Ops... ops) const {
    return where.together(view_of(input), how, ops...);
  }
  template <class P, class R, class... Ops, ONEFOLD_WHERE(is_over_ranks<P>&& is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const R& input, Ops... ops) const {
    return where.together(view_of(input), {}, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, const options& how, Ops... ops) const {
    return where.function_together(over, f, how, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_over_ranks<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, Ops... ops) const {
    return where.function_together(over, f, {}, ops...);
  }
};

struct together_of_parts {
  template <class P, class X, class... Ops, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const X& input, const options& how, Ops... ops) const {
    return where.together(where.parts_of(input), how, ops...);
  }
  template <class P, class X, class... Ops, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const X& input, Ops... ops) const {
    return where.together(where.parts_of(input), {}, ops...);
  }
};

struct named_reduce_together : together_of_ranks, together_of_parts, no_together_takes_this {
  using no_together_takes_this::operator();
  using together_of_parts::operator();
  using together_of_ranks::operator();

  template <class T, class... Ops, ONEFOLD_WHERE(is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] std::array<accumulator_t<T, false>, sizeof...(Ops)> operator()(const executor& where, const T* input,
                                                                               std::uint64_t count, const options& how,
                                                                               Ops...) const {
    constexpr operation operators[] = {Ops::id...};
    std::array<accumulator_t<T, false>, sizeof...(Ops)> results;
    run(together_request<T, Ops...>(where, {input, count}, results.data(), true, operators), how);
    return results;
  }
  template <class T, class... Ops, ONEFOLD_WHERE(is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const executor& where, const T* input, std::uint64_t count, Ops... ops) const {
    return (*this)(where, input, count, options{}, ops...);
  }
  template <class R, class... Ops, ONEFOLD_WHERE(is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const executor& where, const R& input, const options& how, Ops... ops) const {
    const auto all = view_of(input);
    return (*this)(where, all.data, all.count, how, ops...);
  }
  template <class R, class... Ops, ONEFOLD_WHERE(is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const executor& where, const R& input, Ops... ops) const {
    return (*this)(where, input, options{}, ops...);
  }
  template <class R, class... Ops, ONEFOLD_WHERE(is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const R& input, Ops... ops) const {
    return (*this)(best(), input, options{}, ops...);
  }

  // f returns a std::array with a value for each operator.
  template <class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const executor& where, const S& over, F&& f, const options& how, Ops... ops) const {
    std::array<typename values_of<space_of<S>, F>::type, sizeof...(Ops)> results;
    store<OnDevice>(where, over, f, results.data(), true, how, ops...);
    return results;
  }
  template <class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const executor& where, const S& over, F&& f, Ops... ops) const {
    return (*this)(where, over, f, options{}, ops...);
  }

  template <bool OnDevice, class S, class F, class How, class... Ops>
  static void store(const executor& where, const S& over, F& f, void* output, bool waits, const How& how, Ops...) {
    using Space = space_of<S>;
    using callback = block_callback<Space, F>;
    static_assert(callback::results == static_cast<int>(sizeof...(Ops)), "reduce_together takes an operator for each value of f");
    static_assert(!callback::can_be_absent, "reduce_together takes no absent values: make a call for each operator");
    const Space space = as_space(over);
    constexpr operation operators[] = {Ops::id...};
    callback values(space, f);
    const auto device = device_side<OnDevice>::of_operators(space, f, Ops{}...);
    auto what = together_request<typename callback::element, Ops...>(where, {nullptr, space.size()}, output, waits, operators);
    what.source = values.source();
    what.device = device.row();
    values.run(what, how);
  }
};

struct together_of_streams_into {
  template <class P, class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const P& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, const options& how,
                  Ops... ops) const {
    where.template function_together_into<OnDevice>(over, f, output, how, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_over_streams<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const P& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, Ops... ops) const {
    where.template function_together_into<OnDevice>(over, f, output, options{}, ops...);
  }
};

struct together_of_parts_into {
  template <class P, class X, class... Ops, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& is_real<T>&& are_operators<Ops...>)>
  void operator()(const P& where, const X& input, const outputs<accumulator_t<T, false>>& to, const options& how,
                  Ops... ops) const {
    where.together_into(where.parts_of(input), to, how, ops...);
  }
  template <class P, class X, class... Ops, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_on_parts<P>&& is_real<T>&& are_operators<Ops...>)>
  void operator()(const P& where, const X& input, const outputs<accumulator_t<T, false>>& to, Ops... ops) const {
    (*this)(where, input, to, options{}, ops...);
  }
};

struct named_reduce_together_into : together_of_streams_into, together_of_parts_into, no_together_into_takes_this {
  using no_together_into_takes_this::operator();
  using together_of_parts_into::operator();
  using together_of_streams_into::operator();

  template <class T, class... Ops, ONEFOLD_WHERE(is_real<T>&& are_operators<Ops...>)>
  void operator()(const executor& where, const T* input, std::uint64_t count, accumulator_t<T, false>* output, const options& how,
                  Ops...) const {
    constexpr operation operators[] = {Ops::id...};
    run(together_request<T, Ops...>(where, {input, count}, output, false, operators), how);
  }
  template <class T, class... Ops, ONEFOLD_WHERE(is_real<T>&& are_operators<Ops...>)>
  void operator()(const executor& where, const T* input, std::uint64_t count, accumulator_t<T, false>* output, Ops... ops) const {
    (*this)(where, input, count, output, options{}, ops...);
  }
  template <class R, class... Ops, ONEFOLD_WHERE(is_real<element_of<const R>>&& are_operators<Ops...>)>
  void operator()(const executor& where, const R& input, accumulator_t<element_of<const R>, false>* output, const options& how,
                  Ops... ops) const {
    const auto all = view_of(input);
    (*this)(where, all.data, all.count, output, how, ops...);
  }
  template <class R, class... Ops, ONEFOLD_WHERE(is_real<element_of<const R>>&& are_operators<Ops...>)>
  void operator()(const executor& where, const R& input, accumulator_t<element_of<const R>, false>* output, Ops... ops) const {
    (*this)(where, input, output, options{}, ops...);
  }
  template <class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const executor& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, const options& how,
                  Ops... ops) const {
    named_reduce_together::store<OnDevice>(where, over, f, output, false, how, ops...);
  }
  template <class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const executor& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, Ops... ops) const {
    named_reduce_together::store<OnDevice>(where, over, f, output, false, options{}, ops...);
  }
};

}  // namespace detail
}  // namespace onefold
