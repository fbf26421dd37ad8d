/// @file complex_test.cpp  Reductions of complex numbers, against docs/order.md in scalars.

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include <onefold/batch.hpp>

#include "../folds/tree.hpp"
#include "record_fixture.hpp"

namespace onefold_test {
namespace {

struct complex_case {
  const executor_under_test* on;
  element_type type;
};

std::vector<complex_case> complex_cases() {
  std::vector<complex_case> all;
  for (const auto& group : {each_of_the_executors(), further_executors()})
    for (const auto* const where : group)
      for (const element_type type : {element_type::c64, element_type::c128}) all.push_back({where, type});
  return all;
}

std::string name_of(const testing::TestParamInfo<complex_case>& info) {
  return info.param.on->label + "_" + std::string(onefold::name(info.param.type));
}

// --- the page in scalars

template <class V, class Combine>
V tree_of(const std::vector<V>& values, std::size_t lanes, const Combine& combine) {
  const auto lane_of = [&](std::uint64_t first, int rows) {
    V lane = values[first];
    for (int r = 1; r < rows; ++r) lane = combine(lane, values[first + static_cast<std::uint64_t>(r) * lanes]);
    return lane;
  };
  return tree_v1<V>(values.size(), lanes, lane_of, combine);
}

template <class T>
T canonical(T x) {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}
template <class T>
std::complex<T> canonical(const std::complex<T>& z) {
  return {canonical(z.real()), canonical(z.imag())};
}

double modulus_in_double(const std::complex<float>& z) {
  const double a = z.real(), b = z.imag();
  const double aa = a * a, bb = b * b;
  return std::sqrt(aa + bb);
}
float modulus(const std::complex<float>& z) { return static_cast<float>(modulus_in_double(z)); }
double modulus(const std::complex<double>& z) {
  const double a = z.real(), b = z.imag();
  double s = 1;
  if (std::abs(a) >= 0x1p480 || std::abs(b) >= 0x1p480)
    s = 0x1p-600;
  else if (std::abs(a) < 0x1p-480 && std::abs(b) < 0x1p-480)
    s = 0x1p600;
  const double aa = (a * s) * (a * s), bb = (b * s) * (b * s);
  return std::sqrt(aa + bb) * (1 / s);
}

// Numbers whose parts are T, converted to numbers of A before anything else.
template <class T, class A = T>
struct page {
  using C = std::complex<T>;
  using Z = std::complex<A>;
  static constexpr std::size_t lanes = 256 / sizeof(C);

  static Z plus(const Z& a, const Z& b) { return {a.real() + b.real(), a.imag() + b.imag()}; }
  static Z times(const Z& a, const Z& b) {
    const A ac = a.real() * b.real(), bd = a.imag() * b.imag(), ad = a.real() * b.imag(), bc = a.imag() * b.real();
    return {ac - bd, ad + bc};
  }
  static Z conjugated(const Z& x, const Z& y) {
    const A ac = x.real() * y.real(), bd = x.imag() * y.imag(), ad = x.real() * y.imag(), bc = x.imag() * y.real();
    return {ac + bd, ad - bc};
  }
  static std::vector<A> moduli(const std::vector<C>& x) {
    std::vector<A> all;
    for (const C& z : x)
      if constexpr (std::is_same_v<T, A>)
        all.push_back(modulus(z));
      else
        all.push_back(modulus_in_double(z));
    return all;
  }
  static std::vector<Z> converted(const std::vector<C>& x) { return {x.begin(), x.end()}; }

  static Z sum(const std::vector<C>& x) { return canonical(tree_of(converted(x), lanes, plus)); }
  static Z prod(const std::vector<C>& x) { return canonical(tree_of(converted(x), lanes, times)); }
  static Z dot(const std::vector<C>& x, const std::vector<C>& y) {
    std::vector<Z> products;
    for (std::size_t i = 0; i < x.size(); ++i) products.push_back(conjugated(Z(x[i]), Z(y[i])));
    return canonical(tree_of(products, lanes, plus));
  }
  static Z mean(const std::vector<C>& x) {
    const Z total = tree_of(converted(x), lanes, plus);
    const A n = static_cast<A>(x.size());
    return canonical(Z(total.real() / n, total.imag() / n));
  }
  static A norm1(const std::vector<C>& x) {
    return canonical(tree_of(moduli(x), 2 * lanes, [](A a, A b) { return a + b; }));
  }
  static T norm_inf(const std::vector<C>& x) {
    return canonical(tree_of(moduli(x), 2 * lanes, [](T a, T b) {
      return std::isnan(a) || std::isnan(b) ? a + b : a < b ? b : a;
    }));
  }
  // Of the parts, each an array of its own.
  static onefold::mean_variance_result<Z> mean_variance(const std::vector<C>& x, onefold::ddof of) {
    std::vector<T> real(x.size()), imaginary(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) real[i] = x[i].real(), imaginary[i] = x[i].imag();
    const auto a = onefold::mean_variance(onefold::serial(), real, onefold::accumulate_as<double>, of);
    const auto b = onefold::mean_variance(onefold::serial(), imaginary, onefold::accumulate_as<double>, of);
    return {canonical(Z(static_cast<A>(a.mean), static_cast<A>(b.mean))), canonical(static_cast<A>(a.variance + b.variance))};
  }
};

// --- the library

// What `call` says when it is refused, and with which code.
template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const onefold::error& problem) {
    return std::string(name(problem.code())) + ": " + problem.what();
  }
  return "no refusal";
}

