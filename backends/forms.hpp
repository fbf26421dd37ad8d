#pragma once
/// @file forms.hpp  The one place where a form's name turns into its fold.

#include "float_semantics.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <onefold/detail/folds.hpp>

namespace onefold::detail {

/// The C++ type of an element type.
template <element_type Type>
using type_of = std::conditional_t<
    Type == element_type::f32, float,
    std::conditional_t<
        Type == element_type::f64, double,
        std::conditional_t<Type == element_type::i32, std::int32_t,
                           std::conditional_t<Type == element_type::u32, std::uint32_t,
                                              std::conditional_t<Type == element_type::i64, std::int64_t, std::uint64_t>>>>>;

/// The same for the forms with several results.
template <element_type Type, class Body>
constexpr decltype(auto) with_record_fold_of(form what, Body&& body) {
  using E = type_of<Type>;
  switch (what) {
    case form::argmin:
      return body.template operator()<arg_fold<E, op::min>>();
    case form::argmax:
      return body.template operator()<arg_fold<E, op::max>>();
    case form::minmax:
      return body.template operator()<minmax_fold<E>>();
    case form::mean_variance:
      return body.template operator()<mean_variance_fold<E>>();
    default:
      break;
  }
  return body.template operator()<together_fold<E>>();
}

/// Calls body.template operator()<Fold>() with the fold of this form on elements of one type. Forms that differ in their conclusion only
/// share one, and so do signed and unsigned integers where the wrap makes no difference: the fewer folds, the fewer kernels.
template <element_type Type, class Body>
constexpr decltype(auto) with_fold_of(form what, bool wide, Body&& body) {
  if constexpr (Type == element_type::f32) {
    if (wide) {
      switch (what) {
        case form::prod:
          return body.template operator()<fold<float, double, as_is, op::prod>>();
        case form::dot:
          return body.template operator()<fold<float, double, product, op::sum>>();
        case form::sum_of_squares:
        case form::norm2:
          return body.template operator()<fold<float, double, square, op::sum>>();
        case form::norm1:
          return body.template operator()<fold<float, double, absolute, op::sum>>();
        default:  // sum and mean; min, max and norm_inf do not come here
          return body.template operator()<fold<float, double, as_is, op::sum>>();
      }
    }
  }
  using E = type_of<Type>;
  using W = typename wrapping_type<E>::type;                              // of what wraps, and of magnitudes
  using rounding = std::conditional_t<std::is_integral_v<E>, double, E>;  // of means
  switch (what) {
    case form::prod:
      return body.template operator()<fold<W, W, as_is, op::prod>>();
    case form::min:
      return body.template operator()<fold<E, E, as_is, op::min>>();
    case form::max:
      return body.template operator()<fold<E, E, as_is, op::max>>();
    case form::dot:
      return body.template operator()<fold<W, W, product, op::sum>>();
    case form::sum_of_squares:
      return body.template operator()<fold<W, W, square, op::sum>>();
    case form::norm1:
      return body.template operator()<fold<E, W, std::conditional_t<std::is_unsigned_v<E>, as_is, absolute>, op::sum>>();
    case form::norm_inf:
      return body.template operator()<fold<E, W, std::conditional_t<std::is_unsigned_v<E>, as_is, absolute>, op::max>>();
    case form::mean:
      return body.template operator()<fold<E, rounding, as_is, op::sum>>();
    case form::norm2:
      if constexpr (Type == element_type::f64)
        return body.template operator()<norm2_fold>();
      else
        return body.template operator()<fold<E, double, square, op::sum>>();
    default:
      break;
  }
  return body.template operator()<fold<W, W, as_is, op::sum>>();
}

/// The same for a type that is known at run time.
template <class Body>
constexpr decltype(auto) with_fold(element_type type, form what, bool wide, Body&& body) {
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return with_fold_of<element_type::name>(what, wide, body);
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  return with_fold_of<element_type::f32>(what, wide, body);
}

/// Bits of the result for no elements.
inline std::uint64_t empty_result(element_type type, form what, bool wide) {
  std::uint64_t bits = 0;
  const auto put = [&bits](auto value) { std::memcpy(&bits, &value, sizeof(value)); };
  const auto with_type = [&]<class R>(R) {
    switch (what) {
      case form::prod:
        return put(op::prod::identity<R>());
      case form::min:
        return put(op::min::identity<R>());
      case form::max:
        return put(op::max::identity<R>());
      case form::mean:
        if constexpr (std::is_floating_point_v<R>) return put(canonical(std::numeric_limits<R>::quiet_NaN()));
        [[fallthrough]];
      default:
        return put(R(0));
    }
  };
  switch (result_type(type, what, wide)) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    with_type(T{});           \
    break;
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  return bits;
}

}  // namespace onefold::detail
