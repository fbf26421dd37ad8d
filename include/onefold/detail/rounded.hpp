#pragma once
/// @file rounded.hpp  One operation, rounded once: to nearest, ties to even, subnormals kept. For host and device.
///
/// A user's nvcc fuses products into sums unless told not to, and with --use_fast_math flushes subnormals and divides roughly. What is spelled
/// out here stays what it says. On the host it is the compiler's flags that decide (cmake/OnefoldFloats.cmake).

#include <cmath>
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
