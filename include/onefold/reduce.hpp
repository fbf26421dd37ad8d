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

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <onefold/box.hpp>
#include <onefold/detail/any_side.hpp>
#include <onefold/detail/callback.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/folds.hpp>
#include <onefold/detail/own.hpp>
#include <onefold/detail/present_moments.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/maybe.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold {

template <class T>
class parts;  // of an array, on several devices: devices.hpp
template <class R>
class outputs;  // of a result that all of them get

/// Asks for another type to accumulate in: `sum(x, accumulate_as<double>)` of floats adds doubles and returns one. Double for float, float16 and
/// bfloat16, in every form that rounds, and std::complex<double> for std::complex<float>, also where the result is real; 64 bits for integers of 32, in those
/// that add or multiply; in these for integers of 1 and 2 bytes their own type too, in which they wrap: the lowest bytes of the result that has 64 bits. Dots
/// of two types: double where both become floats, std::uint64_t for std::int32_t with std::uint32_t. The type that is accumulated in anyway may be named too:
/// float for the floats of two bytes, 64 bits for small integers.
template <class A>
struct accumulate_as_t {
  static_assert(
      is_accumulator<A>,
      "accumulate_as takes a type that sums keep: double, say, or std::int64_t, or the elements' own where these are integers of 1 "
      "or 2 bytes; sums of bools and of floats of 2 bytes have a wider one");
};
template <class A>
inline constexpr accumulate_as_t<A> accumulate_as{};

/// What mean_variance takes from the count before it divides by it: 0 (the default) for the variance of the data, 1 for an unbiased estimate.
struct ddof {
  std::int64_t value;
};

/// Where the number of elements stands, in memory that the executor reads: `sum(where, x, most, count_at{n})`. The count that the call is given, or the
/// range's size, is then the most that it may be. On cuda() it is read when the reduction begins, in stream order, so that kernels ahead of it, or of
/// a graph, may write it; more than `most` counts as `most`; not in exact sums, which are
/// unsupported, nor in reduce_together, which C has with one. Of 0 elements forms with an index are invalid_argument; their *_into calls on cuda() store the value 0 and the index 2^64 - 1. On a CPU it is read
/// in the call, and more than `most` is invalid_argument. Elements behind the count are not read. Cost: as for `most` elements at most; on cuda() arrays of more than 16 MiB are read
/// slower than with a count of the host's: floats and doubles in forms with one result, complex numbers, and small elements in all forms but products, places, mean_variance and
/// reduce_together somewhat, all else up to several times.
struct count_at {
  const std::uint64_t* place;
};

/// Where the address of an array stands, in memory that the executor reads, in the place of the array: `sum(where, array_at{place}, n)`, and
/// `dot(where, array_at{place}, y, n)` of one or two such arrays; in a batch too, and with count_at. The array begins at an element's alignment. On cuda() the
/// address is read when the reduction begins, in stream order, so that kernels ahead of it, or of a graph, may choose the array, in memory that the GPU reads;
/// not where a count_at is unsupported. Complex numbers may begin at the alignment of their parts. An address that is null or off that alignment is null_pointer in a call that
/// waits; an *_into call on cuda() sets all bits of its result then, which of no type but integers is a number that a reduction gives. What else cannot be read ends the context, as
/// in any kernel. On a CPU the address is read in the call, and errors are those of a pointer. Of 0 elements it is not read. Cost: on cuda() as in a batch;
/// arrays of more than 16 MiB are read slower than by their address, as with count_at.
template <class T>
struct array_at {
  static_assert(is_element<T>, "array_at takes the address of a pointer to elements of a type that onefold knows");
  const T* const* place;
};
template <class T>
array_at(T* const*) -> array_at<std::remove_const_t<T>>;