class complex_numbers : public dispatching_test, public testing::WithParamInterface<complex_case> {
 protected:
  void SetUp() override { start(*GetParam().on); }
  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }

  template <class Body>
  void with_parts(const Body& body) const {
    if (GetParam().type == element_type::c64)
      body(float());
    else
      body(double());
  }

  // Numbers where the executor can read them, between red zones.
  template <class T>
  class placed {
   public:
    placed(const onefold::executor& where, const std::vector<std::complex<T>>& of, std::size_t off)
        : parts_(onefold::element_type_of<T>, 2 * (of.size() + off)) {
      std::memcpy(parts_.as<T>().data() + 2 * off, of.data(), of.size() * sizeof(of[0]));
      memory_.emplace(memory_for(where), parts_, operation::sum);
      data_ = static_cast<const std::complex<T>*>(memory_->window(2 * off, 2 * of.size()));
    }
    [[nodiscard]] const std::complex<T>* data() const { return data_; }
    [[nodiscard]] bool unchanged() const { return memory_->unchanged(); }

   private:
    elements parts_;
    std::optional<guarded_input> memory_;
    const std::complex<T>* data_;
  };

  template <class T>
  static std::vector<std::complex<T>> numbers(std::size_t n, std::uint64_t seed) {
    const elements parts = hard_sum(onefold::element_type_of<T>, hardship::growing, 2 * n, seed);
    std::vector<std::complex<T>> all(n);
    if (n > 0) std::memcpy(static_cast<void*>(all.data()), parts.data(), n * sizeof(all[0]));
    return all;
  }

  template <class R>
  static void expect_same(const R& got, const R& wanted, const char* what, std::size_t n) {
    EXPECT_EQ(std::memcmp(&got, &wanted, sizeof(R)), 0) << what << " of " << n << ": " << got << ", wanted " << wanted;
  }

  template <class T>
  static void expect_same(const onefold::mean_variance_result<std::complex<T>>& got,
                          const onefold::mean_variance_result<std::complex<T>>& wanted, const char* what, std::size_t n) {
    expect_same(got.mean, wanted.mean, what, n);
    expect_same(got.variance, wanted.variance, what, n);
  }

  // What a `*_into` call stores in the executor's memory, between red zones.
  template <class R, class Call>
  [[nodiscard]] R stored(const Call& call) const {
    guarded_output output(memory_for(where()), element_type::u8, sizeof(R));
    call(static_cast<R*>(output.address()));
    onefold::synchronize(where());
    R result;
    std::memcpy(static_cast<void*>(&result), output.bytes().data(), sizeof(result));
    EXPECT_TRUE(output.surroundings_unchanged());
    return result;
  }

  // What asks for zeros, and mean_variance.
  template <class T>
  void expect_the_page_of_states(const std::vector<std::complex<T>>& x, const std::complex<T>* z) {
    using C = std::complex<T>;
    const std::size_t n = x.size();
    const auto moments = page<T>::mean_variance(x, onefold::ddof{0}), sample = page<T>::mean_variance(x, onefold::ddof{1});
    const auto nonzero = static_cast<std::uint64_t>(std::count_if(x.begin(), x.end(), [](const C& one) { return one != C(); }));
    expect_same(onefold::mean_variance(where(), z, n), moments, "mean_variance", n);
    expect_same(onefold::mean_variance(where(), z, n, onefold::ddof{1}), sample, "mean_variance of a sample", n);
    EXPECT_EQ(onefold::count(where(), z, n), nonzero) << n;
    EXPECT_EQ(onefold::count(where(), z, n, onefold::options{.guarantee = onefold::guarantee::exact}), nonzero) << n;
    EXPECT_EQ(onefold::all(where(), z, n), nonzero == n);
    EXPECT_EQ(onefold::any(where(), z, n), nonzero > 0);
    EXPECT_EQ(onefold::none(where(), z, n), nonzero == 0);
    count_dispatch(where());

    using M = onefold::mean_variance_result<C>;
    expect_same(stored<M>([&](M* to) { onefold::mean_variance_into(where(), z, n, to, onefold::ddof{1}); }), sample,
                "mean_variance, stored", n);
    EXPECT_EQ(stored<std::uint64_t>([&](std::uint64_t* to) { onefold::count_into(where(), z, n, to); }), nonzero) << n;
    EXPECT_EQ(stored<bool>([&](bool* to) { onefold::all_into(where(), z, n, to); }), nonzero == n) << n;
    EXPECT_EQ(stored<bool>([&](bool* to) { onefold::any_into(where(), z, n, to); }), nonzero > 0) << n;
    EXPECT_EQ(stored<bool>([&](bool* to) { onefold::none_into(where(), z, n, to); }), nonzero == 0) << n;

    M of_batch{};
    std::uint64_t counted = 0;
    onefold::batch work(where());
    work.add(onefold::mean_variance, z, n, &of_batch);
    work.add<form::count>(z, n, &counted).run();
    expect_same(of_batch, moments, "mean_variance in a batch", n);
    EXPECT_EQ(counted, nonzero) << n;
  }

  // Of c64 accumulated in c128.
  void expect_the_wide_page(const std::vector<std::complex<float>>& x, const std::complex<float>* z, const std::complex<float>* y,
                            const std::complex<double>& dot) {
    using of_page = page<float, double>;
    using Z = std::complex<double>;
    constexpr auto wide = onefold::accumulate_as<Z>;
    const std::size_t n = x.size();
    expect_same(onefold::sum(where(), z, n, wide), of_page::sum(x), "wide sum", n);
    expect_same(onefold::prod(where(), z, n, wide), of_page::prod(x), "wide prod", n);
    expect_same(onefold::dot(where(), z, y, n, wide), dot, "wide dot", n);
    expect_same(onefold::mean(where(), z, n, wide), of_page::mean(x), "wide mean", n);
    expect_same(onefold::norm1(where(), z, n, wide), of_page::norm1(x), "wide norm1", n);
    const auto* const parts = reinterpret_cast<const float*>(z);
    constexpr auto in_double = onefold::accumulate_as<double>;
    expect_same(onefold::norm2(where(), z, n, wide), onefold::norm2(where(), parts, 2 * n, in_double), "wide norm2", n);
    expect_same(onefold::sum_of_squares(where(), z, n, wide), onefold::sum_of_squares(where(), parts, 2 * n, in_double),
                "wide sum_of_squares", n);
    const auto sample = of_page::mean_variance(x, onefold::ddof{1});
    expect_same(onefold::mean_variance(where(), z, n, wide), of_page::mean_variance(x, onefold::ddof{0}), "wide mean_variance", n);
    expect_same(onefold::mean_variance(where(), z, n, wide, onefold::ddof{1}), sample, "wide mean_variance of a sample", n);

    using M = onefold::mean_variance_result<Z>;
    expect_same(stored<M>([&](M* to) { onefold::mean_variance_into(where(), z, n, to, onefold::ddof{1}, wide); }), sample,
                "wide mean_variance, stored", n);
    expect_same(stored<Z>([&](Z* to) { onefold::mean_into(where(), z, n, to, wide); }), of_page::mean(x), "wide mean, stored", n);
    expect_same(stored<double>([&](double* to) { onefold::norm1_into(where(), z, n, to, wide); }), of_page::norm1(x),
                "wide norm1, stored", n);
    Z total, product;
    double norm = 0;
    onefold::batch work(where());
    work.add(onefold::sum, z, n, &total, wide)
        .add(onefold::dot, z, y, n, &product, wide)
        .add(onefold::norm2, z, n, &norm, wide)
        .run();
    expect_same(total, of_page::sum(x), "wide sum in a batch", n);
    expect_same(product, dot, "wide dot in a batch", n);
    expect_same(norm, onefold::norm2(where(), parts, 2 * n, in_double), "wide norm2 in a batch", n);
    count_dispatch(where());
  }

  template <class T>
  void expect_the_page(const std::vector<std::complex<T>>& x, const std::vector<std::complex<T>>& y, std::size_t off) {
    using of_page = page<T>;
    const std::size_t n = x.size();
    const placed<T> at(where(), x, off), other(where(), y, 0);
    const auto* const z = at.data();
    expect_same(onefold::sum(where(), z, n), of_page::sum(x), "sum", n);
    expect_same(onefold::prod(where(), z, n), of_page::prod(x), "prod", n);
    expect_same(onefold::dot(where(), z, other.data(), n), of_page::dot(x, y), "dot", n);
    expect_same(onefold::mean(where(), z, n), of_page::mean(x), "mean", n);
    expect_same(onefold::norm1(where(), z, n), of_page::norm1(x), "norm1", n);
    expect_same(onefold::norm_inf(where(), z, n), of_page::norm_inf(x), "norm_inf", n);
    const auto* const parts = reinterpret_cast<const T*>(z);
    expect_same(onefold::norm2(where(), z, n), onefold::norm2(where(), parts, 2 * n), "norm2", n);
    expect_same(onefold::sum_of_squares(where(), z, n), onefold::sum_of_squares(where(), parts, 2 * n), "sum_of_squares", n);
    expect_the_page_of_states(x, z);
    if constexpr (std::is_same_v<T, float>) expect_the_wide_page(x, z, other.data(), page<float, double>::dot(x, y));
    count_dispatch(where());

    guarded_output output(memory_for(where()), onefold::element_type_of<T>, 2 * sizeof(T));
    onefold::dot_into(where(), z, other.data(), n, static_cast<std::complex<T>*>(output.address()));
    onefold::synchronize(where());
    std::complex<T> stored;
    std::memcpy(static_cast<void*>(&stored), output.bytes().data(), sizeof(stored));
    expect_same(stored, of_page::dot(x, y), "dot, stored", n);
    EXPECT_TRUE(output.surroundings_unchanged() && at.unchanged() && other.unchanged());

    std::complex<T> total;
    T norm = 0;
    onefold::batch work(where());
    work.add(onefold::sum, z, n, &total).add(onefold::norm2, z, n, &norm).run();
    expect_same(total, of_page::sum(x), "sum in a batch", n);
  }
};

