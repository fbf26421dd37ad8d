/// @file oracle_test.cpp  The tests' own tools must be able to fail: answers known by hand, and mutations that have to be found.

#include <cmath>
#include <limits>

#ifdef ONEFOLD_HAVE_MPFR
#include <mpfr.h>
#endif

#include "../support/gtest_support.hpp"
#include "../support/place.hpp"

namespace onefold_test {
namespace {

template <onefold::element T>
elements list(std::initializer_list<T> values) {
  elements data(onefold::element_type_of<T>, values.size());
  std::size_t i = 0;
  for (const T value : values) data.put(i++, scalar_of(value));
  return data;
}

template <class T>
void expect_answer(operation op, std::initializer_list<T> values, T answer) {
  const auto got = expected_exactly(op, list(values)).value;
  EXPECT_EQ(got, scalar_of(answer)) << text(got) << " instead of " << text(scalar_of(answer));
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(oracle, gives_answers_known_by_hand) {
  expect_answer<float>(operation::sum, {1, 2, 3.5f}, 6.5f);
  expect_answer<float>(operation::prod, {2, -3, 0.5f}, -3.0f);
  expect_answer<float>(operation::min, {0.0f, -0.0f}, -0.0f);
  expect_answer<float>(operation::max, {-0.0f, 0.0f}, 0.0f);
  expect_answer<float>(operation::sum, {-0.0f, -0.0f}, -0.0f);
  expect_answer<float>(operation::sum, {-0.0f, 0.0f}, 0.0f);
  expect_answer<float>(operation::sum, {1, -1}, 0.0f);
  expect_answer<float>(operation::sum, {inf, 1, -inf}, nan);
  expect_answer<float>(operation::sum, {3e38f, 3e38f, 1}, inf);
  expect_answer<double>(operation::sum, {1.7e308, 1.7e308, 1}, std::numeric_limits<double>::infinity());
  expect_answer<float>(operation::prod, {0.0f, -inf}, nan);
  expect_answer<float>(operation::prod, {-0.0f, 5.0f}, -0.0f);
  expect_answer<float>(operation::prod, {1e30f, -1e30f}, -inf);
  expect_answer<float>(operation::min, {1, -nan, 2}, nan);
  expect_answer<float>(operation::max, {-inf, -inf}, -inf);
  expect_answer<std::int32_t>(operation::sum, {2147483647, 1}, -2147483647 - 1);
  expect_answer<std::uint32_t>(operation::prod, {0x10000u, 0x10000u}, 0u);
  expect_answer<std::int64_t>(operation::min, {-5, 3}, -5);
  expect_answer<std::uint64_t>(operation::max, {~0ull, 3}, ~0ull);
}

TEST(oracle, is_more_accurate_than_what_it_judges) {
  // 2^53 + 1 + 1 ... : every single addition would be lost in a plain running sum of doubles.
  oracle reference(element_type::f64, operation::sum);
  reference.take(scalar_of(0x1p53));
  for (int i = 0; i < 1000; ++i) reference.take(scalar_of(1.0));
  EXPECT_EQ(reference.exactly().value, scalar_of(0x1p53 + 1000));
}

#ifdef ONEFOLD_HAVE_MPFR

class exact_number {
 public:
  explicit exact_number(double value) {
    mpfr_init2(number_, 4200);  // wide enough for every sum of doubles, and for the products here
    mpfr_set_d(number_, value, MPFR_RNDN);
  }
  ~exact_number() { mpfr_clear(number_); }
  exact_number(const exact_number&) = delete;
  exact_number& operator=(const exact_number&) = delete;
  void add(double x) { mpfr_add_d(number_, number_, x, MPFR_RNDN); }
  void multiply(double x) { mpfr_mul_d(number_, number_, x, MPFR_RNDN); }
  [[nodiscard]] long double value() const { return mpfr_get_ld(number_, MPFR_RNDN); }

 private:
  mpfr_t number_;
};

TEST(oracle, agrees_with_mpfr_far_below_the_bound) {
  for (const auto kind : hardships) {
    const elements data = hard_sum(element_type::f64, kind, 10'000, 1);
    exact_number truth(0);
    for (const double x : data.as<double>()) truth.add(x);
    oracle reference(element_type::f64, operation::sum);
    reference.take(data, 0, data.size());
    const auto expected = reference.within(1);  // of the shallowest tree there could be
    EXPECT_LE(std::fabs(expected.reference - truth.value()), expected.bound * 1e-3L) << name(kind);
  }
  const elements factors = factors_near_one(element_type::f64, 10'000, 1);
  exact_number truth(1);
  for (const double x : factors.as<double>()) truth.multiply(x);
  oracle reference(element_type::f64, operation::prod);
  reference.take(factors, 0, factors.size());
  const auto expected = reference.within(1);
  EXPECT_LE(std::fabs(expected.reference - truth.value()), expected.bound * 1e-3L);
}

#endif

// --- mutations: what a broken kernel does to its elements
// -----------------------------------------------------------------------------

using mutation = elements (*)(const elements& data, std::size_t place);

elements without(const elements& data, std::size_t place) {
  elements result(data.type(), data.size() - 1);
  for (std::size_t i = 0; i < result.size(); ++i) result.put(i, data.at(i < place ? i : i + 1));
  return result;
}

elements twice(const elements& data, std::size_t place) {
  elements result(data.type(), data.size() + 1);
  for (std::size_t i = 0; i < data.size(); ++i) result.put(i, data.at(i));
  result.put(data.size(), data.at(place));
  return result;
}

// One place further: the first element is lost, and what lies behind the array is read: the red zone.
template <operation op>
elements shifted(const elements& data, std::size_t) {
  elements result(data.type(), data.size());
  for (std::size_t i = 0; i + 1 < data.size(); ++i) result.put(i, data.at(i + 1));
  result.put(data.size() - 1, poison(data.type(), op));
  return result;
}

elements without_tail(const elements& data, std::size_t) {
  elements result(data.type(), data.size() - 3);
  for (std::size_t i = 0; i < result.size(); ++i) result.put(i, data.at(i));
  return result;
}

bool is_found(operation op, const elements& data, const elements& mutant) {
  return disagreement(expected_exactly(op, data), expected_exactly(op, mutant).value).has_value();
}

TEST(mutation, of_one_element_is_found_in_exact_sums) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const elements data = exact_data(type, operation::sum, 1000, 7);
    for (const std::size_t place : {std::size_t{0}, std::size_t{31}, std::size_t{500}, std::size_t{999}}) {
      EXPECT_TRUE(is_found(operation::sum, data, without(data, place))) << onefold::name(type) << " " << place;
      EXPECT_TRUE(is_found(operation::sum, data, twice(data, place))) << onefold::name(type) << " " << place;
    }
    EXPECT_TRUE(is_found(operation::sum, data, shifted<operation::sum>(data, 0))) << onefold::name(type);
    EXPECT_TRUE(is_found(operation::sum, data, without_tail(data, 0))) << onefold::name(type);
  }
}

TEST(mutation, of_one_element_is_found_in_exact_products) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const elements data = exact_data(type, operation::prod, 1000, 7);
    int telling = 0;
    for (std::size_t place = 0; place < data.size(); ++place) {
      if (data.at(place) == scalar_from(type, 1)) continue;  // a factor of one can be lost by nobody's fault
      ++telling;
      EXPECT_TRUE(is_found(operation::prod, data, without(data, place))) << onefold::name(type) << " " << place;
      EXPECT_TRUE(is_found(operation::prod, data, twice(data, place))) << onefold::name(type) << " " << place;
    }
    EXPECT_GT(telling, 400) << onefold::name(type);
    EXPECT_TRUE(is_found(operation::prod, data, shifted<operation::prod>(data, 0))) << onefold::name(type);
  }
}

// An element that is doubled, or lost beside a more extreme one, changes no minimum: only the winner tells. exact_data puts it
// last, and the variants' tests plant it at every telling place.
TEST(mutation, of_the_winner_is_found_in_extrema) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    for (const auto op : {operation::min, operation::max}) {
      const elements data = exact_data(type, op, 1000, 7);
      EXPECT_TRUE(is_found(op, data, without(data, data.size() - 1))) << onefold::name(type);
      EXPECT_TRUE(is_found(op, data, without_tail(data, 0))) << onefold::name(type);
      const elements moved = op == operation::min ? shifted<operation::min>(data, 0) : shifted<operation::max>(data, 0);
      EXPECT_TRUE(is_found(op, data, moved)) << onefold::name(type);
      elements planted = any_values(type, 1000, 7);
      planted.put(123, winner(type, op));
      EXPECT_TRUE(is_found(op, planted, without(planted, 123))) << onefold::name(type);
    }
  }
}