namespace detail {

// --- what may stand between the data and the options ----------------------------------------------------------------------------------

template <class M>
struct accumulator_of {};  // of a ddof there is none
template <class A>
struct accumulator_of<accumulate_as_t<A>> {
  static constexpr element_type type = element_type_of<A>;
};

template <class M>
inline constexpr bool is_modifier = false;
template <>
inline constexpr bool is_modifier<ddof> = true;
template <>
inline constexpr bool is_modifier<count_at> = true;
template <class A>
inline constexpr bool is_modifier<accumulate_as_t<A>> = true;

/// Whether a modifier asks for the other of the types that elements of type T can be accumulated in.
template <class M, class T>
constexpr bool is_wide() {
  if constexpr (std::is_same_v<M, ddof> || std::is_same_v<M, count_at>)
    return false;
  else
    return accumulator_of<M>::type != accumulator_type(element_type_of<T>);
}

template <form What, class T, class M>
constexpr bool takes_modifier() {
  if constexpr (!is_modifier<M>) {
    return false;
  } else if constexpr (std::is_same_v<M, ddof>) {
    return What == form::mean_variance;
  } else if constexpr (std::is_same_v<M, count_at>) {
    return true;
  } else {
    constexpr element_type type = element_type_of<T>;
    if (accumulator_of<M>::type == accumulator_type(type))
      return part_type(result_type(type, What)) == part_type(accumulator_type(type)) && !is_arg(What);
    return can_be_wide(type, What) && accumulator_of<M>::type == accumulator_type(type, true) && !std::is_same_v<T, bool>;
  }
}

/// Whether a form of elements of type T takes these modifiers.
template <form What, class T, class... M>
constexpr bool takes() {
  if constexpr (!is_element<T>) {
    return false;
  } else if constexpr (!takes_type(What, element_type_of<T>)) {
    return false;
  } else {
    constexpr int ddofs = (0 + ... + (std::is_same_v<M, ddof> ? 1 : 0));
    constexpr int counts = (0 + ... + (std::is_same_v<M, count_at> ? 1 : 0));
    return (takes_modifier<What, T, M>() && ...) && ddofs <= 1 && counts <= 1 &&
           static_cast<int>(sizeof...(M)) - ddofs - counts <= 1;
  }
}

/// Whether none of them is a count_at, which arrays alone have.
template <class... M>
inline constexpr bool counts_on_host = !(std::is_same_v<M, count_at> || ...);

/// Whether it takes arrays whose addresses stand in memory.
template <form What, class T, class... M>
constexpr bool takes_at() {
  return takes<What, T, M...>();
}

template <form What, class T, class... M>
using form_result_t = result_of_form<What, T, (is_wide<M, T>() || ...)>;

inline void apply_count(request& to, count_at of) {
  if (of.place == nullptr)
    telling_of_lacking_memory([] { throw error(errc::null_pointer, "the address of the count is a null pointer"); });
  to.count_at = of.place;
}

template <class T, class A>
void apply(request& to, accumulate_as_t<A>) {
  to.wide = is_wide<accumulate_as_t<A>, T>();
}
template <class T>
void apply(request& to, ddof of) {
  to.ddof = of.value;
}
template <class T>
void apply(request& to, count_at of) {
  apply_count(to, of);
}

template <form What, class T, class... M>
void run_array(const executor& where, array_view<T> input, void* output, bool waits, const options& how, M... modifiers) {
  request what{where, element_type_of<T>, What, input.data, input.count, output, waits};
  (apply<T>(what, modifiers), ...);
  run(what, how);
}

// --- arrays whose addresses stand in memory ------------------------------------------------------------------------------------------------

template <class T>
const void* const* place_of(array_at<T> array) noexcept {
  return reinterpret_cast<const void* const*>(array.place);
}

template <form What, class T, class... M>
request request_at(const executor& where, array_at<T> input, std::uint64_t count, void* output, bool waits, M... modifiers) {
  request what{where, element_type_of<T>, What, nullptr, count, output, waits};
  what.input_at = place_of(input);
  (apply<T>(what, modifiers), ...);
  return what;
}

template <form What>
struct reduction_at {
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const executor& where, array_at<T> input, std::uint64_t count,
                                                  const options& how = {}) const {
    return value<T>(where, input, count, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const executor& where, array_at<T> input, std::uint64_t count, M modifier,
                                                     const options& how = {}) const {
    return value<T>(where, input, count, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const executor& where, array_at<T> input, std::uint64_t count, M first,
                                                        N second, const options& how = {}) const {
    return value<T>(where, input, count, how, first, second);
  }
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, const options& how = {}) const {
    return value<T>(best(), input, count, how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, M modifier, const options& how = {}) const {
    return value<T>(best(), input, count, how, modifier);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  [[nodiscard]] auto operator()(array_at<T> input, std::uint64_t count, M first, N second, const options& how = {}) const {
    return value<T>(best(), input, count, how, first, second);
  }

 private:
  template <class T, class... M>
  static form_result_t<What, T, M...> value(const executor& where, array_at<T> input, std::uint64_t count, const options& how,
                                            M... modifiers) {
    form_result_t<What, T, M...> result;
    run(request_at<What>(where, input, count, &result, true, modifiers...), how);
    return result;
  }
};

template <form What>
struct reduction_at_into {
  template <class T, ONEFOLD_WHERE(takes_at<What, T>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T>* output,
                  const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false), how);
  }
  template <class T, class M, ONEFOLD_WHERE(takes_at<What, T, M>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false, modifier), how);
  }
  template <class T, class M, class N, ONEFOLD_WHERE(takes_at<What, T, M, N>())>
  void operator()(const executor& where, array_at<T> input, std::uint64_t count, form_result_t<What, T, M, N>* output, M first,
                  N second, const options& how = {}) const {
    run(request_at<What>(where, input, count, output, false, first, second), how);
  }
};

/// Whether T is an element type of real numbers.
template <class T>
constexpr bool is_real_element() {
  if constexpr (is_element<T>)
    return !is_complex(element_type_of<T>);
  else
    return false;
}
template <class T>
inline constexpr bool is_real = is_real_element<T>();

template <class T, class U>
inline constexpr bool are_mixed = is_real<T>&& is_real<U> && !std::is_same_v<T, U>;
/// What two types are accumulated in: the larger of their accumulators, or what C++ adds these in.
template <class T, class U>
using common_accumulator = std::common_type_t<accumulator_t<T, false>, accumulator_t<U, false>>;
/// What accumulate_as may ask for in its place: double for float, 64 bits for 32; for others there is no wider one.
template <class A>
using wider_accumulator =
    std::conditional_t<std::is_same_v<A, float>, double, std::conditional_t<std::is_same_v<A, std::uint32_t>, std::uint64_t, A>>;

