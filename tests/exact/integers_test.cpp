/// @file integers_test.cpp  Exact means, norms and variances of integers, compared with GMP's whole numbers.

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fixture.hpp"
#include "integer_types.hpp"
#include "whole_sums.hpp"

namespace onefold_test {
namespace {

class exact_integers : public executor_test {};

template <class T>
void expect_right(const onefold::executor& where, const std::vector<T>& x, std::string_view data) {
  const whole_sums expected(x);
  ASSERT_EQ(scalar_of(onefold::mean(where, x, exactly)), expected.mean()) << data << ", " << x.size();
  ASSERT_EQ(scalar_of(onefold::norm2(where, x, exactly)), expected.norm2()) << data << ", " << x.size();
  for (const std::int64_t ddof : {0, 1, -3}) {
    const auto [mean, variance] = onefold::mean_variance(where, x, onefold::ddof{ddof}, exactly);
    ASSERT_EQ(scalar_of(mean), expected.mean()) << data << ", " << x.size();
    ASSERT_EQ(scalar_of(variance), expected.variance(ddof)) << data << ", " << x.size() << ", ddof " << ddof;
  }
  count_dispatch(where);
}

// The words of x, made in one piece, and of random pieces on several executors, added one after the other.
template <form What, class T>
void expect_states(const onefold::executor& where, const std::vector<T>& x, const whole_sums& expected, random_numbers& random) {
  using state = onefold::exact_state<What, T>;
  const auto words_of = [](const state& of) { return std::vector<std::int64_t>(of.words(), of.words() + state::size()); };
  state whole, merged, added;
  whole.add(where, x);
  ASSERT_EQ(words_of(whole), expected.words(What)) << onefold::name(What) << " of " << x.size();
  for (std::size_t from = 0; from < x.size();) {
    const std::size_t here = std::min<std::size_t>(x.size() - from, 1 + random.below(1 + x.size() / (1 + random.below(5))));
    state piece;
    piece.add(random.below(2) == 0 ? where : onefold::serial(), x.data() + from, here);
    merged += piece;
    for (std::size_t i = 0; i < state::size(); ++i) added.words()[i] += piece.words()[i];  // as MPI_SUM does
    from += here;
  }
  ASSERT_EQ(words_of(merged), words_of(whole));
  added.normalize();
  ASSERT_EQ(words_of(added), words_of(whole));
  ASSERT_EQ(added.count(), x.size());
  if constexpr (What == form::mean)
    ASSERT_EQ(scalar_of(added.value()), expected.mean());
  else if constexpr (What == form::norm2)
    ASSERT_EQ(scalar_of(added.value()), expected.norm2());
  else
    ASSERT_EQ(scalar_of(added.value(onefold::ddof{1}).variance), expected.variance(1));
}

TEST_P(exact_integers, have_the_rounded_mean_norm_and_variance) {
  for_each_integer([&]<class T> {
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 3u, 100u, 2'047u, 2'049u, 5'003u}) {
      std::vector<T> x(n);
      for (T& one : x) one = static_cast<T>(random());
      ASSERT_NO_FATAL_FAILURE(expect_right(where(), x, "of all sizes"));
      for (T& one : x) one = static_cast<T>(random.below(7) - 3);
      ASSERT_NO_FATAL_FAILURE(expect_right(where(), x, "around 0"));
      for (T& one : x) one = random.below(40) == 0 ? least : most;
      ASSERT_NO_FATAL_FAILURE(expect_right(where(), x, "the largest"));  // whose sum wraps in 64 bits
      for (std::size_t i = 0; i < n; ++i) x[i] = i % 2 == 0 ? most : i % 4 == 1 ? least : T(1);
      ASSERT_NO_FATAL_FAILURE(expect_right(where(), x, "the outermost in turns"));
    }
  });
}

TEST_P(exact_integers, have_states_that_merge) {
  for_each_integer([&]<class T> {
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 100u, 2'049u, 40'003u})
      for (const int data : {0, 1, 2}) {
        std::vector<T> x(n);
        for (std::size_t i = 0; i < n; ++i)
          x[i] = data == 0    ? static_cast<T>(random())
                 : data == 1  ? (random.below(40) == 0 ? most : least)
                 : i % 2 == 0 ? most
                              : least;
        const whole_sums expected(x);
        ASSERT_NO_FATAL_FAILURE((expect_states<form::mean>(where(), x, expected, random)));
        ASSERT_NO_FATAL_FAILURE((expect_states<form::norm2>(where(), x, expected, random)));
        ASSERT_NO_FATAL_FAILURE((expect_states<form::mean_variance>(where(), x, expected, random)));
      }
    count_dispatch(where());
  });
}