TEST_P(complex_numbers, are_reduced_as_the_page_says) {
  with_parts([&]<class T>(T) {
    constexpr std::size_t tile = 16 * page<T>::lanes;
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{2}, page<T>::lanes + 1, tile - 1, tile, tile + 1, 2 * tile, 35 * tile + 3})
      for (const std::size_t off : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
        expect_the_page(numbers<T>(n, 1), numbers<T>(n, 2), off);
  });
}

TEST_P(complex_numbers, of_many_elements) {
  with_parts([&]<class T>(T) { expect_the_page(numbers<T>((1U << 18) + 5, 3), numbers<T>((1U << 18) + 5, 4), 1); });
}

TEST_P(complex_numbers, of_special_parts) {
  with_parts([&]<class T>(T) {
    constexpr T huge = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T parts[] = {huge, -huge, tiny, -tiny, infinity, -infinity, nan, T(0), -T(0), T(1), T(-3)};
    for (const T a : parts)
      for (const T b : parts) {
        expect_the_page<T>({{a, b}}, {{b, a}}, 0);
        expect_the_page<T>({{T(1), T(2)}, {a, b}, {b, T(0.5)}}, {{a, a}, {T(1), b}, {T(3), T(4)}}, 1);
      }
  });
}

// Groups of any number of tiles, the last perhaps in part; and numbers that are all nearly as large, so that roundings decide, or so large or small that
// their squares are no numbers of the type.
TEST_P(complex_numbers, of_all_sizes_have_the_products_and_norms_of_the_page) {
  with_parts([&]<class T>(T) {
    using C = std::complex<T>;
    constexpr bool single = sizeof(T) == sizeof(float);
    constexpr std::size_t lanes = page<T>::lanes, tile = 16 * lanes;
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const auto expect = [&](const std::vector<C>& x, const char* what) {
      SCOPED_TRACE(what);
      const std::size_t n = x.size();
      const placed<T> at(where(), x, 1);
      expect_same(onefold::prod(where(), at.data(), n), page<T>::prod(x), "prod", n);
      expect_same(onefold::norm1(where(), at.data(), n), page<T>::norm1(x), "norm1", n);
      expect_same(onefold::norm_inf(where(), at.data(), n), page<T>::norm_inf(x), "norm_inf", n);
      if constexpr (single) {
        using of_page = page<float, double>;
        constexpr auto wide = onefold::accumulate_as<std::complex<double>>;
        expect_same(onefold::prod(where(), at.data(), n, wide), of_page::prod(x), "wide prod", n);
        expect_same(onefold::norm1(where(), at.data(), n, wide), of_page::norm1(x), "wide norm1", n);
        expect_same(onefold::dot(where(), at.data(), at.data(), n, wide), of_page::dot(x, x), "wide dot", n);
      }
      count_dispatch(where());
    };
    for (const std::size_t n : {lanes - 1, 3 * lanes + 2, 257 * lanes / 16, 5 * tile, 6 * tile + lanes, 7 * tile + 1,
                                13 * tile + lanes - 1, 32 * tile, 47 * tile + 5 * lanes + 3}) {
      auto phases = numbers<T>(n, 5);
      for (C& z : phases) z = z == C() ? C(0, -1) : z / std::abs(z);
      const auto scaled = [&](const auto& exponent_of) {
        auto x = phases;
        for (std::size_t i = 0; i < n; ++i) {
          const int by = exponent_of(i);
          x[i] = {std::ldexp(x[i].real(), by), std::ldexp(x[i].imag(), by)};
        }
        return x;
      };
      const auto by = [](int exponent) { return [=](std::size_t) { return exponent; }; };
      expect(phases, "as large as 1");
      expect(scaled(by(single ? 62 : 480)), "large");
      expect(scaled(by(single ? 118 : 1000)), "larger");
      expect(scaled(by(single ? -62 : -484)), "small");
      expect(scaled(by(single ? -130 : -1040)), "smaller");
      expect(scaled([](std::size_t i) { return (static_cast<int>(i * 37 % 31) - 15) * (single ? 8 : 64); }), "of any size");
      expect(std::vector<C>(n), "zeros");
      auto one = phases;
      one[n / 2] = {T(1), -infinity};
      expect(one, "an infinity");
      one[n / 3] = {nan, T(0)};
      expect(one, "a NaN");
    }
  });
}

