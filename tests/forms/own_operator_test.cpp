/// @file own_operator_test.cpp  Operators of the caller's: the tree of the page on values of any size, functions of one to three arrays, an initial
/// value, exceptions; and the checker that finds operators which may not stand in a reduction.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "fused_fixture.hpp"

namespace onefold_test {
namespace {

namespace op = onefold::op;
using onefold::errc;

// A value of N bytes, and an operator on it that commutes and is far from associative: another tree gives other bytes.
template <std::size_t N>
struct bytes {
  std::array<unsigned char, N> of;
  friend bool operator==(const bytes&, const bytes&) = default;
};
template <std::size_t N>
struct mixing {
  bytes<N> operator()(const bytes<N>& a, const bytes<N>& b) const {
    bytes<N> c;
    for (std::size_t k = 0; k < N; ++k) {
      const unsigned x = a.of[k], y = b.of[k];
      c.of[k] = static_cast<unsigned char>((x + y) * 5 + (x ^ y) + k);
    }
    return c;
  }
};
template <std::size_t N>
bytes<N> some_bytes(std::uint64_t seed, std::uint64_t i) {
  const random_numbers random(seed);
  bytes<N> value;
  for (std::size_t k = 0; k < N; ++k) value.of[k] = static_cast<unsigned char>(random.at(i * 64 + k));
  return value;
}

constexpr std::size_t lanes_of(std::size_t value_bytes) {
  std::size_t lanes = 1;
  while (2 * lanes * value_bytes <= 256) lanes *= 2;
  return lanes;
}

class own_operator : public cpu_test {};

TEST_P(own_operator, on_values_of_any_size_is_the_tree_of_the_page) {
  const auto check = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    const std::size_t tile = 16 * lanes_of(N);
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, tile / 16, tile - 1, tile, tile + 1, 3 * tile + 5, 16 * tile,
                                    16 * tile + 1, 37 * tile + 11, 100 * tile + 3}) {
      if (count == 0 || (is_sanitized && count > (N < 8 ? 17 : 50) * tile)) continue;  // 37 tiles are three groups
      std::vector<bytes<N>> x(count);
      const std::uint64_t seed = current_seed();
      for (std::size_t i = 0; i < count; ++i) x[i] = some_bytes<N>(seed, i);
      const bytes<N> expected = *tree_v1(x, mixing<N>{});
      ASSERT_EQ(onefold::reduce(where(), x, mixing<N>{}), expected) << N << " bytes, " << count;
      bytes<N> stored{};
      onefold::reduce_into(where(), x, &stored, mixing<N>{});
      ASSERT_EQ(stored, expected) << N << " bytes, stored, " << count;
      ASSERT_EQ(onefold::transform_reduce(where(), count, mixing<N>{}, [&](std::uint64_t i) { return x[i]; }), expected) << N;
      // With an initial value in front of the tree's, not in it.
      const bytes<N> init = some_bytes<N>(seed + 1, 0);
      ASSERT_EQ(onefold::reduce(where(), x, mixing<N>{}, init), mixing<N>{}(init, expected)) << N << " bytes, init, " << count;
      // Every third value is absent.
      std::vector<std::optional<bytes<N>>> some(count);
      for (std::size_t i = 0; i < count; ++i)
        if (i % 3 != 1) some[i] = x[i];
      ASSERT_EQ(onefold::transform_reduce(where(), count, mixing<N>{}, [&](std::uint64_t i) { return some[i]; }),
                *tree_v1(some, mixing<N>{}))
          << N << " bytes, some absent, " << count;
    }
  };
  const auto all = [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((HasFatalFailure() ? void() : check(std::integral_constant<std::size_t, N>{})), ...);
  };
  // The least and the most bytes of each number of lanes, and some between; with a sanitizer one or two of each.
  if constexpr (is_sanitized)
    all(std::index_sequence<1, 2, 3, 8, 12, 17, 33, 64>{});
  else
    all(std::index_sequence<1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 31, 32, 33, 64>{});
}

