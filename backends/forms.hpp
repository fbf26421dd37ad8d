#pragma once
/// @file forms.hpp  What each form is made of, for host and device: how an element becomes a value, how values are combined, and what
/// becomes of the last one (docs/order.md, "Forms"). The one place where a form's name turns into code.

#include "float_semantics.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/operators.hpp>
#include <onefold/order.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// The value as the caller gets it: every NaN becomes the quiet one with sign 0 and no payload.
template <class T>
ONEFOLD_HOST_DEVICE inline T canonical(T value) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    const std::uint32_t bits = 0x7fc00000u;
    if (is_nan(value)) memcpy(&value, &bits, sizeof(value));
  } else if constexpr (std::is_same_v<T, double>) {
    const std::uint64_t bits = 0x7ff8000000000000u;
    if (is_nan(value)) memcpy(&value, &bits, sizeof(value));
  }
  return value;
}

/// Elements as they are.
struct as_is {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    return static_cast<A>(x);
  }
};

/// |x|. Of an integer as an unsigned one, so that the smallest has one too.
struct absolute {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    if constexpr (std::is_floating_point_v<A>)
      return static_cast<A>(fabs(static_cast<A>(x)));
    else
      return x < 0 ? static_cast<A>(A(0) - static_cast<A>(x)) : static_cast<A>(x);
  }
};

struct square {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    return static_cast<A>(static_cast<A>(x) * static_cast<A>(x));
  }
};

/// x y, of two inputs.
struct product {
  static constexpr int inputs = 2;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x, E y) noexcept {
    return static_cast<A>(static_cast<A>(x) * static_cast<A>(y));
  }
};

/// Everything that a tree needs to know: elements of type E become values of type A by Map, and Op combines those.
template <class E, class A, class Map, class Op>
struct fold {
  using element = E;
  using accumulator = A;
  static constexpr int inputs = Map::inputs;
  template <class... X>
  ONEFOLD_HOST_DEVICE static A value(X... x) noexcept {
    return Map::template value<A, E>(x...);
  }
  ONEFOLD_HOST_DEVICE static A combine(A a, A b) noexcept { return Op::template combine<A>(a, b); }
  ONEFOLD_HOST_DEVICE static A neutral() noexcept { return Op::template neutral<A>(); }
};

/// The type that integers of type E are combined in where signs do not matter, and the type of their magnitudes; floats: E.
template <class E>
struct wrapping_type {
  using type = E;
};
template <class E>
requires std::is_integral_v<E>
struct wrapping_type<E> {
  using type = std::make_unsigned_t<E>;
};

/// The three trees of norm2 of doubles, side by side.
struct squares {
  double small, medium, big;
};

/// norm2 of doubles: every element is scaled by its class before it is squared.
struct norm2_fold {
  using element = double;
  using accumulator = squares;
  static constexpr int inputs = 1;
  ONEFOLD_HOST_DEVICE static squares value(double x) noexcept {
    const double size = fabs(x);
    const bool small = size < order::small_below;
    const bool big = size >= order::big_from;
    const double scaled = x * (small ? order::scale_up : big ? order::scale_down : 1.0);
    const double squared = scaled * scaled;
    return {small ? squared : 0.0, small || big ? 0.0 : squared, big ? squared : 0.0};
  }
  ONEFOLD_HOST_DEVICE static squares combine(squares a, squares b) noexcept {
    return {a.small + b.small, a.medium + b.medium, a.big + b.big};
  }
  // +0 leaves a square, which is never -0, as it is.
  ONEFOLD_HOST_DEVICE static squares neutral() noexcept { return {0.0, 0.0, 0.0}; }
};

/// What becomes of the tree's value.
enum class conclusion : int {
  none,           ///< it is the result
  mean,           ///< it is divided by the count
  root,           ///< its square root is
  root_to_float,  ///< its square root, rounded from double to float, is
};

constexpr conclusion conclusion_of(element_type type, form what, bool wide) noexcept {
  if (what == form::mean) return conclusion::mean;
  if (what != form::norm2) return conclusion::none;
  return type == element_type::f32 && !wide ? conclusion::root_to_float : conclusion::root;
}

ONEFOLD_HOST_DEVICE inline double root_of(double sum) noexcept { return sqrt(sum); }

ONEFOLD_HOST_DEVICE inline double root_of(const squares& sums) noexcept {
  constexpr double up = order::scale_up;
  constexpr double down = order::scale_down;
  if (sums.big != 0) {
    const double root = sqrt(sums.big + (sums.medium * down) * down);
    return order::overflow_from <= root && root <= order::brink ? 0x1.fffffffffffffp1023 : root * up;
  }
  if (sums.medium != 0) return sqrt(sums.medium + (sums.small * down) * down);
  return sqrt(sums.small) * down;
}

/// Bits of the result made of the tree's value: those of the result type, zero-extended.
template <class A>
ONEFOLD_HOST_DEVICE inline std::uint64_t conclude(conclusion how, const A& value, std::uint64_t count) noexcept {
  std::uint64_t bits = 0;
  const auto put = [&bits](auto result) {
    result = canonical(result);
    memcpy(&bits, &result, sizeof(result));
  };
  if constexpr (std::is_same_v<A, squares>) {
    put(root_of(value));
  } else if constexpr (std::is_floating_point_v<A>) {
    switch (how) {
      case conclusion::none:
        put(value);
        break;
      case conclusion::mean:
        put(value / static_cast<A>(count));
        break;
      case conclusion::root:
        put(root_of(static_cast<double>(value)));
        break;
      case conclusion::root_to_float:
        put(static_cast<float>(root_of(static_cast<double>(value))));
        break;
    }
  } else {
    put(value);
  }
  return bits;
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
  using E = std::conditional_t<
      Type == element_type::f32, float,
      std::conditional_t<
          Type == element_type::f64, double,
          std::conditional_t<Type == element_type::i32, std::int32_t,
                             std::conditional_t<Type == element_type::u32, std::uint32_t,
                                                std::conditional_t<Type == element_type::i64, std::int64_t, std::uint64_t>>>>>;
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
    case form::sum:
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