// Of two numbers the one with the larger sum of squares in floats is the smaller one. There are no such doubles.
TEST_P(complex_numbers, have_the_norm_of_the_largest_where_floats_take_another_for_it) {
  with_parts([&]<class T>(T) {
    using C = std::complex<T>;
    const auto square = [](const C& z) {
      const T aa = z.real() * z.real(), bb = z.imag() * z.imag();
      return aa + bb;
    };
    auto phases = numbers<T>(400, 6);
    for (C& z : phases) z = z == C() ? C(0, -1) : z / std::abs(z);
    const auto expect = [&](const std::vector<C>& x) {
      const placed<T> at(where(), x, 0);
      expect_same(onefold::norm_inf(where(), at.data(), x.size()), page<T>::norm_inf(x), "norm_inf", x.size());
      count_dispatch(where());
    };
    expect(phases);
    int pairs = 0;
    for (const C& one : phases)
      for (const C& other : phases) {
        if (pairs == 20 || square(one) <= square(other) || modulus(one) >= modulus(other)) continue;
        ++pairs;
        std::vector<C> x(2000);
        x[150] = one;
        x[1700] = other;
        expect(x);
      }
    EXPECT_EQ(pairs, sizeof(T) == sizeof(float) ? 20 : 0);
  });
}

TEST_P(complex_numbers, that_are_not_zero_are_found_wherever_they_are) {
  with_parts([&]<class T>(T) {
    constexpr std::size_t n = 16 * page<T>::lanes + 19;
    std::vector<std::complex<T>> x(n, {T(0), -T(0)});
    const auto count = [&] {
      const placed<T> at(where(), x, 1);
      return onefold::count(where(), at.data(), n);
    };
    EXPECT_EQ(count(), 0U);
    const std::size_t step = memory_for(where()) == memory::host ? 1 : 17;  // a copy to the device each time
    constexpr T tiny = std::numeric_limits<T>::denorm_min(), nan = std::numeric_limits<T>::quiet_NaN();
    const std::complex<T> some[] = {{tiny, T(0)}, {T(0), -tiny}, {nan, T(0)}, {-T(0), T(1)}};
    for (std::size_t i = 0; i < n; i += step) {
      x[i] = some[i % std::size(some)];
      const placed<T> at(where(), x, 0);
      const auto* const z = at.data();
      ASSERT_EQ(onefold::count(where(), z, n), 1U) << i;
      ASSERT_TRUE(onefold::any(where(), z, n) && !onefold::none(where(), z, n) && !onefold::all(where(), z, n)) << i;
      x[i] = {};
    }
    count_dispatch(where());
  });
}