template <class T, class U, class M>
constexpr bool is_wide_of_two() {
  if constexpr (std::is_same_v<M, count_at>)
    return false;
  else
    return accumulator_of<M>::type != element_type_of<common_accumulator<T, U>>;
}
template <class T, class U, class M>
constexpr bool takes_modifier_of_two() {
  if constexpr (!is_modifier<M> || std::is_same_v<M, ddof>)
    return false;
  else if constexpr (std::is_same_v<M, count_at>)
    return true;
  else
    return !is_wide_of_two<T, U, M>() || accumulator_of<M>::type == element_type_of<wider_accumulator<common_accumulator<T, U>>>;
}
/// Whether dot takes two arrays of elements of two types with these modifiers.
template <class T, class U, class... M>
constexpr bool takes_mixed() {
  if constexpr (!are_mixed<T, U>) {
    return false;
  } else {
    constexpr int counts = (0 + ... + (std::is_same_v<M, count_at> ? 1 : 0));
    return (takes_modifier_of_two<T, U, M>() && ...) && counts <= 1 && static_cast<int>(sizeof...(M)) - counts <= 1;
  }
}
template <class T, class U, class... M>
struct result_of_dot {
  using common = common_accumulator<T, U>;
  using type = std::conditional_t<(is_wide_of_two<T, U, M>() || ...), wider_accumulator<common>, common>;
};
template <class T, class... M>
struct result_of_dot<T, T, M...> {
  using type = form_result_t<form::dot, T, M...>;
};
/// What a dot of two types gives.
template <class T, class U, class... M>
using mixed_result_t = typename result_of_dot<T, U, M...>::type;

inline void apply_to_mixed(request& to, count_at of) { apply_count(to, of); }
template <class A>
void apply_to_mixed(request&, accumulate_as_t<A>) {}

/// A dot of two types, whose arrays are still to be named.
template <class T, class U, class... M>
request mixed_request(const executor& where, std::uint64_t count, void* output, bool waits, M... modifiers) {
  request what{where, element_type_of<T>, form::dot, nullptr, count, output, waits};
  what.second_type = 1 + static_cast<std::int32_t>(element_type_of<U>);
  what.wide = (is_wide_of_two<T, U, M>() || ...);
  (apply_to_mixed(what, modifiers), ...);
  return what;
}

// What stands for an array among the arguments of dot: a pointer, or array_at.
template <class X>
struct array_argument {
  using type = void;
  static constexpr bool is_in_memory = false;
};
template <class T>
struct array_argument<T*> {
  using type = std::remove_const_t<T>;
  static constexpr bool is_in_memory = false;
};
template <class T>
struct array_argument<array_at<T>> {
  using type = T;
  static constexpr bool is_in_memory = true;
};

/// Whether dot takes these two, of which the address of one at least stands in memory.
template <class X, class Y, class... M>
constexpr bool dot_takes_at() {
  using T = typename array_argument<X>::type;
  using U = typename array_argument<Y>::type;
  if constexpr (!array_argument<X>::is_in_memory && !array_argument<Y>::is_in_memory)
    return false;
  else if constexpr (std::is_same_v<T, U>)
    return takes_at<form::dot, T, M...>();
  else
    return takes_mixed<T, U, M...>();
}
template <class X, class Y, class... M>
using dot_at_result = typename result_of_dot<typename array_argument<X>::type, typename array_argument<Y>::type, M...>::type;

template <class X, class Y, class... M>
request dot_request_at(const executor& where, X x, Y y, std::uint64_t count, void* output, bool waits, M... modifiers) {
  using T = typename array_argument<X>::type;
  using U = typename array_argument<Y>::type;
  request what{where, element_type_of<T>, form::dot, nullptr, count, output, waits};
  if constexpr (std::is_same_v<T, U>)
    (apply<T>(what, modifiers), ...);
  else
    what = mixed_request<T, U>(where, count, output, waits, modifiers...);
  if constexpr (array_argument<X>::is_in_memory)
    what.input_at = place_of(x);
  else
    what.input = x;
  if constexpr (array_argument<Y>::is_in_memory)
    what.second_at = place_of(y);
  else
    what.second = y;
  return what;
}

