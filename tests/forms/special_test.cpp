/// @file special_test.cpp  What is hard for a form: NaN and infinities, zeros of both signs, data that lose accuracy, and for norm2 the
/// ends of the range of exponents.

#include <bit>
#include <cmath>
#include <limits>

#include "fixture.hpp"

namespace onefold_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_float_form(const form_case& one) { return is_float(one.type); }

class each_float_form : public form_test {
 protected:
  [[nodiscard]] elements all_of(double value, std::size_t count) const {
    elements data(type(), count);
    data.fill(scalar_from(type(), value));
    return data;
  }
};

TEST_P(each_float_form, follows_the_rules_for_special_values_anywhere) {
  const std::size_t count = 2 * tile() + 77;
  auto data = exact_inputs(count);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const scalar signalling{type(), type() == element_type::f32 ? 0x7f800001u : 0x7ff0000000000001u};
  const scalar payload{type(), type() == element_type::f32 ? 0xffc12345u : 0xfff8000012345678u};
  const auto of = [&](double value) { return scalar_from(type(), value); };
  struct special {
    std::string words;
    scalar first, second;  // in x, at two places
  };
  const std::vector<special> specials{{"a NaN", of(nan), of(1)},
                                      {"a NaN with sign and payload", payload, of(1)},
                                      {"a signalling NaN", signalling, of(1)},
                                      {"an infinity", of(infinity), of(1)},
                                      {"a negative infinity", of(-infinity), of(1)},
                                      {"infinities of both signs", of(infinity), of(-infinity)},
                                      {"an infinity and a NaN", of(infinity), of(nan)},
                                      {"two zeros", of(0.0), of(-0.0)}};
  for (const auto& [words, first, second] : specials) {
    for (const auto& [a, b] :
         {std::pair<std::size_t, std::size_t>{0, count - 1}, {tile() + 3, 17}, {count - 1, tile() - 1}, {33, 97}}) {
      const scalar before_a = data.x().at(a), before_b = data.x().at(b);
      data.put_x(a, first);
      data.put_x(b, second);
      const auto in = data.all(wide());
      ASSERT_TRUE(gives(one(words + " at " + std::to_string(a) + " and " + std::to_string(b)), in, form_exactly(in.of)));
      data.put_x(a, before_a);
      data.put_x(b, before_b);
      if (!two_inputs()) continue;
      // In y alone, and against a zero in x, where an infinity makes a NaN.
      for (const bool against_zero : {false, true}) {
        const scalar y_before = data.y()->at(a);
        data.put_y(a, first);
        if (against_zero) data.put_x(a, of(-0.0));
        const auto with_y = data.all(wide());
        ASSERT_TRUE(gives(one(words + " in y at " + std::to_string(a) + (against_zero ? " against a zero" : "")), with_y,
                          form_exactly(with_y.of)));
        data.put_y(a, y_before);
        data.put_x(a, before_a);
      }
    }
  }
}

TEST_P(each_float_form, of_one_value_everywhere_shows_no_padding) {
  for (const double value : {0.0, -0.0, infinity, -infinity, 1.0}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{17}, tile() - 1, tile(), 3 * tile() + 1}) {
      for (const double other : {1.0, -1.0}) {
        auto data = inputs(all_of(value, count), all_of(other, count));
        const auto in = data.all(wide());
        ASSERT_TRUE(gives(one("all " + text(scalar_from(type(), value))), in, form_exactly(in.of)));
        if (!two_inputs()) break;
      }
    }
  }
}

TEST_P(each_float_form, keeps_subnormals) {
  const std::size_t count = tile() + 77;
  if (what() == form::prod) {
    elements ones = all_of(-1, count);
    ones.put(tile(), {type(), 1});
    auto data = inputs(ones, ones);
    const auto in = data.all(wide());
    ASSERT_TRUE(gives(one("the smallest number among -1"), in, form_exactly(in.of)));
    return;
  }
  // Multiples of the smallest number: sums of them are exact. Their products with whole numbers are, too.
  elements x(type(), count), y(type(), count);
  random_numbers random(current_seed());
  for (std::size_t i = 0; i < count; ++i) {
    x.put(i, {type(), 1 + random.below(8)});
    y.put(i, scalar_from(type(), static_cast<double>(1 + random.below(8))));
  }
  auto data = inputs(x, y);
  const auto in = data.all(wide());
  ASSERT_TRUE(gives(one("subnormal"), in, form_by_tree(in.of)));
  if (what() != form::sum_of_squares && what() != form::mean) {  // the first is 0, the second rounds
    ASSERT_TRUE(gives(one("subnormal"), in, what() == form::norm2 ? form_within(in.of) : form_exactly(in.of)));
  }
}

