#pragma once
/// @file reduce.hpp  The front door: the named forms sum, prod, min, max, dot, sum_of_squares, norm1 (asum), norm2, norm_inf, mean, min_number,
/// max_number, bit_and, bit_or, bit_xor, count, all, any, none, argmin, argmax, argmin_magnitude, argmax_magnitude, argminmax, minmax and mean_variance, each with a call that returns the value and one, *_into, that stores it; reduce; and reduce_together.
///
/// Input      a contiguous range (std::vector, std::array, std::span, ...) or a pointer and a count, in memory that the executor can
///            read: host memory for serial() and openmp(), any for cuda(), which copies arrays of the host's in pieces. In C++17 ranges are arrays,
///            std::vector, std::array and what has pointers for iterators.
///            Or no array at all: a number n, or a box(), and a function f of the index (see box.hpp): `sum(where, n, f)` is the sum of f(0) ..
///            f(n - 1), with the bits of an array that holds these values. f returns an element; a std::array of up to 16, which are reduced side by
///            side; or, to leave elements out, onefold::maybe or std::optional of one. It is called once for each index, in no order, from several
///            threads at once (openmp(), best()); what it throws reaches the caller, after which the reduction is undone. It may call
///            onefold itself. For cuda() include onefold/device.cuh and compile with nvcc.
/// Result     for no elements the operator's identity; 0 for dot, sums of squares and norms; NaN for mean and mean_variance (the pointer may then be
///            null); an error for argmin and argmax. A NaN result is always the quiet NaN with sign 0 and no payload. Integers wrap. See
///            docs/numerics.md for the rounding error of floats.
/// Order      tree v1 (docs/order.md): the same bits on every backend, unless options::guarantee or a named variant say otherwise.
/// Cost       one read of the input; of host memory on cuda() one copy to the GPU (docs/guarantees.md, "Arrays in host memory").
/// Errors     onefold::error with one of: invalid_argument, null_pointer, misaligned_pointer, device_pointer, host_pointer,
///            wrong_device, unknown_variant, unsupported, guarantee_not_met, backend_not_built, backend_unavailable,
///            out_of_memory, device_lost, device_error, kokkos_finalized. The input is never changed.
/// Threads    safe from several host threads at once, on the same executor too.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/named_dot.hpp>
#include <onefold/detail/named_reductions.hpp>
#include <onefold/detail/named_together.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/types.hpp>

