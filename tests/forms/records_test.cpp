/// @file records_test.cpp  argmin, argmax, minmax and mean_variance on every executor: the bits of tree v1 at each size and alignment, again and
/// again and from several host threads; NaN, infinities and zeros; the error bound; no elements; what is refused.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "record_fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;

constexpr double infinity = std::numeric_limits<double>::infinity();

using family = std::pair<std::string, elements>;

// Whatever the bits are, few different values (of equal ones the first counts), and what has its winner at an end.
std::vector<family> families(element_type type, std::size_t count, std::uint64_t seed) {
  std::vector<family> all;
  const auto add = [&](const char* words, auto value) {
    elements x(type, count);
    for (std::size_t i = 0; i < count; ++i) x.put(i, scalar_from(type, value(i)));
    all.emplace_back(words, std::move(x));
  };
  random_numbers random(seed);
  all.emplace_back("any values", any_values(type, count, seed));
  add("few values", [&](std::size_t) { return static_cast<double>(random.below(5)); });
  add("a large mean", [&](std::size_t) { return 1e6 + static_cast<double>(random.below(64)); });
  add("rising", [](std::size_t i) { return static_cast<double>(i); });
  add("falling", [&](std::size_t i) { return static_cast<double>(count - i); });
  if (!is_float(type)) return all;
  add("moderate", [&](std::size_t) { return random.unit() - 0.25; });
  add("zeros, few of them negative", [&](std::size_t) { return random.below(97) == 0 ? -0.0 : 0.0; });
  add("zeros, few of them positive", [&](std::size_t) { return random.below(97) == 0 ? 0.0 : -0.0; });
  add("infinities", [](std::size_t) { return infinity; });
  elements bits(type, count);
  for (std::size_t i = 0; i < count; ++i) bits.put(i, {type, random()});
  all.emplace_back("any bits", std::move(bits));
  return all;
}

// The telling ones, and many groups.
std::vector<std::size_t> sizes_of(std::size_t tile) {
  std::vector<std::size_t> sizes = telling_sizes(tile);
  if (!is_sanitized) sizes.push_back(320 * tile + 12'345);
  return sizes;
}

class each_record : public record_test {};

TEST_P(each_record, is_that_of_tree_v1_at_every_size) {
  const auto sizes = sizes_of(tile());
  const std::int64_t usual_ddof = wide() ? -3 : 1;
  for (const auto& [words, x] : families(type(), sizes.back(), current_seed())) {
    auto data = guarded(x);
    for (const std::size_t count : sizes) {
      for (const std::int64_t ddof : {0, 1, 2, 3, -3})
        if (ddof == 0 || (what() == form::mean_variance && (count < 70 || ddof == usual_ddof))) {
          ASSERT_TRUE(agrees(one(words, ddof), data, 0, count));
        }
    }
  }
}

TEST_P(each_record, is_that_of_tree_v1_at_every_alignment) {
  for (const auto& [words, x] : families(type(), 3 * tile() + 64 + 17, current_seed())) {
    auto data = guarded(x);
    const std::size_t counts[] = {5, tile() + 3, 3 * tile() + 17};
    for (std::size_t first = 0; first < 33; ++first)
      for (std::size_t turn = 0; turn < std::size(counts); ++turn) {
        if (is_sanitized && (first + turn) % 3 != 0) continue;
        ASSERT_TRUE(agrees(one(words + ", offset " + std::to_string(first)), data, first, counts[turn]));
      }
  }
}

TEST_P(each_record, of_a_large_array_is_that_of_tree_v1_every_time) {
  const std::size_t count = (std::size_t{1} << 20) + 13;
  auto data = guarded(any_values(type(), count, current_seed()));
  const record_trial asked = one("any values");
  const record_expectation expected = record_by_tree(input_of(asked, data, 0, count));
  for (int call = 0; call < 5; ++call) ASSERT_TRUE(agrees(asked, data, 0, count, expected)) << "call " << call;
}

TEST_P(each_record, finds_the_winner_wherever_it_is) {
  if (what() == form::mean_variance) GTEST_SKIP() << "no element of it wins";
  const std::size_t count = 5 * tile() + 77;
  auto data = guarded(all_of(7, count));
  const double winner = what() == form::argmax || what() == form::argmax_magnitude ? 9 : 5;
  for (const std::size_t place : telling_places(count, tile(), current_seed())) {
    data.put(place, scalar_from(type(), winner));
    data.put(count - 1, scalar_from(type(), winner));  // a later one that must not be taken
    ASSERT_TRUE(agrees(one("one winner, at " + std::to_string(place)), data));
    data.put(place, scalar_from(type(), 7));
    data.put(count - 1, scalar_from(type(), 7));
  }
}

TEST_P(each_record, of_equal_elements_has_the_first_index_and_no_variance) {
  for (const double value : {0.0, 1.0, 3.0, 1e6 + 1}) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, std::size_t{17}, tile() - 1, tile(), 3 * tile() + 1, 40 * tile() + 5}) {
      auto data = guarded(all_of(value, count));
      ASSERT_TRUE(agrees(one("all equal"), data));
      const record_outcome got = reduce(one("all equal"), data.all(), count);
      EXPECT_EQ(got.first, scalar_from(got.first.type, value));
      if (what() == form::minmax) {
        EXPECT_EQ(got.second, got.first);
      } else {
        EXPECT_EQ(got.second.bits, 0u) << "the index, or the variance";
      }
    }
  }
}

