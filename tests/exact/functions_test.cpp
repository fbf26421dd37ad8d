/// @file functions_test.cpp  Exact sums of what functions of the index return, and of complex numbers: those of arrays that hold
/// the same values.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

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

// Means and variances of the elements of x at which `is_there` says so, beside the oracle's of an array of these alone.
template <class T, class IsThere>
void expect_means_of_those_there(const onefold::executor& where, const std::vector<T>& x, const IsThere& is_there,
                                 std::string_view data) {
  exact_elements there(onefold::element_type_of<T>);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (is_there(i)) there.add(scalar_of(x[i]).bits);
  const auto f = [&](std::uint64_t i) { return is_there(i) ? onefold::maybe<T>(x[i]) : onefold::absent; };
  const auto in = [&] { return std::string(data) + ", " + std::to_string(there.count()) + " of " + std::to_string(x.size()); };
  ASSERT_EQ(scalar_of(onefold::mean(where, x.size(), f, exactly)), there.result(form::mean)) << in();
  T stored{};
  onefold::mean_into(where, x.size(), f, &stored, exactly);
  ASSERT_EQ(scalar_of(stored), there.result(form::mean)) << in();
  for (const std::int64_t ddof : {0, 1, 7}) {
    const auto both = onefold::mean_variance(where, x.size(), f, onefold::ddof{ddof}, exactly);
    ASSERT_EQ(scalar_of(both.mean), there.result(form::mean)) << in();
    ASSERT_EQ(scalar_of(both.variance), there.variance(ddof)) << in() << ", ddof " << ddof;
  }
  if constexpr (std::is_same_v<T, float>) {
    ASSERT_EQ(scalar_of(onefold::mean(where, x.size(), f, onefold::accumulate_as<double>, exactly)), there.result(form::mean, true))
        << in();
    const auto wide = onefold::mean_variance(where, x.size(), f, onefold::accumulate_as<double>, exactly);
    ASSERT_EQ(scalar_of(wide.mean), there.result(form::mean, true)) << in();
    ASSERT_EQ(scalar_of(wide.variance), there.variance(0, true)) << in();
  }
}

