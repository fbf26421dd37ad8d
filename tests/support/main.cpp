/// @file main.cpp  The main program of the test programs that need nothing special.

#include "gtest_support.hpp"

int main(int argc, char** argv) {
  onefold_test::start_tests(&argc, argv);
  return RUN_ALL_TESTS();
}
