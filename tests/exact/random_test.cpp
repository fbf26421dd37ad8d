/// @file random_test.cpp  Very many small sets of elements: every form of each gives the correctly rounded result.

#include <cmath>

#include "fixture.hpp"

namespace onefold_test {
namespace {

class exact_small_sets : public executor_test {
 protected:
  // On one thread, and some on others, which few elements do not reach anyway, and on a GPU, where calls take longer.
  [[nodiscard]] std::uint64_t sets() const { return cases(where().backend() == onefold::backend::serial ? 60'000 : 4'000); }
};

TEST_P(exact_small_sets, are_rounded_once) {
  for_each_float([&]<class T> {
    random_numbers random(current_seed() + sizeof(T));
    std::vector<T> x;
    walled<T> there;
    for (std::uint64_t i = 0; i < sets(); ++i) {
      make_small_case(x, random);
      there.assign(x, random.below(8));
      const auto ddof = static_cast<std::int64_t>(random.below(4)) - 1;
      ASSERT_EQ(wrong_results<T>(where(), there.data(), x.size(), exact_elements(std::span<const T>(x)), ddof), "")
          << "set " << i << ": " << text_of(std::span<const T>(x));
    }
  });
}

TEST_P(exact_small_sets, of_pairs_are_rounded_once) {
  for_each_float([&]<class T> {
    random_numbers random(current_seed() + sizeof(T));
    std::vector<T> x, y;
    walled<T> one, other;
    for (std::uint64_t i = 0; i < 2 * sets(); ++i) {
      make_small_case(x, y, random);
      one.assign(x, random.below(8));
      other.assign(y, random.below(8));
      ASSERT_EQ(
          wrong_dots<T>(where(), one.data(), other.data(), x.size(), exact_pairs(std::span<const T>(x), std::span<const T>(y))), "")
          << "set " << i << ": " << text_of(std::span<const T>(x)) << " " << text_of(std::span<const T>(y));
    }
  });
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_small_sets);

// The sets are what they are meant to be: without those that are hard a wrong sum would go unseen.
TEST(the_small_sets, have_a_naive_sum_that_is_often_wrong) {
  random_numbers random(current_seed());
  std::vector<double> x;
  int wrong = 0, infinite = 0, nan = 0, subnormal = 0, in_the_middle = 0;
  for (int i = 0; i < 10'000; ++i) {
    make_small_case(x, random);
    double naive = 0;
    for (const double one : x) naive += one;
    const double right = value_of<double>(exact_elements(std::span<const double>(x)).result(form::sum));
    if (scalar_of(naive) != scalar_of(right)) ++wrong;
    if (std::isinf(right)) ++infinite;
    if (std::isnan(right)) ++nan;
    if (right != 0 && std::fabs(right) < 0x1p-1022) ++subnormal;
    // Moved by the smallest number there is, a sum in the middle becomes another one.
    if (!std::isfinite(right)) continue;
    exact_elements more{std::span<const double>(x)}, less = more;
    more.add(1);
    less.add(layout<double>().sign() | 1);
    if (std::fabs(right) > 0x1p-1000 && more.result(form::sum) != less.result(form::sum)) ++in_the_middle;
  }
  EXPECT_GT(wrong, 1'000);
  EXPECT_GT(infinite, 30);
  EXPECT_GT(nan, 30);
  EXPECT_GT(subnormal, 30);
  EXPECT_GT(in_the_middle, 50);
}

}  // namespace
}  // namespace onefold_test