TEST_P(each_record, of_no_elements_is_what_the_page_says) {
  const record_trial asked = one("nothing");
  elements nothing(type(), 0);
  auto data = guarded(nothing);
  if (!needs_an_element()) {
    ASSERT_TRUE(agrees(asked, data));
    const record_outcome got = reduce(asked, nullptr, 0);
    EXPECT_FALSE(disagreement(asked, 0, record_by_tree({what(), wide(), 0, &nothing, 0, 0}), got)) << "of a null pointer";
    return;
  }
  EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { static_cast<void>(reduce(asked, nullptr, 0)); }));
  guarded_output output(memory_for(where()), type(), 16);
  const auto before = output.bytes();
  EXPECT_TRUE(refuses(errc::invalid_argument, "there is no index", [&] { reduce_into(asked, nullptr, 0, output.address()); }));
  EXPECT_EQ(output.bytes(), before);
  auto some = guarded(all_of(2, 5));
  EXPECT_TRUE(agrees(asked, some)) << "the next call works";
}

TEST_P(each_record, refuses_what_cannot_be) {
  block memory(memory_for(where()), 256);
  auto* const at = memory.address();
  std::byte result[16];
  const auto output = where().backend() == onefold::backend::cuda ? at + 128 : result;
  EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(reduce(one(), nullptr, 5)); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "aligned", [&] { static_cast<void>(reduce(one(), at + 1, 5)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "output", [&] { reduce_into(one(), at, 5, nullptr); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "output", [&] { reduce_into(one(), at, 5, output + 1); }));
  // The second result alone would lie in the input.
  const std::size_t bytes = onefold::result_bytes(type(), what(), wide());
  EXPECT_TRUE(refuses(errc::invalid_argument, "output lies inside", [&] { reduce_into(one(), at + bytes / 2, 5, at); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { static_cast<void>(reduce(one(), at, ~std::uint64_t{0} / 2)); }));
  auto some = guarded(all_of(2, 5));
  EXPECT_TRUE(agrees(one(), some)) << "the next call works";
}

INSTANTIATE_TEST_SUITE_P(forms, each_record, testing::ValuesIn(record_cases()), param_name);

// --- floats

class each_float_record : public record_test {};

TEST_P(each_float_record, follows_the_rules_for_special_values_anywhere) {
  const std::size_t count = 2 * tile() + 77;
  elements x(type(), count);  // whose sums stay in range: an infinity there would meet those put in
  random_numbers random(current_seed());
  for (std::size_t i = 0; i < count; ++i) x.put(i, scalar_from(type(), 2 * random.unit() - 1));
  auto data = guarded(x);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const scalar payload{type(), type() == element_type::f32 ? 0xffc12345u : 0xfff8000012345678u};
  const scalar signalling{type(), type() == element_type::f32 ? 0x7f800001u : 0x7ff0000000000001u};
  const auto of = [&](double value) { return scalar_from(type(), value); };
  struct special {
    std::string words;
    scalar first, second;
  };
  const std::vector<special> specials{{"a NaN", of(nan), of(1)},
                                      {"two NaNs", payload, of(nan)},
                                      {"a signalling NaN", signalling, of(1)},
                                      {"an infinity", of(infinity), of(1)},
                                      {"a negative infinity", of(-infinity), of(1)},
                                      {"two infinities", of(infinity), of(infinity)},
                                      {"infinities of both signs", of(infinity), of(-infinity)},
                                      {"an infinity and a NaN", of(infinity), of(nan)}};
  for (const auto& [words, first, second] : specials) {
    for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, count - 1},
                               {tile() + 3, 17},
                               {count - 1, tile() - 1},
                               {33, 97},
                               {5, 5 + tile()}}) {
      const scalar before_a = data.payload().at(a), before_b = data.payload().at(b);
      data.put(a, first);
      data.put(b, second);
      const record_trial asked = one(words + " at " + std::to_string(a) + " and " + std::to_string(b));
      ASSERT_TRUE(agrees(asked, data));
      ASSERT_TRUE(agrees(asked, data, 0, count, record_within(input_of(asked, data, 0, count))));
      data.put(a, before_a);
      data.put(b, before_b);
    }
  }
}

