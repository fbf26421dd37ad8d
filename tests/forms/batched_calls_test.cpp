/// @file batched_calls_test.cpp  What a batch keeps beside arrays: functions of the index, operators of the caller's, several operators in one read, several
/// dots. Each has the bits that it has alone.

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::errc;
namespace op = onefold::op;

/// On the CPU: translation units that nvcc does not compile have no functions for a GPU.
class a_batch_of_calls : public dispatching_test, public testing::WithParamInterface<const executor_under_test*> {
 protected:
  static constexpr std::uint64_t most = 100'003;

  void SetUp() override {
    start(*GetParam());
    if (IsSkipped()) return;
    x_.resize(most);
    y_.resize(most);
    f_.resize(most);
    std::uint64_t bits = 7;
    const auto next = [&bits] {
      bits = bits * 6364136223846793005U + 1442695040888963407U;
      return static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
    };
    for (double& one : x_) one = next();
    for (double& one : y_) one = next();
    for (float& one : f_) one = static_cast<float>(next());
  }
  [[nodiscard]] const onefold::executor& where() const { return GetParam()->where; }
  [[nodiscard]] std::span<const double> x(std::uint64_t n) const { return std::span(x_).first(n); }
  [[nodiscard]] std::span<const double> y(std::uint64_t n) const { return std::span(y_).first(n); }
  [[nodiscard]] std::span<const float> f(std::uint64_t n) const { return std::span(f_).first(n); }

 private:
  std::vector<double> x_, y_;
  std::vector<float> f_;
};

template <class T>
void expect_bits(const T& got, const T& alone, const std::string& what) {
  EXPECT_EQ(std::memcmp(&got, &alone, sizeof(T)), 0) << what;
}

