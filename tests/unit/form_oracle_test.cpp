/// @file form_oracle_test.cpp  The references of the forms must be able to fail, too: answers known by hand, MPFR's answers, and
/// mutations of data and tree that have to be found.

#include <cmath>
#include <limits>
#include <numeric>

#ifdef ONEFOLD_HAVE_MPFR
#include <mpfr.h>
#endif

#include "../support/form_oracle.hpp"
#include "../support/form_oracle_records.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

template <onefold::element T>
elements list(std::initializer_list<T> values) {
  elements data(onefold::element_type_of<T>, values.size());
  std::size_t i = 0;
  for (const T value : values) data.put(i++, scalar_of(value));
  return data;
}

form_input whole(form what, bool wide, const elements& x, const elements& y) { return {what, wide, &x, 0, &y, 0, x.size()}; }

template <class T, class R>
void expect_answer(form what, std::initializer_list<T> values, R answer, bool wide = false) {
  const elements x = list(values);
  for (const auto& got : {form_exactly(whole(what, wide, x, x)).value, form_by_tree(whole(what, wide, x, x)).value})
    EXPECT_EQ(got, scalar_of(answer)) << onefold::name(what) << ": " << text(got) << " instead of " << text(scalar_of(answer));
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int smallest = std::numeric_limits<int>::min();

TEST(form_oracle, gives_answers_known_by_hand) {
  expect_answer<float>(form::dot, {1, -2, 3}, 14.0f);
  expect_answer<float>(form::dot, {16777216, 1}, 0x1p48 + 1, true);
  expect_answer<float>(form::sum, {16777216, 1}, 16777217.0, true);
  expect_answer<float>(form::norm1, {-0.0f, -3}, 3.0f);
  expect_answer<float>(form::norm1, {-0.0f}, 0.0f);
  expect_answer<float>(form::sum, {-0.0f}, -0.0f);
  expect_answer<float>(form::mean, {-0.0f, -0.0f}, -0.0f);
  expect_answer<float>(form::norm_inf, {-0.0f}, 0.0f);
  expect_answer<float>(form::norm_inf, {-7, 3}, 7.0f);
  expect_answer<float>(form::norm_inf, {-7, nan}, nan);
  expect_answer<float>(form::norm_inf, {-inf, 3}, inf);
  expect_answer<float>(form::norm2, {3, -4}, 5.0f);
  expect_answer<float>(form::norm2, {0x1p127f, 0x1p127f, 0x1p127f, 0x1p127f}, 0x1p128, true);
  expect_answer<double>(form::norm2, {3e300, -4e300, -inf}, std::numeric_limits<double>::infinity());
  expect_answer<double>(form::norm2, {0x3p-1074, 0x4p-1074}, 0x5p-1074);
  expect_answer<double>(form::norm2, {0x3p1020, 0x4p1020}, 0x5p1020);
  expect_answer<float>(form::sum_of_squares, {inf, -inf}, inf);
  expect_answer<float>(form::dot, {inf, nan}, nan);
  expect_answer<float>(form::mean, {1, 2, 7}, 10.0f / 3.0f);
  expect_answer<int>(form::mean, {1, 2, 7}, 10.0 / 3.0);
  expect_answer<int>(form::norm1, {smallest, -1}, 0x80000001u);
  expect_answer<int>(form::norm_inf, {smallest, 7}, 0x80000000u);
  expect_answer<int>(form::norm1, {smallest, smallest}, 0u);
  expect_answer<int>(form::sum_of_squares, {65536, 3}, 9);
  expect_answer<int>(form::norm2, {smallest}, 0x1p31);
  expect_answer<std::uint64_t>(form::norm2, {~std::uint64_t{0}}, 0x1p64);
  expect_answer<std::uint32_t>(form::dot, {0x10000u, 0x10000u}, 0u);
}

// Both results of a record, by the tree and by the bound.
template <class T, class A, class B>
void expect_answers(form what, std::initializer_list<T> values, A first, B second, std::int64_t ddof = 0) {
  const elements x = list(values);
  const record_input of{what, false, ddof, &x, 0, x.size()};
  const auto tree = record_by_tree(of), bound = record_within(of);
  EXPECT_EQ(tree.first.value, scalar_of(first)) << onefold::name(what) << ": " << text(tree.first.value);
  EXPECT_EQ(tree.second.value, scalar_of(second)) << onefold::name(what) << ": " << text(tree.second.value);
  EXPECT_EQ(disagreement(bound.first, scalar_of(first)), std::nullopt) << onefold::name(what);
  EXPECT_EQ(disagreement(bound.second, scalar_of(second)), std::nullopt) << onefold::name(what);
}

TEST(record_oracle, gives_answers_known_by_hand) {
  const std::uint64_t zero = 0, one = 1, two = 2, three = 3;
  expect_answers<float>(form::argmin, {3, -4, 12, -4}, -4.0f, one);
  expect_answers<float>(form::argmax, {3, 12, -4, 12}, 12.0f, one);
  expect_answers<float>(form::argmin, {3, nan, -inf, -nan}, nan, one);
  expect_answers<float>(form::argmin, {0.0f, 0.0f, -0.0f, -0.0f}, -0.0f, two);
  expect_answers<float>(form::argmax, {-0.0f, -0.0f, -0.0f, 0.0f}, 0.0f, three);
  expect_answers<int>(form::argmin, {7, smallest, smallest}, smallest, one);
  expect_answers<std::uint64_t>(form::argmax, {0, ~zero, 1}, ~zero, one);
  expect_answers<float>(form::minmax, {3, -4, 12}, -4.0f, 12.0f);
  expect_answers<float>(form::minmax, {}, inf, -inf);
  expect_answers<int>(form::minmax, {}, std::numeric_limits<int>::max(), smallest);
  expect_answers<double>(form::mean_variance, {1, 2, 3, 6}, 3.0, 3.5);
  expect_answers<double>(form::mean_variance, {1, 2, 3, 6}, 3.0, 14.0 / 3.0, 1);
  expect_answers<float>(form::mean_variance, {1, 2, 3, 6}, 3.0f, 14.0f / 3.0f, 1);
  expect_answers<int>(form::mean_variance, {1, 2, 3, 6}, 3.0, std::numeric_limits<double>::quiet_NaN(), 4);
  expect_answers<float>(form::mean_variance, {5}, 5.0f, 0.0f);
  expect_answers<float>(form::mean_variance, {5}, 5.0f, nan, 1);
  expect_answers<float>(form::mean_variance, {}, nan, nan);
  expect_answers<float>(form::mean_variance, {1, inf, 3}, inf, nan);
  expect_answers<float>(form::mean_variance, {1, inf, -inf}, nan, nan);
  expect_answers<float>(form::mean_variance, {0x1p24f, 0x1p24f, 0x1p24f}, 0x1p24f, 0.0f);
}

// What the bound must tell from a right result.
TEST(mutation_of_a_record, is_found) {
  elements x(element_type::f64, 5'000);
  random_numbers random(3);
  for (std::size_t i = 0; i < x.size(); ++i) x.put(i, scalar_of(1e6 + random.unit()));
  const auto right = record_within({form::mean_variance, false, 0, &x, 0, x.size()});
  const auto is_off = [](const expectation& from, long double by) {
    return disagreement(from, scalar_of(static_cast<double>(from.reference * (1 + by)))).has_value();
  };
  EXPECT_FALSE(is_off(right.first, 0));
  EXPECT_FALSE(is_off(right.second, 0));
  EXPECT_TRUE(is_off(right.first, 1e-12L));
  EXPECT_TRUE(is_off(right.second, 1e-4L));
  for (std::size_t place = 0; place < x.size(); place += 411) {  // one element in the place of another
    elements wrong = x;
    wrong.put(place, scalar_of(1e6 + 2.5));
    const auto got = record_by_tree({form::mean_variance, false, 0, &wrong, 0, wrong.size()});
    EXPECT_TRUE(disagreement(right.first, got.first.value)) << place;
    EXPECT_TRUE(disagreement(right.second, got.second.value)) << place;
  }
  // A sum of squares less the square of the sum, as it is often written.
  double sum = 0, squares = 0;
  for (const double value : x.as<double>()) {
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(x.size());
  EXPECT_TRUE(disagreement(right.second, scalar_of(squares / n - (sum / n) * (sum / n))));
}

#ifdef ONEFOLD_HAVE_MPFR

// Mean and variance of double data to 5000 bits, in two passes.
std::pair<long double, long double> moments_with_mpfr(const elements& x, std::int64_t ddof) {
  mpfr_t mean, sum, value;
  for (auto* const number : {&mean, &sum, &value}) mpfr_init2(*number, 5000);
  mpfr_set_zero(mean, 1);
  for (const double element : x.as<double>()) mpfr_add_d(mean, mean, element, MPFR_RNDN);
  mpfr_div_ui(mean, mean, x.size(), MPFR_RNDN);
  mpfr_set_zero(sum, 1);
  for (const double element : x.as<double>()) {
    mpfr_sub_d(value, mean, element, MPFR_RNDN);
    mpfr_sqr(value, value, MPFR_RNDN);
    mpfr_add(sum, sum, value, MPFR_RNDN);
  }
  mpfr_div_ui(sum, sum, x.size() - static_cast<std::size_t>(ddof), MPFR_RNDN);
  const std::pair result{mpfr_get_ld(mean, MPFR_RNDN), mpfr_get_ld(sum, MPFR_RNDN)};
  for (auto* const number : {&mean, &sum, &value}) mpfr_clear(*number);
  return result;
}

TEST(record_oracle, agrees_with_mpfr_far_below_the_bound) {
  for (const auto kind : hardships) {
    if (kind == hardship::full_range) continue;  // squares of these are out of range
    for (const std::int64_t ddof : {0, 1}) {
      const elements x = hard_sum(element_type::f64, kind, 10'000, 1);
      const auto expected = record_within({form::mean_variance, false, ddof, &x, 0, x.size()});
      const auto [mean, variance] = moments_with_mpfr(x, ddof);
      EXPECT_LE(std::fabs(expected.first.reference - mean), expected.first.bound * 1e-3L) << name(kind);
      EXPECT_LE(std::fabs(expected.second.reference - variance), expected.second.bound * 1e-3L) << name(kind);
      // And the tree is within it.
      const auto tree = record_by_tree({form::mean_variance, false, ddof, &x, 0, x.size()});
      EXPECT_EQ(disagreement(expected.first, tree.first.value), std::nullopt) << name(kind);
      EXPECT_EQ(disagreement(expected.second, tree.second.value), std::nullopt) << name(kind);
    }
  }
}

// The form of double data to 5000 bits: wide enough for every sum of squares of doubles.
long double with_mpfr(form what, const elements& x, const elements& y) {
  mpfr_t sum, value;
  mpfr_init2(sum, 5000);
  mpfr_init2(value, 120);
  mpfr_set_zero(sum, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(value, x.as<double>()[i], MPFR_RNDN);
    if (what == form::dot) mpfr_mul_d(value, value, y.as<double>()[i], MPFR_RNDN);
    if (what == form::sum_of_squares || what == form::norm2) mpfr_sqr(value, value, MPFR_RNDN);
    if (what == form::norm1) mpfr_abs(value, value, MPFR_RNDN);
    mpfr_add(sum, sum, value, MPFR_RNDN);
  }
  if (what == form::mean) mpfr_div_ui(sum, sum, x.size(), MPFR_RNDN);
  if (what == form::norm2) mpfr_sqrt(sum, sum, MPFR_RNDN);
  const long double result = mpfr_get_ld(sum, MPFR_RNDN);
  mpfr_clear(sum);
  mpfr_clear(value);
  return result;
}

TEST(form_oracle, agrees_with_mpfr_far_below_the_bound) {
  for (const auto what : {form::sum, form::dot, form::sum_of_squares, form::norm1, form::norm2, form::mean}) {
    for (const auto kind : hardships) {
      if (kind == hardship::full_range && (what == form::dot || what == form::sum_of_squares)) continue;  // out of range
      const elements x = hard_sum(element_type::f64, kind, 10'000, 1), y = hard_sum(element_type::f64, kind, 10'000, 2);
      const auto expected = form_within(whole(what, false, x, y));
      EXPECT_LE(std::fabs(expected.reference - with_mpfr(what, x, y)), expected.bound * 1e-3L) << onefold::name(what) << name(kind);
    }
  }
}

#endif

// --- mutations of the data

bool is_found(const form_input& right, const form_input& wrong) {
  return disagreement(form_exactly(right), form_exactly(wrong).value).has_value();
}

// What is left of a sum when an element is lost, though the count is the right one, as a mean divides by it.
elements lost(const elements& data, std::size_t place) {
  elements result = data;
  result.put(place, {data.type(), 0});
  return result;
}

elements twice(const elements& data, std::size_t place) {
  elements result(data.type(), data.size() + 1);
  for (std::size_t i = 0; i < data.size(); ++i) result.put(i, data.at(i));
  result.put(data.size(), data.at(place));
  return result;
}

// One element read twice, and its neighbour not at all.
elements copied_over_the_next(const elements& data, std::size_t place) {
  elements result = data;
  result.put((place + 1) % data.size(), data.at(place));
  return result;
}

elements shifted(const elements& data) {
  elements result(data.type(), data.size());
  for (std::size_t i = 0; i + 1 < data.size(); ++i) result.put(i, data.at(i + 1));
  result.put(data.size() - 1, poison(data.type(), operation::sum));
  return result;
}

constexpr form sums[] = {form::sum, form::dot, form::sum_of_squares, form::norm1, form::mean, form::norm2};

template <class Check>
void for_every_sum(Check check) {
  for (int t = 0; t < onefold::full_type_count; ++t)
    for (const auto what : sums)
      for (const bool wide : {false, true}) {
        const auto type = static_cast<element_type>(t);
        if (wide && !has_wide(what, type)) continue;
        SCOPED_TRACE(std::string(onefold::name(what)) + " of " + std::string(onefold::name(type)) + (wide ? " in f64" : ""));
        const elements x = exact_form_data(type, what, 1000, 7, 0), y = exact_form_data(type, what, 1000, 7, 1);
        check(x, y, whole(what, wide, x, y));
      }
}

TEST(mutation_of_a_form, that_loses_or_doubles_an_element_is_found) {
  for_every_sum([](const elements& x, const elements& y, const form_input& right) {
    for (std::size_t place = 0; place < x.size(); place += 37) {
      EXPECT_TRUE(is_found(right, whole(right.what, right.wide, lost(x, place), y))) << place;
      if (right.what == form::dot) {
        EXPECT_TRUE(is_found(right, whole(right.what, right.wide, x, lost(y, place)))) << place;
      }
      if (right.what == form::mean) continue;  // the same sum over another count may be the same mean
      EXPECT_TRUE(is_found(right, whole(right.what, right.wide, twice(x, place), twice(y, place)))) << place;
    }
  });
}

TEST(mutation_of_a_form, that_is_shifted_or_cut_is_found) {
  for_every_sum([](const elements& x, const elements& y, const form_input& right) {
    EXPECT_TRUE(is_found(right, whole(right.what, right.wide, shifted(x), y)));
    form_input cut = right;
    cut.count -= 3;
    EXPECT_TRUE(is_found(right, cut));
    if (right.what != form::dot) return;
    EXPECT_TRUE(is_found(right, whole(right.what, right.wide, x, shifted(y)))) << "y is one element off";
    form_input apart = right, right_of_apart = right;
    apart.count = right_of_apart.count = x.size() - 1;
    apart.first_y = 1;
    EXPECT_TRUE(is_found(right_of_apart, apart)) << "y is one element off, inside its memory";
  });
}

TEST(mutation_of_a_form, of_the_largest_is_found_in_norm_inf) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const elements x = exact_form_data(type, form::norm_inf, 1000, 7, 0);
    const form_input right = whole(form::norm_inf, false, x, x);
    EXPECT_TRUE(is_found(right, whole(form::norm_inf, false, lost(x, 999), x))) << onefold::name(type);
    EXPECT_FALSE(is_found(right, whole(form::norm_inf, false, copied_over_the_next(x, 3), x))) << "only the winner can tell";
    form_input cut = right;
    --cut.count;
    EXPECT_TRUE(is_found(right, cut)) << onefold::name(type);
  }
}

// --- mutations of the result and of the tree

TEST(mutation_of_a_form, of_a_few_units_in_the_last_place_is_found_by_the_bound) {
  for (const auto what : sums) {
    const elements x = hard_sum(element_type::f32, hardship::one_huge, 1000, 7),
                   y = hard_sum(element_type::f32, hardship::growing, 1000, 8);
    for (const bool wide : {false, true}) {
      const auto expected = form_within(whole(what, wide, x, y));
      ASSERT_FALSE(expected.exact) << onefold::name(what);
      const auto as_result = [&](long double value) {
        return wide ? scalar_of(static_cast<double>(value)) : scalar_of(static_cast<float>(value));
      };
      EXPECT_EQ(disagreement(expected, as_result(expected.reference)), std::nullopt) << onefold::name(what);
      EXPECT_NE(disagreement(expected, as_result(expected.reference * (wide ? 1 + 0x1p-40L : 1 + 0x1p-15L))), std::nullopt)
          << onefold::name(what);
      EXPECT_NE(disagreement(expected, as_result(std::numeric_limits<long double>::quiet_NaN())), std::nullopt);
      EXPECT_NE(disagreement(expected, as_result(std::numeric_limits<long double>::infinity())), std::nullopt);
    }
  }
}

// Other orders give other bits: what form_by_tree() says is no accident of data that do not care.
TEST(mutation_of_a_form, of_the_order_is_found_by_the_tree) {
  int forwards = 0, swapped = 0;
  constexpr int trials = 20;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const std::size_t count = 5'000;
    elements x(element_type::f32, count);
    random_numbers random(seed);
    for (std::size_t i = 0; i < count; ++i) x.put(i, scalar_of(static_cast<float>(random.unit() - 0.5)));
    const auto right = form_by_tree(whole(form::sum, false, x, x));
    float running = 0;
    for (const float value : x.as<float>()) running += value;
    forwards += disagreement(right, scalar_of(running)).has_value() ? 1 : 0;
    elements exchanged = x;  // the first two elements of neighbouring lanes: the same sum in another order
    exchanged.put(0, x.at(1));
    exchanged.put(1, x.at(0));
    swapped += disagreement(right, form_by_tree(whole(form::sum, false, exchanged, x)).value).has_value() ? 1 : 0;
  }
  EXPECT_GT(forwards, trials / 2);
  EXPECT_GT(swapped, 0);
}

TEST(exact_form_data, stay_exact_in_every_order) {
  for (const auto what : sums) {
    for (const std::size_t count : {std::size_t{1000}, (std::size_t{1} << 20) + 13}) {
      const elements x = exact_form_data(element_type::f32, what, count, 7, 0),
                     y = exact_form_data(element_type::f32, what, count, 7, 1);
      double all = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double a = std::fabs(x.as<float>()[i]), b = std::fabs(y.as<float>()[i]);
        all += what == form::dot ? a * b : what == form::sum_of_squares || what == form::norm2 ? a * a : a;
        EXPECT_GT(a, 0) << "an element that is nothing can be lost";
      }
      EXPECT_LE(all, what == form::norm2 ? 0x1p53 : 0x1p24) << onefold::name(what) << ": some order rounds";
    }
  }
}

TEST(depth_of_tree_v1, is_its_formula) {
  EXPECT_EQ(depth_of_fixed_order(element_type::f32, 1), 15u + 6);
  EXPECT_EQ(depth_of_fixed_order(element_type::f32, 1024), 15u + 6);
  EXPECT_EQ(depth_of_fixed_order(element_type::f32, 1025), 15u + 6 + 1);
  EXPECT_EQ(depth_of_fixed_order(element_type::f32, 3 * 1024), 15u + 6 + 2);
  EXPECT_EQ(depth_of_fixed_order(element_type::f64, 512), 15u + 5);
  EXPECT_EQ(depth_of_fixed_order(element_type::f64, 1 << 20), 15u + 5 + 11);
}

}  // namespace
}  // namespace onefold_test