struct dot_at {
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  [[nodiscard]] dot_at_result<X, Y> operator()(const executor& where, X x, Y y, std::uint64_t count,
                                               const options& how = {}) const {
    return value(where, x, y, count, how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  [[nodiscard]] dot_at_result<X, Y, M> operator()(const executor& where, X x, Y y, std::uint64_t count, M modifier,
                                                  const options& how = {}) const {
    return value(where, x, y, count, how, modifier);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  [[nodiscard]] dot_at_result<X, Y, M, N> operator()(const executor& where, X x, Y y, std::uint64_t count, M first, N second,
                                                     const options& how = {}) const {
    return value(where, x, y, count, how, first, second);
  }
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, const options& how = {}) const {
    return value(best(), x, y, count, how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, M modifier, const options& how = {}) const {
    return value(best(), x, y, count, how, modifier);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  [[nodiscard]] auto operator()(X x, Y y, std::uint64_t count, M first, N second, const options& how = {}) const {
    return value(best(), x, y, count, how, first, second);
  }

 private:
  template <class X, class Y, class... M>
  static dot_at_result<X, Y, M...> value(const executor& where, X x, Y y, std::uint64_t count, const options& how, M... modifiers) {
    dot_at_result<X, Y, M...> result;
    run(dot_request_at(where, x, y, count, &result, true, modifiers...), how);
    return result;
  }
};

struct dot_at_into {
  template <class X, class Y, ONEFOLD_WHERE(dot_takes_at<X, Y>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y>* output,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false), how);
  }
  template <class X, class Y, class M, ONEFOLD_WHERE(dot_takes_at<X, Y, M>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y, M>* output, M modifier,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false, modifier), how);
  }
  template <class X, class Y, class M, class N, ONEFOLD_WHERE(dot_takes_at<X, Y, M, N>())>
  void operator()(const executor& where, X x, Y y, std::uint64_t count, dot_at_result<X, Y, M, N>* output, M first, N second,
                  const options& how = {}) const {
    run(dot_request_at(where, x, y, count, output, false, first, second), how);
  }
};

// --- functions of the index --------------------------------------------------------------------------------------------------------------

template <class Space, class F>
using values_of = results_of<typename value_traits<value_at_t<Space, F>>::type>;

template <form What, class Space, class F, class... M>
struct index_result {
  using values = values_of<Space, F>;
  using one = form_result_t<What, typename values::type, M...>;
  using type = std::conditional_t<values::several, std::array<one, static_cast<std::size_t>(values::count)>, one>;
};
template <form What, class Space, class F, class... M>
using index_result_t = typename index_result<What, Space, F, M...>::type;

/// Whether a form takes a function over this space.
template <form What, class S, class F, class = void, class... M>
struct takes_function : std::false_type {};
template <form What, class S, class F, class... M>
struct takes_function<What, S, F, std::enable_if_t<is_index_space<S> && sizeof(value_at_t<space_of<S>, F>) != 0>, M...>
    : std::bool_constant<is_full_element<typename values_of<space_of<S>, F>::type> && counts_on_host<M...> &&
                         takes<What, typename values_of<space_of<S>, F>::type, M...>() &&
                         (!values_of<space_of<S>, F>::is_truth || asks_for_zero(What))> {};

/// What stands for an absent value: it changes no other.
template <form What, class T>
constexpr T instead_of_absent() {
  if constexpr (What == form::sum || What == form::mean || What == form::mean_variance)
    return op::sum::neutral<T>();
  else if constexpr (What == form::prod)
    return op::prod::neutral<T>();
  else if constexpr (What == form::min)
    return op::min::neutral<T>();
  else if constexpr (What == form::max)
    return op::max::neutral<T>();
  else if constexpr (What == form::min_number)
    return op::min_number::neutral<T>();
  else if constexpr (What == form::max_number)
    return op::max_number::neutral<T>();
  else if constexpr (What == form::bit_and)
    return op::bit_and::neutral<T>();
  else if constexpr (What == form::all)
    return T(1);
  else
    return T(0);
}

/// Whether nothing but these gives something else than no values do: -0 for +0, NaN for an infinity.
template <form What, class T>
inline constexpr bool hides_that_all_are_absent = std::is_floating_point_v<T> &&
                                                  (What == form::sum || What == form::min_number || What == form::max_number);

/// Where best() goes with an f that a GPU can call, and that reads arrays; another executor is what it is. For what is done here with a result, which may then be a GPU's.
template <bool OnDevice, class F>
executor settled(const executor& where, const F& f, std::uint64_t count) {
  if constexpr (OnDevice && reads_arrays<F>) {
    if (!where.chooses_itself() || count == 0) return where;
    const arrays_of<F> arrays(f);
    if (const std::int32_t device = onefold_gpu_of(arrays.each[0].data); device >= 0) return cuda(device);
  }
  return where;
}

// How: options, or taken_call.

template <bool OnDevice, form What, class Space, class F, class How, class... M>
void run_values(const executor& where, const Space& space, F& f, void* output, bool waits, const How& how, M... modifiers) {
  using callback = block_callback<Space, F>;
  using T = typename callback::element;
  callback values(space, f, instead_of_absent<What, T>());
  const auto device = device_side<OnDevice>::template of_form<What>(space, f, modifiers...);
  request what{where, element_type_of<T>, What, nullptr, space.size(), output, waits};
  (apply<T>(what, modifiers), ...);
  what.results = callback::results;
  what.source = values.source();
  if constexpr (callback::adds_rows && (What == form::sum || What == form::mean) && !(is_wide<M, T>() || ...))
    what.lanes = &callback::add_lanes;
  what.device = device.row();
  const arrays_of<F> arrays(f);
  arrays.tell(what);
  values.run(what, how);
  if constexpr (callback::can_be_absent && hides_that_all_are_absent<What, T>) {
    if (!is_for_cuda(where) && !values.any_present()) {
      using R = form_result_t<What, T, M...>;
      *static_cast<R*>(output) = result_of_nothing<What, T, (is_wide<M, T>() || ...)>();
    }
  }
}