TEST_P(each_float_form, of_hard_data_stays_within_the_bound) {
  random_numbers random(current_seed());
  for (const std::size_t count : {std::size_t{33}, std::size_t{4'099}, std::size_t{200'003}}) {
    if (what() == form::prod) {
      auto data = inputs(factors_near_one(type(), count, random()), elements(type(), count));
      const auto in = data.all(wide());
      ASSERT_TRUE(gives(one("factors near one"), in, form_within(in.of)));
      continue;
    }
    for (const auto kind : hardships) {
      const bool squares = what() == form::sum_of_squares || what() == form::dot;
      if (kind == hardship::full_range && squares && !wide()) continue;  // products of these are out of range
      auto data = inputs(hard_sum(type(), kind, count, random()), hard_sum(type(), kind, count, random()));
      const auto in = data.all(wide());
      ASSERT_TRUE(gives(one(std::string(name(kind))), in, form_within(in.of)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_float_form, testing::ValuesIn(form_cases(is_float_form)), param_name);

// dot of data whose products cancel: far from sum of squares, and the bound is of the sizes of the products.
class each_float_dot : public form_test {};

TEST_P(each_float_dot, that_cancels_stays_within_the_bound) {
  for (const std::size_t count : {std::size_t{34}, std::size_t{4'100}, std::size_t{100'004}}) {
    elements x = hard_sum(type(), hardship::growing, count, current_seed());
    elements y = hard_sum(type(), hardship::one_huge, count, current_seed() + 1);
    for (std::size_t i = 0; i + 1 < count; i += 2) {  // each product and its opposite, half of the array apart
      const std::size_t other = (i + count / 2) / 2 * 2 + 1;
      if (other >= count) continue;
      x.put(other, x.at(i));
      scalar opposite = y.at(i);
      opposite.bits ^= type() == element_type::f32 ? 0x80000000u : 0x8000000000000000u;
      y.put(other, opposite);
    }
    auto data = inputs(x, y);
    const auto in = data.all(wide());
    ASSERT_TRUE(gives(one("products that cancel"), in, form_within(in.of)));
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_float_dot, testing::ValuesIn(form_cases([](const form_case& one) {
                           return is_float(one.type) && one.what == form::dot;
                         })),
                         param_name);

// --- norm2 at the ends of the range

class each_norm2 : public form_test {
 protected:
  using limits64 = std::numeric_limits<double>;

  // Runs values of this type; they are rounded to it.
  [[nodiscard]] testing::AssertionResult is_within(const std::vector<double>& values, const std::string& words) const {
    const elements x = as_elements(values);
    auto data = inputs(x, x);
    const auto in = data.all(wide());
    return gives(one(words), in, form_within(in.of));
  }
  [[nodiscard]] testing::AssertionResult is_exactly(const std::vector<double>& values, double norm,
                                                    const std::string& words) const {
    const elements x = as_elements(values);
    auto data = inputs(x, x);
    expectation expected;
    expected.value = scalar_from(result(), norm);
    return gives(one(words), data.all(wide()), expected);
  }
  [[nodiscard]] elements as_elements(const std::vector<double>& values) const {
    elements x(type(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) x.put(i, scalar_from(type(), values[i]));
    return x;
  }
  [[nodiscard]] int largest_exponent() const { return type() == element_type::f32 ? 127 : 1023; }
  [[nodiscard]] int smallest_exponent() const { return type() == element_type::f32 ? -149 : -1074; }
  [[nodiscard]] double largest() const {
    return type() == element_type::f32 ? static_cast<double>(std::numeric_limits<float>::max()) : limits64::max();
  }
};

TEST_P(each_norm2, of_one_element_is_its_size) {
  const elements values = any_values(type(), 3'000, current_seed());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = type() == element_type::f32 ? static_cast<double>(values.as<float>()[i]) : values.as<double>()[i];
    ASSERT_TRUE(is_exactly({x}, std::fabs(x), "one element"));
    if (i % 10 == 0) {
      ASSERT_TRUE(is_exactly({0.0, x, -0.0}, std::fabs(x), "one element among zeros"));
    }
  }
}

TEST_P(each_norm2, of_three_and_four_is_five_at_every_exponent) {
  for (int e = smallest_exponent(); e + 2 < largest_exponent(); ++e)
    ASSERT_TRUE(is_exactly({std::ldexp(3.0, e), std::ldexp(-4.0, e)}, std::ldexp(5.0, e), "3 and 4 times 2^" + std::to_string(e)));
}

TEST_P(each_norm2, of_elements_near_the_limits_neither_overflows_nor_underflows) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{100}, tile() + 3, 3 * tile()}) {
    // The norm is 0.999 of the largest number: every square, and the sum, is far beyond it.
    const double near = largest() / std::sqrt(static_cast<double>(count)) * 0.999;
    ASSERT_TRUE(is_within(std::vector<double>(count, near), "near the largest number"));
    ASSERT_TRUE(is_within(std::vector<double>(count, std::ldexp(1.0, smallest_exponent())), "the smallest number"));
    std::vector<double> subnormal(count);
    random_numbers random(current_seed());
    for (double& x : subnormal) x = std::ldexp(static_cast<double>(random.below(1 << 20)), smallest_exponent());
    ASSERT_TRUE(is_within(subnormal, "all subnormal"));
  }
  // Where it does not fit it is infinite; in double it does.
  const std::vector<double> too_many(4, largest());
  if (wide())
    ASSERT_TRUE(is_exactly(too_many, 2 * largest(), "four times the largest number"));
  else
    ASSERT_TRUE(is_exactly(too_many, infinity, "four times the largest number"));
}

// Equal elements whose exact norm is within the range by less than the roundings on the way are off: the root, scaled back, would overflow.
TEST_P(each_norm2, that_the_type_can_hold_is_not_made_infinite_by_rounding) {
  const std::vector<std::pair<std::size_t, std::uint64_t>> brinks{
      {245, 0x7fb05af103491a32}, {272, 0x7faf0b6848d2af1b}, {484, 0x7fa745d1745d1745}, {656, 0x7fa3fd8077e70576}};
  for (const auto& [count, bits] : brinks) {
    const std::string words = std::to_string(count) + " elements, whose norm is just below the largest number";
    if (type() == element_type::f64) {
      ASSERT_TRUE(is_exactly(std::vector<double>(count, std::bit_cast<double>(bits)), largest(), words));
      continue;
    }
    const double most = largest() / std::sqrt(static_cast<double>(count));
    auto near = static_cast<float>(most);
    if (static_cast<double>(near) > most) near = std::nextafter(near, 0.0f);
    ASSERT_TRUE(is_within(std::vector<double>(count, static_cast<double>(near)), words));
  }
  // A norm of 2^1024, or 2^128, and more.
  const double two_halves = std::ldexp(1.0, largest_exponent());
  const bool f64 = type() == element_type::f64;
  ASSERT_TRUE(is_exactly(std::vector<double>(4, two_halves), wide() ? 2 * two_halves : f64 ? largest() : infinity, "2^1024"));
  const double more = two_halves * (f64 ? 1 + 0x1p-46 : 1 + 0x1p-23);
  ASSERT_TRUE(is_exactly(std::vector<double>(4, more), wide() ? 2 * more : infinity, "more than rounding can add"));
}

TEST_P(each_norm2, of_one_huge_element_with_many_tiny_ones_is_the_huge_one) {
  const double huge = std::ldexp(1.5, largest_exponent()), tiny = std::ldexp(1.0, smallest_exponent());
  for (const std::size_t place : {std::size_t{0}, tile() - 1, tile(), 3 * tile() + 1}) {
    std::vector<double> values(3 * tile() + 2, tiny);
    values[place] = -huge;
    ASSERT_TRUE(is_exactly(values, huge, "one huge at " + std::to_string(place)));
  }
}

TEST_P(each_norm2, of_all_classes_of_size_stays_within_the_bound) {
  random_numbers random(current_seed());
  // `zeros` of five are zeros, of either sign.
  const auto of_exponents = [&](std::vector<int> exponents, std::size_t count, std::size_t zeros) {
    std::vector<double> values(count);
    for (double& x : values) {
      if (random.below(5) < zeros) {
        x = random.below(2) == 0 ? 0.0 : -0.0;
        continue;
      }
      const int e = exponents[random.below(exponents.size())];
      x = std::ldexp(1 + random.unit(), std::clamp(e, smallest_exponent(), largest_exponent() - 8)) *
          (random.below(2) == 0 ? 1 : -1);
    }
    return values;
  };
  const std::vector<std::pair<std::string, std::vector<int>>> mixtures{
      {"small and medium, where they meet", {-483, -482, -481, -480, -479, -478}},
      {"medium and big, where they meet", {477, 478, 479, 480, 481, 482}},
      {"all three classes", {-1000, -500, -481, -480, 0, 100, 479, 480, 500, 1000}},
      {"small and big", {-1000, -481, 480, 1000}},
      {"small alone", {-1070, -1022, -600, -481}},
      {"big alone", {480, 600, 1000}},
      {"medium alone", {-480, -100, 0, 100, 479}}};
  for (const auto& [words, exponents] : mixtures) {
    for (const std::size_t count : {std::size_t{2}, std::size_t{65}, tile() + 1, 4 * tile()})
      for (const std::size_t zeros : {std::size_t{0}, std::size_t{2}}) {
        const auto values = of_exponents(exponents, count, zeros);
        ASSERT_TRUE(is_within(values, words));
        const elements x = as_elements(values);
        auto data = inputs(x, x);
        const auto in = data.all(wide());
        ASSERT_TRUE(gives(one(words), in, form_by_tree(in.of)));
      }
  }
}

// The borders of the classes themselves, beside numbers of their size with all bits set: to which class a border belongs shows in the
// rounding of the sums.
TEST_P(each_norm2, puts_the_borders_of_the_classes_where_they_belong) {
  if (type() != element_type::f64) {
    ASSERT_TRUE(is_exactly({0x1p-40}, 0x1p-40, "f32 has one class"));
    return;
  }
  random_numbers random(current_seed());
  for (const double border : {0x1p-480, 0x1p480}) {
    const double at_border[] = {std::nextafter(border, 0.0), border, std::nextafter(border, infinity)};
    for (const double x : at_border) ASSERT_TRUE(is_exactly({x}, x, "at the border of two classes"));
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<double> values(3 + random.below(100));
      for (double& x : values) x = random.below(3) == 0 ? at_border[random.below(3)] : border * (0.5 + 1.5 * random.unit());
      const elements x = as_elements(values);
      auto data = inputs(x, x);
      const auto in = data.all(wide());
      ASSERT_TRUE(gives(one("numbers at 2^" + std::to_string(std::ilogb(border))), in, form_by_tree(in.of)));
    }
  }
}

TEST_P(each_norm2, of_an_infinity_is_infinite_and_of_a_nan_is_nan_whatever_else_there_is) {
  const double nan = limits64::quiet_NaN(), huge = std::ldexp(1.0, largest_exponent()), tiny = std::ldexp(1.0, smallest_exponent());
  for (const double beside : {1.0, huge, tiny, 0.0}) {
    ASSERT_TRUE(is_exactly({beside, infinity, beside}, infinity, "an infinity"));
    ASSERT_TRUE(is_exactly({-infinity, beside}, infinity, "a negative infinity"));
    ASSERT_TRUE(is_exactly({infinity, beside, -infinity}, infinity, "both infinities"));
    for (const auto& values :
         {std::vector<double>{beside, nan}, {nan, infinity, beside}, {infinity, beside, nan}, {huge, nan, tiny}}) {
      const elements x = as_elements(values);
      auto data = inputs(x, x);
      expectation expected;
      expected.value = {result(), onefold::size_of(result()) == 4 ? 0x7fc00000u : 0x7ff8000000000000u};
      ASSERT_TRUE(gives(one("a NaN"), data.all(wide()), expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_norm2, testing::ValuesIn(form_cases([](const form_case& one) {
                           return is_float(one.type) && one.what == form::norm2;
                         })),
                         param_name);

// Means and norms of integers are doubles, of integers that no double holds too.
class each_rounding_integer_form : public form_test {};

TEST_P(each_rounding_integer_form, stays_within_the_bound_on_all_of_the_range) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{77}, 3 * tile() + 1}) {
    const elements x = any_values(type(), count, current_seed());
    auto data = inputs(x, x);
    const auto in = data.all(wide());
    ASSERT_TRUE(gives(one("any values"), in, form_within(in.of)));
    for (const auto extreme : {operation::min, operation::max}) {
      elements ends(type(), count);
      ends.fill(winner(type(), extreme));
      auto all = inputs(ends, ends);
      const auto of_ends = all.all(wide());
      ASSERT_TRUE(gives(one("all " + text(ends.at(0))), of_ends, form_within(of_ends.of)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_rounding_integer_form, testing::ValuesIn(form_cases([](const form_case& one) {
                           return !is_float(one.type) && (one.what == form::mean || one.what == form::norm2);
                         })),
                         param_name);

}  // namespace
}  // namespace onefold_test
