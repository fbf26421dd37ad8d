/// @file several_test.cpp  Several exact sums in one read: both parts of dots of complex numbers, dots of several vectors, and many results of one
/// function.

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>

#include "fixture.hpp"

namespace onefold_test {
namespace {

template <class F>
void for_float_and_double(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
}

// --- dots of complex numbers

// Both parts of conj(x) y, as docs/exact.md has them: sums of products.
class exact_complex_pairs {
 public:
  template <onefold::element T>
  exact_complex_pairs(std::span<const T> x, std::span<const T> y) : real_(onefold::element_type_of<T>), imaginary_(real_) {
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const std::uint64_t a = scalar_of(x[i]).bits, b = scalar_of(x[i + 1]).bits;
      const std::uint64_t c = scalar_of(y[i]).bits, d = scalar_of(y[i + 1]).bits;
      real_.add(a, c);
      real_.add(b, d);
      imaginary_.add(a, d);
      imaginary_.add(b, c ^ layout<T>().sign());
    }
  }
  [[nodiscard]] std::pair<scalar, scalar> result() const { return {real_.result(), imaginary_.result()}; }

 private:
  exact_pairs real_, imaginary_;
};

template <class T>
std::pair<scalar, scalar> scalars_of(const std::complex<T>& z) {
  return {scalar_of(z.real()), scalar_of(z.imag())};
}

template <class T>
const std::complex<T>* as_complex(const T* parts) {
  return reinterpret_cast<const std::complex<T>*>(parts);
}

class exact_complex_dots : public executor_test {
 protected:
  // Of numbers whose parts lie side by side, which may begin wherever a part may.
  template <class T>
  void expect_right(const std::vector<T>& x, const std::vector<T>& y, std::string_view data, std::size_t offset = 0) {
    const walled<T> one(x, offset), other(y, 3 * offset % 5);
    const auto got = onefold::dot(where(), as_complex(one.data()), as_complex(other.data()), x.size() / 2, exactly);
    ASSERT_EQ(scalars_of(got), exact_complex_pairs(std::span<const T>(x), std::span<const T>(y)).result())
        << data << ", " << x.size() / 2 << " numbers, " << text_of<T>(x) << " " << text_of<T>(y);
    count_dispatch(where());
  }

