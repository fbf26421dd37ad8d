#pragma once
/// @file reduce.hpp  The front door: reduce and the named forms sum, prod, min, max, dot, sum_of_squares, norm1 (asum), norm2,
/// norm_inf and mean, each with a form that returns the value and one, *_into, that stores it.
///
/// Input      a contiguous range (std::vector, std::span, an array, ...) or a pointer and a count, in memory that the executor can
///            read: host memory for serial() and openmp(), device, managed or registered host memory for cuda().
/// Result     for no elements the operator's identity; 0 for dot, sums of squares and norms; NaN for mean (the pointer may then be
///            null). A NaN result is always the quiet NaN with sign 0 and no payload. Integers wrap. See docs/numerics.md for the
///            rounding error of floats.
/// Order      tree v1 (docs/order.md): the same bits on every backend, unless options::guarantee or a named variant say otherwise.
/// Cost       one read of the input.
/// Errors     onefold::error with one of: invalid_argument, null_pointer, misaligned_pointer, device_pointer, host_pointer,
///            wrong_device, unknown_variant, unsupported, guarantee_not_met, backend_not_built, backend_unavailable,
///            out_of_memory, device_lost, device_error, kokkos_finalized. The input is never changed.
/// Threads    safe from several host threads at once, on the same executor too.

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>
#include <onefold/executor.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// A range whose elements lie side by side in memory and are of a type that onefold knows.
template <class R>
concept contiguous_elements =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// Asks for another type to accumulate in: `sum(x, accumulate_as<double>)` of floats adds doubles and returns one. For float elements
/// and double, in every form but min, max and norm_inf, which do not round.
template <std::same_as<double> A>
struct accumulate_as_t {};
template <std::same_as<double> A>
inline constexpr accumulate_as_t<A> accumulate_as{};

namespace detail {

template <class R>
using element_of = std::remove_cv_t<std::ranges::range_value_t<R>>;

template <contiguous_elements R, contiguous_elements S>
std::uint64_t common_size(const R& x, const S& y) {
  const auto size = static_cast<std::uint64_t>(std::ranges::size(x));
  if (const auto other = static_cast<std::uint64_t>(std::ranges::size(y)); other != size) throw_different_lengths(size, other);
  return size;
}

// The named forms are function objects, as the algorithms of std::ranges are: one definition serves every form, and argument-
// dependent lookup never confuses onefold::min with std::min.

template <form What>
struct named_reduction {
  template <element T>
  [[nodiscard]] result_t<What, T> operator()(const executor& where, const T* input, std::uint64_t count,
                                             const options& how = {}) const {
    result_t<What, T> value;
    run({where, element_type_of<T>, What, input, count, &value, true}, how);
    return value;
  }
  template <contiguous_elements R>
  [[nodiscard]] auto operator()(const executor& where, const R& input, const options& how = {}) const {
    return (*this)(where, std::ranges::data(input), static_cast<std::uint64_t>(std::ranges::size(input)), how);
  }
  template <element T>
  [[nodiscard]] auto operator()(const T* input, std::uint64_t count, const options& how = {}) const {
    return (*this)(best(), input, count, how);
  }
  template <contiguous_elements R>
  [[nodiscard]] auto operator()(const R& input, const options& how = {}) const {
    return (*this)(best(), input, how);
  }

