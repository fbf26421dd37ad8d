#pragma once
/// @file transform.hpp  reduce and transform_reduce: the caller's own operator, and the caller's own function of one to three arrays or of an index.
///
/// Operator   of the library (op::sum, op::prod, op::min, op::max), or any function object: op(a, b) of two values gives a value. It must commute
///            and be associative up to rounding, because the tree pairs values that do not stand side by side; operator_fault() finds one that
///            does not. It needs no identity.
/// Values     what f returns, or the elements: with the library's operators an element type; with others any trivially copyable type of up to 64
///            bytes with a default constructor. From f onefold::maybe or std::optional of one where elements are left out.
/// Arrays     ranges, or pointers and one count, of equal length; elements of any type. With cuda() in memory that the GPU can read.
/// init       the result is op(init, tree's value), and init for no elements; it becomes a value, which must not cut anything off. Without one no elements are an
///            error (invalid_argument), but with the library's operators, whose identity it is then.
/// Ranks      `rows.on(where)` stands for the executor (mpi.hpp), each rank giving its part.
/// Order, errors, threads as in reduce.hpp. For cuda() include onefold/device.cuh and compile with nvcc.

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <onefold/detail/any_side.hpp>
#include <onefold/reduce.hpp>

namespace onefold {

namespace detail {

// How a call names what is reduced: arrays as a function of the index, or a function of the index itself.

inline std::uint64_t one_size(std::uint64_t first) { return first; }
template <class... More>
std::uint64_t one_size(std::uint64_t first, std::uint64_t second, More... more) {
  if (first != second) throw_different_lengths(first, second);
  return one_size(second, more...);
}

/// An operator of the library's as a function object.
template <class Op>
struct operator_function {
  template <class T>
  ONEFOLD_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return Op::template combine<T>(a, b);
  }
};

/// 1 where a predicate is true. Holds a copy of it.
template <class P>
struct one_where {
  mutable P is_true;
  ONEFOLD_ANY_SIDE
  template <class... X>
  ONEFOLD_HOST_DEVICE std::uint64_t operator()(const X&... x) const {
    return is_true(x...) ? 1 : 0;
  }
};

template <bool OnDevice, class Space, class F, class Op, class Init, class How>
void run_own_operator(const executor& where, const Space& space, F& f, Op& op, const Init& init, void* output, bool waits,
                      const How& how) {
  own_reduction<Space, F, Op, Init> own(space, f, op, init);
  if constexpr (OnDevice && std::is_same_v<Init, no_init>) {
    if (space.size() == 0) return own.refuse_nothing();
  }
  const auto device = device_side<OnDevice>::of_own(space, f, op, init);
  request what{where, element_type::f64, form::sum, nullptr, space.size(), output, waits};
  what.own = own.code();
  what.device = device.row();
  const arrays_of<F> arrays(f);
  arrays.tell(what);
  own.run(what, how);
}

/// A function over a space, with any operator.
template <bool OnDevice, class Space, class F, class Op, class Init, class How>
void run_transform(const executor& asked, const Space& space, F& f, Op& op, const Init& init, void* output, bool waits,
                   const How& how) {
  static_assert(!is_built_in_operator<std::decay_t<Op>> || !values_of<Space, F>::is_truth,
                "the library's operators take numbers: what is true is counted by count_if, or asked for by all, any and none");
  const executor where = settled<OnDevice>(asked, f, space.size());
  if constexpr (!is_built_in_operator<std::decay_t<Op>>) {
    run_own_operator<OnDevice>(where, space, f, op, init, output, waits, how);
  } else if constexpr (std::is_same_v<Init, no_init>) {
    run_function<OnDevice, form_of(std::decay_t<Op>::id)>(where, space, f, output, waits, how);
  } else if (value_traits<value_at_t<Space, F>>::can_be_absent || is_for_cuda(where) || how.guarantee == guarantee::exact) {
    // Whether a value was present, on a GPU the result, and the exact sum before it is rounded, are not to be seen here.
    operator_function<std::decay_t<Op>> combine;
    run_own_operator<OnDevice>(where, space, f, combine, init, output, waits, how);
  } else {
    using T = typename values_of<Space, F>::type;
    operator_function<std::decay_t<Op>> combine;
    check_operator<T, decltype(combine), Init>();
    run_function<OnDevice, form_of(std::decay_t<Op>::id)>(where, space, f, output, waits, how);
    auto* const result = static_cast<T*>(output);
    // Not by this unit's compiler, in whatever floating-point environment it is called in.
    const T both[] = {static_cast<T>(init), *result};
    *result = named_reduction<form_of(std::decay_t<Op>::id)>{}(serial(), both, space.size() == 0 ? 1 : 2);
  }
}

template <class Space, class F>
struct over {
  Space space;
  F f;
  using value = typename value_traits<value_at_t<Space, F>>::type;

