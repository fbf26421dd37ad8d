#pragma once
/// @file float_semantics.hpp  Refuses to be compiled where one floating-point operation is not one IEEE 754 operation. Included by everything
/// that computes. onefold's CMake files undo such flags (cmake/OnefoldFloats.cmake), so whoever comes here compiles in another way, or with
/// a compiler whose flags they do not know.

#include <cfloat>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0) || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error \
    "onefold promises the bits of its results: compile its sources without -Ofast, -ffast-math and parts of it, or add -fno-fast-math"
#endif

#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16  // 16: half precision alone is computed in another format
#error \
    "onefold promises the bits of its results: compile its sources so that float and double are not computed in wider formats (-mfpmath=sse)"
#endif

static_assert(static_cast<double>(0.1f) != 0.1,
              "onefold needs constants of type double: compile it without -fsingle-precision-constant");
static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "onefold needs the float and double of IEEE 754");