TEST_P(complex_numbers, of_no_elements) {
  with_parts([&]<class T>(T) {
    using C = std::complex<T>;
    const C* const nowhere = nullptr;
    expect_same(onefold::sum(where(), nowhere, 0), C(0, 0), "sum", 0);
    expect_same(onefold::prod(where(), nowhere, 0), C(1, 0), "prod", 0);
    expect_same(onefold::dot(where(), nowhere, nowhere, 0), C(0, 0), "dot", 0);
    expect_same(onefold::mean(where(), nowhere, 0), canonical(C(NAN, NAN)), "mean", 0);
    count_dispatch(where());
    for (const auto& norm : {onefold::norm1(where(), nowhere, 0), onefold::norm2(where(), nowhere, 0),
                             onefold::norm_inf(where(), nowhere, 0), onefold::sum_of_squares(where(), nowhere, 0)})
      expect_same(norm, T(0), "a norm", 0);
    expect_same(onefold::mean_variance(where(), nowhere, 0), {canonical(C(NAN, NAN)), canonical(T(NAN))}, "mean_variance", 0);
    if constexpr (std::is_same_v<T, float>) {
      using Z = std::complex<double>;
      constexpr auto wide = onefold::accumulate_as<Z>;
      expect_same(onefold::sum(where(), nowhere, 0, wide), Z(0, 0), "wide sum", 0);
      expect_same(onefold::prod(where(), nowhere, 0, wide), Z(1, 0), "wide prod", 0);
      expect_same(onefold::dot(where(), nowhere, nowhere, 0, wide), Z(0, 0), "wide dot", 0);
      expect_same(onefold::mean(where(), nowhere, 0, wide), canonical(Z(NAN, NAN)), "wide mean", 0);
      for (const auto& norm : {onefold::norm1(where(), nowhere, 0, wide), onefold::norm2(where(), nowhere, 0, wide),
                               onefold::sum_of_squares(where(), nowhere, 0, wide)})
        expect_same(norm, 0.0, "a wide norm", 0);
      expect_same(onefold::mean_variance(where(), nowhere, 0, wide), {canonical(Z(NAN, NAN)), canonical(double(NAN))},
                  "wide mean_variance", 0);
    }
    EXPECT_EQ(onefold::count(where(), nowhere, 0), 0U);
    EXPECT_TRUE(onefold::all(where(), nowhere, 0) && onefold::none(where(), nowhere, 0) && !onefold::any(where(), nowhere, 0));
  });
}