/// The forms of minima, maxima and their indices where values may be absent: an operator on values and indices.
template <form What, class T>
struct absent_aware {
  using fold = form_fold_t<What, T, false>;
  using state = typename fold::accumulator;
  template <class Space, class F>
  struct values {
    const Space& space;
    F& f;
    std::uint64_t begin;  // the index in the whole array of the first one
    ONEFOLD_ANY_SIDE
    ONEFOLD_HOST_DEVICE maybe<state> operator()(std::uint64_t i) const {
      const maybe<T> here = as_maybe(call_at(f, space, i));
      if (!here.present) return absent;
      const T value = apart_from_its_sign(here.value);
      if constexpr (fold::is_plain)
        return fold::value(value);
      else
        return fold::close(fold::first(fold::value(value)), 1, begin + i, 1);
    }
  };
  static result_of_form<What, T, false> result(const state& found) {
    if constexpr (What == form::minmax)
      return {canonical(found.min), canonical(found.max)};
    else if constexpr (What == form::argminmax)
      return {{canonical(found.min.value), found.min.index}, {canonical(found.max.value), found.max.index}};
    else
      return {canonical(found.value), found.index};
  }
};
inline constexpr const char* no_index = "an argmin or argmax of no elements: there is no index";

/// Whether a result with indices is that of nothing but absent values, as a GPU stores it.
template <class V>
constexpr bool is_of_nothing(const arg_result<V>& result) {
  return result.index == ~std::uint64_t{0};
}
template <class V>
constexpr bool is_of_nothing(const argminmax_result<V>& result) {
  return is_of_nothing(result.min);
}

template <bool OnDevice, form What, class Space, class F, class How>
void run_some_values(const executor& where, const Space& space, F& f, void* output, bool waits, const How& how) {
  using T = typename values_of<Space, F>::type;
  using aware = absent_aware<What, T>;
  using state = typename aware::state;
  static_assert(has_index(What) || What == form::minmax, "the other records have functions of their own");
  static_assert(!values_of<Space, F>::several, "forms with several results take functions of one value where it may be absent");
  typename aware::template values<Space, F> values{space, f, 0};
  const auto combine = [](const state& a, const state& b) { return aware::fold::combine(a, b); };
  const index_line line{space.size()};
  // For no elements minmax gives what min and max give.
  using init = std::conditional_t<What == form::minmax, state, no_init>;
  init first{};
  if constexpr (What == form::minmax) first = aware::fold::neutral();
  own_reduction<index_line, decltype(values), decltype(combine), init, canonical_conclusion, sizeof(T)> own(line, values, combine,
                                                                                                            first, no_index);
  if constexpr (OnDevice && What != form::minmax) {
    if (space.size() == 0) own.refuse_nothing();
  }
  const auto device = device_side<OnDevice>::template of_form<What>(space, f);
  state found;
  const bool on_gpu = is_for_cuda(where);
  request what{where, element_type_of<T>, What, nullptr, space.size(), on_gpu ? output : &found, waits};
  what.own = own.code();
  what.device = device.row();
  const arrays_of<F> arrays(f);
  arrays.tell(what);
  own.run(what, how);
  using R = result_of_form<What, T, false>;
  if (!on_gpu) *static_cast<R*>(output) = aware::result(found);
  // A device cannot refuse: of nothing but absent values it stores an index that no value has.
  if constexpr (has_index(What))
    if (on_gpu && waits && is_of_nothing(*static_cast<const R*>(output))) own.refuse_nothing();
}

/// The mean of the values that are present: their sum, over how many there are.
template <bool OnDevice, class Space, class F, class How, class... M>
void run_mean_of_present(const executor& where, const Space& space, F& f, void* output, bool waits, const How& how,
                         M... modifiers) {
  using callback = block_callback<Space, F, true>;
  using T = typename callback::element;
  callback values(space, f, op::sum::neutral<T>());
  const auto device = device_side<OnDevice>::template of_form<form::mean>(space, f, modifiers...);
  request what{where, element_type_of<T>, form::mean, nullptr, space.size(), output, waits};
  (apply<T>(what, modifiers), ...);
  what.source = values.source();
  what.present = &callback::tell_present;
  what.device = device.row();
  const arrays_of<F> arrays(f);
  arrays.tell(what);
  values.run(what, how);
}

inline std::int64_t ddof_of() { return 0; }
template <class First, class... M>
std::int64_t ddof_of([[maybe_unused]] First first, M... others) {
  if constexpr (std::is_same_v<First, ddof>)
    return first.value;
  else
    return ddof_of(others...);
}

/// The mean and the variance of the values that are present.
template <bool OnDevice, class Space, class F, class How, class... M>
void run_mean_variance_of_present(const executor& where, const Space& space, F& f, void* output, bool waits, const How& how,
                                  M... modifiers) {
  using T = typename values_of<Space, F>::type;
  const auto device = device_side<OnDevice>::template of_form<form::mean_variance>(space, f, modifiers...);
  request what{where, element_type_of<T>, form::mean_variance, nullptr, space.size(), output, waits};
  (apply<T>(what, modifiers), ...);
  what.device = device.row();
  const arrays_of<F> arrays(f);
  arrays.tell(what);
  if (how.guarantee == guarantee::exact) {  // two sums, to which an absent value adds nothing
    using callback = block_callback<Space, F, true>;
    callback values(space, f, op::sum::neutral<T>());
    what.source = values.source();
    what.present = &callback::tell_present;
    return values.run(what, how);
  }
  present_moments<Space, F, (is_wide<M, T>() || ...)> own(space, f, ddof_of(modifiers...));
  what.own = own.code();
  own.run(what, how);
}

