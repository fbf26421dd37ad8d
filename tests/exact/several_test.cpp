/// @file several_test.cpp  Several exact sums in one read: dots of several vectors, and many results of one function.

#include <array>
#include <cmath>
#include <stdexcept>

#include "fixture.hpp"

namespace onefold_test {
namespace {

template <class F>
void for_float_and_double(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
}

// --- dots of several vectors

class exact_dots_of_vectors : public executor_test {
 protected:
  // Each of `rows` with each of `columns`: the results, and the states.
  template <class T>
  void expect_right(int rows, int columns, std::size_t n) {
    std::vector<std::vector<T>> all;
    std::vector<const void*> places;
    for (int k = 0; k < rows + columns; ++k)
      all.push_back(random_elements<T>(n, spreads[static_cast<std::size_t>(k) % std::size(spreads)], signs::both,
                                       current_seed() + static_cast<std::uint64_t>(k)));
    if (n > 5) all[0][n / 2] = infinity<T>();  // of one vector alone
    for (const auto& one : all) places.push_back(one.data());
    const onefold_vectors vectors{places.data(), places.data() + rows, rows, columns};
    std::vector<T> got(static_cast<std::size_t>(rows * columns));
    constexpr std::size_t words = onefold::exact_state<form::dot, T>::size();
    std::vector<std::int64_t> states(got.size() * words, -1);
    onefold::detail::request asked{where(), onefold::element_type_of<T>, form::dot, nullptr, n, got.data(), true};
    asked.vectors = &vectors;
    asked.exact_state = states.data();
    onefold::detail::run(asked, exactly);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto i = k / static_cast<std::size_t>(columns), j = k % static_cast<std::size_t>(columns);
      const exact_pairs expected(std::span<const T>(all[i]), std::span<const T>(all[static_cast<std::size_t>(rows) + j]));
      ASSERT_EQ(scalar_of(got[k]), expected.result()) << i << ", " << j << " of " << n;
      const auto state = states.begin() + static_cast<std::ptrdiff_t>(k * words);
      ASSERT_EQ(std::vector<std::int64_t>(state, state + words), expected.words()) << i << ", " << j << " of " << n;
    }
    count_dispatch(where());
  }
};

TEST_P(exact_dots_of_vectors, are_each_as_it_is_alone) {
  for_float_and_double([&]<class T> {
    for (const std::size_t n : {0u, 1u, 100u, 5'003u}) expect_right<T>(3, 2, n);
    expect_right<T>(1, 1, 777);
    expect_right<T>(16, 8, 130);  // the most
  });
  expect_right<double>(2, 2, is_sanitized ? 17'000 : 33'001);
}

TEST_P(exact_dots_of_vectors, may_be_called_like_others) {
  const std::vector<double> x{0x1p53, 1, 1}, y{1, 1, 1}, z{1, -1, 0};
  EXPECT_EQ(onefold::multi_dot(where(), {x, y}, {y, z}, exactly), (std::vector<double>{0x1p53 + 2, 0x1p53 - 1, 3, 0}));
  double stored[2] = {};
  onefold::report ran;
  onefold::multi_dot_into(where(), {x}, {y, y}, stored, {.guarantee = onefold::guarantee::exact, .report = &ran});
  EXPECT_EQ(stored[0], 0x1p53 + 2);
  EXPECT_EQ(stored[1], 0x1p53 + 2);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  EXPECT_EQ(ran.variant, "superaccumulator");
  EXPECT_EQ(onefold::multi_dot(where(), {x}, {y}, {.variant = "superaccumulator"})[0], 0x1p53 + 2);
  const std::vector<float> f{0x1p24f, 1, 1}, g{1, 1, 1};
  EXPECT_EQ(onefold::multi_dot(where(), {f}, {g}, exactly)[0], 0x1p24f + 2);
  count_dispatch(where());
}

ONEFOLD_TEST_EXACT_PLACES(exact_dots_of_vectors);

// --- many results of one function

class exact_results_of_one_function : public executor_test {};

TEST_P(exact_results_of_one_function, may_be_sixteen_doubles) {
  constexpr std::uint64_t n = 1'003;
  const auto x = random_elements<double>(16 * n, spread::whole, signs::both, current_seed());
  std::vector<exact_elements> expected(16, exact_elements(element_type::f64));
  for (std::size_t i = 0; i < x.size(); ++i) expected[i % 16].add(scalar_of(x[i]).bits);
  const auto row = [&](std::uint64_t i) {
    std::array<double, 16> values{};
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(16 * i), 16, values.begin());
    return values;
  };
  const auto check = [&](const auto& function, form what) {
    const auto got = function(where(), n, row, exactly);
    for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(scalar_of(got[k]), expected[k].result(what)) << onefold::name(what) << " " << k;
  };
  check(onefold::sum, form::sum);
  check(onefold::norm1, form::norm1);
  check(onefold::sum_of_squares, form::sum_of_squares);
  check(onefold::norm2, form::norm2);
  check(onefold::mean, form::mean);
  const auto of_nothing = onefold::norm2(where(), std::uint64_t{0}, row, exactly);
  for (const double zero : of_nothing) EXPECT_EQ(scalar_of(zero), scalar_of(0.0));
  count_dispatch(where());
}

// What cancels is added by different threads, and every block adds something: two threads at one sum would lose some of it.
TEST_P(exact_results_of_one_function, may_come_from_all_threads) {
  constexpr std::uint64_t half = 50'000;
  const auto row = [](std::uint64_t i) {
    std::array<double, 16> values{};
    for (int k = 0; k < 16; ++k)
      values[static_cast<std::size_t>(k)] =
          i == 2 * half ? std::ldexp(1, k - 1'000) : std::ldexp(i < half ? 1.1 : -1.1, 40 * k - 300);
    return values;
  };
  for (int again = 0; again < (where().threads() > 2 ? 10 : 1); ++again) {
    const auto sums = onefold::sum(where(), 2 * half + 1, row, exactly);
    for (int k = 0; k < 16; ++k) ASSERT_EQ(sums[static_cast<std::size_t>(k)], std::ldexp(1, k - 1'000)) << k;
  }
  count_dispatch(where());
}

TEST_P(exact_results_of_one_function, go_on_after_one_has_thrown) {
  const auto row = [](std::uint64_t i) {
    if (i == 40'000) throw std::range_error("40000");
    return std::array<double, 4>{1, 2, 3, i == 0 ? 0x1p53 : 1.0};
  };
  EXPECT_THROW(static_cast<void>(onefold::sum(where(), std::uint64_t{50'000}, row, exactly)), std::range_error);
  EXPECT_EQ(onefold::sum(where(), std::uint64_t{3}, row, exactly)[3], 0x1p53 + 2);
  // A call within a call.
  const auto nested = [&](std::uint64_t) {
    const auto inner = onefold::sum(where(), std::uint64_t{3}, row, exactly);
    return std::array<double, 4>{inner[0], inner[1], inner[2], inner[3]};
  };
  EXPECT_EQ(onefold::sum(where(), std::uint64_t{1'000}, nested, exactly)[3], 1'000 * (0x1p53 + 2));
  count_dispatch(where());
}

ONEFOLD_TEST_EXACT_PLACES(exact_results_of_one_function);

}  // namespace
}  // namespace onefold_test