// Values of functions of the index, of 4 and 8 bytes: all, some of them, and several side by side.
TEST_P(exact_integers, of_functions_are_those_of_arrays) {
  const auto test = [&]<class T> {
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 3u, 2'047u, 2'049u, 30'001u}) {
      std::vector<T> x(n), there;
      for (T& one : x)
        one = random.below(3) == 0 ? std::numeric_limits<T>::max() - static_cast<T>(random.below(3)) : static_cast<T>(random());
      const auto is_there = [](std::uint64_t i) { return i % 3 == 1; };
      for (std::size_t i = 0; i < n; ++i)
        if (is_there(i)) there.push_back(x[i]);
      const whole_sums all(x), some(there);
      std::vector<std::atomic<int>> asked(n);
      const auto f = [&](std::uint64_t i) {
        ++asked[i];
        return x[i];
      };
      ASSERT_EQ(scalar_of(onefold::mean(where(), n, f, exactly)), all.mean()) << n;
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(asked[i].load(), 1) << i;
      ASSERT_EQ(scalar_of(onefold::norm2(where(), n, f, exactly)), all.norm2()) << n;
      const auto both = onefold::mean_variance(where(), n, f, onefold::ddof{1}, exactly);
      ASSERT_EQ(scalar_of(both.mean), all.mean()) << n;
      ASSERT_EQ(scalar_of(both.variance), all.variance(1)) << n;
      const auto leaves_out = [&](std::uint64_t i) { return is_there(i) ? onefold::maybe<T>(x[i]) : onefold::absent; };
      ASSERT_EQ(scalar_of(onefold::mean(where(), n, leaves_out, exactly)), some.mean()) << n;
      ASSERT_EQ(scalar_of(onefold::norm2(where(), n, leaves_out, exactly)), some.norm2()) << n;
      const auto of_some = onefold::mean_variance(where(), n, leaves_out, exactly);
      ASSERT_EQ(scalar_of(of_some.mean), some.mean()) << n;
      ASSERT_EQ(scalar_of(of_some.variance), some.variance(0)) << n;
      const auto three = [&](std::uint64_t i) { return std::array<T, 3>{x[i], T(1), x[n - 1 - i]}; };
      const auto means = onefold::mean(where(), n, three, exactly);
      ASSERT_EQ(scalar_of(means[0]), all.mean()) << n;
      ASSERT_EQ(scalar_of(means[1]), whole_sums(std::vector<T>(n, T(1))).mean()) << n;
      ASSERT_EQ(scalar_of(means[2]), all.mean()) << n;
      const auto norms = onefold::norm2(where(), n, three, exactly);
      ASSERT_EQ(scalar_of(norms[2]), all.norm2()) << n;
    }
    count_dispatch(where());
  };
  test.template operator()<std::int32_t>();
  test.template operator()<std::uint32_t>();
  test.template operator()<std::int64_t>();
  test.template operator()<std::uint64_t>();
}

TEST_P(exact_integers, of_all_threads_have_the_rounded_mean) {
  random_numbers random(current_seed());
  std::vector<std::int64_t> longs(is_sanitized ? 20'000 : 70'001);
  std::vector<std::int32_t> ints(longs.size());
  for (std::size_t i = 0; i < longs.size(); ++i) {
    longs[i] = static_cast<std::int64_t>(random());
    ints[i] = static_cast<std::int32_t>(random());
  }
  ASSERT_NO_FATAL_FAILURE(expect_right(where(), longs, "many"));
  ASSERT_NO_FATAL_FAILURE(expect_right(where(), ints, "many"));
}

