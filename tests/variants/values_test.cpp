/// @file values_test.cpp  Special values wherever they stand: NaN, infinities, zeros of both signs, subnormals, overflow, winners.

#include <limits>
#include <numeric>

#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::finish;

struct special {
  std::string_view words;
  scalar value;
};

// A float with these bits, given for both widths.
scalar float_bits(element_type type, std::uint64_t f32, std::uint64_t f64) { return {type, type == element_type::f32 ? f32 : f64}; }

scalar quiet_nan(element_type type) { return float_bits(type, 0x7fc00000, 0x7ff8000000000000); }
scalar infinity(element_type type) { return float_bits(type, 0x7f800000, 0x7ff0000000000000); }
scalar minus_infinity(element_type type) { return float_bits(type, 0xff800000, 0xfff0000000000000); }
scalar minus_zero(element_type type) { return float_bits(type, 0x80000000, 0x8000000000000000); }
scalar plus_zero(element_type type) { return {type, 0}; }
scalar smallest(element_type type) { return {type, 1}; }
scalar largest(element_type type) { return float_bits(type, 0x7f7fffff, 0x7fefffffffffffff); }
scalar large_power_of_two(element_type type) { return float_bits(type, 0x7f000000, 0x7fe0000000000000); }

std::vector<special> specials(element_type type) {
  return {{"a quiet NaN", quiet_nan(type)},
          {"a NaN with sign and payload", float_bits(type, 0xffc12345, 0xfff8000012345678)},
          {"a signalling NaN", float_bits(type, 0x7f800001, 0x7ff0000000000001)},
          {"an infinity", infinity(type)},
          {"a negative infinity", minus_infinity(type)},
          {"a zero", plus_zero(type)},
          {"a negative zero", minus_zero(type)}};
}

class each_float_reduction : public reduction_test {
 protected:
  [[nodiscard]] std::size_t count() const { return 3 * block() + 77; }

  [[nodiscard]] guarded_input input_of(const elements& data) const { return {memory_for(where()), data, op()}; }

  [[nodiscard]] elements all_of(const scalar& value, std::size_t n) const {
    elements data(type(), n);
    data.fill(value);
    return data;
  }

  // Runs the input as it is with every finish.
  [[nodiscard]] testing::AssertionResult right_with_every_finish(guarded_input& input, const std::string& words) const {
    expectation expected = expected_exactly(op(), input.payload());
    const void* data = input.all();
    for (const auto how : finishes_of(variant())) {
      trial asked = one(how);
      asked.data = words;
      expected.may_be_flushed = has_subnormals_ && may_flush_subnormals(variant(), type(), op(), how);
      if (auto result = answers(asked, data, input.payload().size(), expected); !result) return result;
    }
    return testing::AssertionSuccess();
  }

  bool has_subnormals_ = false;
};

TEST_P(each_float_reduction, follows_the_rules_for_one_special_value_anywhere) {
  auto input = input_of(exact_data(type(), op(), count(), current_seed()));
  const elements background = input.payload();
  for (const auto& [words, value] : specials(type())) {
    for (const std::size_t place : telling_places(count(), block(), current_seed())) {
      input.put(place, value);
      ASSERT_TRUE(right_with_every_finish(input, std::string(words) + " at " + std::to_string(place)));
      input.put(place, background.at(place));
    }
  }
}

TEST_P(each_float_reduction, follows_the_rules_for_two_special_values_apart) {
  auto input = input_of(exact_data(type(), op(), count(), current_seed()));
  const elements background = input.payload();
  const auto places = telling_places(count(), block(), current_seed());
  const std::vector<std::pair<special, special>> pairs{
      {{"an infinity", infinity(type())}, {"its opposite", minus_infinity(type())}},
      {{"an infinity", infinity(type())}, {"a NaN", quiet_nan(type())}},
      {{"an infinity", infinity(type())}, {"a zero", plus_zero(type())}},
      {{"a negative zero", minus_zero(type())}, {"a zero", plus_zero(type())}},
      // Both at once overflow in every order, since nothing else is large enough to bring a sum or a product back.
      {{"a large number", op() == operation::prod ? large_power_of_two(type()) : largest(type())},
       {"a second that overflows with it", op() == operation::prod ? large_power_of_two(type()) : largest(type())}}};
  for (const auto& [first, second] : pairs) {
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::size_t a = places[k], b = places[(k + places.size() / 2) % places.size()];
      input.put(a, first.value);
      input.put(b, second.value);
      ASSERT_TRUE(right_with_every_finish(input, std::string(first.words) + " at " + std::to_string(a) + " and " +
                                                     std::string(second.words) + " at " + std::to_string(b)));
      input.put(a, background.at(a));
      input.put(b, background.at(b));
    }
  }
}