  // The result is known by hand, and the oracle agrees. Conjugated where x and y change places.
  template <class C>
  void expect_dot(const std::vector<C>& x, const std::vector<C>& y, const C& expected) {
    using T = typename C::value_type;
    const auto parts = [](const std::vector<C>& z) {
      std::vector<T> all;
      for (const C& one : z) all.insert(all.end(), {one.real(), one.imag()});
      return all;
    };
    ASSERT_NO_FATAL_FAILURE(expect_right(parts(x), parts(y), "known"));
    const C got = onefold::dot(where(), x, y, exactly), other = onefold::dot(where(), y, x, exactly);
    EXPECT_EQ(scalars_of(got), scalars_of(expected));
    EXPECT_EQ(scalar_of(other.real()), scalar_of(expected.real()));
    if (expected.imag() != 0 && !std::isnan(expected.imag())) {
      EXPECT_EQ(other.imag(), -expected.imag());
    }
  }
};

TEST_P(exact_complex_dots, of_every_size_and_spread_are_right) {
  for_float_and_double([&]<class T> {
    for (const std::size_t n : {0u, 1u, 2u, 3u, 7u, 100u, 2'047u, 2'048u, 2'049u, 8'193u})
      for (const spread kind : {spread::whole, spread::within_60, spread::highest, spread::subnormal}) {
        if (n > 2'049 && kind != spread::within_60) continue;
        const spread other = kind == spread::subnormal ? spread::highest : kind;
        const auto x = random_elements<T>(2 * n, kind, signs::both, current_seed() + n);
        const auto y = random_elements<T>(2 * n, other, signs::both, current_seed() + n + 1);
        ASSERT_NO_FATAL_FAILURE(expect_right(x, y, name(kind), n % 4));
      }
  });
}

TEST_P(exact_complex_dots, of_many_numbers_are_right) {
  for_float_and_double([&]<class T> {
    const std::size_t n = is_sanitized ? 9'000 : 17'001;  // of which every thread has some
    const auto x = random_elements<T>(2 * n, spread::within_250, signs::both, current_seed());
    const auto y = random_elements<T>(2 * n, spread::one, signs::both, current_seed() + 1);
    ASSERT_NO_FATAL_FAILURE(expect_right(x, y, "many", 1));
  });
}

// Few numbers of every kind: products that cancel, results in the middle between two numbers, and parts that are no numbers.
TEST_P(exact_complex_dots, of_small_hard_sets_are_right) {
  for_float_and_double([&]<class T> {
    random_numbers random(current_seed());
    std::vector<T> x, y;
    for (std::uint64_t i = 0; i < cases(1'000); ++i) {
      make_small_case(x, y, random);
      if (x.size() % 2 != 0) {
        x.pop_back();
        y.pop_back();
      }
      if (i % 2 == 0)  // so that it is the imaginary part that cancels
        for (std::size_t k = 0; k < y.size(); k += 2) std::swap(y[k], y[k + 1]);
      ASSERT_NO_FATAL_FAILURE(expect_right(x, y, "small"));
    }
  });
}

// Stretches that have nothing in common, so that what a block expects of the next is wrong, in one part and not in the other.
TEST_P(exact_complex_dots, of_changing_ranges_are_right) {
  for_float_and_double([&]<class T> {
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(cases(6), 1); ++i) {
      random_numbers random(current_seed() + i);
      std::vector<T> x, y;
      for (int stretch = 0; stretch < 3; ++stretch) {
        const std::size_t length = random.below(2) == 0 ? 4'096 : 2 * (1 + random.below(1'500));
        const fields of_x = fields_of(layout<T>(), spreads[random.below(std::size(spreads))], random);
        const fields of_y = fields_of(layout<T>(), spreads[random.below(std::size(spreads))], random);
        const bool is_real = random.below(3) == 0;
        for (std::size_t k = 0; k < length; ++k) {
          x.push_back(random_element<T>(random, of_x, signs::both));
          y.push_back(is_real && k % 2 != 0 ? from_bits<T>(0) : random_element<T>(random, of_y, signs::both));
        }
      }
      if (i % 2 != 0) x[random.below(x.size())] = infinity<T>();
      ASSERT_NO_FATAL_FAILURE(expect_right(x, y, "stretches", i % 3));
    }
  });
}

