/// @file equal_terms_test.cpp  2^30 equal terms in one call on the CPU: nothing cancels, and what counts additions, or holds their carries, gets as full as it may.

#include <limits>
#include <vector>

#include "../support/repeated_array.hpp"
#include "added_words.hpp"
#include "fixture.hpp"
#include "whole_sums.hpp"

namespace onefold_test {
namespace {

constexpr std::uint64_t many = std::uint64_t{1} << 30;

// The state of so many elements, read as an array.
template <form What, class T>
void expect_words(T element, const std::vector<std::int64_t>& expected) {
  const std::vector<T> piece(repeated_array::bytes_of_piece / sizeof(T), element);
  const repeated_array x(piece.data(), many / piece.size());
  if (!x.is_there()) GTEST_SKIP() << "no address space for " << many << " elements, or fewer mappings than those take";
  onefold::exact_state<What, T> state;
  state.add(onefold::openmp(), x.as<T>(), many);
  EXPECT_EQ(words_of(state), expected) << onefold::name(What) << " of " << onefold::name(onefold::element_type_of<T>);
}

template <form What, class T>
void expect_right(T element) {
  exact_elements expected(onefold::element_type_of<T>);
  expected.add(scalar_of(element).bits, many);
  expect_words<What>(element, expected.words(What));
}

class very_many_equal_terms : public testing::Test {
 protected:
  void SetUp() override {
    if (!backend_under_test(onefold::backend::openmp).usable) GTEST_SKIP() << "openmp() cannot be used here";
    if (is_sanitized) GTEST_SKIP() << "takes a sanitizer minutes";
  }
};

TEST_F(very_many_equal_terms, are_summed_exactly) {
  expect_right<form::sum>(std::numeric_limits<float>::max());
  expect_right<form::sum>(-from_bits<double>(0x3fffffffffffffff));
  count_dispatch(onefold::openmp());
}

TEST_F(very_many_equal_terms, have_the_exact_sum_of_squares) {
  expect_right<form::norm2>(from_bits<double>(0x3fffffffffffffff));
  count_dispatch(onefold::openmp());
}

TEST_F(very_many_equal_terms, of_integers_have_the_exact_sum_of_squares) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  whole_sums expected(std::vector<std::int64_t>{least});
  expected.squares *= many;
  expected.count = many;
  expect_words<form::norm2>(least, expected.words(form::norm2));
  count_dispatch(onefold::openmp());
}

TEST_F(very_many_equal_terms, that_a_function_gives_are_summed_exactly) {
  const auto term = std::numeric_limits<float>::max();
  exact_elements expected(element_type::f32);
  expected.add(scalar_of(term).bits, many);
  onefold::exact_state<form::sum, float> state;
  state.add(onefold::openmp(), many, [term](std::uint64_t) { return term; });
  EXPECT_EQ(words_of(state), expected.words(form::sum));
  count_dispatch(onefold::openmp());
}

}  // namespace
}  // namespace onefold_test
