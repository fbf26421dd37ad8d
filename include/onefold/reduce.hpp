#pragma once
/// @file reduce.hpp  The front door: reduce, reduce_into, and the named forms sum, prod, min, max and sum_into, prod_into, ...
///
/// Input      a contiguous range (std::vector, std::span, an array, ...) or a pointer and a count, in memory that the executor can
///            read: host memory for serial() and openmp(), device, managed or registered host memory for cuda().
/// Result     the operator's identity when there are no elements (the pointer may then be null). A NaN result is always the quiet
///            NaN with sign 0 and no payload. Integers wrap. See docs/numerics.md for the rounding error of float sums.
/// Order      with guarantee::none any order; guarantee::fixed and exact are refused in this version.
/// Cost       one read of the input.
/// Errors     onefold::error with one of: invalid_argument, null_pointer, misaligned_pointer, device_pointer, host_pointer,
///            wrong_device, unknown_variant, unsupported, guarantee_not_met, backend_not_built, backend_unavailable,
///            out_of_memory, device_lost, device_error, kokkos_finalized. The input is never changed.
/// Threads    safe from several host threads at once, on the same executor too.

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>

#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// A range whose elements lie side by side in memory and are of a type that onefold knows.
template <class R>
concept contiguous_elements =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// Combines `count` elements at `input` with `op` and returns the value; waits for it.
template <element T, built_in_operator Op>
[[nodiscard]] T reduce(const executor& where, const T* input, std::uint64_t count, Op, const options& how = {}) {
  T value;
  detail::run({where, element_type_of<T>, Op::id, input, count, &value, true}, how);
  return value;
}

/// Combines the elements of a range with `op` and returns the value; waits for it.
template <contiguous_elements R, built_in_operator Op>
[[nodiscard]] auto reduce(const executor& where, const R& input, Op op, const options& how = {}) {
  return reduce(where, std::ranges::data(input), std::ranges::size(input), op, how);
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

/// Combines `count` elements at `input` with `op` and stores the value at `*output`, ordered on the executor's stream: the host does
/// not wait on cuda(), but for the first call on a stream and one that needs more working memory than those before; the CPU executors are
/// done on return.
///
/// @param output  one T that the executor can write: host memory for the CPU executors, device memory or registered (pinned) host
///                memory for cuda(). Must not overlap the input. Unspecified after an error.
/// Graphs   on cuda() the call can be captured once the same call has run before on this stream. What is captured uses the working
///          memory of the stream it was captured on: two replays, or a replay and a call on that stream, must not overlap in time.
template <element T, built_in_operator Op>
void reduce_into(const executor& where, const T* input, std::uint64_t count, T* output, Op, const options& how = {}) {
  detail::run({where, element_type_of<T>, Op::id, input, count, output, false}, how);
}

/// The same for a range.
template <contiguous_elements R, built_in_operator Op>
void reduce_into(const executor& where, const R& input, std::remove_cv_t<std::ranges::range_value_t<R>>* output, Op op,
                 const options& how = {}) {
  reduce_into(where, std::ranges::data(input), std::ranges::size(input), output, op, how);
}

namespace detail {

// The named forms are function objects, as the algorithms of std::ranges are: one definition serves every operator, and argument-
// dependent lookup never confuses onefold::min with std::min.
template <class Op>
struct named_reduction {
  template <element T>
  [[nodiscard]] T operator()(const executor& where, const T* input, std::uint64_t count, const options& how = {}) const {
    return reduce(where, input, count, Op{}, how);
  }
  template <contiguous_elements R>
  [[nodiscard]] auto operator()(const executor& where, const R& input, const options& how = {}) const {
    return reduce(where, input, Op{}, how);
  }
  template <element T>
  [[nodiscard]] T operator()(const T* input, std::uint64_t count, const options& how = {}) const {
    return reduce(input, count, Op{}, how);
  }
  template <contiguous_elements R>
  [[nodiscard]] auto operator()(const R& input, const options& how = {}) const {
    return reduce(input, Op{}, how);
  }
};

template <class Op>
struct named_reduction_into {
  template <element T>
  void operator()(const executor& where, const T* input, std::uint64_t count, T* output, const options& how = {}) const {
    reduce_into(where, input, count, output, Op{}, how);
  }
  template <contiguous_elements R>
  void operator()(const executor& where, const R& input, std::remove_cv_t<std::ranges::range_value_t<R>>* output,
                  const options& how = {}) const {
    reduce_into(where, input, output, Op{}, how);
  }
};

}  // namespace detail

inline constexpr detail::named_reduction<op::sum> sum{};    ///< sum([where,] input[, options])
inline constexpr detail::named_reduction<op::prod> prod{};  ///< prod([where,] input[, options])
inline constexpr detail::named_reduction<op::min> min{};    ///< min([where,] input[, options])
inline constexpr detail::named_reduction<op::max> max{};    ///< max([where,] input[, options])

inline constexpr detail::named_reduction_into<op::sum> sum_into{};    ///< sum_into(where, input, output[, options])
inline constexpr detail::named_reduction_into<op::prod> prod_into{};  ///< prod_into(where, input, output[, options])
inline constexpr detail::named_reduction_into<op::min> min_into{};    ///< min_into(where, input, output[, options])
inline constexpr detail::named_reduction_into<op::max> max_into{};    ///< max_into(where, input, output[, options])

}  // namespace onefold