TEST_P(exact_complex_dots, of_hostile_numbers_are_right) {
  using complex = std::complex<double>;
  using single = std::complex<float>;
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double top = std::numeric_limits<double>::max(), least = 0x1p-1074, ulp = 0x1p-52;
  // Products that cancel but for the square of a last digit, which every rounding loses.
  expect_dot<complex>({{1 + ulp, 1 - ulp}}, {{1 - ulp, -1}}, {ulp - ulp * ulp, -2 + ulp});
  expect_dot<complex>({{1 + ulp, 1}, {0, -1}}, {{1, 1 - ulp}, {-1, 0}}, {2, -1 - ulp * ulp});
  expect_dot<complex>({{1 + ulp, 1}, {1, 0}}, {{1, 1 - ulp}, {0, 0}}, {2, -ulp * ulp});
  // In one part what overflows cancels, in the other not.
  expect_dot<complex>({{top, top}, {least, 0}}, {{top, top}, {0, 1}}, {inf, least});
  expect_dot<complex>({{top, -top}, {3, 0}}, {{top, top}, {1, 0}}, {3, inf});
  expect_dot<complex>({{top, -top}, {3, 0}}, {{-top, -top}, {1, 0}}, {3, -inf});
  // Products below the smallest number: halves of it.
  expect_dot<complex>({{0x1p-538, 0x1p-538}}, {{-0x1p-537, 0x1p-537}}, {0, least});
  expect_dot<complex>({{0x1p-538, 0x1p-538}}, {{0x1p-537, 0x1p-537}}, {least, 0});
  expect_dot<complex>({{0x1p-538, 0}}, {{0x1p-537, -0x1p-537}}, {0, -0.0});
  expect_dot<complex>({{0x1p-538, least}}, {{0x1p-537, least}}, {least, -0.0});
  // Zeros: -0 where every product is, with the sign of y's real part changed in the imaginary one.
  expect_dot<complex>({{0, 0}}, {{1, -1}}, {0, -0.0});
  expect_dot<complex>({{0, 0}}, {{-1, -1}}, {-0.0, 0});
  expect_dot<complex>({{0, 0}, {0, 0}}, {{1, -1}, {1, 1}}, {0, 0});
  expect_dot<complex>({{3, 4}}, {{3, 4}}, {25, 0});
  // What is no number in one part need not be in the other.
  expect_dot<complex>({{nan, 1}}, {{1, 1}}, {nan, nan});
  expect_dot<complex>({{1, 1}}, {{1, nan}}, {nan, nan});
  expect_dot<complex>({{inf, 1}}, {{0, 2}}, {nan, inf});
  expect_dot<complex>({{inf, 1}}, {{2, 0}}, {inf, nan});
  expect_dot<complex>({{inf, inf}}, {{1, 1}}, {inf, nan});
  expect_dot<complex>({{inf, -inf}}, {{1, 1}}, {nan, inf});
  expect_dot<complex>({{1, 0x1p-1000}}, {{-inf, 1}}, {-inf, inf});
  expect_dot<single>({{0x1p100f, 0x1p100f}, {3, 0}}, {{0x1p100f, 0x1p100f}, {0, 5}}, {std::numeric_limits<float>::infinity(), 15});
  expect_dot<single>({{0x1p-75f, 0x1p-75f}}, {{-0x1p-75f, 0x1p-75f}}, {0, 0x1p-149f});
  // Rounded to double first these lie in the middle between two floats.
  expect_dot<single>({{1, 0x1p-12f}, {0x1p-60f, 0}}, {{0x1p-12f, 1}, {0, 1}}, {0x1p-11f, 1 - 0x1p-24f});
  expect_dot<single>({{1, 0x1p-12f}, {0x1p-60f, 0}}, {{-0x1p-12f, 1}, {0, 1}}, {0, 1 + 0x1p-23f});
}

// A dot of an array with itself is the sum of squares, and the real part that of the parts.
TEST_P(exact_complex_dots, agree_with_the_forms_of_their_parts) {
  for_float_and_double([&]<class T> {
    const auto x = random_elements<T>(9'002, spread::within_250, signs::both, current_seed());
    const auto itself = onefold::dot(where(), as_complex(x.data()), as_complex(x.data()), x.size() / 2, exactly);
    EXPECT_EQ(scalar_of(itself.real()), scalar_of(onefold::sum_of_squares(where(), x, exactly)));
    EXPECT_EQ(scalar_of(itself.imag()), scalar_of(T(0)));
    const auto shifted = onefold::dot(where(), as_complex(x.data()), as_complex(x.data() + 2), x.size() / 2 - 1, exactly);
    EXPECT_EQ(scalar_of(shifted.real()), scalar_of(onefold::dot(where(), x.data(), x.data() + 2, x.size() - 2, exactly)));
    count_dispatch(where());
  });
}

ONEFOLD_TEST_EXACT_PLACES(exact_complex_dots);

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
      const exact_pairs expected{std::span<const T>(all[i]), std::span<const T>(all[static_cast<std::size_t>(rows) + j])};
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
  if (where().backend() == onefold::backend::cuda) return count_dispatch(where());  // which stores results in memory of its own
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

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_dots_of_vectors);

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