TEST_P(each_float_record, follows_them_at_every_size) {
  const auto sizes = sizes_of(tile());
  elements x(type(), sizes.back());
  random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x.put(i, scalar_from(type(), random.unit() - 0.25));
  auto data = guarded(x);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t count : sizes) {
    using places = std::vector<std::pair<std::size_t, double>>;
    for (const auto& specials : {places{{count / 2, infinity}}, places{{count / 2, infinity}, {count / 3, -infinity}},
                                 places{{count - 1, nan}, {count * 2 / 3, -nan}}}) {
      for (const auto& [place, value] : specials) data.put(place, scalar_from(type(), value));
      ASSERT_TRUE(agrees(one("special values within moderate ones", what() == form::mean_variance ? 1 : 0), data, 0, count));
      for (const auto& [place, value] : specials) data.put(place, x.at(place));
    }
  }
}

TEST_P(each_float_record, of_one_infinity_has_an_infinite_mean_and_no_variance) {
  if (what() != form::mean_variance) GTEST_SKIP() << "an extremum";
  for (const double value : {infinity, -infinity}) {
    elements x = all_of(3, 3 * tile() + 5);
    for (const std::size_t place : {std::size_t{0}, tile() + 40, x.size() - 1}) {
      elements with = x;
      with.put(place, scalar_from(type(), value));
      auto data = guarded(with);
      const auto got = reduce(one("an infinity"), data.all(), with.size());
      EXPECT_EQ(got.first, scalar_from(got.first.type, value)) << place;
      EXPECT_EQ(got.second, (scalar{got.second.type, got.second.type == element_type::f32 ? 0x7fc00000u : 0x7ff8000000000000u}))
          << place;
    }
  }
}

TEST_P(each_float_record, tells_zeros_apart) {
  const std::size_t count = tile() + 77;
  random_numbers random(current_seed());
  elements zeros(type(), count);
  for (std::size_t i = 0; i < count; ++i) zeros.put(i, scalar_from(type(), random.below(2) == 0 ? 0.0 : -0.0));
  auto data = guarded(zeros);
  for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{65}, count})
    for (std::size_t first = 0; first + length <= count && first < 7; ++first)
      ASSERT_TRUE(agrees(one("zeros of both signs"), data, first, length));
  for (const double value : {0.0, -0.0}) {
    auto same = guarded(all_of(value, count));
    ASSERT_TRUE(agrees(one("zeros of one sign"), same));
  }
  elements subnormal(type(), count);
  for (std::size_t i = 0; i < count; ++i) subnormal.put(i, {type(), 1 + random.below(9)});
  auto tiny = guarded(subnormal);
  ASSERT_TRUE(agrees(one("subnormal"), tiny));
}

TEST_P(each_float_record, of_hard_data_stays_within_the_bound) {
  random_numbers random(current_seed());
  for (const std::size_t count : {std::size_t{33}, std::size_t{4'099}, std::size_t{200'003}}) {
    for (const auto kind : hardships) {
      if (kind == hardship::full_range) continue;  // squares of these are out of range
      for (const std::int64_t ddof : {0, 1}) {
        if (ddof != 0 && what() != form::mean_variance) continue;
        auto data = guarded(hard_sum(type(), kind, count, random()));
        const record_trial asked = one(std::string(name(kind)), ddof);
        ASSERT_TRUE(agrees(asked, data, 0, count, record_within(input_of(asked, data, 0, count))));
        ASSERT_TRUE(agrees(asked, data));
      }
    }
    // What a difference of sums cannot do: the variance of numbers that agree in most of their digits.
    elements close(type(), count);
    const double base = type() == element_type::f32 ? 0x1p20 : 0x1p30;
    for (std::size_t i = 0; i < count; ++i) close.put(i, scalar_from(type(), base + static_cast<double>(random.below(16))));
    auto data = guarded(close);
    const record_trial asked = one("a large mean, a small variance", 1);
    if (what() == form::mean_variance) {
      const auto expected = record_within(input_of(asked, data, 0, count));
      ASSERT_LT(expected.second.bound, 0.01L * expected.second.reference) << "a bound that says nothing";
      ASSERT_TRUE(agrees(asked, data, 0, count, expected));
    }
  }
}

