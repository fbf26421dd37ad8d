#pragma once
/// @file transform.hpp  reduce, transform_reduce and count_if over ranks, for mpi.hpp: each rank's call names its own part. `init` is that of rank 0.

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <onefold/transform.hpp>

namespace onefold {

namespace detail {
template <class P, class Over, class Op, class Init>
auto reduce_over_ranks(const P& where, Over&& of_rank, std::uint64_t other_count, Op& op, const Init& init, const options& how) {
  return where.reduce_over(of_rank.space, of_rank.f, other_count, op, init, how);
}
template <class P, class F, class Op, class Init, class X, class... R>
auto reduce_ranges_over_ranks(const P& where, F& f, Op& op, const Init& init, const options& how, const X& x, const R&... more) {
  const auto count = static_cast<std::uint64_t>(std::size(x));
  return reduce_over_ranks(where, over_arrays(f, count, std::data(x), std::data(more)...), other_size(count, x, more...), op, init,
                           how);
}
}  // namespace detail

template <class P, class R, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x);
}

template <class P, class R, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_function_of<F, detail::element_of<const R>>&&
                            detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, Op&& op, F&& f, const Init& init, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x);
}

template <class P, class R, class S, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x, y);
}

template <class P, class R, class S, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_function_of<
                            F, detail::element_of<const R>, detail::element_of<const S>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x, y);
}

template <class P, class R, class S, class Q, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(
              detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                  detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>, detail::element_of<const Q>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, const Q& z, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, detail::no_init{}, how, x, y, z);
}

template <class P, class R, class S, class Q, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_range<S>&& detail::is_range<Q>&&
                            detail::is_function_of<F, detail::element_of<const R>, detail::element_of<const S>,
                                                   detail::element_of<const Q>>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const R& x, const S& y, const Q& z, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_ranges_over_ranks(where, f, op, init, how, x, y, z);
}

template <class P, class T, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, std::uint64_t count, Op&& op, F&& f, const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x), count, op, detail::no_init{}, how);
}

template <class P, class T, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, std::uint64_t count, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x), count, op, init, how);
}

template <class P, class T, class U, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T, U>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y), count, op, detail::no_init{}, how);
}

template <class P, class T, class U, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T, U>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, std::uint64_t count, Op&& op, F&& f, const Init& init,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y), count, op, init, how);
}

template <class P, class T, class U, class V, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T, U, V>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y, z), count, op, detail::no_init{}, how);
}

template <class P, class T, class U, class V, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<F, T, U, V>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const T* x, const U* y, const V* z, std::uint64_t count, Op&& op, F&& f,
                                    const Init& init, const options& how = {}) {
  return detail::reduce_over_ranks(where, detail::over_arrays(f, count, x, y, z), count, op, init, how);
}

template <class P, class N, class Op, class F, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto transform_reduce(const P& where, const N& n, Op&& op, F&& f, const options& how = {}) {
  auto indices = detail::over_rank(n, f);
  return detail::reduce_over_ranks(where, indices, indices.space.size(), op, detail::no_init{}, how);
}

template <class P, class N, class Op, class F, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_index_space<N>&& detail::is_init<Init> &&
                        !detail::is_range<std::decay_t<Op>>)>
[[nodiscard]] auto transform_reduce(const P& where, const N& n, Op&& op, F&& f, const Init& init, const options& how = {}) {
  auto indices = detail::over_rank(n, f);
  return detail::reduce_over_ranks(where, indices, indices.space.size(), op, init, how);
}

template <class P, class R, class Op, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>)>
[[nodiscard]] auto reduce(const P& where, const R& x, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, how);
  else
    return transform_reduce(where, x, op, detail::identity_function{}, how);
}
template <class P, class R, class Op, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_operator_on<Op, detail::element_of<const R>>&&
                            detail::is_init<Init>)>
[[nodiscard]] auto reduce(const P& where, const R& x, Op&& op, const Init& init, const options& how = {}) {
  return transform_reduce(where, x, op, detail::identity_function{}, init, how);
}
template <class P, class T, class Op, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_operator_on<Op, T>)>
[[nodiscard]] auto reduce(const P& where, const T* x, std::uint64_t count, Op&& op, const options& how = {}) {
  if constexpr (is_built_in_operator<std::decay_t<Op>>)
    return detail::named_reduction<form_of(std::decay_t<Op>::id)>{}(where, x, count, how);
  else
    return transform_reduce(where, x, count, op, detail::identity_function{}, how);
}
template <class P, class T, class Op, class Init, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_operator_on<Op, T>&& detail::is_init<Init>)>
[[nodiscard]] auto reduce(const P& where, const T* x, std::uint64_t count, Op&& op, const Init& init, const options& how = {}) {
  return transform_reduce(where, x, count, op, detail::identity_function{}, init, how);
}
template <class P, class N, class F, class Op, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto reduce(const P& where, const N& n, F&& f, Op&& op, const options& how = {}) {
  return transform_reduce(where, n, op, f, how);
}
template <class P, class R, class C, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_range<R>&& detail::is_function_of<C, detail::element_of<const R>>)>
[[nodiscard]] auto count_if(const P& where, const R& x, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, x, op::sum{}, one, how);
}
template <class P, class T, class C, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_function_of<C, T>)>
[[nodiscard]] auto count_if(const P& where, const T* x, std::uint64_t count, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, x, count, op::sum{}, one, how);
}
template <class P, class N, class C, bool OnDevice = detail::compiles_for_device<P>,
          ONEFOLD_WHERE(detail::is_over_ranks<P>&& detail::is_index_space<N>)>
[[nodiscard]] auto count_if(const P& where, const N& n, C&& predicate, const options& how = {}) {
  detail::one_where<std::decay_t<C>> one{predicate};
  return transform_reduce(where, n, op::sum{}, one, how);
}

}  // namespace onefold
