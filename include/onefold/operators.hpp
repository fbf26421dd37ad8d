#pragma once
/// @file operators.hpp  One struct per operator: identity, neutral element and combination, on host and device.
///
/// Floats: sum and prod are one IEEE 754 operation; min and max are IEEE 754-2019 minimum and maximum (NaN propagates,
/// -0 < +0). Integers wrap. Every operator is commutative and, but for the rounding of float sum and prod, associative.

#include <limits>
#include <type_traits>

#include <cmath>

#include <onefold/detail/host_device.hpp>
#include <onefold/detail/rounded.hpp>
#include <onefold/types.hpp>

namespace onefold {

namespace detail {

// Values and not functions: those of numeric_limits are the host's.
template <class T>
inline constexpr T largest_value = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                        : std::numeric_limits<T>::max();
template <class T>
inline constexpr T least_value = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                      : std::numeric_limits<T>::lowest();

// Signed overflow is undefined in C++, so integers are combined as unsigned, where the wrap is defined.
template <class T>
struct wrapping {
  using type = std::make_unsigned_t<T>;
};

template <class T>
ONEFOLD_HOST_DEVICE constexpr bool is_nan(T x) noexcept {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  return false;
}

// `a` comes before `b` in the order of IEEE 754-2019 minimum, NaN first. Written with comparisons and one sign test so that both
// compilers make branch-free code of it; nvcc does so without && and || only.
template <class T>
ONEFOLD_HOST_DEVICE inline bool first_of_minimum(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
#ifdef __CUDA_ARCH__
    return is_nan(a) | (a < b) | ((a == b) & (signbit(a) != 0));
#else
    return is_nan(a) || a < b || (a == b && std::signbit(a));
#endif
  } else {
    return a < b;
  }
}

template <class T>
ONEFOLD_HOST_DEVICE inline bool first_of_maximum(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
#ifdef __CUDA_ARCH__
    return is_nan(a) | (a > b) | ((a == b) & (signbit(b) != 0));
#else
    return is_nan(a) || a > b || (a == b && std::signbit(b));
#endif
  } else {
    return a > b;
  }
}

}  // namespace detail

namespace op {

/// Addition. The result for no elements is +0; the neutral element of floats is -0, since -0 + x is x for every x and +0 + -0 is not.
struct sum {
  static constexpr operation id = operation::sum;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return std::is_floating_point_v<T> ? -T(0) : T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      using U = typename detail::wrapping<T>::type;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return detail::rounded_add(a, b);
    }
  }
};

/// Multiplication.
struct prod {
  static constexpr operation id = operation::prod;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return T(1);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return T(1);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      using U = typename detail::wrapping<T>::type;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return detail::rounded_multiply(a, b);
    }
  }
};

/// Minimum. The identity of floats is +infinity, not the largest finite value.
struct min {
  static constexpr operation id = operation::min;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return detail::largest_value<T>;
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return identity<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {  // one instruction that is IEEE 754-2019's (PTX ISA, min)
      float result;
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
      return result;
    }
#endif
    return detail::first_of_minimum(a, b) ? a : b;
  }
};

/// Maximum. The identity of floats is -infinity, not the lowest finite value.
struct max {
  static constexpr operation id = operation::max;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return detail::least_value<T>;
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return identity<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {  // one instruction that is IEEE 754-2019's (PTX ISA, max)
      float result;
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
      return result;
    }
#endif
    return detail::first_of_maximum(a, b) ? a : b;
  }
};

}  // namespace op

namespace detail {
template <class Op, class = void>
inline constexpr bool names_an_operation = false;
template <class Op>
inline constexpr bool names_an_operation<Op, std::void_t<decltype(Op::id)>> = std::is_convertible_v<decltype(Op::id), operation>;
}  // namespace detail

/// Whether a type names one of the library's operators.
template <class Op>
inline constexpr bool is_built_in_operator = detail::names_an_operation<Op>;

#if ONEFOLD_CXX20
/// is_built_in_operator as a concept.
template <class Op>
concept built_in_operator = is_built_in_operator<Op>;
#endif

}  // namespace onefold