INSTANTIATE_TEST_SUITE_P(forms, complex_numbers, testing::ValuesIn(complex_cases()), name_of);

TEST(complex_calls, accumulate_in_the_wider_type_where_they_round) {
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  using wide = onefold::accumulate_as_t<c128>;
  const auto& as_wide = onefold::accumulate_as<c128>;
  // As floats 2^24 + 1 + 1 is 2^24, and 2^12 (2^12 + 1) + 1 is no number.
  const std::vector<c64> x{{0x1p24F, 1}, {1, 0}, {1, -2}}, y{{0x1p12F, 0}, {1, 1}, {0, 0}},
      z{{0x1.002p12F, 0x1p12F}, {0, 1}, {1, 1}};
  static_assert(std::is_same_v<decltype(onefold::sum(x, as_wide)), c128>);
  static_assert(std::is_same_v<decltype(onefold::norm1(x, as_wide)), double>);
  EXPECT_EQ(onefold::sum(x, as_wide), c128(0x1p24 + 2, -1));
  EXPECT_EQ(onefold::dot(onefold::serial(), y, z, as_wide), c128(0x1p24 + 0x1p13 + 1, 0x1p24 + 1));
  EXPECT_EQ(onefold::sum_of_squares(onefold::serial(), x, as_wide), 0x1p48 + 1 + 1 + 1 + 4);
  EXPECT_EQ(onefold::norm2(onefold::serial(), std::vector<c64>{{3e38F, -3e38F}}, as_wide),
            std::sqrt(2 * double(3e38F) * double(3e38F)));
  const std::vector<c64> neighbours{{0x1p24F, 1}, {0x1p24F + 2, 2}};
  const auto between = onefold::mean_variance(onefold::serial(), neighbours, as_wide, onefold::ddof{1});
  EXPECT_EQ(between.mean, c128(0x1p24 + 1, 1.5));
  EXPECT_EQ(between.variance, 2.5);
  const std::uint64_t two = 2;
  EXPECT_EQ(onefold::sum(onefold::serial(), x.data(), 3, as_wide, onefold::count_at{&two}), c128(0x1p24 + 1, 1));
  const c64* const place = x.data();
  EXPECT_EQ(onefold::norm1(onefold::openmp(), onefold::array_at<c64>{&place}, 2, as_wide), std::sqrt(0x1p48 + 1) + 1);

  // The type that is accumulated in anyway may be named.
  EXPECT_EQ(onefold::sum(x, onefold::accumulate_as<c64>), onefold::sum(x));
  EXPECT_EQ(onefold::norm2(std::vector<c128>{{3, 4}}, as_wide), 5.0);
  static_assert(std::is_invocable_v<decltype(onefold::prod), std::vector<c64>, wide>);
  static_assert(!std::is_invocable_v<decltype(onefold::norm_inf), std::vector<c64>, wide>);
  static_assert(!std::is_invocable_v<decltype(onefold::sum), std::vector<c128>, onefold::accumulate_as_t<c64>>);
  static_assert(!std::is_invocable_v<decltype(onefold::sum), std::vector<c64>, onefold::accumulate_as_t<double>>);
  static_assert(!std::is_invocable_v<decltype(onefold::sum), std::vector<float>, wide>);

  const onefold_c64 numbers[] = {{0x1p24F, 1}, {1, 0}, {1, -2}};
  onefold_c128 sum{}, product{}, dot{};
  onefold_mean_variance_result_c128 moments{};
  double norm = 0;
  EXPECT_EQ(onefold_sum_c64_as_c128(onefold_serial(), numbers, 3, &sum), ONEFOLD_OK) << onefold_last_error();
  EXPECT_TRUE(sum.real == 0x1p24 + 2 && sum.imaginary == -1);
  EXPECT_EQ(onefold_prod_c64_as_c128_into(onefold_serial(), numbers, 3, &product, nullptr), ONEFOLD_OK) << onefold_last_error();
  EXPECT_TRUE(product.real == 0x1p24 + 2 && product.imaginary == 1 - 0x1p25) << product.real << " " << product.imaginary;
  EXPECT_EQ(onefold_dot_c64_as_c128(onefold_serial(), numbers, numbers, 3, &dot), ONEFOLD_OK) << onefold_last_error();
  EXPECT_TRUE(dot.real == 0x1p48 + 7 && dot.imaginary == 0);
  EXPECT_EQ(onefold_norm2_c64_as_c128(onefold_serial(), numbers, 3, &norm), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(norm, std::sqrt(0x1p48 + 7));
  const onefold_c64 of_moments[] = {{0x1p24F, 1}, {0x1p24F + 2, 2}};
  EXPECT_EQ(onefold_mean_variance_c64_as_c128(onefold_serial(), of_moments, 2, 0, &moments), ONEFOLD_OK) << onefold_last_error();
  EXPECT_TRUE(moments.mean.real == 0x1p24 + 1 && moments.mean.imaginary == 1.5 && moments.variance == 1.25);

  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.where = onefold_serial();
  asked.input = numbers;
  asked.count = 3;
  asked.output = &sum;
  asked.flags = ONEFOLD_WIDE;
  const auto refused = [&](element_type type, form what) {
    asked.type = static_cast<std::int32_t>(type);
    asked.form = static_cast<std::int32_t>(what);
    return onefold_reduce(&asked, nullptr) == ONEFOLD_UNSUPPORTED &&
           std::string(onefold_last_error()).find("cannot be accumulated in a wider type") != std::string::npos;
  };
  for (const form what : {form::norm_inf, form::count, form::all, form::any, form::none})
    EXPECT_TRUE(refused(element_type::c64, what)) << onefold::name(what);
  for (const form what : {form::sum, form::norm1, form::norm2, form::mean_variance})
    EXPECT_TRUE(refused(element_type::c128, what)) << onefold::name(what);
  asked.type = ONEFOLD_C64;
  asked.form = ONEFOLD_SUM;
  asked.output = reinterpret_cast<std::byte*>(&sum) + 4;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_MISALIGNED_POINTER);
}