TEST_P(exact_functions, that_leave_elements_out_have_the_mean_and_variance_of_the_others) {
  for_float_and_double([&]<class T> {
    random_numbers random(current_seed());
    for (const std::size_t n : {0u, 1u, 2u, 3u, 100u, 2'047u, 2'049u, 30'001u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal})
        for (const std::uint64_t percent : {0u, 3u, 50u, 97u, 100u}) {
          auto x = random_elements<T>(n, kind, signs::both, current_seed() + n);
          std::vector<char> there(n);
          for (std::size_t i = 0; i < n; ++i) {
            there[i] = random.below(100) < percent ? 1 : 0;
            // What an absent place holds says nothing, and pairs that are there cancel.
            if (there[i] == 0) x[i] = from_bits<T>(layout<T>().nan());
            if (i > 0 && random.below(3) == 0) x[i] = -x[i - 1];
          }
          const auto is_there = [&](std::uint64_t i) { return there[i] != 0; };
          ASSERT_NO_FATAL_FAILURE(expect_means_of_those_there(where(), x, is_there, "random"));
        }
    count_dispatch(where());
  });
}

TEST_P(exact_functions, that_leave_elements_out_keep_signs_ties_and_special_values) {
  for_float_and_double([&]<class T> {
    constexpr float_layout in = layout<T>();
    const T one = 1, next = std::nextafter(one, T(2));
    const std::vector<std::vector<T>> sets{
        {from_bits<T>(in.sign())},                              // -0, among absent ones
        {from_bits<T>(in.sign()), T(0)},                        // and +0
        {one, next},                                            // the middle of neighbours: ties to even
        {next, std::nextafter(next, T(2))},                     //
        {from_bits<T>(1), T(0)},                                // half of the smallest number
        {from_bits<T>(3), T(0)},                                // one and a half
        {largest<T>(), largest<T>(), -from_bits<T>(1)},         // whose sum is beyond the largest number
        {infinity<T>(), one},                                   //
        {infinity<T>(true), one},                               //
        {infinity<T>(), infinity<T>(true)},                     //
        {from_bits<T>(in.nan()), one},                          //
        {largest<T>(), from_bits<T>(1), -largest<T>(), T(0.5)}  // what is left when others have cancelled
    };
    for (const std::vector<T>& set : sets)
      for (const std::uint64_t apart : {1u, 2u, 3u, 777u}) {
        std::vector<T> x(set.size() * apart + 5, from_bits<T>(in.nan()));
        for (std::size_t i = 0; i < set.size(); ++i) x[i * apart] = set[i];
        const auto is_there = [&](std::uint64_t i) { return i % apart == 0 && i / apart < set.size(); };
        ASSERT_NO_FATAL_FAILURE(expect_means_of_those_there(where(), x, is_there, "chosen"));
      }
    count_dispatch(where());
  });
}

// A variant's name asks for the exact sum too.
TEST_P(exact_functions, that_leave_elements_out_are_asked_for_by_name) {
  const auto f = [](std::uint64_t i) -> std::optional<double> {
    if (i % 2 == 1) return std::nullopt;
    return i == 0 ? 0x1p53 : i == 2 ? 1.0 : i == 4 ? 2.0 : 0.0;
  };
  std::vector<std::atomic<int>> asked(20'003);
  onefold::report ran;
  EXPECT_EQ(onefold::mean(where(), std::uint64_t{8}, f, {.variant = "superaccumulator", .report = &ran}), 0x1p51 + 1);
  EXPECT_EQ(ran.variant, "superaccumulator");
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  EXPECT_TRUE(std::isnan(onefold::mean(where(), std::uint64_t{0}, f, {.variant = "superaccumulator"})));
  const auto third = [&](std::uint64_t i) {
    ++asked[i];
    return i % 3 == 0 ? onefold::maybe<double>(i == 0 ? 0x1p100 : 1.0) : onefold::absent;
  };
  static_cast<void>(onefold::mean_variance(where(), asked.size(), third, exactly));
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(asked[i].load(), 1) << i;
  EXPECT_THROW(static_cast<void>(onefold::mean(
                   where(), std::uint64_t{30'000},
                   [](std::uint64_t i) {
                     if (i == 29'000) throw std::range_error("29000");
                     return onefold::maybe<double>(1.0);
                   },
                   exactly)),
               std::range_error);
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

template <form What, class T>
void expect_state(const onefold::executor& where, const std::vector<T>& x, std::size_t cut) {
  onefold::exact_state<What, T> of_array, of_function;
  of_array += x;
  const auto rows = static_cast<std::int64_t>(cut / 7);
  const std::size_t in_box = static_cast<std::size_t>(rows) * 7;
  of_function.add(where, x.size() - in_box, [&x, in_box](std::uint64_t i) { return x[in_box + i]; });
  of_function.add(where, onefold::box(rows, 7),
                  [&x](std::int64_t i, std::int64_t j) { return x[static_cast<std::size_t>(i * 7 + j)]; });
  EXPECT_TRUE(std::equal(of_array.words(), of_array.words() + of_array.size(), of_function.words()))
      << onefold::name(What) << " of " << x.size();
  EXPECT_EQ(of_function.count(), x.size());
}

TEST_P(exact_functions, are_added_to_states) {
  for_float_and_double([&]<class T> {
    for (const std::size_t n : {0u, 1u, 7u, 1'000u, 30'001u})
      for (const spread kind : {spread::within_60, spread::highest, spread::subnormal}) {
        const auto x = random_elements<T>(n, kind, signs::both, current_seed() + n);
        expect_state<form::sum>(where(), x, n / 3);
        expect_state<form::norm1>(where(), x, n / 2);
        expect_state<form::sum_of_squares>(where(), x, n);
        expect_state<form::norm2>(where(), x, n / 5);
        expect_state<form::mean>(where(), x, n / 4);
        expect_state<form::mean_variance>(where(), x, n / 3);
        count_dispatch(where());
      }
  });
  std::vector<std::int32_t> whole;
  for (int i = 0; i < 5'000; ++i) whole.push_back(i * 7919 - 20'000'000);
  expect_state<form::mean>(where(), whole, 1'000);
  expect_state<form::norm2>(where(), whole, 100);
  // What f throws reaches the caller, and nothing is added.
  onefold::exact_state<form::sum, double> kept;
  EXPECT_THROW(kept.add(where(), 2'000,
                        [](std::uint64_t i) {
                          if (i == 1'777) throw std::range_error("here");
                          return 1.0;
                        }),
               std::range_error);
  EXPECT_EQ(kept.count(), 0U);
  // On CPUs words are there on return.
  const auto value = [](std::uint64_t i) { return 1.0 / static_cast<double>(i + 1); };
  std::int64_t words[decltype(kept)::size()];
  decltype(kept)::put_words(where(), 1'000, value, words);
  kept.add(where(), 1'000, value);
  EXPECT_TRUE(std::equal(words, words + kept.size(), kept.words()));
  std::int64_t* const nowhere = nullptr;
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "words", [&] { decltype(kept)::put_words(where(), 1'000, value, nowhere); }));
  // Of one that throws they are no state, also beside others'.
  EXPECT_THROW(
      decltype(kept)::put_words(
          where(), 1'000, [](std::uint64_t i) -> double { return i == 777 ? throw std::range_error("here") : 1.0; }, words),
      std::range_error);
  double sum = 0;
  EXPECT_TRUE(
      refuses(onefold::errc::invalid_argument, "no state", [&] { decltype(kept)::put_value(onefold::serial(), words, &sum); }));
  std::transform(words, words + kept.size(), kept.words(), words, std::plus<>());
  EXPECT_TRUE(
      refuses(onefold::errc::invalid_argument, "no state", [&] { decltype(kept)::put_value(onefold::serial(), words, &sum); }));
}

ONEFOLD_TEST_EXACT_PLACES(exact_functions);

}  // namespace
}  // namespace onefold_test