template <bool OnDevice, form What, class S, class F, class How, class... M>
void run_function(const executor& asked, const S& over, F& f, void* output, bool waits, const How& how, M... modifiers) {
  using Space = space_of<S>;
  const Space space = as_space(over);
  const executor where = settled<OnDevice>(asked, f, space.size());
  constexpr bool some = value_traits<value_at_t<Space, F>>::can_be_absent;
  if constexpr (some && What == form::mean)
    run_mean_of_present<OnDevice, Space, F>(where, space, f, output, waits, how, modifiers...);
  else if constexpr (some && What == form::mean_variance)
    run_mean_variance_of_present<OnDevice, Space, F>(where, space, f, output, waits, how, modifiers...);
  else if constexpr (some && is_record(What))
    run_some_values<OnDevice, What, Space, F>(where, space, f, output, waits, how, modifiers...);
  else
    run_values<OnDevice, What, Space, F>(where, space, f, output, waits, how, modifiers...);
}

// --- on several ranks ---------------------------------------------------------------------------------------------------------------------
//
// A place that is more than an executor runs a form itself (mpi.hpp): of the ranks' arrays, each of which passes its own.

struct place_of_ranks {};
template <class P>
inline constexpr bool is_place_of_ranks = std::is_base_of_v<place_of_ranks, P>;

template <form What>
struct reduction_of_ranks {
  template <class P, class T, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T, M>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, M modifier, const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how, modifier);
  }
  template <class P, class T, class M, class N, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, M first, N second,
                                const options& how = {}) const {
    return where.template value<What, T>(array_view<T>{input, count}, how, first, second);
  }
  template <class P, class R, class T = element_of<const R>, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how);
  }
  template <class P, class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T, M>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, M modifier, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how, modifier);
  }
  template <class P, class R, class M, class N, class T = element_of<const R>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes<What, T, M, N>())>
  [[nodiscard]] auto operator()(const P& where, const R& input, M first, N second, const options& how = {}) const {
    return where.template value<What, T>(view_of(input), how, first, second);
  }

  // A function of the index: `over` is the number of this rank's indices, or its box.
  template <class P, class S, class F, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_function<What, S, F>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, const options& how = {}) const {
    return where.template function<What>(over, f, how);
  }
  template <class P, class S, class F, class M, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_function<What, S, F, void, M>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, M modifier, const options& how = {}) const {
    return where.template function<What>(over, f, how, modifier);
  }
  template <class P, class S, class F, class M, class N, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_function<What, S, F, void, M, N>::value)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, M first, N second, const options& how = {}) const {
    return where.template function<What>(over, f, how, first, second);
  }
};

// --- on several devices -------------------------------------------------------------------------------------------------------------------
//
// A place whose executors each read a part of an array (devices.hpp).

struct place_of_parts {};
template <class P>
inline constexpr bool is_place_of_parts = std::is_base_of_v<place_of_parts, P>;

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
  template <class P, class X, class T = typename element_of_parts<X>::type, ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T>())>
  [[nodiscard]] form_result_t<What, T> operator()(const P& where, const X& input, const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how);
  }
  template <class P, class X, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T, M>())>
  [[nodiscard]] form_result_t<What, T, M> operator()(const P& where, const X& input, M modifier, const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how, modifier);
  }
  template <class P, class X, class M, class N, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T, M, N>())>
  [[nodiscard]] form_result_t<What, T, M, N> operator()(const P& where, const X& input, M first, N second,
                                                        const options& how = {}) const {
    return where.template value<What, T>(where.parts_of(input), how, first, second);
  }
};

struct dot_of_parts {
  template <class P, class X, class Y, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T>())>
  [[nodiscard]] form_result_t<form::dot, T> operator()(const P& where, const X& x, const Y& y, const options& how = {}) const {
    return where.template dot<T>(where.parts_of(x), where.parts_of(y), how);
  }
  template <class P, class X, class Y, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T, M>())>
  [[nodiscard]] form_result_t<form::dot, T, M> operator()(const P& where, const X& x, const Y& y, M modifier,
                                                          const options& how = {}) const {
    return where.template dot<T>(where.parts_of(x), where.parts_of(y), how, modifier);
  }
};

template <form What>
struct reduction_of_parts_into {
  template <class P, class X, class T = typename element_of_parts<X>::type, ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T>>& to, const options& how = {}) const {
    where.store([&where, &input, &how] { return where.template value<What, T>(where.parts_of(input), how); }, to);
  }
  template <class P, class X, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T, M>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T, M>>& to, M modifier,
                  const options& how = {}) const {
    where.store([&where, &input, &how, &modifier] { return where.template value<What, T>(where.parts_of(input), how, modifier); },
                to);
  }
  template <class P, class X, class M, class N, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const X& input, const outputs<form_result_t<What, T, M, N>>& to, M first, N second,
                  const options& how = {}) const {
    where.store([&where, &input, &how, &first,
                 &second] { return where.template value<What, T>(where.parts_of(input), how, first, second); },
                to);
  }
};

