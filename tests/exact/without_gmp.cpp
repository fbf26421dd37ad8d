/// @file without_gmp.cpp  In the place of the tests that need GMP, where it is absent.

#include <gtest/gtest.h>

namespace {

TEST(exact_results, are_compared_with_those_of_whole_numbers) {
  GTEST_SKIP() << "GMP (libgmp-dev) is not here: guarantee::exact is compared with known answers and the golden table only";
}

}  // namespace
