/// @file lane_sums_test.cpp  Sums of functions of the index whose rows are added in the caller's translation unit: bits of the arrays that hold their values,
/// whatever the flags that they are compiled with; what the library calls for, and when.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "lane_sums.hpp"
#include "support.hpp"

namespace onefold_test {
namespace {

constexpr int most_results = 16;

#ifdef ONEFOLD_TEST_FUSED
const std::array all_flags = {&flags_plain, &flags_fused, &flags_hostile, &flags_avx512};
#else
const std::array all_flags = {&flags_plain};
#endif

template <class T>
sums_of_values<T> sums_of(const flags& compiled) {
  if constexpr (sizeof(T) == 4)
    return compiled.f32;
  else
    return compiled.f64;
}

// What the functions give, by arrays. Compiled with the flags of the tests, under which one operation is one.
template <class T>
std::array<std::vector<T>, most_results> values_of(const std::vector<T>& x, const std::vector<T>& y) {
  std::array<std::vector<T>, most_results> all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    all[0].push_back(x[i]);
    all[1].push_back(x[i] * y[i]);
    all[2].push_back(i % 3 == 0 ? T(0) : x[i]);
    all[3].push_back(-y[i]);
    all[4].push_back(i % 2 == 0 ? x[i] : y[i]);
    for (std::size_t r = 5; r < most_results; ++r) all[r].push_back(x[i] * static_cast<T>(r - 4));
  }
  return all;
}

enum class kind { any_size, zeros, subnormal, infinite };

// Whatever would show that additions are regrouped, that a product is not rounded, that a sign is lost.
template <class T>
std::vector<T> numbers(kind which, std::size_t count, std::uint64_t seed) {
  const random_numbers bits(seed);
  std::vector<T> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t u = bits.at(i);
    const T fraction = static_cast<T>(static_cast<double>(u >> 11) * 0x1p-53) + T(1);
    const T sign = u % 2 == 0 ? T(1) : T(-1);
    switch (which) {
      case kind::any_size:
        made[i] = sign * std::ldexp(fraction, static_cast<int>(u / 2 % 60) - 30);
        break;
      // Nothing but -0 in x, one +0 now and then in y.
      case kind::zeros:
        made[i] = seed == 2 && u % 4'096 == 0 ? T(0) : -T(0);
        break;
      case kind::subnormal:
        made[i] = sign * fraction * std::numeric_limits<T>::min() / T(4);
        break;
      case kind::infinite:
        made[i] = u % 997 == 1 ? sign * std::numeric_limits<T>::infinity() : sign * fraction;
        break;
    }
  }
  return made;
}

template <class T>
class data {
 public:
  data(kind which, std::size_t count)
      : x_(numbers<T>(which, count, 1)), y_(numbers<T>(which, count, 2)), values_(values_of(x_, y_)) {}

  void expect_bits(const flags& compiled, const onefold::executor& where, std::uint64_t count, int results, bool means) const {
    std::array<T, most_results> found{};
    sums_of<T>(compiled)(where, {x_.data(), y_.data(), count}, results, means, found.data());
    for (int r = 0; r < results; ++r) {
      const T* const values = values_.at(static_cast<std::size_t>(results == 1 ? 1 : r)).data();
      const T expected = means ? onefold::mean(where, values, count) : onefold::sum(where, values, count);
      ASSERT_EQ(std::memcmp(&found.at(static_cast<std::size_t>(r)), &expected, sizeof(T)), 0)
          << compiled.name << ", result " << r << " of " << results << ", " << count << " of " << 8 * sizeof(T)
          << " bits: " << found.at(static_cast<std::size_t>(r)) << " is not " << expected;
    }
  }

 private:
  std::vector<T> x_, y_;
  std::array<std::vector<T>, most_results> values_;
};

class lane_sums : public testing::TestWithParam<const flags*> {
 protected:
  void SetUp() override {
    if (!GetParam()->can_run()) GTEST_SKIP() << "this processor has no such instructions";
  }

  template <class T>
  void expect_bits_of_arrays(kind which) const {
    const std::uint64_t tile = 16 * lanes<T>;
    const data<T> of(which, 40 * tile);
    for (std::uint64_t count = 1; count < 2 * tile + lanes<T>; ++count)
      for (const int results : {1, 5})
        ASSERT_NO_FATAL_FAILURE(of.expect_bits(*GetParam(), onefold::serial(), count, results, false));
    for (const auto& place : places())
      for (std::uint64_t tiles = 1; tiles < 40; tiles += tiles < 18 ? 1 : 7)
        for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{1}, 3 * lanes<T> - 1, tile - 1})
          for (const int results : {1, 2, 5, 16})
            ASSERT_NO_FATAL_FAILURE(of.expect_bits(*GetParam(), place.where, tiles * tile + more, results, more % 2 != 0));
  }
  void expect_bits_of_arrays(kind which) const {
    expect_bits_of_arrays<float>(which);
    if (!HasFatalFailure()) expect_bits_of_arrays<double>(which);
  }
};

TEST_P(lane_sums, have_the_bits_of_arrays) { expect_bits_of_arrays(kind::any_size); }
TEST_P(lane_sums, keep_the_signs_of_zeros) { expect_bits_of_arrays(kind::zeros); }
TEST_P(lane_sums, have_infinities_and_what_becomes_of_them) { expect_bits_of_arrays(kind::infinite); }