  template <std::same_as<float> T>
  requires(can_be_wide(element_type::f32, What)) [[nodiscard]] double operator()(const executor& where, const T* input,
                                                                                 std::uint64_t count, accumulate_as_t<double>,
                                                                                 const options& how = {}) const {
    double value;
    run({where, element_type::f32, What, input, count, &value, true, nullptr, true}, how);
    return value;
  }
  template <contiguous_elements R>
  requires(std::same_as<element_of<R>, float>&& can_be_wide(element_type::f32, What)) [[nodiscard]] double operator()(
      const executor& where, const R& input, accumulate_as_t<double> as, const options& how = {}) const {
    return (*this)(where, std::ranges::data(input), static_cast<std::uint64_t>(std::ranges::size(input)), as, how);
  }
  template <std::same_as<float> T>
  requires(can_be_wide(element_type::f32, What)) [[nodiscard]] double operator()(const T* input, std::uint64_t count,
                                                                                 accumulate_as_t<double> as,
                                                                                 const options& how = {}) const {
    return (*this)(best(), input, count, as, how);
  }
  template <contiguous_elements R>
  requires(std::same_as<element_of<R>, float>&& can_be_wide(element_type::f32, What)) [[nodiscard]] double operator()(
      const R& input, accumulate_as_t<double> as, const options& how = {}) const {
    return (*this)(best(), input, as, how);
  }
};

template <form What>
struct named_reduction_into {
  template <element T>
  void operator()(const executor& where, const T* input, std::uint64_t count, result_t<What, T>* output,
                  const options& how = {}) const {
    run({where, element_type_of<T>, What, input, count, output, false}, how);
  }
  template <contiguous_elements R>
  void operator()(const executor& where, const R& input, result_t<What, element_of<R>>* output, const options& how = {}) const {
    (*this)(where, std::ranges::data(input), static_cast<std::uint64_t>(std::ranges::size(input)), output, how);
  }
  template <std::same_as<float> T>
  requires(can_be_wide(element_type::f32, What)) void operator()(const executor& where, const T* input, std::uint64_t count,
                                                                 double* output, accumulate_as_t<double>,
                                                                 const options& how = {}) const {
    run({where, element_type::f32, What, input, count, output, false, nullptr, true}, how);
  }
  template <contiguous_elements R>
  requires(std::same_as<element_of<R>, float>&& can_be_wide(element_type::f32, What)) void operator()(
      const executor& where, const R& input, double* output, accumulate_as_t<double> as, const options& how = {}) const {
    (*this)(where, std::ranges::data(input), static_cast<std::uint64_t>(std::ranges::size(input)), output, as, how);
  }
};

template <class R, class S>
concept same_elements = contiguous_elements<R> && contiguous_elements<S> && std::same_as<element_of<R>, element_of<S>>;

struct named_dot {
  template <element T>
  [[nodiscard]] T operator()(const executor& where, const T* x, const T* y, std::uint64_t count, const options& how = {}) const {
    T value;
    run({where, element_type_of<T>, form::dot, x, count, &value, true, y}, how);
    return value;
  }
  template <class R, class S>
  requires same_elements<R, S>
  [[nodiscard]] auto operator()(const executor& where, const R& x, const S& y, const options& how = {}) const {
    return (*this)(where, std::ranges::data(x), std::ranges::data(y), common_size(x, y), how);
  }
  template <element T>
  [[nodiscard]] T operator()(const T* x, const T* y, std::uint64_t count, const options& how = {}) const {
    return (*this)(best(), x, y, count, how);
  }
  template <class R, class S>
  requires same_elements<R, S>
  [[nodiscard]] auto operator()(const R& x, const S& y, const options& how = {}) const { return (*this)(best(), x, y, how); }

  template <std::same_as<float> T>
  [[nodiscard]] double operator()(const executor& where, const T* x, const T* y, std::uint64_t count, accumulate_as_t<double>,
                                  const options& how = {}) const {
    double value;
    run({where, element_type::f32, form::dot, x, count, &value, true, y, true}, how);
    return value;
  }
  template <class R, class S>
  requires(same_elements<R, S>&& std::same_as<element_of<R>, float>) [[nodiscard]] double operator()(
      const executor& where, const R& x, const S& y, accumulate_as_t<double> as, const options& how = {}) const {
    return (*this)(where, std::ranges::data(x), std::ranges::data(y), common_size(x, y), as, how);
  }
  template <std::same_as<float> T>
  [[nodiscard]] double operator()(const T* x, const T* y, std::uint64_t count, accumulate_as_t<double> as,
                                  const options& how = {}) const {
    return (*this)(best(), x, y, count, as, how);
  }
  template <class R, class S>
  requires(same_elements<R, S>&& std::same_as<element_of<R>, float>) [[nodiscard]] double operator()(
      const R& x, const S& y, accumulate_as_t<double> as, const options& how = {}) const {
    return (*this)(best(), x, y, as, how);
  }
};

struct named_dot_into {
  template <element T>
  void operator()(const executor& where, const T* x, const T* y, std::uint64_t count, T* output, const options& how = {}) const {
    run({where, element_type_of<T>, form::dot, x, count, output, false, y}, how);
  }
  template <class R, class S>
  requires same_elements<R, S>
  void operator()(const executor& where, const R& x, const S& y, element_of<R>* output, const options& how = {}) const {
    (*this)(where, std::ranges::data(x), std::ranges::data(y), common_size(x, y), output, how);
  }
  template <std::same_as<float> T>
  void operator()(const executor& where, const T* x, const T* y, std::uint64_t count, double* output, accumulate_as_t<double>,
                  const options& how = {}) const {
    run({where, element_type::f32, form::dot, x, count, output, false, y, true}, how);
  }
  template <class R, class S>
  requires(same_elements<R, S>&& std::same_as<element_of<R>, float>) void operator()(const executor& where, const R& x, const S& y,
                                                                                     double* output, accumulate_as_t<double> as,
                                                                                     const options& how = {}) const {
    (*this)(where, std::ranges::data(x), std::ranges::data(y), common_size(x, y), output, as, how);
  }
};

}  // namespace detail

