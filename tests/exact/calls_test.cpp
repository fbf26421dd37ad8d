/// @file calls_test.cpp  guarantee::exact as a caller asks for it: every spelling, what cannot be met, what any order gives anyway,
/// and floating-point environments. Known answers alone: this file needs no oracle.

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <onefold/onefold.hpp>

#include "../forms/fixture.hpp"
#include "../support/zero_pages.hpp"
#include "options.hpp"

namespace onefold_test {
namespace {

using onefold::accumulate_as;
using onefold::bfloat16;
using onefold::errc;
using onefold::exact_state;
using onefold::float16;
using onefold::guarantee;

// --- result types

template <class State>
using value_of_state = decltype(std::declval<const State&>().value());
static_assert(std::is_same_v<value_of_state<exact_state<form::sum, double>>, double>);
static_assert(std::is_same_v<value_of_state<exact_state<form::norm2, float>>, float>);
static_assert(std::is_same_v<value_of_state<exact_state<form::mean, float16>>, float>);
static_assert(std::is_same_v<value_of_state<exact_state<form::dot, bfloat16>>, float>);
static_assert(std::is_same_v<value_of_state<exact_state<form::mean_variance, double>>, onefold::mean_variance_result<double>>);
static_assert(std::is_same_v<decltype(std::declval<const exact_state<form::sum, float>&>().value(accumulate_as<double>)), double>);
static_assert(
    std::is_same_v<decltype(std::declval<const exact_state<form::sum, float16>&>().value(accumulate_as<double>)), double>);
static_assert(std::is_same_v<decltype(std::declval<const exact_state<form::sum, float>&>().words()), const std::int64_t*>);
static_assert(std::is_same_v<decltype(std::declval<exact_state<form::sum, float>&>().words()), std::int64_t*>);
static_assert(std::is_same_v<decltype(std::declval<const exact_state<form::sum, float>&>().count()), std::uint64_t>);
static_assert(std::is_nothrow_copy_constructible_v<exact_state<form::dot, double>>);

// --- spellings

// Where no order of additions but the exact one gives these: 2^53 + 1 + 1 and what follows from it.
const std::vector<double> x{0x1p53, 1, -0x1p-1074, 1};
const std::vector<double> y{1, 1, 1, 1};
const std::vector<float> f{0x1p24f, 1, -0x1p-149f, 1};

class exact_calls : public executor_test {
 protected:
  static constexpr double sum = 0x1p53 + 2;  // less a little
};

TEST_P(exact_calls, mean_the_same_in_every_spelling) {
  EXPECT_EQ(onefold::sum(where(), x, exactly), sum);
  EXPECT_EQ(onefold::sum(where(), x.data(), x.size(), exactly), sum);
  EXPECT_EQ(onefold::sum(x, exactly), sum);
  EXPECT_EQ(onefold::sum(x.data(), x.size(), exactly), sum);
  EXPECT_EQ(onefold::sum(onefold::best(), x, exactly), sum);
  EXPECT_EQ(onefold::sum(where(), std::array<double, 3>{0x1p53, 1, 1}, exactly), sum);
  EXPECT_EQ(onefold::reduce(where(), x, onefold::op::sum{}, exactly), sum);
  EXPECT_EQ(onefold::dot(where(), x, y, exactly), sum);
  EXPECT_EQ(onefold::dot(where(), x.data(), y.data(), x.size(), exactly), sum);
  EXPECT_EQ(onefold::dot(x, y, exactly), sum);
  EXPECT_EQ(onefold::asum(where(), x, exactly), sum);
  EXPECT_EQ(onefold::mean(where(), x, exactly), sum / 4);
  EXPECT_EQ(onefold::norm2(where(), x, exactly), 0x1p53);
  EXPECT_EQ(onefold::sum_of_squares(where(), x, exactly), 0x1p106);
  EXPECT_EQ(onefold::sum(where(), f, exactly), 0x1p24f + 2);
  EXPECT_EQ(onefold::sum(where(), f, accumulate_as<double>, exactly), 0x1p24 + 2);
  EXPECT_EQ(onefold::dot(where(), f, f, accumulate_as<double>, exactly), 0x1p48 + 2);
  EXPECT_EQ(onefold::mean_variance(where(), f, accumulate_as<double>, exactly).mean, 0x1p22 + 0.5);
  EXPECT_EQ(onefold::mean_variance(where(), f, onefold::ddof{4}, accumulate_as<double>, exactly).mean, 0x1p22 + 0.5);
  EXPECT_TRUE(std::isnan(onefold::mean_variance(where(), f, onefold::ddof{4}, accumulate_as<double>, exactly).variance));
  EXPECT_EQ(onefold::mean_variance(where(), std::vector<double>{1, 2, 3, 6}, onefold::ddof{1}, exactly).variance, 14.0 / 3.0);
  EXPECT_EQ(onefold::sum(where(), std::vector<float16>{float16(2048.0f), float16(1.0f), float16(0x1p-24f)}, exactly), 2049.0f);
  EXPECT_EQ(onefold::sum(where(), std::vector<bfloat16>(3, bfloat16(0x1p127f)), accumulate_as<double>, exactly), 0x3p127);
  count_dispatch(where());
}

TEST_P(exact_calls, of_complex_numbers_mean_the_same_in_every_spelling) {
  using complex = std::complex<double>;
  const std::vector<complex> z{{0x1p53, 1}, {1, 1}}, w{{1, 1}, {1, 0}};
  const complex right{0x1p53 + 2, 0x1p53 - 2};
  EXPECT_EQ(onefold::dot(where(), z, w, exactly), right);
  EXPECT_EQ(onefold::dot(where(), z.data(), w.data(), z.size(), exactly), right);
  EXPECT_EQ(onefold::dot(z, w, exactly), right);
  EXPECT_EQ(onefold::dot(onefold::best(), w, z, exactly), std::conj(right));
  EXPECT_EQ(onefold::dot(where(), z, w, {.variant = "superaccumulator", .guarantee = guarantee::exact}), right);
  complex stored, first;
  onefold::dot_into(where(), z, w, &stored, exactly);
  EXPECT_EQ(stored, right);
  double total = 0;
  onefold::batch work(where());
  work.add(onefold::dot, z, w, &first).add(onefold::sum, x, &total);
  work.run(exactly);
  EXPECT_EQ(first, right);
  EXPECT_EQ(total, sum);
  onefold::report ran;
  EXPECT_EQ(onefold::dot(where(), z, w, {.guarantee = guarantee::exact, .report = &ran}), right);
  EXPECT_EQ(ran.guarantee, guarantee::exact);
  EXPECT_EQ(ran.variant, "superaccumulator");
  EXPECT_EQ(onefold::dot(where(), z.data(), w.data(), 0, exactly), complex());
  const std::vector<std::complex<float>> u{{0x1p24f, 1}, {1, 1}}, v{{1, 1}, {1, 0}};
  EXPECT_EQ(onefold::dot(where(), u, v, exactly), std::complex<float>(0x1p24f + 2, 0x1p24f - 2));

  // Of floats rounded to doubles, and nowhere between.
  const std::vector<std::complex<float>> r{{0x1p100f, 3}, {1, 0x1p-60f}, {-0x1p100f, 1}};
  constexpr auto wide = accumulate_as<complex>;
  EXPECT_EQ(onefold::sum(where(), r, wide, exactly), complex(1, 4));
  EXPECT_EQ(onefold::mean(where(), r, wide, exactly), complex(1.0 / 3, 4.0 / 3));
  const std::vector<std::complex<float>> a{{0x1p24f, 1}}, b{{1, 1}};
  EXPECT_EQ(onefold::dot(where(), a, b, wide, exactly), complex(0x1p24 + 1, 0x1p24 - 1));
  EXPECT_EQ(onefold::sum_of_squares(where(), u, wide, exactly), 0x1p48 + 3);
  EXPECT_EQ(onefold::norm2(where(), u, wide, exactly), std::sqrt(0x1p48 + 3));
  onefold::sum_into(where(), r, &stored, wide, exactly);
  EXPECT_EQ(stored, complex(1, 4));
  count_dispatch(where());
}

TEST_P(exact_calls, of_complex_numbers_with_wrong_pointers_are_refused) {
  using complex = std::complex<double>;
  std::vector<complex> z{{1, 2}, {3, 4}, {5, 6}};
  const complex* const nothing = nullptr;
  complex* const none = nullptr;
  EXPECT_TRUE(
      refuses(errc::null_pointer, "input", [&] { static_cast<void>(onefold::dot(where(), nothing, z.data(), 3, exactly)); }));
  EXPECT_TRUE(
      refuses(errc::null_pointer, "second", [&] { static_cast<void>(onefold::dot(where(), z.data(), nothing, 3, exactly)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "output", [&] { onefold::dot_into(where(), z.data(), z.data(), 3, none, exactly); }));
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "output", [&] { onefold::dot_into(where(), z.data(), z.data(), 3, &z[2], exactly); }));
  const auto* odd = reinterpret_cast<const complex*>(reinterpret_cast<const std::byte*>(z.data()) + 4);
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] { static_cast<void>(onefold::dot(where(), odd, z.data(), 2, exactly)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative",
                      [&] { static_cast<void>(onefold::dot(where(), z.data(), z.data(), std::uint64_t{1} << 63, exactly)); }));
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "fixed_order", [&] {
    static_cast<void>(onefold::dot(where(), z, z, {.variant = "fixed_order", .guarantee = guarantee::exact}));
  }));
  EXPECT_EQ(z, (std::vector<complex>{{1, 2}, {3, 4}, {5, 6}}));
  count_dispatch(where());
}

