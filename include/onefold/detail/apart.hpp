#pragma once
/// @file apart.hpp  A function that stays one: of what a parameter points to, g++ believes __restrict as long as it neither inlines the function nor makes a
/// copy of it with other parameters, which it does where one is always the same or is never used. Else there are no vectors at -O2.

#if defined(__GNUC__) && !defined(__clang__)
#define ONEFOLD_APART [[gnu::noinline, gnu::noclone]]
#else
#define ONEFOLD_APART [[gnu::noinline]]
#endif
