#pragma once
/// @file own_calls.hpp  How a call with an operator or a function of the caller's names what is reduced, and runs: arrays as a function of the index, or a function
/// of the index itself.

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <onefold/box.hpp>
#include <onefold/detail/any_side.hpp>
#include <onefold/detail/function_calls.hpp>
#include <onefold/detail/named_reductions.hpp>
#include <onefold/detail/own.hpp>
#include <onefold/detail/unit.hpp>
#include <onefold/operators.hpp>

namespace onefold {
namespace detail {
ONEFOLD_BEGIN_ARITHMETIC

inline std::uint64_t one_size(std::uint64_t first) { return first; }
template <class... More>
std::uint64_t one_size(std::uint64_t first, std::uint64_t second, More... more) {
  if (first != second) throw_different_lengths(first, second);
  return one_size(second, more...);
}

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
    // Not by this translation unit's compiler, in whatever floating-point environment it is called in.
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

// For who asks later whether a call can be, or lets others learn of it: in a batch, over ranks.

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

template <class R>
inline constexpr bool is_range = !std::is_void_v<element_of<const R>>;
template <class Init>
inline constexpr bool is_init = !std::is_same_v<std::decay_t<Init>, options>;
/// Whether f(x...) can be said: a pointer to a member, which std::invoke takes too, is not called so.
template <class Called, class F, class... X>
inline constexpr bool is_called_with = false;
template <class F, class... X>
inline constexpr bool is_called_with<std::void_t<decltype(std::declval<F&>()(std::declval<const X&>()...))>, F, X...> = true;
template <class Op, class T>
inline constexpr bool is_operator_on =
    is_built_in_operator<std::decay_t<Op>> ? is_full_element<T> : is_called_with<void, std::decay_t<Op>, T, T>;
template <class F, class... X>
inline constexpr bool is_function_of = is_called_with<void, std::decay_t<F>, X...>;

ONEFOLD_END_ARITHMETIC
}  // namespace detail
}  // namespace onefold
