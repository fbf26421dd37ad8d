#pragma once
/// @file conclusions.hpp  What becomes of the tree's value, for host and device, and what a form gives for no elements (docs/order.md).

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/rounded.hpp>
#include <onefold/operators.hpp>
#include <onefold/order.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// The identities of min and max as elements.
template <class E>
ONEFOLD_HOST_DEVICE inline E largest_element() noexcept {
  if constexpr (is_half<E>)
    return E(op::min::identity<float>());
  else
    return op::min::identity<E>();
}
template <class E>
ONEFOLD_HOST_DEVICE inline E least_element() noexcept {
  if constexpr (is_half<E>)
    return E(op::max::identity<float>());
  else
    return op::max::identity<E>();
}

/// The three trees of norm2 of doubles, side by side.
struct squares {
  double small, medium, big;
};

/// Of mean_variance: how many, their mean, and the sum of the squared deviations from it. A count of 0 is absent.
struct moments {
  std::uint64_t count;
  double mean, deviation;
};

/// What becomes of the tree's value.
enum class conclusion : int {
  none,              ///< it is the result, or its lowest bytes are
  mean,              ///< it is divided by the count
  root,              ///< its square root is
  root_to_float,     ///< its square root, rounded from double to float, is
  mean_of_signed,    ///< as a signed integer it is converted to double, and divided by the count
  mean_of_unsigned,  ///< the same of an unsigned one
// from float, exactly: to_f16 and its like
#define ONEFOLD_SMALL_FLOAT(name, T, digits) to_##name,
#include <onefold/types.def>
  is_count,  ///< whether it is the count
  is_some,   ///< whether it is not zero
  is_zero,
};

constexpr conclusion conclusion_of(element_type type, form what, bool wide) noexcept {
  switch (what) {
    case form::mean:
      if (is_float(type) || !is_small(type)) return conclusion::mean;
      return is_signed_integer(type) ? conclusion::mean_of_signed : conclusion::mean_of_unsigned;
    case form::norm2:
      return result_type(type, what, wide) == element_type::f32 ? conclusion::root_to_float : conclusion::root;
    case form::all:
      return conclusion::is_count;
    case form::any:
      return conclusion::is_some;
    case form::none:
      return conclusion::is_zero;
    default:
      break;
  }
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (result_type(type, what, wide) == element_type::name) return conclusion::to_##name;
#include <onefold/types.def>
  return conclusion::none;
}

/// A value that was an element, as one again. A NaN becomes the canonical one.
template <class E, class V>
ONEFOLD_HOST_DEVICE inline E as_element(V value) noexcept {
  if constexpr (is_half<E>)
    return E(canonical(value));
  else
    return static_cast<E>(canonical(value));
}

/// What mean_variance gives for a state, both as f64 and as they come: `ddof` is taken from the count.
struct mean_and_variance_of {
  double mean, variance;
};
ONEFOLD_HOST_DEVICE inline mean_and_variance_of mean_and_variance(const moments& of, std::int64_t ddof) noexcept {
  const double nan = canonical_nan<double>();
  if (of.count == 0) return {nan, nan};
  // Both fit 63 bits, their difference the 64 of an unsigned one.
  const bool has_variance = ddof < 0 || of.count > static_cast<std::uint64_t>(ddof);
  const auto degrees = of.count - static_cast<std::uint64_t>(ddof);
  return {of.mean, has_variance ? rounded_divide(of.deviation, static_cast<double>(degrees)) : nan};
}

ONEFOLD_HOST_DEVICE inline double root_of(double sum) noexcept { return rounded_root(sum); }

ONEFOLD_HOST_DEVICE inline double root_of(const squares& sums) noexcept {
  constexpr double up = order::scale_up;
  constexpr double down = order::scale_down;
  if (sums.big != 0) {
    const double root = rounded_root(rounded_add(sums.big, rounded_multiply(rounded_multiply(sums.medium, down), down)));
    return order::overflow_from <= root && root <= order::brink ? 0x1.fffffffffffffp1023 : rounded_multiply(root, up);
  }
  if (sums.medium != 0) return rounded_root(rounded_add(sums.medium, rounded_multiply(rounded_multiply(sums.small, down), down)));
  return rounded_multiply(rounded_root(sums.small), down);
}

