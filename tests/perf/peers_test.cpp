/// @file peers_test.cpp  A peer whose result is wrong is refused with the figures; onefold's would end the study.

#include <gtest/gtest.h>

#include <limits>

#include "../../perf/expectation.hpp"
#include "../../perf/peers_cpu.hpp"

namespace {

using namespace onefold;
using namespace onefold::perf;

const float numbers[] = {1, 2, 3, -4};
const cpu_case<float> of_numbers{form::sum, numbers, numbers, 4};
const whole_sums sums = sums_of(
    4, [](std::uint64_t i) { return static_cast<int>(numbers[i]); }, [](std::uint64_t i) { return static_cast<int>(numbers[i]); });

cpu_contender<float> contender(const char* name, float value) {
  cpu_contender<float> one;
  one.name = name;
  one.run = [=] { return value; };
  return one;
}

std::vector<cpu_contender<float>> contenders(float of_onefold, float of_a_peer) {
  return {contender(bare_read_name, 0), contender(onefold_name, of_onefold), contender("good", 2), contender("peer", of_a_peer)};
}

TEST(whole_numbers, of_two_arrays_add_up) {
  EXPECT_EQ(sums.sum, 2);
  EXPECT_EQ(sums.norm1, 10);
  EXPECT_EQ(sums.squares, 30);
  EXPECT_EQ(sums.dot, 30);
  EXPECT_EQ(sums.max, 3);
}

TEST(a_peer, whose_result_is_wrong_is_refused_with_the_figures) {
  auto all = contenders(2, 3);
  const auto refused = refuse_wrong(all, of_numbers, sums);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].name, "peer");
  EXPECT_EQ(refused[0].why, "it is wrong: sum of 4 f32 is 3 where 2 is right");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].name, "good");
}

TEST(a_peer, whose_result_is_the_next_float_is_refused) {
  auto all = contenders(2, std::nextafter(2.0f, 3.0f));
  EXPECT_EQ(refuse_wrong(all, of_numbers, sums).size(), 1u);
}

TEST(a_peer, that_gives_no_number_is_refused) {
  auto all = contenders(2, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(refuse_wrong(all, of_numbers, sums).size(), 1u);
}

TEST(a_peer, whose_result_is_right_stays) {
  auto all = contenders(2, 2);
  EXPECT_TRUE(refuse_wrong(all, of_numbers, sums).empty());
  EXPECT_EQ(all.size(), 4u);
}

TEST(onefold_itself, ends_the_study_when_it_is_wrong) {
  auto all = contenders(1, 2);
  EXPECT_THROW(static_cast<void>(refuse_wrong(all, of_numbers, sums)), std::runtime_error);
}

TEST(an_expectation, allows_as_many_roundings_as_it_is_told) {
  const whole_sums of_many{.sum = 0, .norm1 = 1 << 24, .squares = 1 << 24, .dot = 1 << 24, .max = 3};
  constexpr double value = 1 << 24;
  const expectation exact = expected(form::dot, element_type::f32, of_many, 0);
  EXPECT_EQ(wrong_result(form::dot, element_type::f32, 1 << 22, value, exact), "");
  EXPECT_NE(wrong_result(form::dot, element_type::f32, 1 << 22, value + 1, exact), "");
  const expectation rounded = expected(form::dot, element_type::f32, of_many, 10);
  EXPECT_EQ(wrong_result(form::dot, element_type::f32, 1 << 22, value + 10, rounded), "");
  EXPECT_NE(wrong_result(form::dot, element_type::f32, 1 << 22, value + 11, rounded), "");
  EXPECT_NE(wrong_result(form::dot, element_type::f32, 1 << 22, value - 11, rounded), "");
}

TEST(an_expectation, of_a_norm_allows_its_last_places) {
  const whole_sums of_some{.sum = 0, .norm1 = 0, .squares = 30, .dot = 0, .max = 0};
  const expectation root = expected(form::norm2, element_type::f64, of_some, 0);
  EXPECT_EQ(wrong_result(form::norm2, element_type::f64, 4, std::sqrt(30.0) * (1 + 4e-16), root), "");
  EXPECT_NE(wrong_result(form::norm2, element_type::f64, 4, std::sqrt(30.0) * (1 + 4e-15), root), "");
}

TEST(an_expectation, is_not_made_up_for_other_forms) {
  EXPECT_THROW(static_cast<void>(expected(form::mean, element_type::f32, sums, 0)), std::runtime_error);
}

TEST(norms, of_sparse_arrays_are_exact_in_a_float) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 27;  // of the study
  const auto element = [](std::uint64_t i) { return sparse_element_at<int>(i); };
  const whole_sums all = sums_of(largest, element, element);
  EXPECT_LT(all.squares, std::int64_t{1} << 24);
  EXPECT_LT(all.norm1, std::int64_t{1} << 24);
  EXPECT_GT(all.norm1, 0);
}

}  // namespace