  template <bool OnDevice, class Op, class Init>
  value reduce(const executor& where, Op& op, const Init& init, const options& how) {
    value result;
    run_transform<OnDevice>(where, space, f, op, init, &result, true, how);
    return result;
  }
  template <bool OnDevice, class Op, class Init>
  void reduce_into(const executor& where, Op& op, const Init& init, value* output, const options& how) {
    run_transform<OnDevice>(where, space, f, op, init, output, false, how);
  }
};

template <class F, class... T>
using over_arrays_t = over<index_line, function_of_arrays<F&, T...>>;

template <class F, class... T>
over_arrays_t<F, T...> over_arrays(F& f, std::uint64_t count, const T*... x) {
  return {{count}, {f, {x...}}};
}
template <class F, class... R>
over_arrays_t<F, element_of<const R>...> over_ranges(F& f, const R&... x) {
  return over_arrays(f, one_size(static_cast<std::uint64_t>(std::size(x))...), std::data(x)...);
}
template <class S, class F>
over<space_of<S>, F&> over_indices(const S& space, F& f) {
  return {as_space(space), f};
}

template <class R>
inline constexpr bool is_range = !std::is_void_v<element_of<const R>>;
template <class Init>
inline constexpr bool is_init = !std::is_same_v<std::decay_t<Init>, options>;
template <class Op, class T>
inline constexpr bool is_operator_on =
    is_built_in_operator<std::decay_t<Op>>
        ? is_full_element<T>
        : std::is_invocable_v<std::decay_t<Op>&, std::add_lvalue_reference_t<const T>, std::add_lvalue_reference_t<const T>>;
template <class F, class... X>
inline constexpr bool is_function_of = std::is_invocable_v<std::decay_t<F>&, std::add_lvalue_reference_t<const X>...>;

}  // namespace detail

/// transform_reduce of a range: op over f at each element, or each index.
template <class R, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, Op&& op, F&& f, const options& how = {}) {
  return detail::over_ranges(f, x).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class R, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>)>
[[nodiscard]] auto transform_reduce(const R& x, Op&& op, F&& f, const options& how = {}) {
  return detail::over_ranges(f, x).template reduce<OnDevice>(best(), op, detail::no_init{}, how);
}
template <class R, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_ranges(f, x).template reduce<OnDevice>(where, op, init, how);
}
template <class R, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const R& x, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_ranges(f, x).template reduce<OnDevice>(best(), op, init, how);
}

/// transform_reduce of two ranges: op over f at each element, or each index.
template <class R, class S, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, const S& y, Op&& op, F&& f, const options& how = {}) {
  return detail::over_ranges(f, x, y).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class R, class S, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>)>
[[nodiscard]] auto transform_reduce(const R& x, const S& y, Op&& op, F&& f, const options& how = {}) {
  return detail::over_ranges(f, x, y).template reduce<OnDevice>(best(), op, detail::no_init{}, how);
}
template <class R, class S, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_function_of<
                            F, detail::element_of<const R>, detail::element_of<const S>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, const S& y, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::over_ranges(f, x, y).template reduce<OnDevice>(where, op, init, how);
}
template <class R, class S, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_function_of<
                            F, detail::element_of<const R>, detail::element_of<const S>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const R& x, const S& y, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_ranges(f, x, y).template reduce<OnDevice>(best(), op, init, how);
}

