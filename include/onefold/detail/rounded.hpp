#pragma once
/// @file rounded.hpp  One operation, rounded once: to nearest, ties to even, subnormals kept. For host and device.
///
/// A user's nvcc fuses products into sums unless told not to, and with --use_fast_math flushes subnormals, in conversions and comparisons too, and divides
/// roughly. What is spelled out here stays what it says; the library's own translation units, which are compiled without all that
/// (ONEFOLD_STRICT_DEVICE_FLOATS), leave the compiler its freedom. On the host it is the compiler's flags that decide (cmake/OnefoldFloats.cmake).

#include <cmath>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define ONEFOLD_ROUNDED __host__ __device__ inline
#else
#define ONEFOLD_ROUNDED inline
#endif

namespace onefold::detail {

#ifdef __CUDA_ARCH__
#define ONEFOLD_ROUNDED_OPERATION(name, symbol, instruction, of_double)     \
  ONEFOLD_ROUNDED float name(float a, float b) noexcept {                   \
    float result;                                                           \
    asm(instruction ".rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b)); \
    return result;                                                          \
  }                                                                         \
  ONEFOLD_ROUNDED double name(double a, double b) noexcept { return of_double(a, b); }
#else
#define ONEFOLD_ROUNDED_OPERATION(name, symbol, instruction, of_double)        \
  ONEFOLD_ROUNDED float name(float a, float b) noexcept { return a symbol b; } \
  ONEFOLD_ROUNDED double name(double a, double b) noexcept { return a symbol b; }
#endif
ONEFOLD_ROUNDED_OPERATION(rounded_add, +, "add", __dadd_rn)
ONEFOLD_ROUNDED_OPERATION(rounded_subtract, -, "sub", __dsub_rn)
ONEFOLD_ROUNDED_OPERATION(rounded_multiply, *, "mul", __dmul_rn)
ONEFOLD_ROUNDED_OPERATION(rounded_divide, /, "div", __ddiv_rn)
#undef ONEFOLD_ROUNDED_OPERATION

ONEFOLD_ROUNDED double rounded_root(double x) noexcept {
#ifdef __CUDA_ARCH__
  return __dsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

#if defined(__CUDA_ARCH__) && !defined(ONEFOLD_STRICT_DEVICE_FLOATS)
#define ONEFOLD_DEVICE_MAY_FLUSH
#endif

/// A float as a double, which it is exactly.
ONEFOLD_ROUNDED double widened(float x) noexcept {
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
  double result;
  asm("cvt.f64.f32 %0, %1;" : "=d"(result) : "f"(x));
  return result;
#else
  return static_cast<double>(x);
#endif
}
/// A double as the nearest float.
ONEFOLD_ROUNDED float narrowed(double x) noexcept {
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
  float result;
  asm("cvt.rn.f32.f64 %0, %1;" : "=f"(result) : "d"(x));
  return result;
#else
  return static_cast<float>(x);
#endif
}
ONEFOLD_ROUNDED double without_sign(double x) noexcept { return std::fabs(x); }
ONEFOLD_ROUNDED float without_sign(float x) noexcept {
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
  return __uint_as_float(__float_as_uint(x) & 0x7fffffffU);
#else
  return std::fabs(x);
#endif
}

#ifdef ONEFOLD_DEVICE_MAY_FLUSH
// Comparisons of floats, to which a subnormal is no zero.
#define ONEFOLD_COMPARISON(name, instruction)                                                     \
  ONEFOLD_ROUNDED bool name(float a, float b) noexcept {                                          \
    unsigned result;                                                                              \
    asm("{\n\t.reg .pred p;\n\tsetp." instruction ".f32 p, %1, %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" \
        : "=r"(result)                                                                            \
        : "f"(a), "f"(b));                                                                        \
    return result != 0;                                                                           \
  }
ONEFOLD_COMPARISON(is_less, "lt")
ONEFOLD_COMPARISON(is_at_least, "ge")
ONEFOLD_COMPARISON(is_same_number, "eq")
#undef ONEFOLD_COMPARISON
#endif

/// x in another type, as C converts it.
template <class A, class E>
ONEFOLD_ROUNDED A converted(E x) noexcept {
  if constexpr (std::is_same<A, double>::value && std::is_same<E, float>::value)
    return widened(x);
  else if constexpr (std::is_same<A, float>::value && std::is_same<E, double>::value)
    return narrowed(x);
  else
    return static_cast<A>(x);
}

/// A number that a function has given, behind an operation that changes nothing and that the assembler does not look through. That of CUDA 13.0, and the driver's of
/// then, make one instruction of max(max(-a, -b), -c) of 32-bit integers, and forget a sign: the largest of all -x was the largest of some x.
template <class T>
ONEFOLD_ROUNDED T apart_from_its_sign(T value) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    std::uint32_t same;
    asm("prmt.b32 %0, %1, 0, 0x3210;" : "=r"(same) : "r"(static_cast<std::uint32_t>(value)));
    return static_cast<T>(same);
  }
#endif
  return value;
}

/// a b, in the type of both.
template <class T>
ONEFOLD_ROUNDED T product_of(T a, T b) noexcept {
  if constexpr (std::is_floating_point<T>::value)
    return rounded_multiply(a, b);
  else
    return static_cast<T>(a * b);
}

}  // namespace onefold::detail

#undef ONEFOLD_ROUNDED