TEST_P(each_float_reduction, of_one_value_everywhere_has_the_right_identity_and_padding) {
  // All +inf is what showed, in three libraries, that the identity of min was the largest finite value; all -0 is what shows a sum
  // that starts at +0.
  const special everywhere[] = {{"all infinite", infinity(type())},
                                {"all negative infinite", minus_infinity(type())},
                                {"all NaN", quiet_nan(type())},
                                {"all zero", plus_zero(type())},
                                {"all negative zero", minus_zero(type())}};
  for (const auto& [words, value] : everywhere) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{33}, std::size_t(block() + 1), count()}) {
      // A product of so many powers of infinity and NaN is right whatever its order; of zeros, too.
      auto input = input_of(all_of(value, n));
      ASSERT_TRUE(right_with_every_finish(input, std::string(words)));
    }
  }
}

TEST_P(each_float_reduction, tells_one_zero_of_the_other_sign_among_zeros) {
  for (const auto& [many, single] :
       {std::pair(minus_zero(type()), plus_zero(type())), std::pair(plus_zero(type()), minus_zero(type()))}) {
    auto input = input_of(all_of(many, count()));
    for (const std::size_t place : telling_places(count(), block(), current_seed())) {
      input.put(place, single);
      ASSERT_TRUE(right_with_every_finish(input, "zeros, one of the other sign at " + std::to_string(place)));
      input.put(place, many);
    }
  }
}

TEST_P(each_float_reduction, keeps_subnormals) {
  has_subnormals_ = true;
  elements data(type(), count());
  random_numbers random(current_seed());
  const scalar minus_one = scalar_from(type(), -1), plus_one = scalar_from(type(), 1);
  for (std::size_t i = 0; i < data.size(); ++i) {
    switch (op()) {
      // Small multiples of the smallest number: every partial sum is subnormal and exact.
      case operation::sum:
        data.put(i, {type(), 1 + random.below(8)});
        break;
      case operation::prod:
        data.put(i, random.below(2) == 0 ? minus_one : plus_one);
        break;
      default:
        data.put(i, plus_zero(type()));
    }
  }
  auto input = input_of(data);
  for (const std::size_t place : telling_places(count(), block(), current_seed())) {
    scalar value = smallest(type());
    if (op() == operation::min) value.bits |= minus_zero(type()).bits;
    input.put(place, value);
    ASSERT_TRUE(right_with_every_finish(input, "subnormal, the smallest at " + std::to_string(place)));
    input.put(place, data.at(place));
  }
}

