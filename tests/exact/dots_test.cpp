/// @file dots_test.cpp  Dot products that are hard: of condition numbers up to 1e300, with products that overflow and underflow, of
/// arrays that overlap.

#include <cmath>
#include <limits>

#include "fixture.hpp"
#include "ill_conditioned.hpp"

namespace onefold_test {
namespace {

class exact_dots : public executor_test {
 protected:
  template <class T>
  void expect_right(const std::vector<T>& x, const std::vector<T>& y, double dot) {
    ASSERT_NO_FATAL_FAILURE(expect_exact_dot<T>(where(), x, y, ""));
    ASSERT_NO_FATAL_FAILURE(expect_exact_dot<T>(where(), y, x, ""));
    EXPECT_EQ(scalar_of(static_cast<double>(exact_dot(where(), x, y))), scalar_of(dot)) << text_of<T>(x) << text_of<T>(y);
  }
};

TEST_P(exact_dots, of_any_condition_number_are_right) {
  for (const double digits : {5.0, 10.0, 16.0, 20.0, 32.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0})
    for (const std::size_t count : {6u, 20u, 100u, 1'001u, 5'000u}) {
      if (static_cast<double>(count) < digits / 5) continue;  // too few steps to shrink that far
      for (std::uint64_t i = 0; i < std::max<std::uint64_t>(cases(20'000 / count / 4), 1); ++i) {
        const auto data = ill_conditioned<double>(count, digits / std::log10(2.0), current_seed() + i);
        if (count >= 100) {
          EXPECT_GT(log2_condition_of(data) * std::log10(2.0), 0.9 * digits - 4);
        }
        ASSERT_NO_FATAL_FAILURE(expect_exact_dot<double>(where(), data.x, data.y, "ill-conditioned"));
      }
    }
  for (const double digits : {5.0, 8.0, 16.0, 30.0, 60.0})
    for (const std::size_t count : {20u, 100u, 3'000u}) {
      const auto data = ill_conditioned<float>(count, digits / std::log10(2.0), current_seed());
      if (count >= 100) {
        EXPECT_GT(log2_condition_of(data) * std::log10(2.0), 0.8 * digits - 4);
      }
      ASSERT_NO_FATAL_FAILURE(expect_exact_dot<float>(where(), data.x, data.y, "ill-conditioned"));
    }
}

TEST_P(exact_dots, with_products_out_of_range_are_right) {
  constexpr double inf = std::numeric_limits<double>::infinity(), top = std::numeric_limits<double>::max();
  constexpr double least = 0x1p-1074;
  // Products that overflow and cancel.
  expect_right<double>({0x1p1000, -0x1p1000, 3}, {0x1p1000, 0x1p1000, 5}, 15);
  expect_right<double>({top, -top, least}, {top, top, least}, 0.0);
  expect_right<double>({top, top}, {top, top}, inf);
  expect_right<double>({top, -top, 1}, {top, top, inf}, inf);
  expect_right<double>({0x1p1000, -0x1p1000, 0x1p-500}, {0x1p1000, 0x1p1000, 0x1p-574}, least);
  // Products below the smallest number, whose sum is not.
  expect_right<double>({0x1p-538, 0x1p-538}, {0x1p-537, 0x1p-537}, least);
  expect_right<double>({0x1p-538}, {0x1p-537}, 0.0);  // in the middle
  expect_right<double>({0x1p-538, least}, {0x1p-537, least}, least);
  expect_right<double>({0x1p-538, least}, {0x1p-537, -least}, 0.0);
  expect_right<double>({-least}, {least}, -0.0);
  expect_right<double>({least, -least}, {least, least}, 0.0);
  expect_right<double>({1, 0x1p-537, least}, {1, 0x1p484, least}, 1 + 0x1p-52);  // the middle between 1 and the next, and a little
  expect_right<double>({1, 0x1p-537, least}, {1, 0x1p484, -least}, 1);
  // Zeros: of products, the sign is that of both.
  expect_right<double>({-0.0, 0.0}, {1, -1}, -0.0);
  expect_right<double>({-0.0, 0.0}, {1, 1}, 0.0);
  expect_right<double>({-0.0, -least}, {-0.0, 0.0}, 0.0);
  expect_right<float>({0x1p100f, -0x1p100f, 3}, {0x1p100f, 0x1p100f, 5}, 15);
  expect_right<float>({0x1p-75f, 0x1p-75f}, {0x1p-75f, 0x1p-75f}, 0x1p-149);
  expect_right<float>({0x1p-75f, 0x1p-149f}, {0x1p-75f, 0x1p-149f}, 0x1p-149);
  expect_right<float>({0x1p-75f}, {0x1p-75f}, 0.0);
  EXPECT_EQ(exact_dot(where(), std::vector<float>{0x1p-75f}, std::vector<float>{0x1p-75f}, onefold::accumulate_as<double>),
            0x1p-150);
  EXPECT_EQ(exact_dot(where(), std::vector<float>{0x1p-149f}, std::vector<float>{-0x1p-149f}, onefold::accumulate_as<double>),
            -0x1p-298);
  EXPECT_EQ(exact_dot(where(), std::vector<float>{0x1p127f}, std::vector<float>{0x1p127f}, onefold::accumulate_as<double>),
            0x1p254);
}

TEST_P(exact_dots, of_overlapping_arrays_are_right) {
  for_each_float([&]<class T> {
    const auto all = random_elements<T>(9'000, spread::within_250, signs::both, current_seed());
    for (const std::size_t shift : {0u, 1u, 3u, 16u, 4'000u}) {
      const std::size_t n = all.size() - shift;
      const std::span<const T> x(all.data(), n), y(all.data() + shift, n);
      ASSERT_EQ(wrong_dots(where(), x.data(), y.data(), n, exact_pairs(x, y)), "") << "y is " << shift << " elements behind x";
    }
    const exact_elements squares{std::span<const T>(all)};
    EXPECT_EQ(scalar_of(exact_dot(where(), all, all)), squares.result(form::sum_of_squares));
  });
}

// x y with y = 1 is the sum of x; and in any order of the pairs the dot product is the same.
TEST_P(exact_dots, agree_with_sums_and_know_no_order) {
  for_each_float([&]<class T> {
    auto x = random_elements<T>(7'001, spread::whole, signs::both, current_seed());
    auto y = std::vector<T>(x.size(), static_cast<T>(1.0f));
    EXPECT_EQ(scalar_of(exact_dot(where(), x, y)), scalar_of(exact_value(onefold::sum, where(), x)));
    y = random_elements<T>(x.size(), spread::whole, signs::both, current_seed() + 1);
    const auto first = exact_dot(where(), x, y);
    for (int order = 0; order < 5; ++order) {
      random_numbers same(static_cast<std::uint64_t>(order)), again(static_cast<std::uint64_t>(order));
      shuffle(x, same);
      shuffle(y, again);
      EXPECT_EQ(scalar_of(exact_dot(where(), y, x)), scalar_of(first));
    }
    count_dispatch(where());
  });
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_dots);

}  // namespace
}  // namespace onefold_test