TEST_P(each_float_record, of_any_bits_is_that_of_tree_v1) {
  const std::size_t count = 9 * tile() + 5;
  random_numbers random(current_seed());
  elements bits(type(), count);
  for (std::size_t i = 0; i < count; ++i) {  // finite numbers of every size: squares overflow
    std::uint64_t now = random();
    if (type() == element_type::f32) now = now & 0xbfffffffu;
    if (type() == element_type::f64) now = now & 0xbfffffffffffffffu;
    bits.put(i, {type(), now});
  }
  auto data = guarded(bits);
  for (const std::size_t length : {std::size_t{2}, std::size_t{100}, tile(), count})
    ASSERT_TRUE(agrees(one("any bits"), data, 3, length - 3 < count ? std::min(length, count - 3) : 1));
}

INSTANTIATE_TEST_SUITE_P(forms, each_float_record,
                         testing::ValuesIn(record_cases([](const form_case& one) { return is_float(one.type); })), param_name);

// --- host threads that reduce at the same time, each its own data

class each_executor_of_records : public executor_test {};

TEST_P(each_executor_of_records, gives_every_host_thread_its_own_bits) {
  on_host_threads(5, [&](std::size_t t) -> std::string {
    for (int call = 0; call < 10; ++call)
      for (const form what :
           {form::argmin, form::argmax, form::argmin_magnitude, form::argmax_magnitude, form::minmax, form::mean_variance})
        for (const element_type type : {element_type::f32, element_type::f64, element_type::i64}) {
          const std::size_t count = 20'011 + 977 * t;
          const elements x = any_values(type, count, 100 * t + static_cast<std::size_t>(call));
          block memory(memory_for(where()), x.bytes());
          memory.write(0, x.data(), x.bytes());
          const record_trial asked{where(), what, type, false, 0, 100 * t, "any values"};
          const auto got = reduce(asked, memory.address(), count);
          if (auto sentence = disagreement(asked, count, record_by_tree({what, false, 0, &x, 0, count}), got)) return *sentence;
        }
    return {};
  });
}

TEST_P(each_executor_of_records, finds_both_extremes_where_each_alone_is) {
  for (int t = 0; t < onefold::full_type_count; ++t)
    with_type(static_cast<element_type>(t), [&]<class T> {
      const auto sizes = sizes_of(4096 / sizeof(T));
      for (const auto& [words, x] : families(onefold::element_type_of<T>, sizes.back(), current_seed())) {
        block memory(memory_for(where()), x.bytes());
        memory.write(0, x.data(), x.bytes());
        const auto* const at = reinterpret_cast<const T*>(memory.address());
        for (const std::size_t count : sizes) {
          const auto both = onefold::argminmax(where(), at, count);
          const auto low = onefold::argmin(where(), at, count), high = onefold::argmax(where(), at, count);
          ASSERT_EQ(scalar_of(both.min.value), scalar_of(low.value)) << words << ", " << count;
          ASSERT_EQ(both.min.index, low.index) << words << ", " << count;
          ASSERT_EQ(scalar_of(both.max.value), scalar_of(high.value)) << words << ", " << count;
          ASSERT_EQ(both.max.index, high.index) << words << ", " << count;
          count_dispatch(where());
        }
      }
    });
}

INSTANTIATE_TEST_SUITE_P(forms, each_executor_of_records, testing::ValuesIn(each_of_the_executors()), label_of_executor);

// --- best(), and two threads

class each_further_executor : public executor_test {};