struct dot_of_parts_into {
  template <class P, class X, class Y, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T>())>
  void operator()(const P& where, const X& x, const Y& y, const outputs<form_result_t<form::dot, T>>& to,
                  const options& how = {}) const {
    where.store([&where, &x, &y, &how] { return where.template dot<T>(where.parts_of(x), where.parts_of(y), how); }, to);
  }
  template <class P, class X, class Y, class M, class T = typename element_of_parts<X>::type,
            ONEFOLD_WHERE(is_place_of_parts<P>&& std::is_same_v<T, typename element_of_parts<Y>::type>&& takes<form::dot, T, M>())>
  void operator()(const P& where, const X& x, const Y& y, const outputs<form_result_t<form::dot, T, M>>& to, M modifier,
                  const options& how = {}) const {
    where.store(
        [&where, &x, &y, &how, &modifier] { return where.template dot<T>(where.parts_of(x), where.parts_of(y), how, modifier); },
        to);
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
// A place that stores a form's result itself (nccl.hpp).

struct place_of_streams {};
template <class P>
inline constexpr bool is_place_of_streams = std::is_base_of_v<place_of_streams, P>;

template <form What>
struct reduction_of_streams_into {
  template <class P, class T, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T>* output,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T, M>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how, modifier);
  }
  template <class P, class T, class M, class N, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const T* input, std::uint64_t count, form_result_t<What, T, M, N>* output, M first, N second,
                  const options& how = {}) const {
    where.template into<What, T>(input, nullptr, count, output, how, first, second);
  }
  template <class P, class R, class T = element_of<const R>, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T>())>
  void operator()(const P& where, const R& input, form_result_t<What, T>* output, const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how);
  }
  template <class P, class R, class M, class T = element_of<const R>, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T, M>())>
  void operator()(const P& where, const R& input, form_result_t<What, T, M>* output, M modifier, const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how, modifier);
  }
  template <class P, class R, class M, class N, class T = element_of<const R>,
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes<What, T, M, N>())>
  void operator()(const P& where, const R& input, form_result_t<What, T, M, N>* output, M first, N second,
                  const options& how = {}) const {
    where.template into<What, T>(std::data(input), nullptr, view_of(input).count, output, how, first, second);
  }
  template <class P, class S, class F, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes_function<What, S, F>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F>::one* output,
                  const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how);
  }
  template <class P, class S, class F, class M, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes_function<What, S, F, void, M>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M>::one* output, M modifier,
                  const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how, modifier);
  }
  template <class P, class S, class F, class M, class N, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes_function<What, S, F, void, M, N>::value)>
  void operator()(const P& where, const S& over, F&& f, typename index_result<What, space_of<S>, F, M, N>::one* output, M first,
                  N second, const options& how = {}) const {
    where.template function_into<What, OnDevice>(over, f, output, how, first, second);
  }
};

