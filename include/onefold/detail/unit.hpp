#pragma once
/// @file unit.hpp  What is another thing in another translation unit of one program. A template's instance that several units have under one name is one of
/// them, whichever the linker meets first; so where a unit's options change what is in it, it gets another name there.

#include <cstddef>  // any header of the standard library says how that library is configured

// Arithmetic in the caller's unit. One that is compiled with -ffast-math may regroup it, and units that are not must not get its instances. clang says nothing of
// -fassociative-math alone.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#define ONEFOLD_BEGIN_ARITHMETIC inline namespace relaxed_floats {
#define ONEFOLD_END_ARITHMETIC }
#else
#define ONEFOLD_BEGIN_ARITHMETIC
#define ONEFOLD_END_ARITHMETIC
#endif

// Structures with a std::string, of which there are three: the compiled library has such structures of its own.
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define ONEFOLD_BEGIN_TEXTS inline namespace old_texts {
#define ONEFOLD_END_TEXTS }
#elif defined(_LIBCPP_VERSION)
#define ONEFOLD_BEGIN_TEXTS inline namespace libcpp_texts {
#define ONEFOLD_END_TEXTS }
#else
#define ONEFOLD_BEGIN_TEXTS
#define ONEFOLD_END_TEXTS
#endif
