#pragma once
/// @file transform.hpp  reduce and transform_reduce: the caller's own operator, and the caller's own function of one to three arrays or of an index.
///
/// Operator   of the library (op::sum, op::prod, op::min, op::max), or any function object: op(a, b) of two values gives a value. It must commute
///            and be associative up to rounding, because the tree pairs values that do not stand side by side; operator_fault() finds one that
///            does not. It needs no identity.
/// Values     what f returns, or the elements: with the library's operators real numbers of 4 or 8 bytes (complex ones add with std::plus); with others any trivially copyable type of up to 64
///            bytes with a default constructor. From f onefold::maybe or std::optional of one where elements are left out.
/// Arrays     ranges, or pointers and one count, of equal length; elements of any type. With cuda() in memory that the GPU can read.
/// init       the result is op(init, tree's value), and init for no elements; it becomes a value, which must not cut anything off (among floats it is rounded). Without one no elements are an
///            error (invalid_argument), but with the library's operators, whose identity it is then.
/// Ranks      `rows.on(where)` stands for the executor (mpi.hpp), each rank giving its part.
/// Order, errors, threads as in reduce.hpp. For cuda() include onefold/device.cuh and compile with nvcc.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/own_calls.hpp>
#include <onefold/detail/unit.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
ONEFOLD_BEGIN_ARITHMETIC

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
void reduce(...) = delete;            // It takes [where,] a range | pointer, n, an operator of two elements [, init][, options]
void reduce_into(...) = delete;       // It takes where, a range | pointer, n, the result's address, an operator [, init][, options]
void transform_reduce(...) = delete;  // It takes [where,] ranges | pointers, n | n | box, an operator, f [, init][, options]
void transform_reduce_into(...) = delete;  // It takes where, ranges | pointers, n | n | box, the address, an operator, f [, init]

ONEFOLD_END_ARITHMETIC
}  // namespace onefold