struct dot_of_streams_into {
  template <class P, class T, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<form::dot, T>())>
  void operator()(const P& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T>* output,
                  const options& how = {}) const {
    where.template into<form::dot, T>(x, y, count, output, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_place_of_streams<P>&& takes<form::dot, T, M>())>
  void operator()(const P& where, const T* x, const T* y, std::uint64_t count, form_result_t<form::dot, T, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<form::dot, T>(x, y, count, output, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_place_of_streams<P>&& have_same_elements<R, S>)>
  void operator()(const P& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>>* output,
                  const options& how = {}) const {
    where.template into<form::dot, element_of<const R>>(std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output,
                                                        how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_place_of_streams<P>&& have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  void operator()(const P& where, const R& x, const S& y, form_result_t<form::dot, element_of<const R>, M>* output, M modifier,
                  const options& how = {}) const {
    where.template into<form::dot, element_of<const R>>(std::data(x), std::data(y), common_size(view_of(x), view_of(y)), output,
                                                        how, modifier);
  }
};

// --- the named forms ----------------------------------------------------------------------------------------------------------------------
//
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
  void operator()(const A&... arguments) const = delete;
};

// Where no other call fits these do, and compilers show the one line that says it is deleted, and what it takes, in the place of all the others.
struct no_reduction_takes_this {
  void operator()(...) const = delete;  // It takes [where,] a range | pointer, n | n, f | box, f [, accumulate_as, ddof][, options]
};
struct no_reduction_into_takes_this {
  void operator()(...) const = delete;  // It takes where, a range | pointer, n | n, f | box, f, the result's address [, ..]
};
struct no_dot_takes_this {
  void operator()(...) const = delete;  // It takes [where,] two ranges | two pointers, n [, accumulate_as, count_at][, options]
};
struct no_together_takes_this {
  void operator()(...) const =
      delete;  // It takes [where,] a range | pointer, n | n, f | box, f [, options], op::sum{}, prod, min or max for each result
};
struct no_together_into_takes_this {
  void operator()(...) const =
      delete;  // It takes where, a range | pointer, n | n, f | box, f, the first result's address [, options], operators
};
struct no_dot_into_takes_this {
  void operator()(...) const = delete;  // It takes where, two ranges | two pointers, n, the result's address [, ..]
};

template <form What>
struct named_reduction : reduction_at<What>,
                         reduction_of_ranks<What>,
                         reduction_of_parts<What>,
                         complex_numbers_have_no_order<What>,
                         no_reduction_takes_this {
  using no_reduction_takes_this::operator();
  using reduction_at<What>::operator();
  using reduction_of_ranks<What>::operator();
  using reduction_of_parts<What>::operator();
  using complex_numbers_have_no_order<What>::operator();

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

// --- dot ------------------------------------------------------------------------------------------------------------------------------------

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

struct dot_of_ranks {
  template <class P, class T, class... M, ONEFOLD_WHERE(is_place_of_ranks<P>&& dot_takes<T, M...>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, M... modifiers) const {
    return where.dot(x, y, count, {}, modifiers...);
  }
  template <class P, class T, ONEFOLD_WHERE(is_place_of_ranks<P>&& dot_takes<T>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, const options& how) const {
    return where.dot(x, y, count, how);
  }
  template <class P, class T, class M, ONEFOLD_WHERE(is_place_of_ranks<P>&& dot_takes<T, M>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const T* y, std::uint64_t count, M modifier, const options& how) const {
    return where.dot(x, y, count, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_place_of_ranks<P>&& have_same_elements<R, S>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, const options& how = {}) const {
    return where.dot_of_ranges(x, y, how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& have_same_elements<R, S>&& dot_takes<element_of<const R>, M>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, M modifier, const options& how = {}) const {
    return where.dot_of_ranges(x, y, how, modifier);
  }
  // Of two types.
  template <class P, class T, class U, class... M, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_mixed<T, U, M...>())>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, M... modifiers) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, {}, modifiers...);
  }
  template <class P, class T, class U, ONEFOLD_WHERE(is_place_of_ranks<P>&& are_mixed<T, U>)>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, const options& how) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, how);
  }
  template <class P, class T, class U, class M, ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_mixed<T, U, M>())>
  [[nodiscard]] auto operator()(const P& where, const T* x, const U* y, std::uint64_t count, M modifier, const options& how) const {
    return where.dot_of_two_types(array_view<T>{x, count}, array_view<U>{y, count}, how, modifier);
  }
  template <class P, class R, class S, ONEFOLD_WHERE(is_place_of_ranks<P>&& are_mixed<element_of<const R>, element_of<const S>>)>
  [[nodiscard]] auto operator()(const P& where, const R& x, const S& y, const options& how = {}) const {
    return where.dot_of_two_types(view_of(x), view_of(y), how);
  }
  template <class P, class R, class S, class M,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_mixed<element_of<const R>, element_of<const S>, M>())>
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

// --- several operators, one read ------------------------------------------------------------------------------------------------------------

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

struct together_of_ranks {
  template <class P, class T, class... Ops, ONEFOLD_WHERE(is_place_of_ranks<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, const options& how, Ops... ops) const {
    return where.together(array_view<T>{input, count}, how, ops...);
  }
  template <class P, class T, class... Ops, ONEFOLD_WHERE(is_place_of_ranks<P>&& is_real<T>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const T* input, std::uint64_t count, Ops... ops) const {
    return where.together(array_view<T>{input, count}, {}, ops...);
  }
  template <class P, class R, class... Ops,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const R& input, const options& how, Ops... ops) const {
    return where.together(view_of(input), how, ops...);
  }
  template <class P, class R, class... Ops,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& is_real<element_of<const R>>&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const R& input, Ops... ops) const {
    return where.together(view_of(input), {}, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, const options& how, Ops... ops) const {
    return where.function_together(over, f, how, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = compiles_for_device<P>,
            ONEFOLD_WHERE(is_place_of_ranks<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  [[nodiscard]] auto operator()(const P& where, const S& over, F&& f, Ops... ops) const {
    return where.function_together(over, f, {}, ops...);
  }
};

struct named_reduce_together : together_of_ranks, no_together_takes_this {
  using no_together_takes_this::operator();
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
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const P& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, const options& how,
                  Ops... ops) const {
    where.template function_together_into<OnDevice>(over, f, output, how, ops...);
  }
  template <class P, class S, class F, class... Ops, bool OnDevice = on_device<F>,
            ONEFOLD_WHERE(is_place_of_streams<P>&& takes_function<form::sum, S, F>::value&& are_operators<Ops...>)>
  void operator()(const P& where, const S& over, F&& f, typename values_of<space_of<S>, F>::type* output, Ops... ops) const {
    where.template function_together_into<OnDevice>(over, f, output, options{}, ops...);
  }
};

struct named_reduce_together_into : together_of_streams_into, no_together_into_takes_this {
  using no_together_into_takes_this::operator();
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

/// An argument that a function passes on to its object: an integer as the count that it is, of whose sign no compiler warns then.
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
/// Several operators in one read: `auto [s, l] = reduce_together([where,] x [, options], op::sum{}, op::min{})`. Each result has the bits that it
/// has alone. Of functions of the index that return a std::array: operator k for value k.
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