TEST(mutation, of_a_few_units_in_the_last_place_is_found_by_the_bound) {
  // The bound for a tree of depth 40 is tight enough to see a result that is off by one part in 2^15 of sum|x|.
  const elements data = hard_sum(element_type::f32, hardship::one_huge, 1000, 7);
  oracle reference(element_type::f32, operation::sum);
  reference.take(data, 0, data.size());
  const auto expected = reference.within(40);
  const auto right = static_cast<float>(expected.reference);
  EXPECT_EQ(disagreement(expected, scalar_of(right)), std::nullopt);
  EXPECT_NE(disagreement(expected, scalar_of(right * (1 + 0x1p-15f))), std::nullopt);
  EXPECT_NE(disagreement(expected, scalar_of(nan)), std::nullopt);
  EXPECT_NE(disagreement(expected, scalar_of(inf)), std::nullopt);
}

TEST(exact_sums, stay_exact_in_every_order) {
  for (const std::size_t count : {std::size_t{1000}, std::size_t{1} << 20, std::size_t{3} << 22}) {
    const elements data = exact_data(element_type::f32, operation::sum, count, 7);
    double all = 0;
    for (const float x : data.as<float>()) all += std::fabs(x);
    EXPECT_LE(all, 0x1p24) << "some order rounds";
  }
}

