/// @file oracle_test.cpp  The oracle of exact results must be able to fail, too: answers known by hand, and words written down from
/// the page.

#include <cmath>
#include <limits>

#include "fixture.hpp"

namespace onefold_test {
namespace {

using words = std::vector<std::int64_t>;

template <class T>
exact_elements set(std::initializer_list<T> all) {
  return exact_elements(std::span<const T>(all.begin(), all.size()));
}

template <class R, class T>
void expect_answer(form what, std::initializer_list<T> all, R answer) {
  EXPECT_EQ(set(all).result(what, std::is_same_v<R, double>), scalar_of(answer)) << onefold::name(what);
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least = 0x1p-1074;

TEST(exact_oracle, gives_answers_known_by_hand) {
  expect_answer(form::sum, {1.0, 0x1p-53}, 1.0);
  expect_answer(form::sum, {1.0, 0x1p-53, least}, 1 + 0x1p-52);
  expect_answer(form::sum, {1 + 0x1p-52, 0x1p-53}, 1 + 0x1p-51);
  expect_answer(form::sum, {-1.0, -0x1p-53, -least}, -1 - 0x1p-52);
  expect_answer(form::sum, {0x1p1023, 0x1p1023}, inf);
  expect_answer(form::sum, {-0.0, -0.0}, -0.0);
  expect_answer(form::sum, {-0.0, 0.0}, 0.0);
  expect_answer(form::sum, {inf, -inf}, nan);
  expect_answer(form::sum, {-inf, 1.0}, -inf);
  expect_answer<double, double>(form::sum, {}, 0.0);
  expect_answer<double, double>(form::mean, {}, nan);
  expect_answer(form::sum, {1.0f, 0x1p-24f, 0x1p-149f}, 1 + 0x1p-23f);
  expect_answer(form::sum, {1.0f, 0x1p-24f, 0x1p-149f}, 1 + 0x1p-24);
  expect_answer(form::norm1, {-0.0, -3.0, inf}, inf);
  expect_answer(form::norm1, {-0.0}, 0.0);
  expect_answer(form::sum_of_squares, {-inf, 3.0}, inf);
  expect_answer(form::sum_of_squares, {least}, 0.0);
  expect_answer(form::norm2, {0x3p-1074, 0x4p-1074}, 0x5p-1074);
  expect_answer(form::norm2, {0x3p1020, 0x4p1020}, 0x5p1020);
  expect_answer(form::norm2, {1.0, 1.0}, std::sqrt(2.0));
  expect_answer(form::norm2, {5999.0f, 17994000.0f}, 17994000.0f);  // of 17994001, which is in the middle
  expect_answer(form::norm2, {5999.0f, 17994000.0f, 0x1p-149f}, 17994002.0f);
  expect_answer(form::norm2, {5999.0f, 17994000.0f}, 17994001.0);
  expect_answer(form::mean, {1.0, 1.0, 2.0}, 4.0 / 3.0);
  expect_answer(form::mean, {-least, 0.0, 0.0}, -0.0);
  expect_answer(form::mean, {-0.0, -0.0}, -0.0);
  EXPECT_EQ(set({1.0, 2.0, 3.0, 6.0}).variance(), scalar_of(3.5));
  EXPECT_EQ(set({1.0, 2.0, 3.0, 6.0}).variance(1), scalar_of(14.0 / 3.0));
  EXPECT_EQ(set({1.0, 2.0, 3.0, 6.0}).variance(4), scalar_of(nan));
  EXPECT_EQ(set({1.0, 1.0}).variance(std::numeric_limits<std::int64_t>::min()), scalar_of(0.0));
  EXPECT_EQ(set({1.0f, std::numeric_limits<float>::infinity()}).variance(), scalar_of(std::numeric_limits<float>::quiet_NaN()));
  const std::vector<double> x{0x1p1000, -0x1p1000, -0.0}, y{0x1p1000, 0x1p1000, least};
  EXPECT_EQ(exact_pairs(std::span(x), std::span(y)).result(), scalar_of(0.0));
}

TEST(exact_oracle, gives_words_written_down_from_the_page) {
  EXPECT_EQ(set({1.0f}).words(form::sum), (words{253559041, 1, 1, 0, 0, 0, 1, 1831417068, 0, 0, 0, 0, 2097152, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(set({-1.0f}).words(form::mean), (words{253559041, 1, 1, 0, 0, 0, 1, 1590990283, 0, 0, 0, 0, 4292870144, 4294967295,
                                                   4294967295, 4294967295, 4294967295, 4294967295, -1}));
  EXPECT_EQ(set({-0.0f, -0.0f}).words(form::sum)[6], 0);
  EXPECT_EQ(set({-0.0f, -0.0f}).words(form::norm1)[6], 1);
  EXPECT_EQ(set<float>({}).words(form::mean_variance), words(39, 0));
  EXPECT_EQ(set<double>({}).words(form::sum), words(76, 0));
  EXPECT_EQ(set({1.0}).words(form::norm2).size(), 142u);
  EXPECT_EQ(set({1.0}).words(form::mean_variance).size(), 210u);
  EXPECT_EQ(set({inf, nan, -inf}).words(form::sum)[2], 3);
  for (const std::size_t flag : {3u, 4u, 5u, 6u}) EXPECT_EQ(set({inf, nan, -inf}).words(form::sum)[flag], 1) << flag;
  EXPECT_EQ(set({-inf}).words(form::norm2)[4], 1);
  EXPECT_EQ(set({-inf}).words(form::norm2)[5], 0);
  EXPECT_EQ(set({1.0f, std::numeric_limits<float>::infinity()}).words(form::sum),
            (words{253559041, 1, 2, 0, 1, 0, 1, 546679685, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const std::vector<float> x{-2, -2}, y{1, 2};
  EXPECT_EQ(
      exact_pairs(std::span<const float>(x), std::span<const float>(y)).words(),
      (words{253559045,  1,          2,          0,          0,          0,          1,          1322150313, 0,          0,
             0,          0,          0,          0,          0,          0,          0,          4294961152, 4294967295, 4294967295,
             4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295, -1}));
}

}  // namespace
}  // namespace onefold_test