TEST_P(lane_sums, keep_subnormals_where_the_caller_flushes_them) {
#ifdef __x86_64__
  const unsigned before = _mm_getcsr();
  const data<double> of(kind::subnormal, 3'000);
  const data<float> of_floats(kind::subnormal, 3'000);
  _mm_setcsr(before | 0x8040);
  for (const std::uint64_t count : {512U, 1'024U, 3'000U}) {
    of.expect_bits(*GetParam(), onefold::serial(), count, 5, false);
    of_floats.expect_bits(*GetParam(), onefold::serial(), count, 5, false);
  }
  _mm_setcsr(before);
#endif
  if (!HasFailure()) expect_bits_of_arrays(kind::subnormal);
}

TEST_P(lane_sums, ask_for_each_index_once) {
  for (const auto& place : places())
    for (const std::uint64_t count : {1U, 511U, 512U, 600U, 8'192U, 8'193U, 100'000U}) {
      std::vector<unsigned char> calls(count);
      EXPECT_EQ(GetParam()->count_calls(place.where, count, at_no_index, calls.data()), count);
      EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), static_cast<std::ptrdiff_t>(count)) << place.words << ", " << count;
    }
}

TEST_P(lane_sums, throw_what_a_function_throws) {
  for (const auto& place : places())
    for (const std::uint64_t fails_at : {0U, 700U, 9'999U}) {
      std::vector<unsigned char> calls(10'000);
      EXPECT_THROW(static_cast<void>(GetParam()->count_calls(place.where, calls.size(), fails_at, calls.data())), std::out_of_range)
          << fails_at << ", " << place.words;
    }
}

INSTANTIATE_TEST_SUITE_P(each, lane_sums, testing::ValuesIn(all_flags), [](const auto& of) { return std::string(of.param->name); });

#ifdef ONEFOLD_TEST_FUSED
TEST(lane_sums_of_fused_operations, are_added_in_the_callers_unit) {
  EXPECT_TRUE(flags_fused.adds_rows);
  EXPECT_TRUE(flags_hostile.adds_rows);
  EXPECT_TRUE(flags_avx512.adds_rows);
}
#endif

// --- what the library asks for ---------------------------------------------------------------------------------------------------------------

// Ones, and that they were asked for as values or as lanes.
struct asked_source {
  std::atomic<std::uint64_t> values{0}, sums{0};
  int failure = 0;
  detail::value_source source{this, [](void* context, std::uint64_t, std::uint64_t count, void* const* to) {
                                static_cast<asked_source*>(context)->values += count;
                                std::fill_n(static_cast<double*>(to[0]), count, 1.0);
                                return 0;
                              }};
  static int lanes(void* context, std::uint64_t first, std::uint64_t count, void* const* to) {
    auto& self = *static_cast<asked_source*>(context);
    if (first % 512 != 0 || count == 0 || count > 16 * 512 || reinterpret_cast<std::uintptr_t>(to[0]) % 64 != 0) return 99;
    self.sums += count;
    double* lane = static_cast<double*>(to[0]);
    for (; count > 0; count -= std::min<std::uint64_t>(count, 512), lane += 32)
      for (std::uint64_t j = 0; j < 32; ++j) {
        const std::uint64_t here = std::min<std::uint64_t>(count, 512);
        lane[j] = here > j ? static_cast<double>((here - j + 31) / 32) : -0.0;
      }
    return self.failure;
  }
};

// How many indices were asked for, as lanes' sums where they may be.
void expect_asked(element_type type, form what, std::uint64_t count, bool as_lanes) {
  asked_source from;
  alignas(8) std::array<std::byte, 16> result{};
  auto asked = request_of(onefold::serial(), type, what, nullptr, count, result.data());
  asked.source = &from.source;
  asked.lanes = asked_source::lanes;
  detail::run(asked, {});
  EXPECT_EQ(from.sums.load(), as_lanes ? count : 0) << onefold::name(what) << " of " << count << ' ' << onefold::name(type);
  EXPECT_EQ(from.values.load(), as_lanes ? 0 : count) << onefold::name(what) << " of " << count << ' ' << onefold::name(type);
  if (type == element_type::f64 && what == form::sum) {
    double sum = 0;
    std::memcpy(&sum, result.data(), sizeof(sum));
    EXPECT_EQ(sum, static_cast<double>(count));
  }
}

TEST(lanes_of_a_request, are_asked_for_by_sums_and_means_of_a_tile_or_more) {
  for (const std::uint64_t count : {512U, 513U, 8'192U, 10'000U, 100'001U}) {
    expect_asked(element_type::f64, form::sum, count, true);
    expect_asked(element_type::f64, form::mean, count, true);
  }
  expect_asked(element_type::f64, form::sum, 511, false);
  expect_asked(element_type::f64, form::max, 10'000, false);
  expect_asked(element_type::f64, form::sum_of_squares, 10'000, false);
  expect_asked(element_type::i64, form::sum, 10'000, false);
}

TEST(lanes_of_a_request, are_no_part_of_exact_sums) {
  asked_source from;
  double result = 0;
  auto asked = request_of(onefold::serial(), element_type::f64, form::sum, nullptr, 10'000, &result);
  asked.source = &from.source;
  asked.lanes = asked_source::lanes;
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  detail::run(asked, exactly);
  EXPECT_EQ(result, 10'000);
  EXPECT_EQ(from.sums.load(), 0U);
}

TEST(lanes_of_a_request, end_a_call_that_they_fail) {
  for (const auto& place : places()) {
    asked_source from;
    from.failure = 7;
    double result = 0;
    auto asked = request_of(place.where, element_type::f64, form::sum, nullptr, 100'000, &result);
    asked.source = &from.source;
    asked.lanes = asked_source::lanes;
    EXPECT_TRUE(refuses(onefold::errc::callback_failed, "7", [&] { detail::run(asked, {}); })) << place.words;
  }
}

}  // namespace
}  // namespace onefold_test