/// Bits of the result made of the tree's value: those of the result type, zero-extended. `Small` says that elements may have been small: code for
/// others alone is shorter without.
template <bool Small = true, class A>
ONEFOLD_HOST_DEVICE inline std::uint64_t conclude(conclusion how, const A& value, std::uint64_t count) noexcept {
  std::uint64_t bits = 0;
  const auto put = [&bits](auto result) {
    result = canonical(result);
    memcpy(&bits, &result, sizeof(result));
  };
  if constexpr (std::is_same_v<A, squares>) {
    put(root_of(value));
  } else if constexpr (std::is_integral_v<A> && !std::is_same_v<A, std::uint64_t>) {
    put(value);  // nothing else is made of them
  } else {
    switch (how) {
      case conclusion::none:
        put(value);
        break;
      case conclusion::mean:
        if constexpr (std::is_floating_point_v<A>) put(rounded_divide(value, static_cast<A>(count)));
        break;
      case conclusion::root:
        if constexpr (std::is_floating_point_v<A>) put(root_of(converted<double>(value)));
        break;
      case conclusion::root_to_float:
        if constexpr (std::is_floating_point_v<A>) put(narrowed(root_of(converted<double>(value))));
        break;
      case conclusion::mean_of_signed:
        if constexpr (Small && std::is_same_v<A, std::uint64_t>)
          put(rounded_divide(static_cast<double>(static_cast<std::int64_t>(value)), static_cast<double>(count)));
        break;
      case conclusion::mean_of_unsigned:
        if constexpr (Small && std::is_same_v<A, std::uint64_t>)
          put(rounded_divide(static_cast<double>(value), static_cast<double>(count)));
        break;
#define ONEFOLD_SMALL_FLOAT(name, T, digits)                                 \
  case conclusion::to_##name:                                                \
    if constexpr (Small && std::is_same_v<A, float>) bits = T(value).bits(); \
    break;
#include <onefold/types.def>
      case conclusion::is_count:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value == count ? 1 : 0;
        break;
      case conclusion::is_some:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value != A(0) ? 1 : 0;
        break;
      case conclusion::is_zero:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value == A(0) ? 1 : 0;
        break;
    }
  }
  return bits;
}

/// The result for no elements, or none that is present. An index of nothing is none: such calls are refused where that can be seen ahead.
template <form What, class T, bool Wide>
ONEFOLD_HOST_DEVICE inline result_of_form<What, T, Wide> result_of_nothing() noexcept {
  using R = result_of_form<What, T, Wide>;
  if constexpr (gives_arg<What>)
    return {decltype(R::value)(), ~std::uint64_t{0}};
  else if constexpr (What == form::argminmax)
    return {{T(), ~std::uint64_t{0}}, {T(), ~std::uint64_t{0}}};
  else if constexpr (What == form::minmax)
    return {largest_element<T>(), least_element<T>()};
  else if constexpr (What == form::mean_variance)
    return {canonical_nan<decltype(R::mean)>(), canonical_nan<decltype(R::mean)>()};
  else if constexpr (What == form::mean)
    return canonical_nan<R>();
  else if constexpr (What == form::prod)
    return op::prod::identity<R>();
  else if constexpr (What == form::min || What == form::min_number)
    return largest_element<R>();
  else if constexpr (What == form::max || What == form::max_number)
    return least_element<R>();
  else if constexpr (What == form::bit_and)
    return static_cast<R>(~R(0));
  else if constexpr (What == form::all || What == form::none)
    return true;
  else
    return R(0);
}

/// The result of a form, made of the tree's value.
template <form What, class T, bool Wide>
struct concluded {
  using result = result_of_form<What, T, Wide>;
  static constexpr conclusion how = conclusion_of(element_type_of<T>, What, Wide);
  template <class A>
  ONEFOLD_HOST_DEVICE static result of(const A& value, std::uint64_t count, [[maybe_unused]] std::int64_t ddof) {
    if constexpr (gives_arg<What>) {
      return {canonical(value.value), value.index};
    } else if constexpr (What == form::argminmax) {
      return {{canonical(value.min.value), value.min.index}, {canonical(value.max.value), value.max.index}};
    } else if constexpr (What == form::minmax) {
      return {canonical(value.min), canonical(value.max)};
    } else if constexpr (What == form::mean_variance) {
      using R = decltype(result::mean);
      const auto found = mean_and_variance(value, ddof);
      return {canonical(converted<R>(found.mean)), canonical(converted<R>(found.variance))};
    } else {
      const std::uint64_t bits = conclude(how, value, count);
      result made;
      std::memcpy(&made, &bits, sizeof(made));
      return made;
    }
  }
};

}  // namespace onefold::detail