TEST_P(exact_calls, store_the_same) {
  double stored = 0;
  onefold::sum_into(where(), x, &stored, exactly);
  EXPECT_EQ(stored, sum);
  stored = 0;
  onefold::dot_into(where(), x.data(), y.data(), x.size(), &stored, exactly);
  EXPECT_EQ(stored, sum);
  stored = 0;
  onefold::norm1_into(where(), f, &stored, accumulate_as<double>, exactly);
  EXPECT_EQ(stored, 0x1p24 + 2);
  float norm = 0;
  onefold::norm2_into(where(), std::vector<float>{3, 4}, &norm, exactly);
  EXPECT_EQ(norm, 5.0f);
  onefold::mean_variance_result<double> moments{};
  onefold::mean_variance_into(where(), f, &moments, onefold::ddof{0}, accumulate_as<double>, exactly);
  EXPECT_EQ(moments.mean, 0x1p22 + 0.5);
  count_dispatch(where());
}

TEST_P(exact_calls, say_in_their_report_what_they_promise) {
  onefold::report ran;
  EXPECT_EQ(onefold::sum(where(), x, {.guarantee = guarantee::exact, .report = &ran}), sum);
  EXPECT_EQ(ran.guarantee, guarantee::exact);
  EXPECT_EQ(ran.backend, where().backend());
  EXPECT_FALSE(ran.variant.empty());
  EXPECT_FALSE(ran.implementation.empty());
  EXPECT_EQ(onefold::sum(where(), x, {.report = &ran}), onefold::sum(where(), x, fixed));
  EXPECT_EQ(ran.guarantee, guarantee::fixed) << "what is not asked for";
  count_dispatch(where());
}