struct longest {  // commutes, and is associative to the bit
  double operator()(double a, double b) const { return std::abs(a) > std::abs(b) || (std::abs(a) == std::abs(b) && a > b) ? a : b; }
};
struct span_of_values {
  double low;
  double high;
};
struct joined {
  span_of_values operator()(const span_of_values& a, const span_of_values& b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
};

constexpr std::uint64_t sizes[] = {1, 2, 511, 513, 4096, 33'000, 100'003};

TEST_P(a_batch_of_calls, has_functions_of_the_index) {
  const auto& at = where();
  for (const std::uint64_t n : sizes) {
    const auto a = x(n), b = y(n);
    const auto c = f(n);
    const auto product = [=](std::uint64_t i) { return a[i] * b[i]; };
    const auto two = [=](std::uint64_t i) { return std::array<double, 2>{a[i], b[i]}; };
    const auto some = [=](std::uint64_t i) { return a[i] > 0 ? std::optional(a[i]) : std::nullopt; };
    const auto floats = [=](std::uint64_t i) { return c[i]; };
    const auto is_large = [=](std::uint64_t i) { return a[i] > 0.5; };
    double sum = 0, norm = 0, positive = 0, mean = 0, wide = 0, rho = 0;
    std::array<double, 2> both{}, norms{};
    onefold::mean_variance_result<double> moments{}, of_some{};
    onefold::arg_result<float> largest{};
    onefold::minmax_result<double> range{};
    std::uint64_t large = 0;
    bool any_large = false;
    onefold::batch work(at);
    work.add(onefold::sum, n, product, &sum)
        .add(onefold::norm2, n, product, &norm)
        .add(onefold::dot, a, b, &rho)
        .add(onefold::sum, n, two, &both)
        .add(onefold::norm2, n, two, norms.data())
        .add(onefold::sum, n, some, &positive)
        .add(onefold::mean, n, some, &mean)
        .add(onefold::mean_variance, n, some, &of_some)
        .add(onefold::sum, n, floats, &wide, onefold::accumulate_as<double>)
        .add(onefold::mean_variance, n, product, &moments, onefold::ddof{1})
        .add(onefold::argmax, n, floats, &largest)
        .add(onefold::minmax, n, some, &range)
        .add<form::count>(n, is_large, &large)
        .add<form::any>(n, is_large, &any_large);
    ASSERT_EQ(work.size(), 14U);
    for (int again = 0; again < 2; ++again) {
      work.run();
      count_dispatch(at);
      expect_bits(sum, onefold::sum(at, n, product), "sum");
      expect_bits(norm, onefold::norm2(at, n, product), "norm2");
      expect_bits(rho, onefold::dot(at, a, b), "dot of arrays beside them");
      expect_bits(both, onefold::sum(at, n, two), "two sums");
      expect_bits(norms, onefold::norm2(at, n, two), "two norms");
      expect_bits(positive, onefold::sum(at, n, some), "sum of some");
      expect_bits(mean, onefold::mean(at, n, some), "mean of some");
      expect_bits(of_some, onefold::mean_variance(at, n, some), "mean_variance of some");
      expect_bits(wide, onefold::sum(at, n, floats, onefold::accumulate_as<double>), "wide sum");
      expect_bits(moments, onefold::mean_variance(at, n, product, onefold::ddof{1}), "mean_variance");
      const auto alone = onefold::argmax(at, n, floats);
      EXPECT_EQ(largest.value, alone.value);
      EXPECT_EQ(largest.index, alone.index);
      expect_bits(range, onefold::minmax(at, n, some), "minmax of some");
      EXPECT_EQ(large, onefold::count(at, n, is_large));
      EXPECT_EQ(any_large, onefold::any(at, n, is_large));
      sum = norm = rho = positive = mean = wide = -1;
    }
  }
}

TEST_P(a_batch_of_calls, has_boxes) {
  const auto a = x(most);
  const auto plane = [=](std::int64_t j, std::int64_t i) { return a[static_cast<std::size_t>(j * 300 + i)]; };
  const auto cube = [=](std::int64_t k, std::int64_t j, std::int64_t i) {
    return a[static_cast<std::size_t>((k * 30 + j) * 100 + i)];
  };
  double inner = 0, all = 0;
  onefold::batch work(where());
  work.add(onefold::sum, onefold::box({1, 299}, {1, 299}), plane, &inner)
      .add(onefold::norm1, onefold::box(30, 30, 100), cube, &all);
  work.run();
  count_dispatch(where());
  expect_bits(inner, onefold::sum(where(), onefold::box({1, 299}, {1, 299}), plane), "sum of a box");
  expect_bits(all, onefold::norm1(where(), onefold::box(30, 30, 100), cube), "norm1 of a box");
}

TEST_P(a_batch_of_calls, has_several_operators_and_several_dots) {
  const auto& at = where();
  for (const std::uint64_t n : sizes) {
    const auto a = x(n), b = y(n);
    const auto c = f(n);
    const auto three = [=](std::uint64_t i) { return std::array<double, 3>{a[i], b[i], a[i] * b[i]}; };
    std::array<double, 3> of_array{}, of_function{};
    std::array<float, 2> of_floats{};
    double dots[4] = {};
    float float_dots[2] = {};
    double sum = 0;
    onefold::batch work(at);
    work.add(onefold::reduce_together, a, &of_array, op::sum{}, op::min{}, op::max{})
        .add(onefold::reduce_together, c.data(), n, of_floats.data(), op::max{}, op::prod{})
        .add(onefold::sum, a, &sum)
        .add(onefold::reduce_together, n, three, &of_function, op::max{}, op::sum{}, op::min{})
        .add_multi_dot({a, b}, {b, a}, dots)
        .add_multi_dot({{c.data(), n}, {c.data(), n}}, {c}, float_dots);
    work.run();
    count_dispatch(at);
    expect_bits(of_array, onefold::reduce_together(at, a, op::sum{}, op::min{}, op::max{}), "operators of an array");
    expect_bits(of_floats, onefold::reduce_together(at, c, op::max{}, op::prod{}), "operators of a pointer");
    expect_bits(of_function, onefold::reduce_together(at, n, three, op::max{}, op::sum{}, op::min{}), "operators of a function");
    expect_bits(sum, onefold::sum(at, a), "sum");
    const auto expected = onefold::multi_dot(at, {a, b}, {b, a});
    EXPECT_EQ(std::memcmp(dots, expected.data(), sizeof(dots)), 0);
    const float square = onefold::dot(at, c, c);
    for (const float one : float_dots) expect_bits(one, square, "dots of floats");
  }
}

TEST_P(a_batch_of_calls, has_operators_of_the_callers) {
  const auto& at = where();
  for (const std::uint64_t n : sizes) {
    const auto a = x(n), b = y(n);
    const auto c = f(n);
    const auto spans = [=](double p, double q) { return p < q ? span_of_values{p, q} : span_of_values{q, p}; };
    const auto at_index = [=](std::uint64_t i) { return a[i] - b[i]; };
    const auto three = [](double p, double q, float r) { return p * q + static_cast<double>(r); };
    double far = 0, far_from = 0, sum = 0, product = 0, from_index = 0, of_three = 0, begun = 0, least = 0, of_pointer = 0,
           largest = 0;
    span_of_values widest{};
    std::uint64_t positive = 0, over = 0;
    onefold::batch work(at);
    work.add_reduce(a, longest{}, &far)
        .add_reduce(a.data(), n, longest{}, 0.25, &far_from)
        .add_reduce(a, op::sum{}, &sum)
        .add_reduce(a.data(), n, op::min{}, &least)
        .add_reduce(n, at_index, op::max{}, &largest)
        .add_transform_reduce(a, b, joined{}, spans, &widest)
        .add_transform_reduce(
            a, b, op::sum{}, [](double p, double q) { return p * q; }, &product)
        .add_transform_reduce(n, longest{}, at_index, &from_index)
        .add_transform_reduce(a.data(), b.data(), c.data(), n, op::max{}, three, &of_three)
        .add_transform_reduce(
            a.data(), n, op::sum{}, [](double p) { return p * p; }, &of_pointer)
        .add_transform_reduce(
            a, op::sum{}, [](double p) { return -p; }, 0.3, &begun)
        .add_count_if(
            a, [](double p) { return p > 0; }, &positive)
        .add_count_if(
            n, [=](std::uint64_t i) { return b[i] > 0.5; }, &over);
    ASSERT_EQ(work.size(), 13U);
    for (int again = 0; again < 2; ++again) {
      work.run();
      count_dispatch(at);
      expect_bits(far, onefold::reduce(at, a, longest{}), "reduce");
      expect_bits(far_from, onefold::reduce(at, a, longest{}, 0.25), "reduce with an initial value");
      expect_bits(sum, onefold::sum(at, a), "reduce with op::sum");
      expect_bits(least, onefold::min(at, a), "reduce of a pointer with op::min");
      expect_bits(largest, onefold::max(at, n, at_index), "reduce of a function");
      expect_bits(widest, onefold::transform_reduce(at, a, b, joined{}, spans), "transform_reduce of two arrays");
      expect_bits(product, onefold::transform_reduce(at, a, b, op::sum{}, [](double p, double q) { return p * q; }),
                  "with op::sum");
      expect_bits(from_index, onefold::transform_reduce(at, n, longest{}, at_index), "transform_reduce of an index");
      expect_bits(of_three, onefold::transform_reduce(at, a, b, c, op::max{}, three), "transform_reduce of three arrays");
      expect_bits(of_pointer, onefold::transform_reduce(at, a, op::sum{}, [](double p) { return p * p; }), "of a pointer");
      expect_bits(begun,
                  onefold::transform_reduce(
                      at, a, op::sum{}, [](double p) { return -p; }, 0.3),
                  "with an initial value");
      EXPECT_EQ(positive, onefold::count_if(at, a, [](double p) { return p > 0; }));
      EXPECT_EQ(over, onefold::count_if(at, n, [=](std::uint64_t i) { return b[i] > 0.5; }));
      far = far_from = sum = product = from_index = of_three = of_pointer = begun = least = largest = -1;
      widest = {};
      positive = over = 0;
    }
  }
}

// The batch has copies: what was given may be gone, and later changes of it are not seen.
TEST_P(a_batch_of_calls, keeps_what_it_was_given) {
  const auto& at = where();
  const auto a = x(5000);
  double sum = 0, far = 0, scaled = 0;
  double dots[1] = {};
  std::array<double, 2> two{};
  onefold::batch work(at);
  std::weak_ptr<int> kept;
  {
    double factor = 2;
    auto owner = std::make_shared<int>(3);
    kept = owner;
    auto f = [a, factor, owner](std::uint64_t i) { return a[i] * factor * *owner; };
    work.add(onefold::sum, 5000, f, &sum);
    factor = 7;
    const std::vector<onefold::vector_view<double>> names{a};
    work.add_multi_dot({names[0]}, {names[0]}, dots);
    work.add(onefold::reduce_together, a, &two, op::sum{}, op::max{});
    auto op = longest{};
    work.add_reduce(a, op, &far);
    work.add_transform_reduce(
        a, op::sum{}, [times = std::make_unique<double>(4)](double v) { return v * *times; }, &scaled);
  }
  EXPECT_FALSE(kept.expired());
  onefold::batch copy = work;
  const onefold::batch moved = std::move(work);
  const double expected = onefold::sum(at, 5000, [a](std::uint64_t i) { return a[i] * 2.0 * 3; });
  for (const onefold::batch* each : {static_cast<const onefold::batch*>(&copy), &moved}) {
    sum = far = scaled = dots[0] = 0;
    two = {};
    each->run();
    count_dispatch(at);
    expect_bits(sum, expected, "sum");
    expect_bits(dots[0], onefold::dot(at, a, a), "dot");
    expect_bits(two, onefold::reduce_together(at, a, op::sum{}, op::max{}), "two operators");
    expect_bits(far, onefold::reduce(at, a, longest{}), "reduce");
    expect_bits(scaled, onefold::transform_reduce(at, a, op::sum{}, [](double v) { return v * 4; }), "transform_reduce");
  }
  copy.clear();
  EXPECT_EQ(copy.size(), 0U);
  EXPECT_FALSE(kept.expired());  // the other has it
  sum = 1;
  copy.run();
  EXPECT_EQ(sum, 1);  // of no requests nothing is stored
  copy = moved;
  EXPECT_EQ(copy.size(), 5U);
  copy.clear();
  work = onefold::batch(at);
}

TEST_P(a_batch_of_calls, gives_back_what_it_has_copied) {
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> kept = owner;
  double sum = 0;
  onefold::batch work(where());
  work.add(
          onefold::sum, 10, [owner = std::move(owner)](std::uint64_t) { return static_cast<double>(*owner); }, &sum)
      .run();
  count_dispatch(where());
  EXPECT_EQ(sum, 10);
  EXPECT_FALSE(kept.expired());
  work.clear();
  EXPECT_TRUE(kept.expired());
}

// What is thrown comes out as what it is; what is ahead of it has been stored, and the batch may be run again.
TEST_P(a_batch_of_calls, hands_on_what_functions_throw) {
  const auto& at = where();
  const auto a = x(20'000);
  double first = 0, second = 0, third = 0, fourth = 0;
  bool fails = true;
  onefold::batch work(at);
  work.add(onefold::sum, a, &first)
      .add(
          onefold::max, 20'000,
          [&](std::uint64_t i) {
            if (fails && i == 11'111) throw std::range_error("the caller's");
            return a[i];
          },
          &second)
      .add_reduce(
          a,
          [&](double p, double q) {
            if (fails) throw std::domain_error("another");
            return p < q ? p : q;
          },
          &third)
      .add(onefold::norm1, a, &fourth);
  try {
    work.run();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::range_error& problem) {
    EXPECT_STREQ(problem.what(), "the caller's");
  }
  fails = false;
  work.run();
  count_dispatch(at);
  expect_bits(first, onefold::sum(at, a), "sum");
  expect_bits(second, onefold::max(at, a), "max of a function");
  expect_bits(third, onefold::min(at, a), "an operator");
  expect_bits(fourth, onefold::norm1(at, a), "norm1");
}

TEST_P(a_batch_of_calls, refuses_as_its_calls_do) {
  const auto& at = where();
  const auto a = x(100);
  double first = 0, far = 0;
  onefold::arg_result<double> place{};
  const auto value = [=](std::uint64_t i) { return a[i]; };
  {
    onefold::batch work(at);
    work.add(onefold::sum, 100, value, &first).add_reduce(a.first(0), longest{}, &far);
    EXPECT_TRUE(refuses(errc::invalid_argument, "initial value", [&] { work.run(); }));
    expect_bits(first, onefold::sum(at, a), "what is ahead");
    work.clear();
    work.add_reduce(a, longest{}, &far).run();
    expect_bits(far, onefold::reduce(at, a, longest{}), "what comes then");
  }
  onefold::batch work(at);
  work.add(onefold::argmin, 0, value, &place).add(onefold::sum, 100, value, &first);
  EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] { work.run(); }));
  work.clear();
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { work.add(onefold::sum, -1, value, &first); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { work.add_transform_reduce(-1, longest{}, value, &far); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length", [&] {
    work.add_transform_reduce(
        a, a.first(99), longest{}, [](double p, double) { return p; }, &far);
  }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length", [&] { work.add_multi_dot({a, a.first(99)}, {a}, &far); }));
  EXPECT_EQ(work.size(), 0U);  // nothing of a request that was refused
  work.add_multi_dot({a}, {}, &far);
  EXPECT_EQ(work.size(), 0U) << "of no vectors there is no dot";
  work.add(onefold::sum, 100, value, static_cast<double*>(nullptr));
  EXPECT_TRUE(refuses(errc::null_pointer, "output", [&] { work.run(); }));
  work.clear();
  work.add_reduce(static_cast<const double*>(nullptr), 3, longest{}, &far);
  EXPECT_TRUE(refuses(errc::null_pointer, "input", [&] { work.run(); }));
  work.clear();
  work.run();
  count_dispatch(at);
}

// Options are for each, and the report is that of the last.
TEST_P(a_batch_of_calls, takes_options) {
  const auto& at = where();
  const auto a = x(3000);
  const auto value = [=](std::uint64_t i) { return a[i] * 0x1p40; };
  double sum = 0, of_array = 0;
  onefold::report ran;
  onefold::options how;
  how.guarantee = onefold::guarantee::exact;
  how.report = &ran;
  onefold::batch work(at);
  work.add(onefold::sum, a, &of_array).add(onefold::sum, 3000, value, &sum).run(how);
  count_dispatch(at);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  how.report = nullptr;
  expect_bits(sum, onefold::sum(at, 3000, value, how), "exact sum of a function");
  expect_bits(of_array, onefold::sum(at, a, how), "exact sum");
  double far = 0;
  work.clear();
  work.add_reduce(a, longest{}, &far);
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "exact", [&] { work.run(how); }));
}

