/// @file fast_math_test.cpp  With the tests of fixed_order_test.cpp, in a program that is linked as -ffast-math links one.

#include <gtest/gtest.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "environment.hpp"

namespace onefold_test {
namespace {

#ifdef __SSE2__
TEST(a_program_linked_with_fast_math, flushes_subnormals_to_zero_and_gets_the_same_bits) {
  EXPECT_NE(_mm_getcsr() & 0x8000, 0u) << "this program was to be linked with -ffast-math";
  expect_right_in_this_environment();
}
#endif

}  // namespace
}  // namespace onefold_test
