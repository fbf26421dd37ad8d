#pragma once
/// @file maybe.hpp  A value, or that there is none: what a function of the index returns to leave elements out. For host and device.

#include <optional>
#include <type_traits>

#include <onefold/operators.hpp>

namespace onefold {

/// Says that there is no value: `return onefold::absent;`
struct absent_t {};
inline constexpr absent_t absent{};

/// A T or nothing. On the host std::optional<T> will do as well.
template <class T>
struct maybe {
  T value;
  bool present;

  ONEFOLD_HOST_DEVICE constexpr maybe() noexcept : value(), present(false) {}
  ONEFOLD_HOST_DEVICE constexpr maybe(absent_t) noexcept : value(), present(false) {}
  ONEFOLD_HOST_DEVICE constexpr maybe(const T& of) noexcept : value(of), present(true) {}
  ONEFOLD_HOST_DEVICE constexpr maybe(const T& of, bool is_present) noexcept : value(of), present(is_present) {}
};

namespace detail {

template <class V>
struct value_traits {  // of what a function of the index returns
  using type = V;
  static constexpr bool can_be_absent = false;
};
template <class T>
struct value_traits<maybe<T>> {
  using type = T;
  static constexpr bool can_be_absent = true;
};
template <class T>
struct value_traits<std::optional<T>> : value_traits<maybe<T>> {};

template <class T>
ONEFOLD_HOST_DEVICE constexpr const T& as_maybe(const T& value) noexcept {
  return value;
}
template <class T>
ONEFOLD_HOST_DEVICE constexpr const maybe<T>& as_maybe(const maybe<T>& value) noexcept {
  return value;
}
template <class T>
constexpr maybe<T> as_maybe(const std::optional<T>& value) noexcept {
  return value ? maybe<T>(*value) : maybe<T>();
}

}  // namespace detail
}  // namespace onefold