// What the batch would read when it is gone is refused by the compiler.
template <class X, class = void>
inline constexpr bool can_be_added = false;
template <class X>
inline constexpr bool can_be_added<
    X, std::void_t<decltype(std::declval<onefold::batch&>().add(onefold::sum, std::declval<X>(), std::declval<double*>()))>> = true;
template <class X, class = void>
inline constexpr bool can_be_counted = false;
template <class X>
inline constexpr bool can_be_counted<X, std::void_t<decltype(std::declval<onefold::batch&>().template add<onefold::form::count>(
                                            std::declval<X>(), std::declval<std::uint64_t*>()))>> = true;
template <class X, class Y, class = void>
inline constexpr bool has_dot = false;
template <class X, class Y>
inline constexpr bool has_dot<X, Y,
                              std::void_t<decltype(std::declval<onefold::batch&>().add(
                                  onefold::dot, std::declval<X>(), std::declval<Y>(), std::declval<double*>()))>> = true;
using vector = std::vector<double>;
static_assert(can_be_added<vector&> && can_be_added<const vector&> && can_be_added<std::span<const double>> &&
              !can_be_added<vector> && !can_be_added<std::array<double, 3>> && can_be_added<std::array<double, 3>&>);
static_assert(can_be_counted<vector&> && !can_be_counted<vector>);
static_assert(has_dot<vector&, const vector&> && !has_dot<vector&, vector> && !has_dot<vector, vector&>);