TEST_P(each_float_reduction, gives_the_same_for_every_permutation_of_special_values) {
  const std::vector<scalar> values{quiet_nan(type()), minus_infinity(type()), minus_zero(type()), plus_zero(type()),
                                   scalar_from(type(), 1)};
  const std::vector<scalar> without_nan{infinity(type()), scalar_from(type(), -2), minus_zero(type()), plus_zero(type()),
                                        scalar_from(type(), 1)};
  for (const auto& chosen : {values, without_nan}) {
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Close together in one warp, and each in another warp or block.
    const std::vector<std::size_t> spread{0, 31, 32, block(), count() - 1};
    auto close = input_of(all_of(chosen[0], chosen.size()));
    auto apart = input_of(exact_data(type(), op(), count(), current_seed()));
    do {
      for (std::size_t i = 0; i < order.size(); ++i) {
        close.put(i, chosen[order[i]]);
        apart.put(spread[i], chosen[order[i]]);
      }
      trial asked = one();
      asked.data = "a permutation of special values";
      ASSERT_TRUE(answers(asked, close.all(), close.payload().size(), expected_exactly(op(), close.payload())));
      ASSERT_TRUE(answers(asked, apart.all(), count(), expected_exactly(op(), apart.payload())));
    } while (std::ranges::next_permutation(order).found);
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_float_reduction,
                         testing::ValuesIn(reductions([](const reduction& one) { return is_float(one.type); })), param_name);

class each_extremum : public reduction_test {};

TEST_P(each_extremum, is_found_wherever_it_stands) {
  const std::size_t count = 3 * block() + 77;
  guarded_input input(memory_for(where()), any_values(type(), count, current_seed()), op());
  const elements background = input.payload();
  auto places = telling_places(count, block(), current_seed());
  for (std::size_t i = 0; i < 33; ++i) places.push_back(count - 1 - i * (block() / 16 + 1) % count);  // every residue of a warp
  for (const std::size_t place : places) {
    input.put(place, winner(type(), op()));
    trial asked = one();
    asked.data = "any values, the winner at " + std::to_string(place);
    ASSERT_TRUE(answers(asked, input.all(), count, expected_exactly(op(), input.payload())));
    input.put(place, background.at(place));
  }
}

TEST_P(each_extremum, of_any_values_is_exact_with_every_finish) {
  const std::uint64_t count = count_of(70'001);
  guarded_input input(memory_for(where()), any_values(type(), count, current_seed()), op());
  for (const auto how : finishes_of(variant())) {
    trial asked = one(how);
    asked.data = "any values";
    ASSERT_TRUE(answers(asked, input.all(), count, expected_exactly(op(), input.payload())));
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_extremum, testing::ValuesIn(reductions([](const reduction& one) {
                           return one.op == operation::min || one.op == operation::max;
                         })),
                         param_name);

class each_wrapping_reduction : public reduction_test {};

TEST_P(each_wrapping_reduction, wraps_around) {
  const std::uint64_t count = count_of(70'001);
  guarded_input input(memory_for(where()), any_values(type(), count, current_seed()), op());
  // The largest and the smallest number side by side, where a sum overflows in both directions.
  input.put(0, winner(type(), operation::max));
  input.put(1, winner(type(), operation::max));
  input.put(count / 2, winner(type(), operation::min));
  input.put(count - 1, winner(type(), operation::min));
  for (const auto how : finishes_of(variant())) {
    trial asked = one(how);
    asked.data = "all bits random";
    const std::uint64_t n = std::min(count, most_elements(variant(), op(), how, 0));
    ASSERT_TRUE(answers(asked, input.window(0, n), n, expected_exactly(op(), input.payload(), 0, n)));
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_wrapping_reduction, testing::ValuesIn(reductions([](const reduction& one) {
                           return !is_float(one.type) && (one.op == operation::sum || one.op == operation::prod);
                         })),
                         param_name);

class each_identity : public reduction_test {};

TEST_P(each_identity, is_the_answer_for_no_elements) {
  const expectation expected = oracle(type(), op()).exactly();
  guarded_input input(memory_for(where()), exact_data(type(), op(), 1, current_seed()), op());
  auto finishes = finishes_of(variant());
  finishes.push_back(finish::automatic);
  for (const auto how : finishes) {
    ASSERT_TRUE(answers(one(how), nullptr, 0, expected));
    ASSERT_TRUE(answers(one(how), input.window(0, 0), 0, expected));
    const auto used = how == finish::automatic ? variant().default_finish : how;
    if (used == finish::host) continue;  // needs a host that waits
    guarded_output output(memory_for(where()), type());
    outcome got;
    got.ran = reduce_into(one(how), nullptr, 0, output.address());
    onefold::synchronize(where());
    got.value = output.value();
    ASSERT_TRUE(is_right(one(how), 0, got, expected));
    ASSERT_TRUE(output.surroundings_unchanged());
  }
}

INSTANTIATE_TEST_SUITE_P(variants, each_identity, testing::ValuesIn(reductions()), param_name);

}  // namespace
}  // namespace onefold_test