namespace onefold {

namespace detail {

template <class X>
constexpr decltype(auto) passed(std::remove_reference_t<X>& x) noexcept {
  if constexpr (std::is_integral_v<std::decay_t<X>>)
    return static_cast<std::uint64_t>(x);
  else
    return static_cast<X&&>(x);
}

}  // namespace detail

// Calls that return the value wait for it: `sum([where,] input [, accumulate_as<double>] [, options])`, where input is a range, a pointer and a
// count, or a number of indices (or a box) and a function. Without an executor they run on best().

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
inline constexpr detail::named_reduction<form::min_number> min_number{};  ///< IEEE 754-2019 minimumNumber: a NaN counts as absent
inline constexpr detail::named_reduction<form::max_number> max_number{};  ///< IEEE 754-2019 maximumNumber: a NaN counts as absent
inline constexpr detail::named_reduction<form::bit_and> bit_and{};        ///< of integers; of no elements all bits set
inline constexpr detail::named_reduction<form::bit_or> bit_or{};          ///< of integers
inline constexpr detail::named_reduction<form::bit_xor> bit_xor{};        ///< of integers
/// dot([where,] x, y [, accumulate_as<double>] [, options]). x and y may have different types, as float and double: each product is rounded to the type that both
/// become, or to the wider one that accumulate_as asks for, and they are added with the bits of an array of them.
inline constexpr detail::named_dot dot{};

inline constexpr detail::named_reduction<form::argmin> argmin{};  ///< min, and the first index that has it: arg_result
inline constexpr detail::named_reduction<form::argmax> argmax{};  ///< max, and the first index that has it: arg_result
/// The smallest |x_i|, and the first index that has it: arg_result; of integers an unsigned one.
inline constexpr detail::named_reduction<form::argmin_magnitude> argmin_magnitude{};
/// The largest, as BLAS's iamax finds it, which counts from 1 and leaves NaN to chance.
inline constexpr detail::named_reduction<form::argmax_magnitude> argmax_magnitude{};
inline constexpr detail::named_reduction<form::argminmax> argminmax{};  ///< argmin and argmax in one read: argminmax_result
inline constexpr detail::named_reduction<form::minmax> minmax{};        ///< both in one read: minmax_result
/// Mean and variance in one read, without the cancellation of a difference of sums: `mean_variance([where,] x [, ddof{1}]
/// [, accumulate_as<double>] [, options])`. Accumulated in double; of floats two floats, unless accumulate_as<double> asks for doubles.
inline constexpr detail::named_reduction<form::mean_variance> mean_variance{};
/// Several operators in one read, each op::sum, op::prod, op::min or op::max: `auto [s, l] = reduce_together([where,] x [, options], op::sum{}, op::min{})`.
/// Each result has the bits that it has alone. Of functions of the index that return a std::array: operator k for value k.
inline constexpr detail::named_reduce_together reduce_together{};

/// count([where,] input [, options]): how many are not zero, as a std::uint64_t; NaN is not zero. A function, and no object as the others are:
/// too many variables are called so.
template <class... Arguments>
[[nodiscard]] auto count(Arguments&&... arguments)
    -> decltype(detail::named_reduction<form::count>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction<form::count>{}(detail::passed<Arguments>(arguments)...);
}

/// all([where,] input [, options]), any and none: whether all, some or none are not zero. A function of the index may return a bool. Of no elements
/// all and none are true.
template <class... Arguments>
[[nodiscard]] auto all(Arguments&&... arguments)
    -> decltype(detail::named_reduction<form::all>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction<form::all>{}(detail::passed<Arguments>(arguments)...);
}
template <class... Arguments>
[[nodiscard]] auto any(Arguments&&... arguments)
    -> decltype(detail::named_reduction<form::any>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction<form::any>{}(detail::passed<Arguments>(arguments)...);
}
template <class... Arguments>
[[nodiscard]] auto none(Arguments&&... arguments)
    -> decltype(detail::named_reduction<form::none>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction<form::none>{}(detail::passed<Arguments>(arguments)...);
}

// Forms that store the value at `output`, ordered on the executor's stream: `sum_into(where, input, output [, ...])`. On cuda() the host
// does not wait (but for pageable input) and, given options::workspace, nothing is allocated; the CPU executors are done on return.
//
// output   one result (of several side by side, the first) that the executor can write: host memory for the CPU executors, device memory
//          or registered (pinned) host memory for cuda(). Must not overlap the input. Unspecified after an error.
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
inline constexpr detail::named_reduction_into<form::min_number> min_number_into{};
inline constexpr detail::named_reduction_into<form::max_number> max_number_into{};
inline constexpr detail::named_reduction_into<form::bit_and> bit_and_into{};
inline constexpr detail::named_reduction_into<form::bit_or> bit_or_into{};
inline constexpr detail::named_reduction_into<form::bit_xor> bit_xor_into{};
template <class... Arguments>
auto count_into(Arguments&&... arguments)
    -> decltype(detail::named_reduction_into<form::count>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction_into<form::count>{}(detail::passed<Arguments>(arguments)...);
}
template <class... Arguments>
auto all_into(Arguments&&... arguments)
    -> decltype(detail::named_reduction_into<form::all>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction_into<form::all>{}(detail::passed<Arguments>(arguments)...);
}
template <class... Arguments>
auto any_into(Arguments&&... arguments)
    -> decltype(detail::named_reduction_into<form::any>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction_into<form::any>{}(detail::passed<Arguments>(arguments)...);
}
template <class... Arguments>
auto none_into(Arguments&&... arguments)
    -> decltype(detail::named_reduction_into<form::none>{}(detail::passed<Arguments>(arguments)...)) {
  return detail::named_reduction_into<form::none>{}(detail::passed<Arguments>(arguments)...);
}
inline constexpr detail::named_dot_into dot_into{};  ///< dot_into(where, x, y, output [, accumulate_as<double>] [, options])
inline constexpr detail::named_reduction_into<form::argmin> argmin_into{};
inline constexpr detail::named_reduction_into<form::argmax> argmax_into{};
inline constexpr detail::named_reduction_into<form::argmin_magnitude> argmin_magnitude_into{};
inline constexpr detail::named_reduction_into<form::argmax_magnitude> argmax_magnitude_into{};
inline constexpr detail::named_reduction_into<form::argminmax> argminmax_into{};
inline constexpr detail::named_reduction_into<form::minmax> minmax_into{};
inline constexpr detail::named_reduction_into<form::mean_variance> mean_variance_into{};
inline constexpr detail::named_reduce_together_into reduce_together_into{};

}  // namespace onefold

#include <onefold/transform.hpp>
