/// @file exact_test.cpp  Distances between results, and exact states in files: what they are taken for, and what is no state.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <onefold/exact.hpp>

#include "any_form.hpp"
#include "input_error.hpp"
#include "npy.hpp"
#include "state_file.hpp"
#include "support.hpp"

namespace onefold::tool::test {
namespace {

std::optional<std::uint64_t> ulps(double a, double b) {
  return ulps_between(element_type::f64, std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b));
}
std::optional<std::uint64_t> ulps(float a, float b) {
  return ulps_between(element_type::f32, std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b));
}

TEST(Ulps, AreTheStepsFromOneNumberToAnother) {
  using limits = std::numeric_limits<double>;
  EXPECT_EQ(ulps(1.0, 1.0), 0U);
  EXPECT_EQ(ulps(1.0, 1.0 + limits::epsilon()), 1U);
  EXPECT_EQ(ulps(2.0, std::nextafter(2.0, 0.0)), 1U) << "over a power of two";
  EXPECT_EQ(ulps(-3.0, std::nextafter(-3.0, -4.0)), 1U);
  EXPECT_EQ(ulps(1.0F, 2.0F), 1U << 23);
  EXPECT_EQ(ulps(0.0, -0.0), 0U);
  EXPECT_EQ(ulps(-limits::denorm_min(), limits::denorm_min()), 2U);
  EXPECT_EQ(ulps(-limits::max(), limits::max()), 2 * std::bit_cast<std::uint64_t>(limits::max()));
  EXPECT_EQ(ulps_between(element_type::f16, 0x3c00, 0x3c05), 5U);
  EXPECT_EQ(ulps_between(element_type::bf16, 0x8001, 0x0001), 2U);
}

TEST(Ulps, AreThereForNumbersAlone) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ulps(infinity, std::numeric_limits<float>::max()), std::nullopt);
  EXPECT_EQ(ulps(infinity, -infinity), std::nullopt);
  EXPECT_EQ(ulps(1.0F, nan), std::nullopt);
  EXPECT_EQ(ulps(infinity, infinity), 0U);
  EXPECT_EQ(ulps(nan, nan), 0U);
  EXPECT_EQ(ulps_between(element_type::f16, 0x7bff, 0x7c00), std::nullopt);
  EXPECT_EQ(ulps_between(element_type::bf16, 0x7f80, 0x7f7f), std::nullopt);
  EXPECT_EQ(ulps_between(element_type::i32, 7, 7), 0U);
  EXPECT_EQ(ulps_between(element_type::i32, 7, 8), std::nullopt);
}

template <form What, class T>
std::vector<std::int64_t> words_of(const std::vector<T>& x) {
  exact_state<What, T> state;
  state += x;
  return {state.words(), state.words() + state.size()};
}

std::string write_words(const temporary_folder& folder, std::string_view name, const std::vector<std::int64_t>& words) {
  write_state(folder.file(name), words);
  return folder.file(name);
}

TEST(StateFile, IsAnArrayOfNumpys) {
  const std::vector<std::int64_t> words{1, -2, std::numeric_limits<std::int64_t>::min()};
  const std::string file = npy_file_of(words);
  const npy_array array = parse_npy(std::as_bytes(std::span(file)));
  EXPECT_EQ(array.type, element_type::i64);
  EXPECT_EQ(array.shape, std::vector<std::uint64_t>{3});
  EXPECT_EQ(array.data_offset % 64, 0U);
  EXPECT_EQ(file[array.data_offset - 1], '\n');
  EXPECT_EQ(std::memcmp(file.data() + array.data_offset, words.data(), 24), 0);
}

TEST(StateFile, SaysWhatItIsOf) {
  const temporary_folder folder;
  const std::vector<float> x{1.0F, -2.0F};
  const std::vector<double> y{1.0, -2.0, 3.0};
  const std::vector<std::string> one{write_words(folder, "a", words_of<form::norm2>(x))};
  EXPECT_EQ(merge_states(one, std::nullopt).form, form::dot);
  EXPECT_EQ(merge_states(one, form::norm2).form, form::norm2);
  EXPECT_EQ(merge_states(one, std::nullopt).type, element_type::f32);
  EXPECT_EQ(error_of<input_error>([&] { static_cast<void>(merge_states(one, form::sum)); }),
            one[0] + ": is a state of dot, sum_of_squares or norm2 of f32, f16 or bf16, and --form says sum");

  const std::string moments = write_words(folder, "m", words_of<form::mean_variance>(y));
  const merged_states merged = merge_states(std::vector{moments, moments}, std::nullopt);
  EXPECT_EQ(merged.form, form::mean_variance);
  EXPECT_EQ(merged.type, element_type::f64);
  EXPECT_EQ(merged.count, 6U);
  EXPECT_EQ(merged.states, 2U);
  EXPECT_EQ(merged.words, words_of<form::mean_variance>(std::vector{1.0, -2.0, 3.0, 1.0, -2.0, 3.0}));
  EXPECT_EQ(
      error_of<input_error>([&] {
        static_cast<void>(merge_states(std::vector{one[0], moments}, std::nullopt));
      }),
      moments + ": is a state of mean_variance of f64, and " + one[0] + " of dot, sum_of_squares or norm2 of f32, f16 or bf16");
}

TEST(StateFile, OfNoElementsIsOneOfAnyFormOfItsSize) {
  const temporary_folder folder;
  const std::string empty = write_words(folder, "e", std::vector<std::int64_t>(19, 0));
  EXPECT_EQ(merge_states(std::vector{empty}, std::nullopt).form, form::sum);
  EXPECT_EQ(merge_states(std::vector{empty}, form::norm1).form, form::norm1);
  EXPECT_THROW(static_cast<void>(merge_states(std::vector{empty}, form::dot)), input_error);
  const std::string some = write_words(folder, "s", words_of<form::norm1>(std::vector{-2.5F}));
  const merged_states merged = merge_states(std::vector{empty, some, empty}, std::nullopt);
  EXPECT_EQ(merged.form, form::norm1);
  EXPECT_EQ(merged.states, 1U);
  EXPECT_EQ(merged.words, words_of<form::norm1>(std::vector{-2.5F}));
}

TEST(StateFile, WithABitDamagedIsRefused) {
  const temporary_folder folder;
  const std::vector<std::int64_t> good = words_of<form::sum>(std::vector{1.5F, -2.5F, 1e30F});
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int bit : {0, 1, 5, 30, 31, 32, 62, 63}) {
      std::vector<std::int64_t> words = good;
      words[at] = static_cast<std::int64_t>(static_cast<std::uint64_t>(words[at]) ^ std::uint64_t{1} << bit);
      const std::string path = write_words(folder, "s", words);
      const std::string said = error_of<input_error>([&] { static_cast<void>(merge_states(std::vector{path}, std::nullopt)); });
      ASSERT_TRUE(said.starts_with(path + ": these words are no state")) << said << ", word " << at << ", bit " << bit;
      ++refused;
    }
  EXPECT_EQ(refused, 19 * 8);
}

}  // namespace
}  // namespace onefold::tool::test
