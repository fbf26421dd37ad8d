#pragma once
/// @file operators.hpp  One struct per operator: identity, neutral element and combination, on host and device.
///
/// Floats: sum and prod are one IEEE 754 operation; min and max are IEEE 754-2019 minimum and maximum (NaN propagates,
/// -0 < +0), min_number and max_number minimumNumber and maximumNumber. Integers wrap. Every operator is commutative and, but for the rounding of float sum and prod, associative.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

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

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0
// The caller's flags say that there are no NaN (-ffast-math): a comparison would be left out, bits are not.
template <class T>
ONEFOLD_HOST_DEVICE inline bool is_nan([[maybe_unused]] T x) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits;
    static_assert(sizeof(bits) == sizeof(x));
    memcpy(&bits, &x, sizeof(x));
    return bits << 1 > (sizeof(T) == 4 ? 0xff000000u : 0xffe0000000000000u);  // without the sign more than infinity
  }
  return false;
}
#else
template <class T>
ONEFOLD_HOST_DEVICE constexpr bool is_nan(T x) noexcept {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  return false;
}
#endif

/// The only NaN that a result is.
template <class T>
ONEFOLD_HOST_DEVICE inline T canonical_nan() noexcept {
  const std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits = sizeof(T) == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
  T value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The value as the caller gets it: every NaN becomes the quiet one with sign 0 and no payload.
template <class T>
ONEFOLD_HOST_DEVICE inline T canonical(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    if (is_nan(value)) return canonical_nan<T>();
  return value;
}

/// The same by its bits: the caller's environment may have a trap for an operation on a NaN that signals.
template <class T>
inline T canonical_by_bits(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits;
    memcpy(&bits, &value, sizeof(bits));
    constexpr decltype(bits) infinity = sizeof(T) == 4 ? 0x7f800000u : 0x7ff0000000000000u;
    if ((bits & ~(decltype(bits){1} << (8 * sizeof(T) - 1))) > infinity) return canonical_nan<T>();
  }
  return value;
}

#if !defined(__CUDA_ARCH__) && ((defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || defined(__NO_SIGNED_ZEROS__))
// The caller's flags let zeros of both signs be the same, or NaN be none: numbers are compared by their bits.
template <class T>
inline bool comes_before(T a, T b) noexcept {
  using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  bits of_a, of_b;
  memcpy(&of_a, &a, sizeof(a));
  memcpy(&of_b, &b, sizeof(b));
  constexpr bits all_but_sign = std::numeric_limits<bits>::max();
  return (of_a < 0 ? of_a ^ all_but_sign : of_a) < (of_b < 0 ? of_b ^ all_but_sign : of_b);
}
#define ONEFOLD_BY_BITS
#endif

// `a` comes before `b` in the order of IEEE 754-2019 minimum, NaN first. Written with comparisons and one sign test so that both
// compilers make branch-free code of it; nvcc does so without && and || only.
template <class T>
ONEFOLD_HOST_DEVICE inline bool first_of_minimum(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
#ifdef __CUDA_ARCH__
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
    if constexpr (std::is_same_v<T, float>) return is_nan(a) | is_less(a, b) | (is_same_number(a, b) & (signbit(a) != 0));
#endif
    return is_nan(a) | (a < b) | ((a == b) & (signbit(a) != 0));
#elif defined(ONEFOLD_BY_BITS)
    return is_nan(a) || (!is_nan(b) && comes_before(a, b));
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
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
    if constexpr (std::is_same_v<T, float>) return is_nan(a) | is_less(b, a) | (is_same_number(a, b) & (signbit(b) != 0));
#endif
    return is_nan(a) | (a > b) | ((a == b) & (signbit(b) != 0));
#elif defined(ONEFOLD_BY_BITS)
    return is_nan(a) || (!is_nan(b) && comes_before(b, a));
#else
    return is_nan(a) || a > b || (a == b && std::signbit(b));
#endif
  } else {
    return a > b;
  }
}

#undef ONEFOLD_BY_BITS

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

/// IEEE 754-2019 minimumNumber: a NaN is absent, so that the result is one only where every element is. Integers: min.
struct min_number {
  static constexpr form id = form::min_number;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return min::identity<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T neutral() noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return detail::canonical_nan<T>();
    else
      return min::neutral<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
    if constexpr (!std::is_floating_point_v<T>) return min::combine(a, b);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {  // one instruction that is IEEE 754-2019's (PTX ISA, min)
      float result;
      asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
      return result;
    }
#endif
    if (detail::is_nan(a)) return b;
    return detail::is_nan(b) || detail::first_of_minimum(a, b) ? a : b;
  }
};

/// IEEE 754-2019 maximumNumber, in the same way.
struct max_number {
  static constexpr form id = form::max_number;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return max::identity<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T neutral() noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return detail::canonical_nan<T>();
    else
      return max::neutral<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static T combine(T a, T b) noexcept {
    if constexpr (!std::is_floating_point_v<T>) return max::combine(a, b);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {  // one instruction that is IEEE 754-2019's (PTX ISA, max)
      float result;
      asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
      return result;
    }
#endif
    if (detail::is_nan(a)) return b;
    return detail::is_nan(b) || detail::first_of_maximum(a, b) ? a : b;
  }
};

/// Of integers, bit by bit. Of no elements all bits are set.
struct bit_and {
  static constexpr form id = form::bit_and;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return static_cast<T>(~T(0));
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return identity<T>();
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};

struct bit_or {
  static constexpr form id = form::bit_or;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};

struct bit_xor {
  static constexpr form id = form::bit_xor;
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T identity() noexcept {
    return T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T neutral() noexcept {
    return T(0);
  }
  template <class T>
  ONEFOLD_HOST_DEVICE static constexpr T combine(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace op

namespace detail {
template <class Op, class = void>
struct names_a_form : std::false_type {};
template <class Op>
struct names_a_form<Op, std::void_t<decltype(Op::id)>>
    : std::bool_constant<std::is_same_v<std::decay_t<decltype(Op::id)>, operation> ||
                         std::is_same_v<std::decay_t<decltype(Op::id)>, form>> {};

/// An operator of the library's as a function object. One operation is the same in all units, whatever their options (unit.hpp).
template <class Op>
struct operator_function {
  template <class T>
  ONEFOLD_HOST_DEVICE T operator()(const T& a, const T& b) const {
    return Op::template combine<T>(a, b);
  }
};

/// Elements as they are, for a function of elements.
struct identity_function {
  template <class T>
  ONEFOLD_HOST_DEVICE const T& operator()(const T& x) const {
    return x;
  }
};
}  // namespace detail

/// Whether a type names one of the library's operators.
template <class Op>
inline constexpr bool is_built_in_operator = detail::names_a_form<Op>::value;

#if ONEFOLD_CXX20
/// is_built_in_operator as a concept.
template <class Op>
concept built_in_operator = is_built_in_operator<Op>;
#endif

}  // namespace onefold