TEST_P(each_further_executor, gives_records_the_bits_of_tree_v1) {
  for (int t = 0; t < onefold::full_type_count; ++t) {
    const auto type = static_cast<element_type>(t);
    const auto sizes = sizes_of(4096 / onefold::size_of(type));
    for (const auto& [words, x] : families(type, sizes.back(), current_seed())) {
      for (const form what :
           {form::argmin, form::argmax, form::argmin_magnitude, form::argmax_magnitude, form::minmax, form::mean_variance})
        for (const bool wide : {false, true}) {
          if (wide && !has_wide(what, type)) continue;
          for (const std::size_t count : sizes) {
            const record_trial asked{where(), what, type, wide, what == form::mean_variance ? 1 : 0, current_seed(), words};
            const record_expectation expected = record_by_tree({what, wide, asked.ddof, &x, 0, count});
            const record_outcome got = reduce(asked, x.data(), count);
            ASSERT_TRUE(got.first == expected.first.value && got.second == expected.second.value)
                << onefold::name(what) << " of " << count << " " << onefold::name(type) << (wide ? " in f64" : "") << ", " << words
                << ": " << text(got.first) << ", " << text(got.second) << " instead of " << text(expected.first.value) << ", "
                << text(expected.second.value);
          }
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(forms, each_further_executor, testing::ValuesIn(further_executors()), label_of_executor);

// --- as a caller writes them

TEST(spellings_of_records, mean_the_same) {
  const std::vector<float> x{3, -4, 12, -4};
  const auto where = onefold::serial();
  onefold::report ran;
  const onefold::options how{.report = &ran};
  const auto is = [](const onefold::arg_result<float>& got, float value, std::uint64_t index) {
    EXPECT_EQ(got.value, value);
    EXPECT_EQ(got.index, index);
  };
  is(onefold::argmin(x), -4, 1);
  is(onefold::argmin(where, x), -4, 1);
  is(onefold::argmin(where, x.data(), 4), -4, 1);
  is(onefold::argmin(where, x.data(), 4, how), -4, 1);
  EXPECT_EQ(ran.variant, "fixed_order");
  is(onefold::argmin(where, std::span(x), how), -4, 1);
  is(onefold::argmax(onefold::best(), x), 12, 2);
  const auto [value, index] = onefold::argmax(x);
  EXPECT_EQ(value, 12);
  EXPECT_EQ(index, 2u);
  const auto [low, high] = onefold::minmax(where, x);
  EXPECT_EQ(low, -4);
  EXPECT_EQ(high, 12);
  onefold::minmax_result<float> both{};
  onefold::minmax_into(where, x, &both);
  EXPECT_EQ(both.max, 12);
  onefold::arg_result<float> first{};
  onefold::argmin_into(where, x, &first, how);
  is(first, -4, 1);
}

TEST(spellings_of_records, of_mean_variance_mean_the_same) {
  const std::vector<float> x{1, 2, 3, 6};
  const std::vector<int> n{1, 2, 3, 6};
  const auto where = onefold::serial();
  const auto wide = onefold::accumulate_as<double>;
  const onefold::options how;
  static_assert(std::is_same_v<decltype(onefold::mean_variance(x)), onefold::mean_variance_result<float>>);
  static_assert(std::is_same_v<decltype(onefold::mean_variance(x, wide)), onefold::mean_variance_result<double>>);
  static_assert(std::is_same_v<decltype(onefold::mean_variance(n)), onefold::mean_variance_result<double>>);
  const auto is = [](const auto& got, double variance) {
    EXPECT_EQ(got.mean, 3);
    EXPECT_EQ(static_cast<double>(got.variance), variance);
  };
  is(onefold::mean_variance(x), 3.5);
  is(onefold::mean_variance(n), 3.5);
  is(onefold::mean_variance(where, x, how), 3.5);
  is(onefold::mean_variance(where, x, onefold::ddof{1}), static_cast<double>(14.0f / 3.0f));
  is(onefold::mean_variance(where, n, onefold::ddof{1}, how), 14.0 / 3.0);
  is(onefold::mean_variance(where, x, onefold::ddof{1}, wide), 14.0 / 3.0);
  is(onefold::mean_variance(where, x, wide, how), 3.5);
  is(onefold::mean_variance(where, x.data(), 4, onefold::ddof{1}, wide, how), 14.0 / 3.0);
  onefold::mean_variance_result<float> own{};
  onefold::mean_variance_into(where, x, &own, onefold::ddof{1});
  is(own, static_cast<double>(14.0f / 3.0f));
  onefold::mean_variance_result<double> in_double{};
  onefold::mean_variance_into(where, x, &in_double, wide);
  is(in_double, 3.5);
  for (const std::int64_t ddof : {4, 5, 1000}) {
    const auto none = onefold::mean_variance(where, n, onefold::ddof{ddof});
    EXPECT_EQ(none.mean, 3);
    EXPECT_TRUE(std::isnan(none.variance)) << ddof;
  }
}

TEST(spellings_of_records, that_a_variant_without_an_order_does_not_take_are_refused) {
  const std::vector<float> x{1, 2, 3};
  const onefold::options how{.variant = "parallel_reduce"};
  for (const auto& where : {onefold::serial(), onefold::openmp(1)}) {
    if (where.backend() == onefold::backend::openmp && !backend_under_test(onefold::backend::openmp).usable) continue;
    EXPECT_TRUE(refuses(errc::unsupported, "argmin", [&] { static_cast<void>(onefold::argmin(where, x, how)); }));
    EXPECT_TRUE(refuses(errc::unsupported, "mean_variance", [&] { static_cast<void>(onefold::mean_variance(where, x, how)); }));
  }
}

}  // namespace
}  // namespace onefold_test
