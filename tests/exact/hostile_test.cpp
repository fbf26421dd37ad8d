/// @file hostile_test.cpp  Sets made so that one rounding too many, or a carry too few, shows: their results are known by hand, and
/// the oracle agrees.

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixture.hpp"

namespace onefold_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double top = std::numeric_limits<double>::max();
constexpr double least = 0x1p-1074;

class exact_hostile : public executor_test {
 protected:
  // The sum of these, in any order, scattered among zeros, and of the opposite numbers.
  template <class T, class R>
  void expect_sum(std::vector<T> x, R sum) {
    for (int sign = 0; sign < 2; ++sign) {
      ASSERT_EQ(exact_elements(std::span<const T>(x)).result(form::sum, !std::is_same_v<R, float>), scalar_of(sum))
          << text_of<T>(x);
      random_numbers random(current_seed());
      for (int order = 0; order < 6; ++order) {
        ASSERT_NO_FATAL_FAILURE(expect_exact<T>(where(), x, "in an order of many"));
        shuffle(x, random);
      }
      ASSERT_NO_FATAL_FAILURE(expect_exact<T>(where(), scattered(x, random), "among zeros"));
      for (T& one : x) one = negated(one);
      if (sum == 0 || std::isnan(sum)) break;  // of zeros the sign is a matter of its own
      sum = -sum;
    }
  }