// An operator that is a sum of the library's has the bits of the library's sum.
TEST_P(own_operator, that_is_one_of_the_librarys_has_its_bits) {
  for (const std::size_t count : {1u, 65u, 1'025u, 100'003u}) {
    const auto x = any_vector<float>(count, current_seed());
    const auto y = any_vector<double>(count, current_seed());
    EXPECT_EQ(bits_of(onefold::reduce(where(), x, [](float a, float b) { return a + b; })), bits_of(onefold::sum(where(), x)));
    EXPECT_EQ(bits_of(onefold::reduce(where(), y, [](double a, double b) { return a * b; })), bits_of(onefold::prod(where(), y)));
    EXPECT_EQ(bits_of(onefold::reduce(where(), y, op::sum{})), bits_of(onefold::sum(where(), y)));
    EXPECT_EQ(bits_of(onefold::reduce(where(), y, op::min_number{})), bits_of(onefold::min_number(where(), y)));
    const auto k = any_vector<std::uint32_t>(count, current_seed());
    EXPECT_EQ(onefold::reduce(where(), k, op::bit_xor{}), onefold::bit_xor(where(), k));
    EXPECT_EQ(onefold::reduce(where(), k, [](std::uint32_t a, std::uint32_t b) { return a | b; }), onefold::bit_or(where(), k));
    EXPECT_EQ(onefold::reduce(where(), k, op::bit_and{}, 0x0f0fU), onefold::bit_and(where(), k) & 0x0f0fU);
    EXPECT_EQ(bits_of(onefold::reduce(where(), y, [](double a, double b) { return op::min::combine(a, b); })),
              bits_of(onefold::min(where(), y)));
  }
}

TEST_P(own_operator, may_stand_over_one_to_three_arrays) {
  for (const std::size_t count : {1u, 65u, 1'025u, 16'385u, 100'003u}) {
    const auto x = any_vector<double>(count, current_seed());
    const auto y = any_vector<float>(count, current_seed() + 1);
    const auto z = any_vector<std::int32_t>(count, current_seed() + 2);
    std::vector<double> one(count), two(count), three(count);
    const auto f1 = [](double a) { return a * a; };
    const auto f2 = [](double a, float b) { return a * static_cast<double>(b); };
    const auto f3 = [](double a, float b, std::int32_t c) { return a * static_cast<double>(b) + static_cast<double>(c); };
    for (std::size_t i = 0; i < count; ++i) {
      one[i] = f1(x[i]);
      two[i] = f2(x[i], y[i]);
      three[i] = f3(x[i], y[i], z[i]);
    }
    const auto plus = [](double a, double b) { return a + b; };
    for (const bool own : {false, true}) {
      const double of_one =
          own ? onefold::transform_reduce(where(), x, plus, f1) : onefold::transform_reduce(where(), x, op::sum{}, f1);
      const double of_two =
          own ? onefold::transform_reduce(where(), x, y, plus, f2) : onefold::transform_reduce(where(), x, y, op::sum{}, f2);
      const double of_three =
          own ? onefold::transform_reduce(where(), x, y, z, plus, f3) : onefold::transform_reduce(where(), x, y, z, op::sum{}, f3);
      EXPECT_EQ(bits_of(of_one), bits_of(onefold::sum(where(), one))) << count << own;
      EXPECT_EQ(bits_of(of_two), bits_of(onefold::sum(where(), two))) << count << own;
      EXPECT_EQ(bits_of(of_three), bits_of(onefold::sum(where(), three))) << count << own;
    }
    double stored = 0;
    onefold::transform_reduce_into(where(), x, y, z, &stored, plus, f3);
    EXPECT_EQ(bits_of(stored), bits_of(onefold::sum(where(), three)));
    onefold::transform_reduce_into(where(), x, y, &stored, op::max{}, f2, 3.0);
    EXPECT_EQ(bits_of(stored), bits_of(std::max(3.0, onefold::max(where(), two))));
    EXPECT_EQ(bits_of(onefold::transform_reduce(where(), x, y, plus, f2, 2.5)), bits_of(2.5 + onefold::sum(where(), two)));
    EXPECT_EQ(bits_of(onefold::transform_reduce(where(), x, op::sum{}, f1, 2.5)), bits_of(2.5 + onefold::sum(where(), one)));
  }
}

TEST_P(own_operator, takes_arrays_of_one_length) {
  const std::vector<double> x(5), y(6);
  const auto f = [](double a, double b) { return a + b; };
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "5", [&] { static_cast<void>(onefold::transform_reduce(where(), x, y, op::sum{}, f)); }));
  const auto f3 = [](double a, double b, double c) { return a + b + c; };
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "6", [&] { static_cast<void>(onefold::transform_reduce(where(), x, x, y, op::sum{}, f3)); }));
}