/// transform_reduce of three ranges: op over f at each element, or each index.
template <class R, class S, class Q, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&& detail::is_function_of<
                        F, detail::element_of<const R>, detail::element_of<const S>, detail::element_of<const Q>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, const S& y, const Q& z, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::over_ranges(f, x, y, z).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class R, class S, class Q, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&& detail::is_function_of<
                        F, detail::element_of<const R>, detail::element_of<const S>, detail::element_of<const Q>>)>
[[nodiscard]] auto transform_reduce(const R& x, const S& y, const Q& z, Op&& op, F&& f, const options& how = {}) {
  return detail::over_ranges(f, x, y, z).template reduce<OnDevice>(best(), op, detail::no_init{}, how);
}
template <class R, class S, class Q, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>,
                                                   detail::element_of<const Q>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const R& x, const S& y, const Q& z, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::over_ranges(f, x, y, z).template reduce<OnDevice>(where, op, init, how);
}
template <class R, class S, class Q, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>,
                                                   detail::element_of<const Q>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const R& x, const S& y, const Q& z, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_ranges(f, x, y, z).template reduce<OnDevice>(best(), op, init, how);
}

/// transform_reduce over 0 .. n - 1, or over a box: op over f(i), f(j, i) or f(k, j, i).
template <class N, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>)>
[[nodiscard]] auto transform_reduce(const executor& where, const N& n, Op&& op, F&& f, const options& how = {}) {
  return detail::over_indices(n, f).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class N, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>)>
[[nodiscard]] auto transform_reduce(const N& n, Op&& op, F&& f, const options& how = {}) {
  return detail::over_indices(n, f).template reduce<OnDevice>(best(), op, detail::no_init{}, how);
}
template <class N, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const N& n, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_indices(n, f).template reduce<OnDevice>(where, op, init, how);
}
template <class N, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const N& n, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::over_indices(n, f).template reduce<OnDevice>(best(), op, init, how);
}

/// transform_reduce of a pointer: op over f at each element, or each index.
template <class T, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::over_arrays(f, count, x).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class T, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, std::uint64_t count, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::over_arrays(f, count, x).template reduce<OnDevice>(where, op, init, how);
}

/// transform_reduce of two pointers: op over f at each element, or each index.
template <class T, class U, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::over_arrays(f, count, x, y).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class T, class U, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f,
                                    const Init& init, const options& how = {}) {
  return detail::over_arrays(f, count, x, y).template reduce<OnDevice>(where, op, init, how);
}

/// transform_reduce of three pointers: op over f at each element, or each index.
template <class T, class U, class V, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U, V>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::over_arrays(f, count, x, y, z).template reduce<OnDevice>(where, op, detail::no_init{}, how);
}
template <class T, class U, class V, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U, V>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const executor& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const Init& init, const options& how = {}) {
  return detail::over_arrays(f, count, x, y, z).template reduce<OnDevice>(where, op, init, how);
}

// The same, stored at `output` as the *_into calls of reduce.hpp do.

template <class R, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>)>
void transform_reduce_into(const executor& where, const R& x, Result* output, Op&& op, F&& f, const options& how = {}) {
  detail::over_ranges(f, x).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class R, class Result, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const R& x, Result* output, Op&& op, F&& f, const Init& init,
                           const options& how = {}) {
  detail::over_ranges(f, x).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class R, class S, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>)>
