/// @file functions_test.cpp  Exact sums of what functions of the index return, and of complex numbers: those of arrays that hold
/// the same values.

#include <array>
#include <atomic>
#include <complex>
#include <optional>
#include <stdexcept>

#include "fixture.hpp"

namespace onefold_test {
namespace {

class exact_functions : public executor_test {};

// Every form of x, called as `function(count, f, modifiers..)`.
template <class T, class F, class... M>
void expect_forms(const onefold::executor& where, std::uint64_t n, F&& f, const exact_elements& expected, M... modifier) {
  constexpr bool wide = sizeof...(M) != 0;
  const auto check = [&](const auto& function, form what) {
    EXPECT_EQ(scalar_of(function(where, n, f, modifier..., exactly)), expected.result(what, wide))
        << onefold::name(what) << " of " << n;
  };
  check(onefold::sum, form::sum);
  check(onefold::norm1, form::norm1);
  check(onefold::sum_of_squares, form::sum_of_squares);
  check(onefold::norm2, form::norm2);
  check(onefold::mean, form::mean);
  const auto [mean, variance] = onefold::mean_variance(where, n, f, modifier..., exactly);
  EXPECT_EQ(scalar_of(mean), expected.result(form::mean, wide)) << n;
  EXPECT_EQ(scalar_of(variance), expected.variance(0, wide)) << n;
}

template <class F>
void for_float_and_double(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
}

TEST_P(exact_functions, of_an_index_give_what_an_array_gives) {
  for_float_and_double([&]<class T> {
    for (const std::uint64_t n : {0u, 1u, 2u, 7u, 100u, 1'023u, 4'097u, 50'003u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal}) {
        const auto x = random_elements<T>(n, kind, signs::both, current_seed() + n);
        const exact_elements expected{std::span<const T>(x)};
        const auto at = [&](std::uint64_t i) { return x[i]; };
        expect_forms<T>(where(), n, at, expected);
        if constexpr (std::is_same_v<T, float>) expect_forms<T>(where(), n, at, expected, onefold::accumulate_as<double>);
        count_dispatch(where());
      }
  });
}

TEST_P(exact_functions, of_special_values_give_what_an_array_gives) {
  for_float_and_double([&]<class T> {
    constexpr float_layout in = layout<T>();
    for (const std::uint64_t others : {std::uint64_t{0}, in.sign(), std::uint64_t{1}})
      for (const std::uint64_t bits :
           {in.nan(), in.infinity(), in.infinity() | in.sign(), in.sign(), in.infinity() - 1, std::uint64_t{0}})
        for (const std::uint64_t n : {1u, 3u, 5'000u}) {
          std::vector<T> x(n, from_bits<T>(others));
          x[n / 2] = from_bits<T>(bits);
          expect_forms<T>(
              where(), n, [&](std::uint64_t i) { return x[i]; }, exact_elements(std::span<const T>(x)));
        }
    count_dispatch(where());
  });
}

TEST_P(exact_functions, are_asked_for_each_index_once) {
  std::vector<std::atomic<int>> asked(20'003);
  EXPECT_EQ(onefold::sum(
                where(), asked.size(),
                [&](std::uint64_t i) {
                  ++asked[i];
                  return i == 0 ? 0x1p53 : i < 3 ? 1.0 : 0.0;
                },
                exactly),
            0x1p53 + 2);
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(asked[i].load(), 1) << i;
  // Values of every size, so that whatever reads blocks again with more care does not ask again.
  for (auto& one : asked) one = 0;
  const auto x = random_elements<double>(asked.size(), spread::whole, signs::both, current_seed());
  EXPECT_EQ(scalar_of(onefold::sum(
                where(), asked.size(),
                [&](std::uint64_t i) {
                  ++asked[i];
                  return x[i];
                },
                exactly)),
            exact_elements(std::span<const double>(x)).result(form::sum));
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(asked[i].load(), 1) << i;
  count_dispatch(where());
}

TEST_P(exact_functions, with_several_results_give_each_as_it_is_alone) {
  constexpr std::uint64_t n = 9'001;
  std::vector<exact_elements> expected(16, exact_elements(element_type::f32));
  const auto floats = random_elements<float>(16 * n, spread::whole, signs::both, current_seed());
  for (std::size_t i = 0; i < floats.size(); ++i) expected[i % 16].add(scalar_of(floats[i]).bits);
  const auto sixteen = [&](std::uint64_t i) {
    std::array<float, 16> row{};
    std::copy_n(floats.begin() + static_cast<std::ptrdiff_t>(16 * i), 16, row.begin());
    return row;
  };
  const auto sums = onefold::sum(where(), n, sixteen, exactly);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(scalar_of(sums[k]), expected[k].result(form::sum)) << k;
  const auto doubles = random_elements<double>(3 * n, spread::whole, signs::both, current_seed());
  std::vector<exact_elements> three(3, exact_elements(element_type::f64));
  for (std::size_t i = 0; i < doubles.size(); ++i) three[i % 3].add(scalar_of(doubles[i]).bits);
  const auto means = onefold::mean(
      where(), n,
      [&](std::uint64_t i) {
        return std::array<double, 3>{doubles[3 * i], doubles[3 * i + 1], doubles[3 * i + 2]};
      },
      exactly);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(scalar_of(means[k]), three[k].result(form::mean)) << k;
  count_dispatch(where());
  const auto norms = onefold::norm2(where(), n, sixteen, exactly);  // whose states are larger
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(scalar_of(norms[k]), expected[k].result(form::norm2)) << k;
}

TEST_P(exact_functions, over_a_box_and_over_arrays_give_what_an_array_gives) {
  const auto x = random_elements<double>(70 * 90, spread::whole, signs::both, current_seed());
  exact_elements inner(element_type::f64), squares(element_type::f64);
  for (std::uint64_t j = 1; j < 69; ++j)
    for (std::uint64_t i = 1; i < 89; ++i) inner.add(scalar_of(x[j * 90 + i]).bits);
  EXPECT_EQ(scalar_of(onefold::sum(
                where(), onefold::box({1, 69}, {1, 89}), [&](auto j, auto i) { return x[static_cast<std::size_t>(j * 90 + i)]; },
                exactly)),
            inner.result(form::sum));
  for (std::size_t i = 0; i < x.size(); ++i) squares.add(scalar_of(0.5 * x[i] + x[x.size() - 1 - i]).bits);
  const std::vector<double> reversed(x.rbegin(), x.rend());
  EXPECT_EQ(scalar_of(onefold::transform_reduce(
                where(), x, reversed, onefold::op::sum{}, [](double a, double b) { return 0.5 * a + b; }, exactly)),
            squares.result(form::sum));
  double stored = 0;
  onefold::transform_reduce_into(
      where(), x, reversed, &stored, onefold::op::sum{}, [](double a, double b) { return 0.5 * a + b; }, exactly);
  EXPECT_EQ(scalar_of(stored), squares.result(form::sum));
  count_dispatch(where());
}

// Absent values change nothing: no sign of a zero, and no count.
TEST_P(exact_functions, that_leave_elements_out_sum_the_others) {
  const auto x = random_elements<double>(10'001, spread::whole, signs::both, current_seed());
  exact_elements expected(element_type::f64);
  for (std::size_t i = 0; i < x.size(); i += 3) expected.add(scalar_of(x[i]).bits);
  const auto third = [&](std::uint64_t i) { return i % 3 == 0 ? std::optional(x[i]) : std::nullopt; };
  EXPECT_EQ(scalar_of(onefold::sum(where(), x.size(), third, exactly)), expected.result(form::sum));
  EXPECT_EQ(scalar_of(onefold::norm2(where(), x.size(), third, exactly)), expected.result(form::norm2));
  const auto one_minus_zero = [](std::uint64_t i) { return i == 77 ? onefold::maybe<double>(-0.0) : onefold::maybe<double>(); };
  EXPECT_EQ(scalar_of(onefold::sum(where(), std::uint64_t{200}, one_minus_zero, exactly)), scalar_of(-0.0));
  const auto none = [](std::uint64_t) { return onefold::maybe<double>(); };
  EXPECT_EQ(scalar_of(onefold::sum(where(), std::uint64_t{200}, none, exactly)), scalar_of(0.0));
  count_dispatch(where());
}

TEST_P(exact_functions, that_throw_reach_the_caller) {
  EXPECT_THROW(static_cast<void>(onefold::sum(
                   where(), std::uint64_t{30'000},
                   [](std::uint64_t i) {
                     if (i == 29'000) throw std::range_error("29000");
                     return 1.0;
                   },
                   exactly)),
               std::range_error);
  EXPECT_EQ(onefold::sum(
                where(), std::uint64_t{3}, [](std::uint64_t) { return 1.0; }, exactly),
            3);
  // A call within a call.
  const std::vector<double> inner{0x1p53, 1, 1};
  EXPECT_EQ(onefold::sum(
                where(), std::uint64_t{2'000}, [&](std::uint64_t) { return onefold::sum(where(), inner, exactly); }, exactly),
            2'000 * (0x1p53 + 2));
  count_dispatch(where());
}

// --- complex numbers

template <class T>
void expect_complex(const onefold::executor& where, const std::vector<std::complex<T>>& z) {
  constexpr element_type type = onefold::element_type_of<T>;
  exact_elements real(type), imaginary(type), all(type);
  for (const auto& one : z) {
    real.add(scalar_of(one.real()).bits);
    imaginary.add(scalar_of(one.imag()).bits);
  }
  all.merge(real);
  all.merge(imaginary);
  const std::complex<T> sum = onefold::sum(where, z, exactly), mean = onefold::mean(where, z, exactly);
  EXPECT_EQ(scalar_of(sum.real()), real.result(form::sum)) << z.size();
  EXPECT_EQ(scalar_of(sum.imag()), imaginary.result(form::sum)) << z.size();
  EXPECT_EQ(scalar_of(mean.real()), real.result(form::mean)) << z.size();
  EXPECT_EQ(scalar_of(mean.imag()), imaginary.result(form::mean)) << z.size();
  EXPECT_EQ(scalar_of(onefold::sum_of_squares(where, z, exactly)), all.result(form::sum_of_squares)) << z.size();
  EXPECT_EQ(scalar_of(onefold::norm2(where, z, exactly)), all.result(form::norm2)) << z.size();
  count_dispatch(where);
}

TEST_P(exact_functions, of_complex_numbers_are_exact_in_both_parts) {
  for_float_and_double([&]<class T> {
    constexpr float_layout in = layout<T>();
    for (const std::size_t n : {0u, 1u, 2u, 3u, 100u, 4'097u, 30'001u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal}) {
        const auto parts = random_elements<T>(2 * n, kind, signs::both, current_seed() + n);
        std::vector<std::complex<T>> z;
        for (std::size_t i = 0; i < n; ++i) z.emplace_back(parts[2 * i], parts[2 * i + 1]);
        expect_complex(where(), z);
      }
    const T some[] = {from_bits<T>(0),        from_bits<T>(in.sign()), infinity<T>(), infinity<T>(true),
                      from_bits<T>(in.nan()), from_bits<T>(1),         largest<T>()};
    for (const T a : some)
      for (const T b : some)
        for (const T c : some) expect_complex(where(), std::vector<std::complex<T>>{{a, b}, {c, some[1]}, {some[1], a}});
  });
}

ONEFOLD_TEST_EXACT_PLACES(exact_functions);

}  // namespace
}  // namespace onefold_test
