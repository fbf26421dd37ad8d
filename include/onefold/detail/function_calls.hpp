#pragma once
/// @file function_calls.hpp  Calls of functions of the index: what they give, and how they become requests or reductions of the caller's own.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <onefold/box.hpp>
#include <onefold/detail/callback.hpp>
#include <onefold/detail/conclusions.hpp>
#include <onefold/detail/contiguous.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/own.hpp>
#include <onefold/detail/places.hpp>
#include <onefold/detail/present_moments.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/maybe.hpp>
#include <onefold/modifiers.hpp>
#include <onefold/operators.hpp>
#include <onefold/options.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold {
namespace detail {

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

/// Whether F is a function over a space of whose values the form takes none.
template <class S, class F, class = void>
inline constexpr bool is_function_over = false;
template <class S, class F>
inline constexpr bool is_function_over<S, F, std::enable_if_t<is_index_space<S> && sizeof(value_at_t<space_of<S>, F>) != 0>> = true;
template <form What, class S, class F>
constexpr bool gives_no_element() {
  if constexpr (is_function_over<S, F>)
    return !takes_function<What, S, F>::value;
  else
    return false;
}

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
  using fold = place_fold_t<What, T>;
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
  // In the caller's floating-point environment.
  static result_of_form<What, T, false> result(const state& found) {
    if constexpr (What == form::minmax)
      return {canonical_by_bits(found.min), canonical_by_bits(found.max)};
    else if constexpr (What == form::argminmax)
      return {{canonical_by_bits(found.min.value), found.min.index}, {canonical_by_bits(found.max.value), found.max.index}};
    else
      return {canonical_by_bits(found.value), found.index};
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

/// What the library refuses of a place for a result that it does not store itself: ahead of what f has to do. Device memory it refuses when the result is stored.
inline void check_place(const void* output, std::size_t alignment, const char* of = "result") {
  if (output != nullptr && reinterpret_cast<std::uintptr_t>(output) % alignment == 0) return;
  telling_of_lacking_memory([&output, &of, &alignment] {
    const std::string pointer = std::string("the pointer to the ").append(of);
    if (output == nullptr) throw error(errc::null_pointer, pointer + " is null");
    throw error(errc::misaligned_pointer, pointer + " is not aligned to " + std::to_string(alignment) + " bytes");
  });
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
  using R = result_of_form<What, T, false>;
  if (!on_gpu) check_place(output, alignof(R));
  How wishes = how;  // no order changes the result, which is exact then: the library cannot know that of an operator
  if (how.guarantee == guarantee::exact) wishes.guarantee = guarantee::fixed;
  own.run(what, wishes);
  if (how.guarantee == guarantee::exact && how.report != nullptr) how.report->guarantee = guarantee::exact;
  if (!on_gpu) {
    const R result = aware::result(found);
    check_status(onefold_store(onefold_serial(), output, &result, sizeof(result)));
  }
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

}  // namespace detail
}  // namespace onefold