void transform_reduce_into(const executor& where, const R& x, const S& y, Result* output, Op&& op, F&& f, const options& how = {}) {
  detail::over_ranges(f, x, y).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <
    class R, class S, class Result, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
    ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&&
                      detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>&& detail::is_init<Init> &&
                  !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const R& x, const S& y, Result* output, Op&& op, F&& f, const Init& init,
                           const options& how = {}) {
  detail::over_ranges(f, x, y).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class R, class S, class Q, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&& detail::is_function_of<
                        F, detail::element_of<const R>, detail::element_of<const S>, detail::element_of<const Q>>)>
void transform_reduce_into(const executor& where, const R& x, const S& y, const Q& z, Result* output, Op&& op, F&& f,
                           const options& how = {}) {
  detail::over_ranges(f, x, y, z).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class R, class S, class Q, class Result, class Op, class F, class Init,
          bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>,
                                                   detail::element_of<const Q>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const R& x, const S& y, const Q& z, Result* output, Op&& op, F&& f,
                           const Init& init, const options& how = {}) {
  detail::over_ranges(f, x, y, z).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class N, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>)>
void transform_reduce_into(const executor& where, const N& n, Result* output, Op&& op, F&& f, const options& how = {}) {
  detail::over_indices(n, f).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class N, class Result, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_index_space<N>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const N& n, Result* output, Op&& op, F&& f, const Init& init,
                           const options& how = {}) {
  detail::over_indices(n, f).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class T, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T>)>
void transform_reduce_into(const executor& where, const T* x, std::uint64_t count, Result* output, Op&& op, F&& f,
                           const options& how = {}) {
  detail::over_arrays(f, count, x).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class T, class Result, class Op, class F, class Init, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const T* x, std::uint64_t count, Result* output, Op&& op, F&& f, const Init& init,
                           const options& how = {}) {
  detail::over_arrays(f, count, x).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class T, class U, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U>)>
void transform_reduce_into(const executor& where, const T* x, const U* y, std::uint64_t count, Result* output, Op&& op, F&& f,
                           const options& how = {}) {
  detail::over_arrays(f, count, x, y).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class T, class U, class Result, class Op, class F, class Init,
          bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const T* x, const U* y, std::uint64_t count, Result* output, Op&& op, F&& f,
                           const Init& init, const options& how = {}) {
  detail::over_arrays(f, count, x, y).template reduce_into<OnDevice>(where, op, init, output, how);
}

template <class T, class U, class V, class Result, class Op, class F, bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U, V>)>
void transform_reduce_into(const executor& where, const T* x, const U* y, const V* z, std::uint64_t count, Result* output, Op&& op,
                           F&& f, const options& how = {}) {
  detail::over_arrays(f, count, x, y, z).template reduce_into<OnDevice>(where, op, detail::no_init{}, output, how);
}
template <class T, class U, class V, class Result, class Op, class F, class Init,
          bool OnDevice = detail::on_device<F>&& detail::on_device<Op>,
          ONEFOLD_WHERE(detail::is_function_of<F, T, U, V>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
void transform_reduce_into(const executor& where, const T* x, const U* y, const V* z, std::uint64_t count, Result* output, Op&& op,
                           F&& f, const Init& init, const options& how = {}) {
  detail::over_arrays(f, count, x, y, z).template reduce_into<OnDevice>(where, op, init, output, how);
}

// Elements as they are. With the library's operators and without an initial value these are sum, prod, min and max.

/// Combines the elements with `op` and returns the value; waits for it.
template <class R, class Op, ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>)>
[[nodiscard]] auto reduce(const executor& where, const R& x, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, how);
  else
    return transform_reduce(where, x, op, detail::identity_function{}, how);
}
/// The same on best().
template <class R, class Op, ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>)>
[[nodiscard]] auto reduce(const R& x, Op&& op, const options& how = {}) {
  return onefold::reduce(best(), x, op, how);
}
/// The same, stored at `output`.
template <class R, class Op, ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>)>
void reduce_into(const executor& where, const R& x, detail::element_of<const R>* output, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    detail::named_reduction_into<form_of(std::decay_t<Op>::id)>{}(where, x, output, how);
  else
    transform_reduce_into(where, x, output, op, detail::identity_function{}, how);
}