  template <class T>
  static std::vector<T> scattered(const std::vector<T>& x, random_numbers& random) {
    std::vector<T> all(x.size() + 3'000, from_bits<T>(0));
    std::copy(x.begin(), x.end(), all.begin());
    shuffle(all, random);
    return all;
  }
};

TEST_P(exact_hostile, sums_that_cancel) {
  expect_sum<double>({1e300, least, -1e300}, least);
  expect_sum<double>({top, top, least, -top, -top}, least);
  expect_sum<double>({0x1p1023, 3 * least, -0x1p1023, -0x1p-1022}, 3 * least - 0x1p-1022);
  expect_sum<double>({1e16, 1, -1e16}, 1.0);
  expect_sum<double>({1e16, -1e16}, 0.0);
  expect_sum<double>({1, 1e100, 1, -1e100}, 2.0);
  expect_sum<double>({top, 0x1p970, 0x1p917, -top, -0x1p970}, 0x1p917);
  expect_sum<float>({0x1p127f, 0x1p-149f, -0x1p127f}, 0x1p-149f);
  expect_sum<float>({0x1p127f, 0x1p127f, 0x1p-149f, -0x1p127f, -0x1p127f}, 0x1p-149);
}

TEST_P(exact_hostile, sums_in_the_middle_between_two_numbers) {
  expect_sum<double>({1, 0x1p-53}, 1.0);
  expect_sum<double>({1, 0x1p-53, least}, 1 + 0x1p-52);
  expect_sum<double>({1, 0x1p-53, -least}, 1.0);
  expect_sum<double>({1, 0x1p-52, 0x1p-53}, 1 + 0x1p-51);
  expect_sum<double>({1, 0x1p-52, 0x1p-53, -least}, 1 + 0x1p-52);
  expect_sum<double>({1, 0x1p-52, 0x1p-53, least}, 1 + 0x1p-51);
  expect_sum<double>({1, -0x1p-54}, 1.0);  // below a power of two numbers lie closer
  expect_sum<double>({1, -0x1p-54, -least}, 1 - 0x1p-53);
  expect_sum<double>({2, -0x1p-52, -0x1p-53}, 2 - 0x1p-51);
  expect_sum<double>({0x1p53, 1}, 0x1p53);
  expect_sum<double>({0x1p53, 1, 0x1p-500}, 0x1p53 + 2);
  expect_sum<double>({0x1p53, 0x1p54, 2}, 0x3p53);
  expect_sum<double>({0x1p-1022, least}, 0x1p-1022 + least);  // nothing is rounded down there
  expect_sum<double>({0x1p-1022, -least}, 0x1p-1022 - least);
  expect_sum<float>({1, 0x1p-24f}, 1.0f);
  expect_sum<float>({1, 0x1p-24f, 0x1p-149f}, 1 + 0x1p-23f);
  expect_sum<float>({1, 0x1p-24f, -0x1p-149f}, 1.0f);
}

// Rounded to double first, each of these lies in the middle between two floats.
TEST_P(exact_hostile, sums_that_two_roundings_get_wrong) {
  expect_sum<float>({1, 0x1p-24f, 0x1p-60f}, 1 + 0x1p-23f);
  expect_sum<float>({1, 0x1p-23f, 0x1p-24f, -0x1p-60f}, 1 + 0x1p-23f);
  expect_sum<float>({0x1p100f, 0x1p76f, 1}, 0x1p100f + 0x1p77f);
  expect_sum<onefold::bfloat16>({onefold::bfloat16(1.0f), onefold::bfloat16(0x1p-24f), onefold::bfloat16(0x1p-60f)}, 1 + 0x1p-23f);
  expect_sum<onefold::bfloat16>({onefold::bfloat16(1.0f), onefold::bfloat16(0x1p-24f), onefold::bfloat16(0x1p-60f)}, 1 + 0x1p-24);
  expect_sum<onefold::bfloat16>({onefold::bfloat16(1.0f), onefold::bfloat16(0x1p-53f), onefold::bfloat16(0x1p-133f)}, 1 + 0x1p-52);
  std::vector<onefold::float16> halves(4'096, onefold::float16(2048.0f));  // 2^23
  halves.push_back(onefold::float16(0.5f));
  expect_sum<onefold::float16>(halves, 0x1p23f);
  halves.push_back(onefold::float16(0x1p-24f));
  expect_sum<onefold::float16>(halves, 0x1p23f + 1);
  expect_sum<onefold::float16>(halves, 0x1p23 + 0.5 + 0x1p-24);
}

TEST_P(exact_hostile, sums_beside_overflow) {
  const double half = 0x1p970, below_half = std::nextafter(half, 0);
  expect_sum<double>({top, half}, inf);
  expect_sum<double>({top, half, least}, inf);
  expect_sum<double>({top, half, -least}, top);
  expect_sum<double>({top, below_half}, top);
  expect_sum<double>({top, below_half, 0x1p917}, inf);
  expect_sum<double>({top, top, -top}, top);
  expect_sum<double>({top, top, top, -top, -top, half, -half}, top);
  expect_sum<double>({top, -0x1p971, half}, top - 0x1p971);  // to even
  expect_sum<float>({std::numeric_limits<float>::max(), 0x1p103f}, std::numeric_limits<float>::infinity());
  expect_sum<float>({std::numeric_limits<float>::max(), 0x1p103f}, 0x1p128 - 0x1p103);
  expect_sum<float>({std::numeric_limits<float>::max(), 0x1p103f, -0x1p-149f}, std::numeric_limits<float>::max());
}

TEST_P(exact_hostile, sums_of_zeros_infinities_and_nan) {
  expect_sum<double>({0.0, 0.0}, 0.0);
  expect_sum<double>({0.0, -0.0}, 0.0);
  expect_sum<double>({inf, 1, top}, inf);
  expect_sum<double>({inf, top, top, -least}, inf);
  expect_sum<double>({inf, -inf}, nan);
  expect_sum<double>({nan, 1}, nan);
  expect_sum<double>({-nan, inf}, nan);
  expect_sum<double>({std::bit_cast<double>(0x7ff0000000000001u), 1}, nan);  // a signalling one
  for_each_float([&]<class T> {
    const T zero = from_bits<T>(0), minus = negated(zero);
    for (const std::size_t n : {1u, 2u, 3u, 17u, 64u, 1'025u, 20'001u}) {
      std::vector<T> x(n, minus);
      expect_exact<T>(where(), x, "all -0");
      EXPECT_TRUE(std::signbit(exact_value(onefold::sum, where(), x))) << n;
      EXPECT_TRUE(std::signbit(exact_value(onefold::mean, where(), x))) << n;
      EXPECT_FALSE(std::signbit(exact_value(onefold::norm1, where(), x))) << n;
      EXPECT_FALSE(std::signbit(exact_dot(where(), x, x))) << n;
      x[n / 2] = zero;
      expect_exact<T>(where(), x, "one +0 among -0");
      EXPECT_FALSE(std::signbit(exact_value(onefold::sum, where(), x))) << n;
    }
  });
}

TEST_P(exact_hostile, mixtures_of_what_is_no_number) {
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t some[] = {0,        in.sign(), in.infinity(),     in.infinity() | in.sign(),
                                  in.nan(), 1,         in.infinity() - 1, std::uint64_t{1} << (in.width() - 2)};
    // Each choice of three of them, among others and alone.
    for (const std::uint64_t a : some)
      for (const std::uint64_t b : some)
        for (const std::uint64_t c : some) {
          const std::vector<T> x{from_bits<T>(a), from_bits<T>(b), from_bits<T>(c)}, y{x[1], x[2], x[0]};
          expect_exact<T>(where(), x, "alone");
          expect_exact_dot<T>(where(), x, y, "alone");
        }
  });
}

