#pragma once
/// @file device_code.hpp  Where a call finds the caller's own code for cuda(): nowhere, unless this translation unit includes device.cuh.

#include <type_traits>
#include <utility>

#include <onefold/detail/request.hpp>

namespace onefold {

/// A function object that cuda() shall not be asked to call: in a translation unit with device.cuh every other one is compiled for the
/// device too. Made by host_only().
template <class F>
struct host_only_function {
  F f;
  template <class... X>
  auto operator()(X&&... x) -> decltype(std::declval<F&>()(static_cast<X&&>(x)...)) {
    return f(static_cast<X&&>(x)...);
  }
  template <class... X>
  auto operator()(X&&... x) const -> decltype(std::declval<const F&>()(static_cast<X&&>(x)...)) {
    return f(static_cast<X&&>(x)...);
  }
};
template <class F>
host_only_function<F> host_only(F f) {
  return {static_cast<F&&>(f)};
}

namespace detail {

template <class F>
inline constexpr bool is_host_only = false;
template <class F>
inline constexpr bool is_host_only<host_only_function<F>> = true;

/// Whether calls with a function of type F are compiled for the device. device.cuh says so for its translation unit. Templates that ask have the
/// answer among their parameters, so that translation units that differ in it do not share an instantiation.
template <class F, class = void>
struct has_device_code : std::false_type {};

template <class F>
inline constexpr bool on_device = has_device_code<std::decay_t<F>>::value;

/// Whether this translation unit is compiled for the device too. A template asks with its arguments, so that it is looked at where the call stands, behind all that is included.
template <class... A>
struct types_of_call;
template <class... A>
inline constexpr bool compiles_for_device = on_device<types_of_call<A...>>;

/// The caller's function in an object of ours that calls it, or the function itself.
template <class F>
struct function_inside {
  using type = F;
};

/// What there is of a call on a device where nothing was compiled for one.
struct no_device_side {
  [[nodiscard]] const device_fold* row() const noexcept { return nullptr; }
};

/// Makes the device's side of a call; device.cuh has the one for `true`. The fold refers to what was made, which must live until the call ends.
template <bool OnDevice>
struct device_side {
  /// A form of the values of f over a space.
  template <form What, class Space, class F, class... Modifiers>
  static no_device_side of_form(const Space&, F&, Modifiers...) {
    return {};
  }
  /// reduce_together, with an operator for each value.
  template <class Space, class F, class... Ops>
  static no_device_side of_operators(const Space&, F&, Ops...) {
    return {};
  }
  /// The caller's own operator.
  template <class Space, class F, class Op, class Init>
  static no_device_side of_own(const Space&, F&, Op&, const Init&) {
    return {};
  }
};

/// Makes, on a GPU, values of a function as states of ranges take them; device.cuh has the one for `true`. Nobody asks this one.
template <bool OnDevice>
struct device_ranges;

}  // namespace detail
}  // namespace onefold