/// Combines the elements with `op` and returns the value; waits for it.
template <class R, class Op, class Init,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto reduce(const executor& where, const R& x, Op&& op, const Init& init, const options& how = {}) {
  return transform_reduce(where, x, op, detail::identity_function{}, init, how);
}
/// The same on best().
template <class R, class Op, class Init,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto reduce(const R& x, Op&& op, const Init& init, const options& how = {}) {
  return onefold::reduce(best(), x, op, init, how);
}
/// The same, stored at `output`.
template <class R, class Op, class Init,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
void reduce_into(const executor& where, const R& x, detail::element_of<const R>* output, Op&& op, const Init& init,
                 const options& how = {}) {
  transform_reduce_into(where, x, output, op, detail::identity_function{}, init, how);
}

/// Combines the elements with `op` and returns the value; waits for it.
template <class T, class Op, ONEFOLD_WHERE(detail::is_operator_on<Op, T>)>
[[nodiscard]] auto reduce(const executor& where, const T* x, std::uint64_t count, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, count, how);
  else
    return transform_reduce(where, x, count, op, detail::identity_function{}, how);
}
/// The same on best().
template <class T, class Op, ONEFOLD_WHERE(detail::is_operator_on<Op, T>)>
[[nodiscard]] auto reduce(const T* x, std::uint64_t count, Op&& op, const options& how = {}) {
  return onefold::reduce(best(), x, count, op, how);
}
/// The same, stored at `output`.
template <class T, class Op, ONEFOLD_WHERE(detail::is_operator_on<Op, T>)>
void reduce_into(const executor& where, const T* x, std::uint64_t count, T* output, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    detail::named_reduction_into<form_of(std::decay_t<Op>::id)>{}(where, x, count, output, how);
  else
    transform_reduce_into(where, x, count, output, op, detail::identity_function{}, how);
}

/// Combines the elements with `op` and returns the value; waits for it.
template <class T, class Op, class Init,
          ONEFOLD_WHERE(detail::is_operator_on<Op, T>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto reduce(const executor& where, const T* x, std::uint64_t count, Op&& op, const Init& init,
                          const options& how = {}) {
  return transform_reduce(where, x, count, op, detail::identity_function{}, init, how);
}
/// The same on best().
template <class T, class Op, class Init,
          ONEFOLD_WHERE(detail::is_operator_on<Op, T>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto reduce(const T* x, std::uint64_t count, Op&& op, const Init& init, const options& how = {}) {
  return onefold::reduce(best(), x, count, op, init, how);
}
/// The same, stored at `output`.
template <class T, class Op, class Init,
          ONEFOLD_WHERE(detail::is_operator_on<Op, T>&& detail::is_init<Init> && !detail::is_range<std::decay_t<Op>>)>
void reduce_into(const executor& where, const T* x, std::uint64_t count, T* output, Op&& op, const Init& init,
                 const options& how = {}) {
  transform_reduce_into(where, x, count, output, op, detail::identity_function{}, init, how);
}

// On several ranks (mpi.hpp): the same calls of arrays and functions, each rank's of its own part. `init` is that of rank 0.

namespace detail {
template <class P, class Over, class Op, class Init>
auto reduce_over_ranks(const P& where, Over&& of_rank, std::uint64_t other_count, Op& op, const Init& init, const options& how) {
  return where.reduce_over(of_rank.space, of_rank.f, other_count, op, init, how);
}
/// A number of indices may be wrong: that is found out where the other ranks learn of it.
template <class S, class F>
over<space_of<S>, F&> over_rank(const S& space, F& f) {
  if constexpr (std::is_integral_v<S>)
    return {index_line{static_cast<std::uint64_t>(space)}, f};
  else
    return {space, f};
}
/// Arrays that may differ in length, which all ranks are told; else there is one count.
template <class First, class... More>
std::uint64_t other_size(std::uint64_t count, const First& first, const More&... more) {
  if (static_cast<std::uint64_t>(std::size(first)) != count) return static_cast<std::uint64_t>(std::size(first));
  if constexpr (sizeof...(More) > 0)
    return other_size(count, more...);
  else
    return count;
}
template <class P, class F, class Op, class Init, class X, class... R>
auto reduce_ranges_over_ranks(const P& where, F& f, Op& op, const Init& init, const options& how, const X& x, const R&... more) {
  const auto count = static_cast<std::uint64_t>(std::size(x));
  return reduce_over_ranks(where, over_arrays(f, count, std::data(x), std::data(more)...), other_size(count, x, more...), op, init,
                           how);
}
}  // namespace detail

template <
    class P, class R, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
    ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x);
}

