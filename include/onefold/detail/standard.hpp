#pragma once
/// @file standard.hpp  Which C++ the user's code is compiled as: 17 suffices, and 20 has more (std::span, ranges, constrained templates).

#if __cplusplus < 201703L
#error "onefold's headers need C++17 or newer: compile with -std=c++17. C, and older C++, include <onefold/onefold.h>."
#include "onefold: the line above says what is needed"  // ends the compilation: what an older standard makes of the rest helps nobody
#endif

// For what only C++20 can say. Both give the same types with the same layout.
#if __cplusplus >= 202002L
#define ONEFOLD_CXX20 1
#else
#define ONEFOLD_CXX20 0
#endif