TEST(a_batch_of_calls_that_fails, tells_of_nothing_that_ran) {
  const std::vector<double> a(100, 1.0);
  double sum = 0, other = 0;
  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  onefold::batch work(onefold::serial());
  work.add(onefold::sum, a, &sum)
      .add(
          onefold::sum, 10, [](std::uint64_t) -> double { throw std::runtime_error("mine"); }, &other);
  EXPECT_THROW(work.run(how), std::runtime_error);
  EXPECT_EQ(ran.variant, "");
}

// More calls than a GPU's batch makes at a time, and requests between them.
TEST_P(a_batch_of_calls, may_have_many) {
  const auto a = x(700);
  std::vector<double> of_functions(150), of_arrays(150);
  onefold::batch work(where());
  for (std::size_t k = 0; k < of_functions.size(); ++k) {
    work.add(
        onefold::sum, 700 - k, [=](std::uint64_t i) { return a[i + k]; }, &of_functions[k]);
    if (k % 3 == 0) work.add(onefold::sum, a.subspan(k), &of_arrays[k]);
  }
  work.run();
  count_dispatch(where());
  for (std::size_t k = 0; k < of_functions.size(); ++k) {
    const double expected = onefold::sum(where(), a.subspan(k));
    expect_bits(of_functions[k], expected, "function " + std::to_string(k));
    if (k % 3 == 0) expect_bits(of_arrays[k], expected, "array " + std::to_string(k));
  }
}