template <class P, class R, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&&
                            detail::is_function_of<F, detail::element_of<const R>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x);
}

template <class P, class R, class S, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x, y);
}

template <class P, class R, class S, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_function_of<
                            F, detail::element_of<const R>, detail::element_of<const S>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x, y);
}

template <class P, class R, class S, class Q, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(
              detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                  detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>, detail::element_of<const Q>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, const Q& z, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x, y, z);
}

template <class P, class R, class S, class Q, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>,
                                                   detail::element_of<const Q>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, const Q& z, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x, y, z);
}

template <class P, class T, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, std::uint64_t count, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x), count, op, detail::no_init{}, how);
}

template <class P, class T, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, std::uint64_t count, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x), count, op, init, how);
}

template <class P, class T, class U, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T, U>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y), count, op, detail::no_init{}, how);
}

template <class P, class T, class U, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T, U>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y), count, op, init, how);
}

template <class P, class T, class U, class V, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T, U, V>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y, z), count, op, detail::no_init{}, how);
}

template <class P, class T, class U, class V, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<F, T, U, V>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const Init& init, const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y, z), count, op, init, how);
}

template <class P, class N, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto transform_reduce(const P& where, const N& n, Op&& op, F&& f, const options& how = {}) {
  auto indices = detail::over_rank(n, f);
  return detail::reduce_over_ranks(where, indices, indices.space.size(), op, detail::no_init{}, how);
}

template <class P, class N, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_index_space<N>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const N& n, Op&& op, F&& f, const Init& init, const options& how = {}) {
  auto indices = detail::over_rank(n, f);
  return detail::reduce_over_ranks(where, indices, indices.space.size(), op, init, how);
}

template <
    class P, class R, class Op, bool OnDevice = detail::compiles_for_device<P>,
    ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>)>
[[nodiscard]] auto reduce(const P& where, const R& x, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, how);
  else
    return transform_reduce(where, x, op, detail::identity_function{}, how);
}
template <class P, class R, class Op, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&&
                            detail::is_operator_on<Op, detail::element_of<const R>>&& detail::is_init<Init>)>
[[nodiscard]] auto reduce(const P& where, const R& x, Op&& op, const Init& init, const options& how = {}) {
  return transform_reduce(where, x, op, detail::identity_function{}, init, how);
}
template <class P, class T, class Op, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_operator_on<Op, T>)>
[[nodiscard]] auto reduce(const P& where, const T* x, std::uint64_t count, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, count, how);
  else
    return transform_reduce(where, x, count, op, detail::identity_function{}, how);
}
template <class P, class T, class Op, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_operator_on<Op, T>&& detail::is_init<Init>)>
[[nodiscard]] auto reduce(const P& where, const T* x, std::uint64_t count, Op&& op, const Init& init, const options& how = {}) {
  return transform_reduce(where, x, count, op, detail::identity_function{}, init, how);
}
template <class P, class N, class F, class Op, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto reduce(const P& where, const N& n, F&& f, Op&& op, const options& how = {}) {
  return transform_reduce(where, n, op, f, how);
}
template <
    class P, class R, class C, bool OnDevice = detail::compiles_for_device<P>,
    ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_range<R>&& detail::is_function_of<C, detail::element_of<const R>>)>
