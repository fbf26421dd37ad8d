/// @file device_lost_test.cpp  A GPU that an earlier kernel has made unusable: said quickly and for good, and without an abort.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../support/child.hpp"

namespace onefold_test {
namespace {

void expect_silent_success(const std::vector<std::string>& command, const char* lacking) {
  const auto child = run_child(command, {}, 60);
  if (child.exit_code == 77) GTEST_SKIP() << lacking;
  EXPECT_FALSE(child.timed_out);
  EXPECT_EQ(child.signal, 0) << "a sticky error must not abort";
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.out, "");
  EXPECT_EQ(child.err, "");
}

TEST(a_lost_gpu, is_said_quickly_and_for_good_and_leaves_the_cpu_working) {
  expect_silent_success({neighbour("onefold_fault_child")}, "this machine has no GPU");
}

TEST(a_lost_gpu, of_two_is_an_error_of_calls_over_both_and_spoils_no_other_result) {
  expect_silent_success({neighbour("onefold_fault_child"), "one_of_two"}, "this machine has fewer than two GPUs");
}

}  // namespace
}  // namespace onefold_test