// Roots near the middle between two floats, and those that are no normal floats, by themselves at each place of a tile: a sum with zeros has their bits.
TEST(complex_calls, round_absolute_values_of_floats_as_roots_of_doubles) {
  std::vector<std::complex<float>> hard;
  const auto last_bits = [](double x) { return std::bit_cast<std::uint64_t>(x) & 0x1fffffff; };
  for (std::uint32_t i = 1; hard.size() < 3000;
       ++i) {  // a root of 1 + b b that is about half a unit of the last place above a float
    const float a = 1 + static_cast<float>(i) * 0x1p-20F;
    float b = std::sqrt(a * 0x1p-23F);
    for (int next = 0; next < 3; ++next, b = std::nextafter(b, 1.0F)) {
      const std::uint64_t bits = last_bits(modulus_in_double({a, b}));
      if (bits >= 0x10000000 - 20 && bits <= 0x10000000 + 20) hard.push_back(i % 2 == 0 ? std::complex{a, b} : std::complex{-b, a});
    }
  }
  const std::size_t near = hard.size();
  for (std::size_t i = 0; i < near; i += 3) {  // the same where floats begin and end
    const auto scaled = [&](int by) { return std::complex{std::ldexp(hard[i].real(), by), std::ldexp(hard[i].imag(), by)}; };
    hard.push_back(scaled(127));
    hard.push_back(scaled(-110));
    hard.push_back(scaled(-127));
    hard.push_back(scaled(-140));
  }
  const float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  for (const float a : {most, least, 0x1p-126F, 0x1.fffffep-127F, 0x1.fffffep63F, std::numeric_limits<float>::infinity()})
    for (const float b : {0.0F, -0.0F, least, 3 * least, most, 0x1p103F, 0x1.000002p103F, 0x1p-126F}) hard.emplace_back(a, b);

  constexpr std::size_t tile = 1024;
  std::vector<std::complex<float>> x(tile);
  int wrong = 0;
  for (std::size_t i = 0; i < hard.size(); ++i) {
    auto& here = x[i * 389 % tile];
    here = hard[i];
    const float found = onefold::norm1(onefold::serial(), x.data(), tile), wanted = modulus(hard[i]);
    here = {};
    if (std::memcmp(&found, &wanted, sizeof(found)) == 0) continue;
    if (++wrong == 1) ADD_FAILURE() << hard[i] << ": " << found << " in the place of " << wanted;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(complex_calls, are_those_of_the_forms_that_have_a_meaning) {
  using C = std::complex<double>;
  const std::vector<C> x{{3, 4}, {0, 1}};
  EXPECT_EQ(onefold::norm1(x), 6.0);
  EXPECT_EQ(onefold::norm_inf(x), 5.0);
  EXPECT_EQ(onefold::dot(onefold::serial(), x, x), C(26, 0));
  static_assert(!std::is_invocable_v<decltype(onefold::min), std::vector<C>>);
  static_assert(!std::is_invocable_v<decltype(onefold::argmax), std::vector<C>>);
  static_assert(!std::is_invocable_v<decltype(onefold::minmax), onefold::executor, const C*, std::size_t>);
  static_assert(!std::is_invocable_v<decltype(onefold::sum), std::vector<C>, onefold::accumulate_as_t<double>>);
  const auto moments = onefold::mean_variance(x);
  EXPECT_EQ(moments.mean, C(1.5, 2.5));
  EXPECT_EQ(moments.variance, 4.5);
  EXPECT_EQ(onefold::mean_variance(onefold::serial(), x, onefold::ddof{1}).variance, 9.0);
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(onefold::norm1(onefold::serial(), x, {.guarantee = onefold::guarantee::exact}));
            }).find("of complex numbers sum, dot, mean, mean_variance, sum_of_squares and norm2 are exact"),
            std::string::npos);

  C result;
  onefold_request asked{};
  asked.struct_bytes = sizeof(asked);
  asked.where = onefold_serial();
  asked.type = ONEFOLD_C128;
  asked.form = ONEFOLD_MIN;
  asked.input = x.data();
  asked.count = 2;
  asked.output = &result;
  for (const int form : {ONEFOLD_MIN, ONEFOLD_MAX, ONEFOLD_MIN_NUMBER, ONEFOLD_MAX_NUMBER, ONEFOLD_ARGMIN, ONEFOLD_ARGMAX,
                         ONEFOLD_ARGMINMAX, ONEFOLD_MINMAX}) {
    asked.form = form;
    EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_UNSUPPORTED);
    EXPECT_NE(std::string(onefold_last_error()).find("complex numbers have no order, so there is no "), std::string::npos);
  }
  asked.form = ONEFOLD_ARGMAX_MAGNITUDE;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_UNSUPPORTED);
  asked.form = ONEFOLD_MEAN_VARIANCE;
  asked.output = nullptr;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_NULL_POINTER);
  asked.output = &result;
  asked.form = ONEFOLD_SUM;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_OK);
  EXPECT_EQ(result, C(3, 5));
  asked.struct_bytes = offsetof(onefold_request, second);  // of an older header
  result = {};
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(result, C(3, 5));
  asked.struct_bytes = sizeof(asked);
  asked.input = nullptr;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_NULL_POINTER);
  asked.input = reinterpret_cast<const char*>(x.data()) + 4;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_MISALIGNED_POINTER);
  asked.input = x.data();
  asked.output = nullptr;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_NULL_POINTER);
  asked.output = const_cast<C*>(x.data()) + 1;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_INVALID_ARGUMENT);
  std::vector<C> y{{1, 0}, {2, 0}};
  asked.form = ONEFOLD_DOT;
  asked.second = y.data();
  asked.output = y.data() + 1;
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::string(onefold_last_error()).find("inside the second input"), std::string::npos) << onefold_last_error();
  EXPECT_EQ(y[1], C(2, 0));
  asked.form = ONEFOLD_SUM;
  asked.second = nullptr;
  asked.output = &result;
  asked.count = ~std::uint64_t{0};
  EXPECT_EQ(onefold_reduce(&asked, nullptr), ONEFOLD_INVALID_ARGUMENT);

  const onefold_c64 small[1] = {{1, -2}};
  onefold_c64 sum;
  float norm = 0;
  EXPECT_EQ(onefold_sum_c64(onefold_serial(), small, 1, &sum), ONEFOLD_OK);
  EXPECT_EQ(sum.imaginary, -2);
  EXPECT_EQ(onefold_norm1_c64_into(onefold_serial(), small, 1, &norm, nullptr), ONEFOLD_OK);
  EXPECT_EQ(norm, std::sqrt(5.0F));

  const onefold_c64 three[3] = {{1, -2}, {3, 2}, {0, 0}};
  onefold_mean_variance_result_c64 of_two{};
  std::uint64_t nonzero = 0;
  std::uint8_t bytes[2] = {7, 7};  // the second at an odd place
  EXPECT_EQ(onefold_mean_variance_c64(onefold_serial(), three, 2, 0, &of_two), ONEFOLD_OK);
  EXPECT_TRUE(of_two.mean.real == 2 && of_two.mean.imaginary == 0 && of_two.variance == 5);
  EXPECT_EQ(onefold_mean_variance_c64_into(onefold_best(), three, 2, 1, &of_two, nullptr), ONEFOLD_OK) << onefold_last_error();
  EXPECT_EQ(of_two.variance, 10);
  EXPECT_EQ(onefold_count_c64(onefold_serial(), three, 3, &nonzero), ONEFOLD_OK);
  EXPECT_EQ(nonzero, 2U);
  EXPECT_EQ(onefold_all_c64(onefold_serial(), three, 3, &bytes[1]), ONEFOLD_OK);
  EXPECT_TRUE(bytes[0] == 7 && bytes[1] == 0);
}

}  // namespace
}  // namespace onefold_test