[[nodiscard]] auto count_if(const P& where, const R& x, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, x, op::sum{}, one, how);
}
template <class P, class T, class C, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_function_of<C, T>)>
[[nodiscard]] auto count_if(const P& where, const T* x, std::uint64_t count, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, x, count, op::sum{}, one, how);
}
template <class P, class N, class C, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_place_of_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto count_if(const P& where, const N& n, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, n, op::sum{}, one, how);
}

// How many.

/// For how many elements, or indices, the predicate is true. It is copied.
template <class R, class P, bool OnDevice = detail::on_device<P>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<P, detail::element_of<const R>>)>
[[nodiscard]] std::uint64_t count_if(const executor& where, const R& x, P&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  return detail::over_ranges(one, x).template reduce<OnDevice>(where, add, detail::no_init{}, how);
}
template <class T, class P, bool OnDevice = detail::on_device<P>, ONEFOLD_WHERE(detail::is_function_of<P, T>)>
[[nodiscard]] std::uint64_t count_if(const executor& where, const T* x, std::uint64_t count, P&& predicate,
                                     const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  return detail::over_arrays(one, count, x).template reduce<OnDevice>(where, add, detail::no_init{}, how);
}
template <class N, class P, bool OnDevice = detail::on_device<P>, ONEFOLD_WHERE(detail::is_index_space<N>)>
[[nodiscard]] std::uint64_t count_if(const executor& where, const N& n, P&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  return detail::over_indices(n, one).template reduce<OnDevice>(where, add, detail::no_init{}, how);
}
/// The same on best().
template <class R, class P, ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<P, detail::element_of<const R>>)>
[[nodiscard]] std::uint64_t count_if(const R& x, P&& predicate, const options& how = {}) {
  return onefold::count_if(best(), x, predicate, how);
}
/// The same, stored at `output`.
template <class R, class P, bool OnDevice = detail::on_device<P>,
          ONEFOLD_WHERE(detail::is_range<R>&& detail::is_function_of<P, detail::element_of<const R>>)>
void count_if_into(const executor& where, const R& x, std::uint64_t* output, P&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  detail::over_ranges(one, x).template reduce_into<OnDevice>(where, add, detail::no_init{}, output, how);
}
template <class T, class P, bool OnDevice = detail::on_device<P>, ONEFOLD_WHERE(detail::is_function_of<P, T>)>
void count_if_into(const executor& where, const T* x, std::uint64_t count, std::uint64_t* output, P&& predicate,
                   const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  detail::over_arrays(one, count, x).template reduce_into<OnDevice>(where, add, detail::no_init{}, output, how);
}
template <class N, class P, bool OnDevice = detail::on_device<P>, ONEFOLD_WHERE(detail::is_index_space<N>)>
void count_if_into(const executor& where, const N& n, std::uint64_t* output, P&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<P>> one{predicate};
  op::sum add;
  detail::over_indices(n, one).template reduce_into<OnDevice>(where, add, detail::no_init{}, output, how);
}

// Over indices.

/// op over f(i): transform_reduce with its arguments in the order of sum(n, f).
template <class N, class F, class Op, ONEFOLD_WHERE(detail::is_index_space<N>)>
[[nodiscard]] auto reduce(const executor& where, const N& n, F&& f, Op&& op, const options& how = {}) {
  return transform_reduce(where, n, op, f, how);
}

// Where no other call fits these do, and compilers show the one line that says it is deleted, and what it takes, in the place of all the others.
void reduce(...) = delete;       // It takes [where,] a range | pointer, n, an operator of two elements [, init][, options]
void reduce_into(...) = delete;  // It takes where, a range | pointer, n, the result's address, an operator [, init][, options]
void transform_reduce(...) =
    delete;  // It takes [where,] ranges | pointers, n | n | box, an operator of two values, f [, init][, options]
void transform_reduce_into(...) =
    delete;  // It takes where, ranges | pointers, n | n | box, the result's address, an operator, f [, init][, options]

}  // namespace onefold