// --- red zones
// ------------------------------------------------------------------------------------------------------------------------

TEST(red_zones, show_reads_and_writes_outside) {
  const elements data = exact_data(element_type::f32, operation::sum, 300, 7);
  guarded_input input(memory::host, data, operation::sum);
  const auto* window = static_cast<const float*>(input.window(100, 50));
  EXPECT_TRUE(std::isnan(window[-1]));
  EXPECT_TRUE(std::isnan(window[50]));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(window[i], data.as<float>()[100 + i]);
  EXPECT_TRUE(input.unchanged());
  const_cast<float*>(window)[50] = 1;
  EXPECT_FALSE(input.unchanged());
  static_cast<void>(input.window(0, 300));
}

TEST(red_zones, move_with_the_window) {
  const elements data = exact_data(element_type::i64, operation::sum, 500, 7);
  guarded_input input(memory::host, data, operation::sum);
  random_numbers random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t count = random.below(501), first = random.below(501 - count);
    const auto* window = static_cast<const std::int64_t*>(input.window(first, count));
    ASSERT_EQ(std::memcmp(window, data.as<std::int64_t>().data() + first, count * 8), 0) << first << " " << count;
    ASSERT_EQ(scalar_of(window[-1]), poison(element_type::i64, operation::sum)) << first << " " << count;
    ASSERT_EQ(scalar_of(window[count]), poison(element_type::i64, operation::sum)) << first << " " << count;
    ASSERT_TRUE(input.unchanged());
  }
}

TEST(seeds, come_from_the_name_and_the_environment) {
  EXPECT_EQ(seed_of("a.b") ^ environment_seed(), seed_of("a.b") ^ environment_seed());
  EXPECT_NE(seed_of("a.b"), seed_of("a.c"));
  EXPECT_EQ(current_seed(), seed_of("seeds.come_from_the_name_and_the_environment"));
}

}  // namespace
}  // namespace onefold_test