TEST_P(exact_calls, of_no_elements_give_what_the_fixed_order_gives) {
  const double* const nothing = nullptr;
  for (const auto& how : {exactly, fixed}) {
    for (const double zero : {onefold::sum(where(), nothing, 0, how), onefold::norm1(where(), nothing, 0, how),
                              onefold::dot(where(), nothing, nothing, 0, how), onefold::sum_of_squares(where(), nothing, 0, how),
                              onefold::norm2(where(), nothing, 0, how)})
      EXPECT_EQ(scalar_of(zero), scalar_of(0.0));
    EXPECT_TRUE(std::isnan(onefold::mean(where(), nothing, 0, how)));
    EXPECT_TRUE(std::isnan(onefold::mean_variance(where(), nothing, 0, how).mean));
    EXPECT_TRUE(std::isnan(onefold::mean_variance(where(), nothing, 0, onefold::ddof{-5}, how).variance));
  }
  count_dispatch(where());
}

TEST_P(exact_calls, of_a_batch_give_what_they_give_alone) {
  double total = 0, product = 0, norm = 0;
  std::int64_t whole = 0;
  const std::vector<std::int64_t> i{1, 2, 3};
  onefold::batch work(where());
  work.add(onefold::sum, x, &total).add(onefold::dot, x, y, &product).add(onefold::norm2, x, &norm).add(onefold::sum, i, &whole);
  work.run(exactly);
  EXPECT_EQ(total, sum);
  EXPECT_EQ(product, sum);
  EXPECT_EQ(norm, 0x1p53);
  EXPECT_EQ(whole, 6);
  count_dispatch(where());
}