// In the middle between two doubles, and beside it: what doubles lose.
TEST_P(exact_integers, are_rounded_once) {
  constexpr std::int64_t two53 = std::int64_t{1} << 53;
  EXPECT_EQ(onefold::mean(where(), std::vector<std::int64_t>{two53 + 1}, exactly), 0x1p53);
  EXPECT_EQ(onefold::mean(where(), std::vector<std::int64_t>{two53 + 3}, exactly), 0x1p53 + 4);
  EXPECT_EQ(onefold::mean(where(), std::vector<std::int64_t>{two53 + 1, two53 + 1, two53 + 2}, exactly), 0x1p53 + 2);
  EXPECT_EQ(onefold::mean(where(), std::vector<std::int64_t>{-two53 - 1, -two53 - 1, -two53 - 2}, exactly), -0x1p53 - 2);
  EXPECT_EQ(onefold::mean(where(), std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0}}, exactly), 0x1p64);
  EXPECT_EQ(onefold::mean(where(), std::vector<std::uint64_t>{~std::uint64_t{0}, 1}, exactly), 0x1p63);
  EXPECT_EQ(scalar_of(onefold::mean(where(), std::vector<int>{-3, 1, 2}, exactly)), scalar_of(0.0));
  // Norms: 2^53 + 1 lies in the middle, and one more square lifts it above.
  EXPECT_EQ(onefold::norm2(where(), std::vector<std::int64_t>{two53 + 1}, exactly), 0x1p53);
  EXPECT_EQ(onefold::norm2(where(), std::vector<std::int64_t>{two53 + 1, 1}, exactly), 0x1p53 + 2);
  EXPECT_EQ(onefold::norm2(where(), std::vector<std::uint64_t>{~std::uint64_t{0}}, exactly), 0x1p64);
  // Variances of what differs by one, far from zero: 1/4 and 2/9, where doubles see equal elements.
  EXPECT_EQ(onefold::mean_variance(where(), std::vector<std::int64_t>{1 - 4 * two53, -4 * two53}, exactly).variance, 0.25);
  EXPECT_EQ(
      onefold::mean_variance(where(), std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{1}}, exactly)
          .variance,
      2.0 / 9);
  count_dispatch(where());
}

TEST_P(exact_integers, are_asked_for_like_floats) {
  const std::vector<int> x{1, 2, 6};
  double stored = 0;
  onefold::report ran;
  onefold::mean_into(where(), x, &stored, {.guarantee = onefold::guarantee::exact, .report = &ran});
  EXPECT_EQ(stored, 3);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  EXPECT_EQ(ran.variant, "superaccumulator");
  EXPECT_EQ(onefold::mean(x, exactly), 3);
  EXPECT_EQ(onefold::mean(where(), x, {.variant = "superaccumulator", .guarantee = onefold::guarantee::exact}), 3);
  const std::vector<std::uint64_t> y{1, 2, 6, 100, 100};
  const std::uint64_t three = 3, six = 6;
  EXPECT_EQ(onefold::mean(where(), y.data(), y.size(), onefold::count_at{&three}, exactly), 3);
  EXPECT_TRUE(refuses(onefold::errc::invalid_argument, "count in memory",
                      [&] { static_cast<void>(onefold::mean(where(), y.data(), y.size(), onefold::count_at{&six}, exactly)); }));
  const int* const nothing = nullptr;
  EXPECT_TRUE(std::isnan(onefold::mean(where(), nothing, 0, exactly)));
  EXPECT_TRUE(
      refuses(onefold::errc::null_pointer, "input", [&] { static_cast<void>(onefold::mean(where(), nothing, 3, exactly)); }));
  const auto* odd = reinterpret_cast<const int*>(reinterpret_cast<const std::byte*>(x.data()) + 2);
  EXPECT_TRUE(
      refuses(onefold::errc::misaligned_pointer, "i32", [&] { static_cast<void>(onefold::mean(where(), odd, 2, exactly)); }));
  std::vector<std::int64_t> both{1, 2, 3};
  EXPECT_TRUE(refuses(onefold::errc::invalid_argument, "output",
                      [&] { onefold::mean_into(where(), both, reinterpret_cast<double*>(&both[1]), exactly); }));
  EXPECT_EQ(both, (std::vector<std::int64_t>{1, 2, 3}));
  count_dispatch(where());
}

ONEFOLD_TEST_EXACT_PLACES(exact_integers);

}  // namespace
}  // namespace onefold_test
