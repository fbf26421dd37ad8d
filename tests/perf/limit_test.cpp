/// @file limit_test.cpp  A read limit that was measured on a busy machine is said to be none, and is measured again.

#include "../../perf/limit.hpp"

#include <gtest/gtest.h>

namespace {

using onefold::perf::is_limit;
using onefold::perf::limit_warning;
using onefold::perf::percent_text;
using onefold::perf::samples;
using onefold::perf::settled_limit;

constexpr double us = 1e-6;

TEST(percent_of_the_read_limit, is_printed_up_to_what_noise_explains) {
  EXPECT_EQ(percent_text(50 * us, 100 * us), "50.0");
  EXPECT_EQ(percent_text(100 * us, 100 * us), "100.0");
  EXPECT_EQ(percent_text(108 * us, 100 * us), "108.0");
}

TEST(percent_of_the_read_limit, is_no_119750_when_the_machine_was_busy) {
  EXPECT_EQ(percent_text(1197.5 * 8 * us, 8 * us), "-");
  EXPECT_EQ(percent_text(160 * us, 100 * us), "-");
  EXPECT_FALSE(is_limit(160 * us, 100 * us));
  EXPECT_TRUE(is_limit(140 * us, 100 * us));
}

TEST(a_read_limit, that_is_none_is_measured_again_until_it_is_one) {
  int calls = 0;
  const auto measure = [&] { return samples{{++calls == 1 ? 5000 * us : 90 * us}}; };
  EXPECT_EQ(settled_limit({{9000 * us}}, 100 * us, measure).median(), 90 * us);
  EXPECT_EQ(calls, 2);
}

TEST(a_read_limit, that_is_one_is_not_measured_again) {
  int calls = 0;
  const auto measure = [&] { return ++calls, samples{{1 * us}}; };
  EXPECT_EQ(settled_limit({{105 * us}}, 100 * us, measure).median(), 105 * us);
  EXPECT_EQ(calls, 0);
}

TEST(a_read_limit, of_a_machine_that_stays_busy_is_the_best_of_few_and_warned_of) {
  int calls = 0;
  const auto measure = [&] { return samples{{(++calls == 2 ? 4000 : 7000) * us}}; };
  const samples limit = settled_limit({{9000 * us}}, 100 * us, measure);
  EXPECT_EQ(limit.median(), 4000 * us);
  EXPECT_EQ(calls, 3);
  const std::string warning = limit_warning("with 2 threads", limit.median(), 100 * us);
  EXPECT_NE(warning.find("the read limit with 2 threads is none: a reduction was 40 times as fast"), std::string::npos) << warning;
  EXPECT_NE(warning.find("OMP_PROC_BIND=true"), std::string::npos) << warning;
}

TEST(a_read_limit, that_is_one_is_not_warned_of) { EXPECT_EQ(limit_warning("with 2 threads", 99 * us, 100 * us), ""); }

}  // namespace