// Partial sums in any order overflow, or in one order only; what is left is small.
TEST_P(exact_hostile, huge_terms_that_alternate) {
  for_each_float([&]<class T> {
    std::vector<T> x(20'000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = largest<T>(i % 2 != 0);
    x.push_back(from_bits<T>(1));
    expect_exact<T>(where(), x, "alternating");
    std::stable_partition(x.begin(), x.end(), [](const T& one) { return static_cast<float>(one) > 0; });
    expect_exact<T>(where(), x, "positive ones first");
    random_numbers random(current_seed());
    shuffle(x, random);
    expect_exact<T>(where(), x, "shuffled");
    expect_exact_dot<T>(where(), x, std::vector<T>(x.size(), largest<T>()), "shuffled, times the largest");
  });
}

TEST_P(exact_hostile, subnormal_numbers) {
  for_each_float([&]<class T> {
    for (const signs sign : {signs::both, signs::plus}) {
      const auto x = random_elements<T>(5'000, spread::subnormal, sign, current_seed());
      expect_exact<T>(where(), x, "subnormal");
      expect_exact_dot<T>(where(), x, std::vector<T>(x.size(), largest<T>()), "subnormal times the largest");
      expect_exact_dot<T>(where(), x, std::vector<T>(x.size(), from_bits<T>(1)), "subnormal times the smallest");
    }
    expect_exact<T>(where(), std::vector<T>(4'097, from_bits<T>(1)), "the smallest");
    expect_exact<T>(where(), std::vector<T>(4'097, largest<T>()), "the largest");
  });
}

// The norms of these are whole numbers in the middle between two floats, or doubles: of (p^2 - q^2, 2 p q) it is p^2 + q^2.
TEST_P(exact_hostile, norms_in_the_middle_between_two_numbers) {
  for (const auto& [p, q] : {std::pair{3000.0f, 2999.0f}, {3001.0f, 3000.0f}, {3002.0f, 2999.0f}}) {
    for (const float beside : {0.0f, 0x1p-149f, 0x1p-70f, 1.0f}) {
      const std::vector<float> x{p * p - q * q, -2 * p * q, beside};
      expect_exact<float>(where(), x, "a norm in the middle");
      const double norm = static_cast<double>(p) * p + static_cast<double>(q) * q;
      if (beside < 1) {
        EXPECT_EQ(exact_value(onefold::norm2, where(), x, onefold::accumulate_as<double>), norm) << p << " and " << q;
      }
    }
  }
  for (const double p : {0x1p26 + 1, 0x1p26 + 2, 0x1p26 + 3})
    for (const double beside : {0.0, least, 0x1p-500, 0x1p-10}) {
      const double q = 0x1p26;
      expect_exact<double>(where(), std::vector<double>{(p - q) * (p + q), 2 * p * q, beside}, "a norm in the middle");
    }
  EXPECT_EQ(exact_value(onefold::norm2, where(), std::vector<double>{0x1p-1074, 0x1p-1074}), 0x1p-1074);
  EXPECT_EQ(exact_value(onefold::norm2, where(), std::vector<double>{0x3p1022, -0x3p1022}),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_value(onefold::norm2, where(), std::vector<double>{0x3p1020, -0x4p1020, 0x3p-1074}), 0x5p1020);
}

TEST_P(exact_hostile, means_and_variances) {
  // Large means, tiny variances: the squares' sum and the sum's square agree in nearly all digits.
  for (const double mean : {1.0, 1e8, 1e15, 0x1p53, -0x1p600, 0x1p1023, 0x1p-1000}) {
    std::vector<double> x(999, mean);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = std::nextafter(mean, i % 2 == 0 ? inf : -inf);
    for (const std::int64_t ddof : {0, 1, 998, 999, 1'000, -1, -1'000'000}) {
      ASSERT_EQ(wrong_results(where(), x.data(), x.size(), exact_elements(std::span<const double>(x)), ddof), "") << mean;
    }
    const auto result = exact_value(onefold::mean_variance, where(), x, onefold::ddof{1});
    EXPECT_EQ(result.mean, mean);
  }
  for_each_float([&]<class T> {
    for (const auto& x :
         {std::vector<T>{}, std::vector<T>{largest<T>()}, std::vector<T>{largest<T>(), largest<T>(true)},
          std::vector<T>(1'000, largest<T>()), std::vector<T>{from_bits<T>(1)}, std::vector<T>{from_bits<T>(1), from_bits<T>(2)},
          random_elements<T>(3'000, spread::one, signs::plus, current_seed())}) {
      const exact_elements expected{std::span<const T>(x)};
      const auto n = static_cast<std::int64_t>(x.size());
      for (const std::int64_t ddof : {std::int64_t{0}, std::int64_t{1}, n - 1, n, n + 1, -n,
                                      std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        ASSERT_EQ(wrong_results(where(), x.data(), x.size(), expected, ddof), "") << text_of<T>(x);
    }
  });
  // (2^24 + 1) / 2 and (2^24 + 3) / 2: in the middle, which sums that are rounded first do not show.
  EXPECT_EQ(exact_value(onefold::mean, where(), std::vector<float>{0x1p24f, 1}), 8388608.0f);
  EXPECT_EQ(exact_value(onefold::mean, where(), std::vector<float>{0x1p24f, 3}), 8388610.0f);
  EXPECT_EQ(exact_value(onefold::mean, where(), std::vector<double>{top, top, top}), top);
  EXPECT_EQ(exact_value(onefold::mean, where(), std::vector<double>{least, 0}), 0.0);
  EXPECT_EQ(exact_value(onefold::mean, where(), std::vector<double>{least, least, 0}), least);
  EXPECT_TRUE(std::signbit(exact_value(onefold::mean, where(), std::vector<double>{-least, 0, 0})));
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_hostile);

}  // namespace
}  // namespace onefold_test