TEST_P(own_operator, takes_arrays_that_are_there) {
  const std::vector<double> x(6);
  const double* const none = nullptr;
  const auto longer = [](double a, double b) { return a + b; };
  const auto f = [](double a, double b) { return a * b; };
  EXPECT_TRUE(refuses(errc::null_pointer, "the input pointer is null",
                      [&] { static_cast<void>(onefold::reduce(where(), none, 5, longer)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "the second input pointer is null",
                      [&] { static_cast<void>(onefold::transform_reduce(where(), x.data(), none, 5, op::sum{}, f)); }));
  const auto* const between =
      static_cast<const double*>(static_cast<const void*>(static_cast<const char*>(static_cast<const void*>(x.data())) + 4));
  EXPECT_TRUE(
      refuses(errc::misaligned_pointer, "8 bytes", [&] { static_cast<void>(onefold::reduce(where(), between, 5, longer)); }));
  EXPECT_EQ(onefold::reduce(where(), none, 0, longer, 2.0), 2.0) << "of no elements nothing is read";
}

TEST_P(own_operator, of_nothing_needs_an_initial_value) {
  const std::vector<double> nothing;
  const std::vector<bytes<24>> no_bytes;
  const auto plus = [](double a, double b) { return a + b; };
  const auto same = [](double a) { return a; };
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "initial value", [&] { static_cast<void>(onefold::reduce(where(), nothing, plus)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value",
                      [&] { static_cast<void>(onefold::reduce(where(), no_bytes, mixing<24>{})); }));
  EXPECT_EQ(bits_of(onefold::reduce(where(), nothing, plus, -0.0)), bits_of(-0.0));
  const auto init = some_bytes<24>(1, 2);
  EXPECT_EQ(onefold::reduce(where(), no_bytes, mixing<24>{}, init), init);
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), nothing, op::sum{}, same)), bits_of(0.0));
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), nothing, op::sum{}, same, -0.0)), bits_of(-0.0));
  // All absent is the same as nothing.
  const auto absent = [](std::uint64_t) { return std::optional<double>(); };
  EXPECT_TRUE(refuses(errc::invalid_argument, "initial value",
                      [&] { static_cast<void>(onefold::transform_reduce(where(), 5'000, plus, absent)); }));
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), 5'000, plus, absent, -0.0)), bits_of(-0.0));
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), 5'000, op::sum{}, absent, -0.0)), bits_of(-0.0));
  double stored = 7;
  onefold::reduce_into(where(), nothing, &stored, plus, 4.0);
  EXPECT_EQ(stored, 4);
}

TEST_P(own_operator, may_throw_and_the_next_call_works) {
  const auto x = any_vector<double>(300'003, current_seed());
  std::atomic<int> left = 0;
  const auto plus = [&](double a, double b) {
    if (left.fetch_sub(1) == 0) throw std::domain_error("enough");
    return a + b;
  };
  for (const int calls : {0, 100, 100'000, 300'000}) {
    left = calls;
    EXPECT_THROW(static_cast<void>(onefold::reduce(where(), x, plus)), std::domain_error) << "after " << calls << " calls";
    EXPECT_EQ(bits_of(onefold::reduce(where(), x, [](double a, double b) { return a + b; })), bits_of(onefold::sum(where(), x)));
  }
}

// A struct as codes have it: the largest, where it is, and how many.
struct summary {
  double largest;
  std::int64_t where;
  std::uint64_t count;
};

TEST_P(own_operator, may_be_a_struct_of_the_callers) {
  const auto x = any_vector<double>(70'001, current_seed());
  const auto merge = [](const summary& a, const summary& b) {
    const bool first = a.largest > b.largest || (a.largest == b.largest && a.where < b.where);
    return summary{first ? a.largest : b.largest, first ? a.where : b.where, a.count + b.count};
  };
  const auto got = onefold::transform_reduce(where(), x.size(), merge, [&](std::uint64_t i) {
    return summary{x[i], static_cast<std::int64_t>(i), 1};
  });
  const auto expected = onefold::argmax(where(), x);
  EXPECT_EQ(bits_of(got.largest), bits_of(expected.value));
  EXPECT_EQ(static_cast<std::uint64_t>(got.where), expected.index);
  EXPECT_EQ(got.count, x.size());
}

INSTANTIATE_TEST_SUITE_P(operators, own_operator, testing::ValuesIn(cpu_executors()), param_name);

// --- the checker for users' operators

TEST(operator_fault, finds_nothing_in_operators_that_may_stand_in_a_reduction) {
  const auto is_fine = [](auto op, const auto& samples) {
    const auto fault = onefold::operator_fault(op, samples);
    EXPECT_EQ(fault, std::nullopt) << fault.value_or("");
  };
  const auto doubles = any_vector<double>(40, 1);
  const auto floats = any_vector<float>(40, 2);
  const auto integers = any_vector<std::uint32_t>(40, 3);
  is_fine([](double a, double b) { return a + b; }, std::vector<double>{1, 1e-3, -7, 0.1, 12345.678, -1e5, 3e-8});
  is_fine([](double a, double b) { return a * b; }, std::vector<double>{1, 1e-3, -7, 0.1, 12345.678, -1e5, 3e-8});
  is_fine([](float a, float b) { return a + b; }, floats);
  is_fine([](double a, double b) { return a > b ? a : b; }, doubles);
  is_fine([](double a, double b) { return std::hypot(a, b); }, std::vector<double>{1, 2, 0.5, 17, 1e-9});
  is_fine([](std::uint32_t a, std::uint32_t b) { return a ^ b; }, integers);
  is_fine([](std::uint32_t a, std::uint32_t b) { return a * b; }, integers);
  is_fine([](bool a, bool b) { return a || b; }, std::array<bool, 2>{false, true});
}

TEST(operator_fault, finds_operators_that_do_not_commute) {
  const auto words = [](auto op, const auto& samples) { return onefold::operator_fault(op, samples).value_or("none was found"); };
  EXPECT_NE(words([](double a, double b) { return a - b; }, std::vector<double>{1, 2, 3}).find("commut"), std::string::npos);
  EXPECT_NE(words([](double a, double) { return a; }, std::vector<double>{1, 2, 3}).find("commut"), std::string::npos)
      << "the first one";
  EXPECT_NE(words([](double a, double b) { return a > b ? a : b; }, std::vector<double>{1, 0.0, -0.0}).find("commut"),
            std::string::npos)
      << "zeros of both signs";
  EXPECT_NE(words([](double a, double b) { return a > b ? a : b; }, std::vector<double>{1, std::nan("")}).find("commut"),
            std::string::npos)
      << "a NaN";
  struct matrix {
    int a, b, c, d;
    bool operator==(const matrix&) const = default;
  };
  const auto multiply = [](const matrix& x, const matrix& y) {
    return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  };
  EXPECT_NE(words(multiply, std::vector<matrix>{{1, 2, 3, 4}, {0, 1, 1, 0}, {2, 0, 0, 5}}).find("commut"), std::string::npos);
}

TEST(operator_fault, finds_operators_that_are_not_associative) {
  const auto words = [](auto op, const auto& samples) { return onefold::operator_fault(op, samples).value_or("none was found"); };
  EXPECT_NE(words([](double a, double b) { return (a + b) / 2; }, std::vector<double>{1, 2, 3}).find("associative"),
            std::string::npos);
  EXPECT_NE(words([](double a, double b) { return std::fabs(a - b); }, std::vector<double>{1, 2, 3}).find("associative"),
            std::string::npos);
  EXPECT_NE(words([](int a, int b) { return (a + b) % 10 / 2; }, std::vector<int>{1, 2, 3, 9}).find("associative"),
            std::string::npos);
  EXPECT_NE(
      words(mixing<3>{}, std::vector<bytes<3>>{some_bytes<3>(1, 1), some_bytes<3>(1, 2), some_bytes<3>(1, 3)}).find("associative"),
      std::string::npos);
}

TEST(operator_fault, takes_the_callers_word_for_what_is_close) {
  struct pair {
    double sum, error;
  };
  const auto add = [](const pair& a, const pair& b) { return pair{a.sum + b.sum, a.error + b.error}; };
  const std::vector<pair> samples{{1, 0}, {1e-3, 1}, {7.25, -3}, {0.1, 0.2}};
  const auto close = [](const pair& a, const pair& b) {
    return std::fabs(a.sum - b.sum) < 1e-12 && std::fabs(a.error - b.error) < 1e-12;
  };
  EXPECT_EQ(onefold::operator_fault(add, samples, close), std::nullopt);
  const auto minus = [](const pair& a, const pair& b) { return pair{a.sum - b.sum, a.error + b.error}; };
  EXPECT_NE(onefold::operator_fault(minus, samples, close), std::nullopt);
}

}  // namespace
}  // namespace onefold_test