// Forms that return the value wait for it: `sum([where,] input [, accumulate_as<double>] [, options])`, where input is a range, or a
// pointer and a count. Without an executor they run on best().

inline constexpr detail::named_reduction<form::sum> sum{};                        ///< x_0 + x_1 + ...
inline constexpr detail::named_reduction<form::prod> prod{};                      ///< x_0 * x_1 * ...
inline constexpr detail::named_reduction<form::min> min{};                        ///< IEEE 754-2019 minimum
inline constexpr detail::named_reduction<form::max> max{};                        ///< IEEE 754-2019 maximum
inline constexpr detail::named_reduction<form::sum_of_squares> sum_of_squares{};  ///< sum of x_i * x_i, each rounded
inline constexpr detail::named_reduction<form::norm1> norm1{};        ///< sum of |x_i|; of integers as an unsigned integer
inline constexpr detail::named_reduction<form::norm1> asum{};         ///< norm1 under the name that BLAS gives it
inline constexpr detail::named_reduction<form::norm_inf> norm_inf{};  ///< largest |x_i|; of integers as an unsigned integer
/// sqrt(sum of x_i^2), which overflows or underflows only where the norm itself does (docs/order.md); of integers as a double.
inline constexpr detail::named_reduction<form::norm2> norm2{};
inline constexpr detail::named_reduction<form::mean> mean{};  ///< sum over count; of integers accumulated in and returned as double
inline constexpr detail::named_dot dot{};                     ///< dot([where,] x, y [, accumulate_as<double>] [, options])

// Forms that store the value at `output`, ordered on the executor's stream: `sum_into(where, input, output [, ...])`. On cuda() the host
// does not wait and, given options::workspace, nothing is allocated; the CPU executors are done on return.
//
// output   one element that the executor can write: host memory for the CPU executors, device memory or registered (pinned) host
//          memory for cuda(). Must not overlap the input. Unspecified after an error.
// Graphs   on cuda() the call can be captured. What is captured uses the workspace, or else memory that no other call has for as long
//          as the graph or an instance of it lives: two instances of one graph, or graphs and calls with one workspace, must not
//          overlap in time.

inline constexpr detail::named_reduction_into<form::sum> sum_into{};
inline constexpr detail::named_reduction_into<form::prod> prod_into{};
inline constexpr detail::named_reduction_into<form::min> min_into{};
inline constexpr detail::named_reduction_into<form::max> max_into{};
inline constexpr detail::named_reduction_into<form::sum_of_squares> sum_of_squares_into{};
inline constexpr detail::named_reduction_into<form::norm1> norm1_into{};
inline constexpr detail::named_reduction_into<form::norm1> asum_into{};
inline constexpr detail::named_reduction_into<form::norm_inf> norm_inf_into{};
inline constexpr detail::named_reduction_into<form::norm2> norm2_into{};
inline constexpr detail::named_reduction_into<form::mean> mean_into{};
inline constexpr detail::named_dot_into dot_into{};  ///< dot_into(where, x, y, output [, accumulate_as<double>] [, options])

/// Combines `count` elements at `input` with `op` and returns the value; waits for it.
template <element T, built_in_operator Op>
[[nodiscard]] T reduce(const executor& where, const T* input, std::uint64_t count, Op, const options& how = {}) {
  return detail::named_reduction<form_of(Op::id)>{}(where, input, count, how);
}

/// Combines the elements of a range with `op` and returns the value; waits for it.
template <contiguous_elements R, built_in_operator Op>
[[nodiscard]] auto reduce(const executor& where, const R& input, Op, const options& how = {}) {
  return detail::named_reduction<form_of(Op::id)>{}(where, input, how);
}

/// The same on best().
template <element T, built_in_operator Op>
[[nodiscard]] T reduce(const T* input, std::uint64_t count, Op op, const options& how = {}) {
  return reduce(best(), input, count, op, how);
}

/// The same on best().
template <contiguous_elements R, built_in_operator Op>
[[nodiscard]] auto reduce(const R& input, Op op, const options& how = {}) {
  return reduce(best(), input, op, how);
}

/// Combines `count` elements at `input` with `op` and stores the value at `*output`, as the *_into forms above.
template <element T, built_in_operator Op>
void reduce_into(const executor& where, const T* input, std::uint64_t count, T* output, Op, const options& how = {}) {
  detail::named_reduction_into<form_of(Op::id)>{}(where, input, count, output, how);
}

/// The same for a range.
template <contiguous_elements R, built_in_operator Op>
void reduce_into(const executor& where, const R& input, detail::element_of<R>* output, Op op, const options& how = {}) {
  reduce_into(where, std::ranges::data(input), static_cast<std::uint64_t>(std::ranges::size(input)), output, op, how);
}

}  // namespace onefold