std::vector<const executor_under_test*> executors_of_the_host() {
  std::vector<const executor_under_test*> all;
  for (const auto& group : {each_of_the_executors(), further_executors()})
    for (const executor_under_test* each : group)
      if (each->where.chooses_itself() || each->where.backend() != onefold::backend::cuda) all.push_back(each);
  return all;
}
INSTANTIATE_TEST_SUITE_P(forms, a_batch_of_calls, testing::ValuesIn(executors_of_the_host()), label_of_executor);

// As the call by itself: this unit has no code for a GPU, and a library without CUDA, or a machine without a GPU, says so.
TEST(batches_of_calls, are_refused_on_cuda_as_their_calls_are) {
  const std::vector<double> x(1000, 1.5);
  const auto value = [&](std::uint64_t i) { return x[i]; };
  const auto sentence_of = [](const auto& call) {
    try {
      call();
    } catch (const onefold::error& problem) {
      return std::to_string(static_cast<int>(problem.code())) + problem.what();
    }
    return std::string();
  };
  double sum = 0, far = 0;
  const std::string of_function = sentence_of([&] { static_cast<void>(onefold::sum(onefold::cuda(), 1000, value)); });
  const std::string of_operator =
      sentence_of([&] { static_cast<void>(onefold::transform_reduce(onefold::cuda(), 1000, longest{}, value)); });
  ASSERT_NE(of_function, "");
  ASSERT_NE(of_operator, "");
  onefold::batch work(onefold::cuda());
  work.add(onefold::sum, 1000, value, &sum);
  EXPECT_EQ(sentence_of([&] { work.run(); }), of_function);
  work.clear();
  work.add_transform_reduce(1000, longest{}, value, &far);
  EXPECT_EQ(sentence_of([&] { work.run(); }), of_operator);
  work.add(onefold::sum, 1000, value, &sum);
  // Of the first that is refused; but several begin with the GPU that they share, and without one with what any call says of that.
  const std::string of_array = sentence_of([&] { static_cast<void>(onefold::sum(onefold::cuda(), x)); });
  const bool has_no_gpu = of_array.rfind(std::to_string(static_cast<int>(onefold::errc::backend_unavailable)), 0) == 0;
  EXPECT_EQ(sentence_of([&] { work.run(); }), has_no_gpu ? of_array : of_operator);
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(far, 0);
}

}  // namespace
}  // namespace onefold_test