// --- what no order changes

template <class R>
std::vector<std::byte> bytes_of(const R& result) {
  std::vector<std::byte> bytes(sizeof(R));
  std::memcpy(bytes.data(), &result, sizeof(R));
  return bytes;
}

TEST_P(exact_calls, of_what_no_order_changes_give_what_the_fixed_order_gives) {
  const auto both = [&](const auto& function, const auto& input, auto... modifier) {
    EXPECT_EQ(bytes_of(function(where(), input, modifier..., exactly)), bytes_of(function(where(), input, modifier..., fixed)));
  };
  const auto extremes_of = [&](const auto& input) {
    both(onefold::min, input);
    both(onefold::max, input);
    both(onefold::min_number, input);
    both(onefold::max_number, input);
    both(onefold::norm_inf, input);
    EXPECT_EQ(onefold::argmin(where(), input, exactly).index, onefold::argmin(where(), input, fixed).index);
    EXPECT_EQ(onefold::argmax(where(), input, exactly).index, onefold::argmax(where(), input, fixed).index);
    EXPECT_EQ(onefold::argmax_magnitude(where(), input, exactly).index, onefold::argmax_magnitude(where(), input, fixed).index);
    EXPECT_EQ(onefold::argminmax(where(), input, exactly).max.index, onefold::argminmax(where(), input, fixed).max.index);
    both(onefold::minmax, input);
    EXPECT_EQ(onefold::count(where(), input, exactly), onefold::count(where(), input, fixed));
    EXPECT_EQ(onefold::all(where(), input, exactly), onefold::all(where(), input, fixed));
  };
  const auto sums_of = [&](const auto& input) {
    both(onefold::sum, input);
    both(onefold::prod, input);
    both(onefold::norm1, input);
    both(onefold::sum_of_squares, input);
    both(onefold::bit_xor, input);
    EXPECT_EQ(onefold::dot(where(), input, input, exactly), onefold::dot(where(), input, input, fixed));
  };
  random_numbers random(current_seed());
  for (const std::size_t n : {std::size_t{1}, std::size_t{9'000}}) {
    std::vector<double> doubles(n);
    std::vector<float16> halves(n);
    std::vector<std::int8_t> bytes(n);
    std::vector<int> ints(n);
    std::vector<std::uint64_t> longs(n);
    for (std::size_t i = 0; i < n; ++i) {
      doubles[i] = random.unit() - 0.5;
      halves[i] = float16(static_cast<float>(random.unit() - 0.5));
      bytes[i] = static_cast<std::int8_t>(random());
      ints[i] = static_cast<int>(random());
      longs[i] = random();
    }
    extremes_of(doubles);
    extremes_of(halves);
    extremes_of(bytes);
    extremes_of(ints);
    sums_of(bytes);
    sums_of(ints);
    sums_of(longs);
    both(onefold::sum, ints, accumulate_as<std::int64_t>);
    both(onefold::norm1, ints, accumulate_as<std::int64_t>);
  }
  onefold::report ran;
  EXPECT_EQ(onefold::sum(where(), std::vector<int>{1, 2}, {.guarantee = guarantee::exact, .report = &ran}), 3);
  EXPECT_EQ(ran.variant, "fixed_order");
  // By its name too.
  const onefold::options named{.variant = "fixed_order", .guarantee = guarantee::exact, .report = &ran};
  EXPECT_EQ(onefold::max(where(), std::vector<double>{1, 3, 2}, named), 3.0);
  EXPECT_EQ((onefold::reduce_together(where(), std::vector<int>{4, 5}, named, onefold::op::sum{}, onefold::op::min{})),
            (std::array<int, 2>{9, 4}));
  EXPECT_EQ(ran.variant, "fixed_order");
  count_dispatch(where());
}

// --- what cannot be met

TEST_P(exact_calls, that_cannot_be_met_are_refused) {
  const auto refused = [&](auto&& call) { return refuses(errc::guarantee_not_met, "", [&] { static_cast<void>(call()); }); };
  const std::vector<std::int64_t> wide{1, 2, 3};
  const std::vector<std::complex<double>> z{{1, 2}, {3, 4}};
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), x, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), f, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), f, accumulate_as<double>, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), std::vector<float16>(3), exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::mean(where(), wide, {.variant = "fixed_order", .guarantee = guarantee::exact}); }));
  EXPECT_TRUE(refused([&] { return onefold::norm1(where(), z, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::norm_inf(where(), z, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), z, exactly); }));
  // A variant that is exact is asked for the same by its name.
  const onefold::options by_name{.variant = "superaccumulator"};
  EXPECT_TRUE(refused([&] { return onefold::norm1(where(), z, by_name); }));
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), std::vector<std::complex<float>>(3), by_name); }));
  const auto at = [](std::uint64_t k) { return x[k]; };
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), x.size(), at, exactly); }));
  // Operators of the caller's, also where what they combine would have an exact sum.
  const auto plus = [](double a, double b) { return a + b; };
  EXPECT_TRUE(refused([&] { return onefold::reduce(where(), x, plus, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::transform_reduce(where(), x.size(), plus, at, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::transform_reduce(where(), x.size(), onefold::op::prod{}, at, exactly); }));
  // Also where there is nothing to add.
  EXPECT_TRUE(refused([&] { return onefold::prod(where(), x.data(), 0, exactly); }));
  double stored = 7;
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "", [&] { onefold::prod_into(where(), x, &stored, exactly); }));
  EXPECT_EQ(stored, 7);
  count_dispatch(where());
}

