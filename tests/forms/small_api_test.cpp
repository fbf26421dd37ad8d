/// @file small_api_test.cpp  Small types, truth and magnitudes as a caller writes them: the types of results, what may be accumulated in what, arrays of
/// bool, and functions of the index that say yes or no.

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "fixture.hpp"

namespace onefold_test {
namespace {

namespace op = onefold::op;
using onefold::accumulate_as;
using onefold::bfloat16;
using onefold::errc;
using onefold::float16;

// --- result types

template <class T>
using array_of = std::array<T, 4>;  // of bool, too: std::vector<bool> has no elements
template <class T, class R>
constexpr bool is = std::is_same_v<T, R>;

static_assert(is<decltype(onefold::sum(array_of<std::int8_t>{})), std::int64_t>);
static_assert(is<decltype(onefold::sum(array_of<std::uint16_t>{})), std::uint64_t>);
static_assert(is<decltype(onefold::sum(array_of<bool>{})), std::uint64_t>);
static_assert(is<decltype(onefold::sum(array_of<float16>{})), float>);
static_assert(is<decltype(onefold::dot(array_of<short>{}, array_of<short>{})), std::int64_t>);
static_assert(is<decltype(onefold::dot(array_of<bfloat16>{}, array_of<bfloat16>{})), float>);
static_assert(is<decltype(onefold::min(array_of<std::int8_t>{})), std::int8_t>);
static_assert(is<decltype(onefold::max(array_of<bool>{})), bool>);
static_assert(is<decltype(onefold::min(array_of<float16>{})), float16>);
static_assert(is<decltype(onefold::norm1(array_of<std::int8_t>{})), std::uint64_t>);
static_assert(is<decltype(onefold::norm_inf(array_of<std::int8_t>{})), std::uint8_t>);
static_assert(is<decltype(onefold::norm_inf(array_of<bfloat16>{})), bfloat16>);
static_assert(is<decltype(onefold::mean(array_of<std::uint8_t>{})), double> &&
              is<decltype(onefold::mean(array_of<float16>{})), float>);
static_assert(is<decltype(onefold::norm2(array_of<short>{})), double> && is<decltype(onefold::norm2(array_of<bfloat16>{})), float>);
static_assert(is<decltype(onefold::any(array_of<std::int8_t>{})), bool> && is<decltype(onefold::all(array_of<double>{})), bool>);
static_assert(is<decltype(onefold::none(array_of<bool>{})), bool> && is<decltype(onefold::count(array_of<bool>{})), std::uint64_t>);
static_assert(is<decltype(onefold::argmax_magnitude(array_of<std::int8_t>{})), onefold::arg_result<std::uint8_t>>);
static_assert(is<decltype(onefold::argmax_magnitude(array_of<int>{})), onefold::arg_result<std::uint32_t>>);
static_assert(is<decltype(onefold::argmax_magnitude(array_of<float16>{})), onefold::arg_result<float16>>);
static_assert(is<decltype(onefold::argmin(array_of<bool>{})), onefold::arg_result<bool>>);
static_assert(is<decltype(onefold::argminmax(array_of<short>{})), onefold::argminmax_result<short>>);
static_assert(is<decltype(onefold::mean_variance(array_of<float16>{})), onefold::mean_variance_result<float>>);
static_assert(is<decltype(onefold::mean_variance(array_of<std::uint8_t>{})), onefold::mean_variance_result<double>>);
static_assert(is<decltype(onefold::reduce_together(array_of<std::int8_t>{}, op::min{}, op::sum{})), std::array<std::int64_t, 2>>);
static_assert(is<decltype(onefold::reduce_together(array_of<bool>{}, op::sum{})), std::array<std::uint64_t, 1>>);
static_assert(is<decltype(onefold::reduce_together(array_of<float16>{}, op::min{}, op::max{})), std::array<float, 2>>);

// --- what may be accumulated in what

template <class Form, class... Arguments>
constexpr bool callable = std::is_invocable_v<const Form&, Arguments...>;
template <class A>
using as = onefold::accumulate_as_t<A>;
using sum_t = decltype(onefold::sum);
using dot_t = decltype(onefold::dot);
using min_t = decltype(onefold::min);
using mean_t = decltype(onefold::mean);
using bit_or_t = decltype(onefold::bit_or);

static_assert(callable<sum_t, array_of<float16>, as<double>> && callable<sum_t, array_of<bfloat16>, as<double>>);
static_assert(callable<sum_t, array_of<float16>, as<float>>, "which it is anyway");
static_assert(callable<sum_t, array_of<std::int8_t>, as<std::int64_t>> && callable<sum_t, array_of<bool>, as<std::uint64_t>>);
static_assert(!callable<sum_t, array_of<std::int8_t>, as<double>> && !callable<sum_t, array_of<std::int8_t>, as<std::uint64_t>>);
static_assert(!callable<sum_t, array_of<std::int8_t>, as<std::int32_t>> && !callable<sum_t, array_of<float16>, as<std::int64_t>>);
static_assert(callable<sum_t, array_of<std::int8_t>, as<std::int8_t>> &&
              callable<dot_t, array_of<short>, array_of<short>, as<short>>);
static_assert(!callable<sum_t, array_of<std::int8_t>, as<std::uint8_t>> && !callable<sum_t, array_of<std::int8_t>, as<short>>);
static_assert(!callable<sum_t, array_of<short>, as<std::int8_t>> && !callable<sum_t, array_of<int>, as<short>>);
static_assert(!callable<sum_t, array_of<bool>, as<std::uint8_t>>, "one and one is no bool, and as a number it is 64 bits wide");
static_assert(!callable<mean_t, array_of<short>, as<short>> && !callable<min_t, array_of<short>, as<short>>);
// What no sum is kept in is refused by its name alone.
static_assert(onefold::is_accumulator<std::int8_t> && onefold::is_accumulator<std::uint16_t> && onefold::is_accumulator<double>);
static_assert(!onefold::is_accumulator<bool> && !onefold::is_accumulator<float16> && !onefold::is_accumulator<bfloat16>);
static_assert(callable<sum_t, array_of<int>, as<std::int64_t>> && callable<sum_t, array_of<unsigned>, as<std::uint64_t>>);
static_assert(!callable<sum_t, array_of<int>, as<std::uint64_t>> && !callable<sum_t, array_of<int>, as<double>>);
static_assert(!callable<sum_t, array_of<float>, as<std::int64_t>> && !callable<sum_t, array_of<double>, as<float>>);
static_assert(callable<dot_t, array_of<int>, array_of<int>, as<std::int64_t>>);
static_assert(callable<dot_t, array_of<float16>, array_of<float16>, as<double>>);
static_assert(callable<dot_t, array_of<float16>, array_of<bfloat16>> && callable<dot_t, array_of<float16>, array_of<float>>);
static_assert(!callable<dot_t, array_of<float16>, array_of<std::complex<float>>>);
static_assert(callable<mean_t, array_of<float16>, as<double>> && !callable<mean_t, array_of<int>, as<std::int64_t>>);
static_assert(!callable<min_t, array_of<float16>, as<double>> && !callable<min_t, array_of<int>, as<std::int64_t>>);
static_assert(!callable<bit_or_t, array_of<float16>> && callable<bit_or_t, array_of<bool>>);
static_assert(!callable<sum_t, std::vector<bool>> && callable<sum_t, std::vector<short>> && !callable<sum_t, std::vector<char>>);
// A function gives values that can be computed with.
struct gives_byte {
  std::int8_t operator()(std::uint64_t) const { return 1; }
};
struct gives_bool {
  bool operator()(std::uint64_t) const { return true; }
};
static_assert(!callable<sum_t, std::uint64_t, gives_byte> && !callable<sum_t, std::uint64_t, gives_bool>);

// --- calls

TEST(small_spellings, mean_the_same) {
  const std::vector<std::int8_t> x{100, -128, 127, 127};
  const auto where = onefold::serial();
  onefold::report ran;
  const onefold::options how{.report = &ran};
  for (const std::int64_t sum : {onefold::sum(x), onefold::sum(where, x), onefold::sum(where, x.data(), x.size(), how),
                                 onefold::sum(where, x, accumulate_as<std::int64_t>), onefold::sum(onefold::best(), x, how)})
    EXPECT_EQ(sum, 226);
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(onefold::norm1(where, x), 482u);
  EXPECT_EQ(onefold::norm_inf(where, x), 128);
  EXPECT_EQ(onefold::min(where, x), -128);
  EXPECT_EQ(onefold::sum_of_squares(where, x), 10'000 + 16'384 + 2 * 16'129);
  const auto largest = onefold::argmax_magnitude(where, x);
  EXPECT_EQ(largest.value, 128);
  EXPECT_EQ(largest.index, 1u);
  const auto [low, high] = onefold::argminmax(where, x);
  EXPECT_EQ(low.value, -128);
  EXPECT_EQ(low.index, 1u);
  EXPECT_EQ(high.value, 127);
  EXPECT_EQ(high.index, 2u);
  std::int64_t stored = 0;
  onefold::sum_into(where, x, &stored);
  EXPECT_EQ(stored, 226);
  const std::vector<int> n{std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
  EXPECT_EQ(onefold::sum(where, n), -2);
  EXPECT_EQ(onefold::sum(where, n, accumulate_as<std::int64_t>), 4294967294);
  EXPECT_EQ(onefold::dot(where, n, n, accumulate_as<std::int64_t>), 2 * 2147483647ll * 2147483647ll);
}

TEST(small_spellings, of_their_own_type_wrap_in_it) {
  const auto where = onefold::serial();
  const std::vector<std::int8_t> x{127, 1, -128, -128, 127};
  const auto own = accumulate_as<std::int8_t>;
  static_assert(std::is_same_v<decltype(onefold::sum(x, own)), std::int8_t>);
  static_assert(std::is_same_v<decltype(onefold::norm1(x, own)), std::uint8_t>);
  EXPECT_EQ(onefold::sum(where, x.data(), 1, own), 127);
  EXPECT_EQ(onefold::sum(where, x.data(), 2, own), -128) << "one beyond the border";
  EXPECT_EQ(onefold::sum(where, x.data(), 3, own), 0);
  EXPECT_EQ(onefold::sum(where, x.data() + 2, 2, own), 0) << "-256";
  EXPECT_EQ(onefold::sum(x, own), -1);
  EXPECT_EQ(onefold::prod(where, x.data() + 1, 2, own), -128);
  EXPECT_EQ(onefold::prod(where, x.data() + 2, 2, own), 0) << "2^14";
  EXPECT_EQ(onefold::prod(where, x.data(), 0, own), 1);
  EXPECT_EQ(onefold::norm1(where, x.data(), 3, own), 0) << "256";
  EXPECT_EQ(onefold::norm1(where, x.data(), 2, own), 128);
  EXPECT_EQ(onefold::sum_of_squares(where, x.data(), 1, own), 1) << "127^2 is 63 * 256 + 1";
  EXPECT_EQ(onefold::dot(where, x, x, own), 3);
  const std::vector<std::uint16_t> u{65'535, 2};
  EXPECT_EQ(onefold::sum(where, u, accumulate_as<std::uint16_t>), 1);
  EXPECT_EQ(onefold::prod(where, u, accumulate_as<std::uint16_t>), 65'534);
  EXPECT_EQ(onefold::sum_of_squares(where, u, accumulate_as<std::uint16_t>), 5);
  // What is stored has the size of the type; so has a part of a batch, and a range has its value in it.
  std::int8_t stored[] = {77, 77, 77, 77};
  onefold::sum_into(where, x.data(), 2, stored + 1, own);
  onefold::batch(where).add(onefold::sum, x.data(), 5, stored + 2, own).run();
  EXPECT_EQ((std::vector<std::int8_t>(stored, stored + 4)), (std::vector<std::int8_t>{77, -128, -1, 77}));
  onefold::range_state<form::sum, std::int8_t, std::int8_t> range;
  range.add(where, x.data(), 2);
  range.add(where, x.data() + 2, 3);
  static_assert(std::is_same_v<decltype(range.value()), std::int8_t>);
  EXPECT_EQ(range.value(), -1);
}

TEST(small_spellings, of_halves_round_once) {
  // 2048 + 1 is no float16.
  const std::vector<float16> x{float16(2048.0f), float16(1.0f), float16(-0.5f)};
  const auto where = onefold::serial();
  EXPECT_EQ(onefold::sum(where, x), 2048.5f);
  EXPECT_EQ(onefold::sum(where, x, accumulate_as<float>), 2048.5f);
  EXPECT_EQ(onefold::sum(where, x, accumulate_as<double>), 2048.5);
  EXPECT_EQ(onefold::min(where, x).bits(), float16(-0.5f).bits());
  EXPECT_EQ(onefold::norm_inf(where, x).bits(), float16(2048.0f).bits());
  const std::vector<bfloat16> far(3, bfloat16(0x1p127f));
  EXPECT_EQ(onefold::sum(where, far), std::numeric_limits<float>::infinity());
  EXPECT_EQ(onefold::sum(where, far, accumulate_as<double>), 3 * 0x1p127);
}

// --- bool

TEST(arrays_of_bool, are_bytes_that_are_0_or_1) {
  for (const auto& where : {onefold::serial(), onefold::best()}) {
    std::array<bool, 5'000> x{};
    EXPECT_TRUE(onefold::none(where, x));
    EXPECT_FALSE(onefold::any(where, x));
    EXPECT_EQ(onefold::sum(where, x), 0u);
    x[4'321] = true;
    EXPECT_TRUE(onefold::any(where, x));
    EXPECT_FALSE(onefold::all(where, x));
    EXPECT_FALSE(onefold::none(where, x));
    EXPECT_EQ(onefold::max(where, x), true);
    EXPECT_EQ(onefold::argmax(where, x).index, 4'321u);
    EXPECT_EQ(onefold::argmax(where, x).value, true);
    x.fill(true);
    EXPECT_TRUE(onefold::all(where, x));
    EXPECT_EQ(onefold::sum(where, x), 5'000u);
    EXPECT_EQ(onefold::count(where, x), 5'000u);
    EXPECT_EQ(onefold::mean(where, x), 1.0);
    bool stored = false;
    onefold::all_into(where, x, &stored);
    EXPECT_TRUE(stored);
    EXPECT_TRUE(onefold::all(where, x.data(), 0));
    EXPECT_TRUE(onefold::none(where, x.data(), 0));
    EXPECT_FALSE(onefold::any(where, x.data(), 0));
  }
}

// --- functions of the index that return a bool

class truth_of_functions : public executor_test {
 protected:
  void SetUp() override {
    executor_test::SetUp();
    if (!IsSkipped() && where().backend() == onefold::backend::cuda) GTEST_SKIP() << "functions for a GPU are compiled by nvcc";
  }
};

TEST_P(truth_of_functions, is_that_of_the_array_of_their_values) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{1'025}, std::size_t{100'003}})
    for (const std::size_t wanted : {std::size_t{0}, count / 2, count - 1, count}) {
      const auto is_wanted = [&](std::uint64_t i) { return i == wanted; };
      const auto is_other = [&](std::uint64_t i) { return i != wanted; };
      const bool there = wanted < count;
      EXPECT_EQ(onefold::any(where(), count, is_wanted), there) << count;
      EXPECT_EQ(onefold::none(where(), count, is_wanted), !there) << count;
      EXPECT_EQ(onefold::all(where(), count, is_other), !there) << count;
      EXPECT_EQ(onefold::count(where(), count, is_wanted), there ? 1u : 0u) << count;
      EXPECT_EQ(onefold::count(where(), count, is_other), count - (there ? 1 : 0)) << count;
      EXPECT_EQ(onefold::all(where(), count, is_wanted), count == 0 || (count == 1 && there)) << count;
      count_dispatch(where());
    }
  // Of numbers it is whether they are 0.
  EXPECT_TRUE(
      onefold::any(where(), 1'000, [](std::uint64_t i) { return i == 999 ? std::numeric_limits<float>::quiet_NaN() : -0.0f; }));
  EXPECT_FALSE(onefold::all(where(), 1'000, [](std::uint64_t i) { return static_cast<std::int64_t>(i) - 500; }));
  bool stored = false;
  onefold::none_into(
      where(), 1'000, [](std::uint64_t) { return false; }, &stored);
  EXPECT_TRUE(stored);
  EXPECT_THROW(static_cast<void>(onefold::any(where(), 1'000,
                                              [](std::uint64_t i) {
                                                if (i == 77) throw std::range_error("77");
                                                return false;
                                              })),
               std::range_error);
}

INSTANTIATE_TEST_SUITE_P(forms, truth_of_functions, testing::ValuesIn(each_of_the_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
