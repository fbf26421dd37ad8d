/// @file sums_test.cpp  Sums that are hard: of condition numbers up to 1e300.

#include <algorithm>
#include <cmath>

#include "added_words.hpp"
#include "fixture.hpp"
#include "ill_conditioned.hpp"

namespace onefold_test {
namespace {

class exact_sums : public executor_test {
 protected:
  // Of a dot product of this condition number, in so many decimal digits, which has the same sum.
  template <class T>
  void expect_right(std::size_t count, double digits, std::uint64_t seed) {
    const auto products = ill_conditioned<T>(count, digits / std::log10(2.0), seed);
    const auto terms = terms_of(products, seed);
    const std::span<const T> x(terms);
    if (count >= 100) {
      EXPECT_GT(log2_condition_of(terms) * std::log10(2.0), 0.9 * digits - 4);
    }
    ASSERT_NO_FATAL_FAILURE(expect_exact<T>(where(), x, "ill-conditioned"));
    EXPECT_EQ(scalar_of(exact_value(onefold::sum, where(), terms)),
              exact_pairs(std::span<const T>(products.x), std::span<const T>(products.y)).result())
        << text_of(x);
    onefold::exact_state<form::sum, T> state;
    state.add(where(), placed(where(), terms.data(), terms.size()), terms.size());
    EXPECT_EQ(words_of(state), exact_elements(x).words(form::sum));
  }
};

TEST_P(exact_sums, of_any_condition_number_are_right) {
  for (const double digits : {5.0, 10.0, 16.0, 20.0, 32.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0})
    for (const std::size_t count : {6u, 20u, 100u, 1'001u, 5'000u}) {
      if (static_cast<double>(count) < digits / 5) continue;  // too few steps to shrink that far
      for (std::uint64_t i = 0; i < std::max<std::uint64_t>(cases(2'000 / count), 1); ++i)
        ASSERT_NO_FATAL_FAILURE(expect_right<double>(count, digits, current_seed() + i)) << digits << ", " << count;
    }
  for (const double digits : {5.0, 8.0, 16.0, 30.0})
    for (const std::size_t count : {20u, 100u, 3'000u})
      ASSERT_NO_FATAL_FAILURE(expect_right<float>(count, digits, current_seed())) << digits << ", " << count;
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_sums);

// They are what they are meant to be: added one after the other they have no digit that is right.
TEST(the_ill_conditioned_sums, have_a_naive_sum_without_a_right_digit) {
  for (const double digits : {20.0, 100.0, 300.0}) {
    const auto x = terms_of(ill_conditioned<double>(200, digits / std::log10(2.0), current_seed()), current_seed());
    double naive = 0;
    for (const double one : x) naive += one;
    const double right = value_of<double>(exact_elements(std::span<const double>(x)).result(form::sum));
    EXPECT_GT(std::fabs(naive - right), std::fabs(right)) << digits;
  }
}

}  // namespace
}  // namespace onefold_test
