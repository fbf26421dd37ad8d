/// @file environment.hpp  What the tests of the floating-point environment share.
#pragma once

namespace onefold_test {

/// Compares every form, type and executor with the scalar program of fixed_order_test.cpp, whatever the threads round to or flush.
void expect_right_in_this_environment();

}  // namespace onefold_test