// Calls of which the page says nothing are exact or refused.
template <class Call>
void expect_exact_or_refused(double expected, Call&& call) {
  try {
    EXPECT_EQ(call(), expected);
  } catch (const onefold::error& problem) {
    EXPECT_EQ(problem.code(), errc::guarantee_not_met) << problem.what();
  }
}

TEST_P(exact_calls, with_other_operators_or_a_name_are_exact_or_refused) {
  expect_exact_or_refused(sum,
                          [&] { return onefold::reduce_together(where(), x, exactly, onefold::op::sum{}, onefold::op::max{})[0]; });
  expect_exact_or_refused(sum, [&] { return onefold::sum(where(), x, {.variant = "fixed_order", .guarantee = guarantee::exact}); });
  expect_exact_or_refused(sum,
                          [&] { return onefold::sum(where(), x, {.variant = "parallel_reduce", .guarantee = guarantee::exact}); });
  count_dispatch(where());
}

// Of operators whose results no order changes each is exact as it is.
TEST_P(exact_calls, with_several_operators_that_need_no_order_are_those_without_the_guarantee) {
  std::vector<std::int64_t> whole;
  for (std::int64_t i = 0; i < 100'000; ++i) whole.push_back(i * i * 7919 % 100'003 - 50'000);
  std::int64_t total = 0;
  for (const std::int64_t each : whole) total += each;
  const auto found = onefold::reduce_together(where(), whole, exactly, onefold::op::sum{}, onefold::op::min{}, onefold::op::max{});
  EXPECT_EQ(found[0], total);
  EXPECT_EQ(found[1], *std::min_element(whole.begin(), whole.end()));
  EXPECT_EQ(found[2], *std::max_element(whole.begin(), whole.end()));
  const auto ends = onefold::reduce_together(where(), x, exactly, onefold::op::min{}, onefold::op::max{});
  EXPECT_EQ(ends[0], *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(ends[1], *std::max_element(x.begin(), x.end()));
  count_dispatch(where());
}

// What would be rounded ahead of the sum, or behind it: integers that become doubles, and a first value.
TEST_P(exact_calls, that_would_round_twice_are_refused) {
  const auto refused = [&](auto&& call) { return refuses(errc::guarantee_not_met, "", [&] { static_cast<void>(call()); }); };
  const auto itself = [](double a) { return a; };
  const auto at = [](std::uint64_t k) { return x[k]; };
  const std::vector<std::int64_t> longer(x.size(), 3);
  EXPECT_TRUE(refused([&] { return onefold::dot(where(), longer, x, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::reduce(where(), x, onefold::op::sum{}, 1.0, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::transform_reduce(where(), x, onefold::op::sum{}, itself, 1.0, exactly); }));
  EXPECT_TRUE(refused([&] { return onefold::transform_reduce(where(), x.size(), onefold::op::sum{}, at, 0.0, exactly); }));
  count_dispatch(where());
}

TEST(exact_on_cuda, is_refused_where_there_is_no_gpu) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (gpu.usable) GTEST_SKIP() << "there is one: what it does is in gpu_test.cpp";
  const errc code = !gpu.built ? errc::backend_not_built : errc::backend_unavailable;
  const auto refused = [&](auto&& call) { return refuses(code, "", call); };
  EXPECT_TRUE(refused([] { static_cast<void>(onefold::sum(onefold::cuda(), x, exactly)); }));
  EXPECT_TRUE(refused([] { static_cast<void>(onefold::dot(onefold::cuda(), x, y, exactly)); }));
  exact_state<form::sum, double> state;
  EXPECT_TRUE(refused([&] { state.add(onefold::cuda(), x); }));
  EXPECT_EQ(state.count(), 0u);
}

TEST_P(exact_calls, with_wrong_pointers_are_refused) {
  const double* const nothing = nullptr;
  EXPECT_TRUE(refuses(errc::null_pointer, "", [&] { static_cast<void>(onefold::sum(where(), nothing, 3, exactly)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "", [&] { static_cast<void>(onefold::dot(where(), x.data(), nothing, 3, exactly)); }));
  const auto* odd = reinterpret_cast<const double*>(reinterpret_cast<const std::byte*>(x.data()) + 4);
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "", [&] { static_cast<void>(onefold::sum(where(), odd, 3, exactly)); }));
  count_dispatch(where());
}

TEST_P(exact_calls, that_put_words_into_an_input_are_refused) {
  const onefold_executor at = onefold::detail::c_executor(where());
  std::vector<double> first(200, 2.0), second(200, 3.0);
  for (std::vector<double>* const output : {&first, &second}) {
    const std::vector<double> before = *output;
    auto* const inside = reinterpret_cast<std::int64_t*>(output->data() + 1);
    EXPECT_EQ(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_DOT, at, first.data(), second.data(), first.size(), inside, nullptr),
              ONEFOLD_INVALID_ARGUMENT);
    const std::string_view words = output == &first ? "inside the input" : "inside the second input";
    EXPECT_NE(std::string_view(onefold_last_error()).find(words), std::string_view::npos) << onefold_last_error();
    EXPECT_EQ(*output, before);
  }
  std::vector<std::int64_t> apart(exact_state<form::dot, double>::size());
  EXPECT_EQ(onefold_exact_put_words(ONEFOLD_F64, ONEFOLD_DOT, at, first.data(), second.data(), 200, apart.data(), nullptr),
            ONEFOLD_OK);
  count_dispatch(where());
}

// --- more elements than 32 bits count

// As forms/exact_test.cpp has them without the guarantee. Of halves the bytes are too many, and of bytes the elements.
TEST(exact_counts_beyond_32_bits, reach_every_element) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer looks at each of 2^32 elements";
  constexpr std::uint64_t two_32 = std::uint64_t{1} << 32, bytes = two_32 + 4096 + 64;
  const zero_pages memory(bytes);
  if (!memory.is_there()) GTEST_SKIP() << "there is no address space for an array of 4 GiB";
  auto* const halves = memory.as<float16>();
  halves[two_32 / 2 + 5] = float16(3);
  EXPECT_EQ(onefold::sum(onefold::openmp(2), halves, bytes / 2, accumulate_as<float>, exactly), 3.0F);
  EXPECT_EQ(onefold::dot(onefold::serial(), halves, halves, bytes / 2, accumulate_as<float>, exactly), 9.0F);
  halves[two_32 / 2 + 5] = float16(0);
  auto* const integers = memory.as<std::int8_t>();
  integers[two_32 + 5] = -3;
  EXPECT_EQ(onefold::norm2(onefold::openmp(2), integers, bytes, exactly), 3.0);
}

// --- floating-point environments

TEST_P(exact_calls, know_no_rounding_mode_and_no_flush_to_zero) {
  // Sums, roots and quotients that every rounding mode gives another result, and subnormal ones; few and many elements.
  const std::vector<double> small{0x1p-1074, 0x1p-1022, -0x1p-1060};
  std::vector<double> many(100'000, 0.1);
  many[77] = 0x1p-1074;
  const auto results = [&] {
    std::vector<std::uint64_t> bits;
    for (const auto& data :
         {x, small, many, std::vector<double>{1, 0x1p-53, 0x1p-1074}, std::vector<double>{2}, std::vector<double>{-2, -1, -1}}) {
      const auto [mean, variance] = onefold::mean_variance(where(), data, exactly);
      for (const double one : {onefold::sum(where(), data, exactly), onefold::norm1(where(), data, exactly),
                               onefold::dot(where(), data, data, exactly), onefold::norm2(where(), data, exactly),
                               onefold::mean(where(), data, exactly), mean, variance})
        bits.push_back(scalar_of(one).bits);
      const auto* const z = reinterpret_cast<const std::complex<double>*>(data.data());
      const std::complex<double> product = onefold::dot(where(), z, z + data.size() / 4, data.size() / 4, exactly);
      for (const double one : {product.real(), product.imag()}) bits.push_back(scalar_of(one).bits);
    }
    return bits;
  };
  const auto right = results();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = results();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, right) << mode;
    EXPECT_EQ(after, mode) << "the caller's rounding mode has changed";
  }
#ifdef __SSE2__
  constexpr unsigned flush = 0x8040;  // results and operands
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flush);
  const auto got = results();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(got, right) << "flush to zero";
  EXPECT_EQ(after & flush, flush) << "the caller's flush to zero has changed";
#endif
  count_dispatch(where());
}

std::vector<const executor_under_test*> host_executors() {
  auto all = each_of_the_executors();
  std::erase_if(all, [](const executor_under_test* one) { return one->where.backend() == onefold::backend::cuda; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(exact, exact_calls, testing::ValuesIn(host_executors()), label_of_executor);

}  // namespace
}  // namespace onefold_test
