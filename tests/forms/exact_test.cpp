/// @file exact_test.cpp  Every form on data that no order rounds: each size where a row, a tile or a level of the tree changes, each
/// alignment of both inputs, memory around them that must not matter, and no elements at all.

#include <algorithm>
#include <cmath>

#include "../support/zero_pages.hpp"
#include "fixture.hpp"

namespace onefold_test {
namespace {

// With none, and some that the seed chooses.
std::vector<std::size_t> sizes_of(std::size_t tile, std::uint64_t seed) {
  std::vector<std::size_t> sizes = telling_sizes(tile);
  sizes.push_back(0);
  random_numbers random(seed);
  for (int i = 0; i < 10; ++i) sizes.push_back(static_cast<std::size_t>(std::exp2(16 * random.unit())));
  return sizes;
}

class each_form : public form_test {};

TEST_P(each_form, is_exact_at_every_size_and_touches_nothing_else) {
  const auto sizes = sizes_of(tile(), current_seed());
  auto data = exact_inputs(*std::ranges::max_element(sizes));
  for (const std::size_t count : sizes) {
    const auto in = data.at(0, 0, count, wide());
    const expectation expected = form_exactly(in.of);
    ASSERT_TRUE(gives(one(), in, expected));
    ASSERT_TRUE(stores(one(), in, expected));
  }
  EXPECT_TRUE(data.unchanged()) << "the reduction changed an input";
}

// Every element of the answer counts, wherever it stands: one that is changed changes the answer, to the bit.
TEST_P(each_form, sees_every_element) {
  const std::size_t count = 2 * tile() + 77;
  auto data = exact_inputs(count);
  random_numbers random(current_seed());
  std::vector<std::size_t> places{0, 15, 16, tile() - 1, tile(), 2 * tile(), count - 2, count - 1};
  for (int i = 0; i < 40; ++i) places.push_back(random.below(count));
  for (const std::size_t place : places) {
    const scalar before = data.x().at(place), before_y = two_inputs() ? data.y()->at(place) : scalar{};
    data.put_x(place, telling_element(what(), before));
    const auto in = data.all(wide());
    ASSERT_TRUE(gives(one("exact, another element at " + std::to_string(place)), in, form_exactly(in.of)));
    data.put_x(place, before);
    if (!two_inputs()) continue;
    data.put_y(place, telling_element(what(), before_y));
    const auto with_y = data.all(wide());
    ASSERT_TRUE(gives(one("exact, another element of y at " + std::to_string(place)), with_y, form_exactly(with_y.of)));
    data.put_y(place, before_y);
  }
}

TEST_P(each_form, is_exact_at_any_offset_of_both_inputs) {
  const std::size_t most = 64 + tile() + 37;
  auto data = exact_inputs(most);
  random_numbers random(current_seed());
  const std::size_t offsets_of_y = two_inputs() ? 64 : 1;
  for (std::size_t x = 0; x < 64; ++x) {
    // With a sanitizer one of seven pairs.
    for (std::size_t y = is_sanitized && two_inputs() ? x % 7 : 0; y < offsets_of_y; y += is_sanitized ? 7 : 1) {
      // A full tile and a tail, and with the same offsets an array that ends in the first row.
      for (const std::size_t count : {tile() + random.below(38), random.below(33)}) {
        const auto in = data.at(x, y, count, wide());
        const std::string words =
            "exact, offset " + std::to_string(x) + " elements" + (two_inputs() ? ", of y " + std::to_string(y) : std::string());
        ASSERT_TRUE(gives(one(words), in, form_exactly(in.of)));
      }
    }
  }
  EXPECT_TRUE(data.unchanged()) << "the reduction changed an input";
}

TEST_P(each_form, of_no_elements_is_what_the_table_says) {
  const elements nothing(type(), 0);
  const form_input of{what(), wide(), &nothing, 0, &nothing, 0, 0};
  const expectation expected = form_exactly(of);
  // Spelt out once more, since everything else begins with elements.
  const bool wide_result = onefold::size_of(result()) == 8;
  switch (what()) {
    case form::mean:
      EXPECT_EQ(expected.value.bits, wide_result ? 0x7ff8000000000000u : 0x7fc00000u);
      break;
    case form::prod:
      EXPECT_EQ(expected.value, scalar_from(result(), 1));
      break;
    case form::all:
    case form::none:
      EXPECT_EQ(expected.value, (scalar{element_type::u8, 1}));
      break;
    case form::min:
    case form::min_number:
      EXPECT_EQ(expected.value, oracle(type(), operation::min).exactly().value);
      break;
    case form::max:
    case form::max_number:
      EXPECT_EQ(expected.value, oracle(type(), operation::max).exactly().value);
      break;
    case form::bit_and:
      EXPECT_EQ(expected.value, (scalar{result(), wide_result ? ~std::uint64_t{0} : 0xffffffffu}));
      break;
    default:
      EXPECT_EQ(expected.value, (scalar{result(), 0}));
  }
  auto data = exact_inputs(100);
  ASSERT_TRUE(gives(one("none, null pointers"), {nullptr, nullptr, of}, expected));
  ASSERT_TRUE(stores(one("none, null pointers"), {nullptr, nullptr, of}, expected));
  const auto in = data.at(50, 50, 0, wide());
  ASSERT_TRUE(gives(one("none, between red zones"), in, expected));
  ASSERT_TRUE(stores(one("none, between red zones"), in, expected));
}

TEST_P(each_form, is_exact_on_a_million_elements) {
  const std::size_t count = (1 << 20) + 13;
  auto data = exact_inputs(count);
  const auto in = data.all(wide());
  const expectation expected = form_exactly(in.of);
  ASSERT_TRUE(gives(one(), in, expected));
  ASSERT_TRUE(stores(one(), in, expected));
  EXPECT_TRUE(data.unchanged());
}

INSTANTIATE_TEST_SUITE_P(forms, each_form, testing::ValuesIn(form_cases()), param_name);

// Of more elements than 32 bits count; those of a GPU are in tests/large. One element far behind is not zero: whoever loses digits of its place finds zeros.
TEST(counts_beyond_32_bits, reach_every_element_and_tell_its_place) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer looks at each of 2^32 elements";
  constexpr std::uint64_t place = (std::uint64_t{1} << 32) + 5, count = (std::uint64_t{1} << 32) + 4096 + 64;
  const zero_pages memory(count);
  if (!memory.is_there()) GTEST_SKIP() << "there is no address space for an array of 4 GiB";
  auto* const x = memory.as<std::int8_t>();
  x[place] = 3;
  for (const onefold::executor& where : {onefold::serial(), onefold::openmp(2)}) {
    const auto most = onefold::argmax(where, x, count);
    EXPECT_EQ(most.index, place);
    EXPECT_EQ(most.value, 3);
    EXPECT_EQ(onefold::sum(where, x, count), 3);
    EXPECT_EQ(onefold::count(where, x, count), 1U);
  }
}

// One array as both inputs: squares.
class each_dot : public form_test {};

TEST_P(each_dot, of_an_array_with_itself_is_its_sum_of_squares) {
  const std::size_t count = 3 * tile() + 77;
  guarded_input x(memory_for(where()), any_values(type(), count, current_seed()), operation::sum);
  const void* data = x.all();
  form_trial asked = one("any values, x and y the same array");
  const scalar dot = reduce(asked, data, data, count).value;
  asked.what = form::sum_of_squares;
  const auto squares = reduce(asked, data, nullptr, count);
  expectation expected;
  expected.value = squares.value;
  EXPECT_EQ(dot, squares.value) << describe(asked, count, squares.ran, expected, dot);
  EXPECT_TRUE(x.unchanged());
}

// Two windows of one array, one element apart: neither may be written to or read beyond.
TEST_P(each_dot, of_overlapping_inputs_is_exact) {
  const std::size_t count = 2 * tile() + 5;
  const elements all = exact_form_data(type(), form::dot, count + 1, current_seed(), 0);
  guarded_input x(memory_for(where()), all, operation::sum);
  const auto* first = static_cast<const std::byte*>(x.all());
  const form_input of{form::dot, wide(), &all, 0, &all, 1, count};
  ASSERT_TRUE(
      gives(one("exact, y one element behind x in one array"), {first, first + onefold::size_of(type()), of}, form_exactly(of)));
  EXPECT_TRUE(x.unchanged());
}

INSTANTIATE_TEST_SUITE_P(forms, each_dot, testing::ValuesIn(form_cases([](const form_case& one) { return one.what == form::dot; })),
                         param_name);

// The smallest integer has an absolute value, as an unsigned number.
class each_integer_norm : public form_test {};

TEST_P(each_integer_norm, of_the_smallest_integer_is_its_size) {
  const std::size_t count = tile() + 9;
  auto data = exact_inputs(count);
  const scalar smallest = winner(type(), operation::min);
  const bool is_signed = type() == element_type::i32 || type() == element_type::i64;
  for (const std::size_t place : {std::size_t{0}, std::size_t{17}, tile(), count - 1}) {
    data.put_x(place, smallest);
    const auto in = data.all(wide());
    const expectation expected = form_exactly(in.of);
    if (what() == form::norm_inf && is_signed) {
      EXPECT_EQ(expected.value.bits, std::uint64_t{1} << (8 * onefold::size_of(type()) - 1));
    }
    ASSERT_TRUE(gives(one("exact, the smallest integer at " + std::to_string(place)), in, expected));
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_integer_norm, testing::ValuesIn(form_cases([](const form_case& one) {
                           return !is_float(one.type) && (one.what == form::norm1 || one.what == form::norm_inf);
                         })),
                         param_name);

}  // namespace
}  // namespace onefold_test
