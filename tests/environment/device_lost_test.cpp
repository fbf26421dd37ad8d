/// @file device_lost_test.cpp  A GPU that an earlier kernel has made unusable: said quickly and for good, and without an abort.

#include <gtest/gtest.h>

#include "../support/child.hpp"

namespace onefold_test {
namespace {

TEST(a_lost_gpu, is_said_quickly_and_for_good_and_leaves_the_cpu_working) {
  const auto child = run_child({neighbour("onefold_fault_child")}, {}, 60);
  if (child.exit_code == 77) GTEST_SKIP() << "this machine has no GPU";
  EXPECT_FALSE(child.timed_out);
  EXPECT_EQ(child.signal, 0) << "a sticky error must not abort";
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.out, "");
  EXPECT_EQ(child.err, "");
}

}  // namespace
}  // namespace onefold_test
