/// @file api_test.cpp  The forms as a caller writes them: the types of results, ranges and pointers, with and without an executor, in
/// double, stored; and what is refused.

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

#include "fixture.hpp"

namespace onefold_test {
namespace {

using onefold::accumulate_as;
using onefold::errc;
using onefold::result_t;

// --- result types

template <form What, class T, class R>
constexpr bool gives_type = std::is_same_v<result_t<What, T>, R>;

// Forms whose result has the type of the elements, also where that is the `long long` that has no name of its own.
template <form What, class... T>
constexpr bool keeps_types = (gives_type<What, T, T> && ...);
template <form What>
constexpr bool keeps_every_type =
    keeps_types<What, float, double, int, unsigned, long, unsigned long, long long, unsigned long long>;
static_assert(keeps_every_type<form::sum> && keeps_every_type<form::prod> && keeps_every_type<form::min>);
static_assert(keeps_every_type<form::max> && keeps_every_type<form::dot> && keeps_every_type<form::sum_of_squares>);

template <form What>
constexpr bool is_unsigned_size = keeps_types<What, float, double, unsigned, unsigned long, unsigned long long>&&
    gives_type<What, int, std::uint32_t>&& gives_type<What, long, std::uint64_t>&& gives_type<What, long long, std::uint64_t>;
static_assert(is_unsigned_size<form::norm1> && is_unsigned_size<form::norm_inf>);

template <form What>
constexpr bool is_floating = keeps_types<What, float, double>&& gives_type<What, int, double>&& gives_type<What, unsigned, double>&&
    gives_type<What, long, double>&& gives_type<What, unsigned long, double>&& gives_type<What, long long, double>&&
        gives_type<What, unsigned long long, double>;
static_assert(is_floating<form::mean> && is_floating<form::norm2>);
static_assert(std::is_same_v<result_t<form::sum, float, true>, double> &&
              std::is_same_v<result_t<form::norm2, float, true>, double>);

// What the function objects return is what result_t says.
using floats = std::vector<float>;
static_assert(std::is_same_v<decltype(onefold::dot(floats{}, floats{})), float>);
static_assert(std::is_same_v<decltype(onefold::dot(floats{}, floats{}, accumulate_as<double>)), double>);
static_assert(std::is_same_v<decltype(onefold::norm1(std::vector<int>{})), std::uint32_t>);
static_assert(std::is_same_v<decltype(onefold::norm_inf(std::vector<long long>{})), std::uint64_t>);
static_assert(std::is_same_v<decltype(onefold::mean(std::vector<unsigned>{})), double>);
static_assert(std::is_same_v<decltype(onefold::norm2(std::vector<long>{})), double>);
static_assert(std::is_same_v<decltype(onefold::sum_of_squares(std::vector<long long>{})), long long>);
static_assert(std::is_same_v<decltype(onefold::mean(floats{}, accumulate_as<double>)), double>);

// The library's own table, at run time, against the one that the tests have.
TEST(result_types, are_those_of_the_table) {
  for (int t = 0; t < onefold::full_type_count; ++t)
    for (int f = 0; f < onefold::form_count; ++f) {
      const auto type = static_cast<element_type>(t);
      const auto what = static_cast<form>(f);
      if (!onefold::takes_type(what, type)) continue;
      EXPECT_EQ(onefold::result_type(type, what), result_type_of(what, type, false)) << onefold::name(type) << onefold::name(what);
      EXPECT_EQ(onefold::can_be_wide(type, what), has_wide(what, type)) << onefold::name(type) << onefold::name(what);
      if (has_wide(what, type)) {
        EXPECT_EQ(onefold::result_type(type, what, true), result_type_of(what, type, true))
            << onefold::name(type) << onefold::name(what);
      }
    }
}

// --- what does not compile

template <class Function, class... Arguments>
concept callable = requires(const Function& function, Arguments... arguments) {
  function(arguments...);
};
using wide_t = onefold::accumulate_as_t<double>;
using sum_t = decltype(onefold::sum);
using dot_t = decltype(onefold::dot);
static_assert(callable<sum_t, floats> && callable<sum_t, floats, wide_t> && callable<sum_t, const float*, int, wide_t>);
static_assert(callable<sum_t, std::vector<double>, wide_t> && callable<sum_t, const double*, int, wide_t>, "which they are anyway");
static_assert(!callable<sum_t, std::vector<int>, wide_t> && !callable<sum_t, std::vector<short>, wide_t>);
static_assert(!callable<decltype(onefold::min), floats, wide_t> && !callable<decltype(onefold::max), const float*, int, wide_t>);
static_assert(!callable<decltype(onefold::norm_inf), floats, wide_t>);
static_assert(callable<dot_t, floats, std::array<float, 3>> && callable<dot_t, floats, std::span<const float>, wide_t>);
static_assert(!callable<dot_t, floats> && callable<dot_t, floats, std::vector<double>> &&
              callable<dot_t, floats, std::vector<int>>);
static_assert(!callable<sum_t, std::vector<char>> && !callable<dot_t, std::vector<bool>, std::vector<bool>>);
// A result is stored in its own type or not at all.
static_assert(callable<decltype(onefold::norm1_into), onefold::executor, std::vector<int>, std::uint32_t*>);
static_assert(!callable<decltype(onefold::norm1_into), onefold::executor, std::vector<int>, int*>);
static_assert(!callable<decltype(onefold::mean_into), onefold::executor, std::vector<int>, int*>);
static_assert(!callable<decltype(onefold::dot_into), onefold::executor, floats, floats, double*>);
static_assert(callable<decltype(onefold::dot_into), onefold::executor, floats, floats, double*, wide_t>);

// --- spellings, on the CPU: one value, said in every way

template <class... Value>
void expect_all(double expected, Value... values) {
  int i = 0;
  for (const double value : {static_cast<double>(values)...}) EXPECT_EQ(value, expected) << "spelling " << i++;
}

TEST(spellings, of_one_input_mean_the_same) {
  const floats x{3, -4, 12};
  const float c_array[] = {3, -4, 12};
  const auto where = onefold::serial();
  onefold::report ran;
  const onefold::options how{.report = &ran};
  const auto in_every_way = [&](const auto& function, double expected) {
    expect_all(expected, function(x), function(where, x), function(x.data(), 3), function(where, x.data(), 3), function(c_array),
               function(std::span(x)), function(x, how), function(where, x, how), function(x.data(), 3, how),
               function(where, x.data(), 3, how), function(onefold::best(), x));
    EXPECT_EQ(ran.variant, "fixed_order");
  };
  const auto in_double = [&](const auto& function, double expected) {
    const auto as = accumulate_as<double>;
    expect_all(expected, function(x, as), function(where, x, as), function(x.data(), 3, as), function(where, x.data(), 3, as),
               function(c_array, as), function(x, as, how), function(where, x, as, how), function(x.data(), 3, as, how),
               function(where, x.data(), 3, as, how));
  };
  in_every_way(onefold::sum, 11);
  in_every_way(onefold::prod, -144);
  in_every_way(onefold::min, -4);
  in_every_way(onefold::max, 12);
  in_every_way(onefold::sum_of_squares, 169);
  in_every_way(onefold::norm1, 19);
  in_every_way(onefold::asum, 19);
  in_every_way(onefold::norm_inf, 12);
  in_every_way(onefold::norm2, 13);
  in_every_way(onefold::mean, static_cast<double>(11.0f / 3.0f));
  in_double(onefold::sum, 11);
  in_double(onefold::prod, -144);
  in_double(onefold::sum_of_squares, 169);
  in_double(onefold::norm1, 19);
  in_double(onefold::asum, 19);
  in_double(onefold::norm2, 13);
  in_double(onefold::mean, 11.0 / 3.0);
}

TEST(spellings, of_dot_mean_the_same) {
  const floats x{1, 2, 3};
  const std::array<float, 3> y{4, -5, 6};
  const auto where = onefold::serial();
  const onefold::options how;
  const auto as = accumulate_as<double>;
  const auto dot = onefold::dot;
  expect_all(12, dot(x, y), dot(where, x, y), dot(x.data(), y.data(), 3), dot(where, x.data(), y.data(), 3), dot(x, y, how),
             dot(where, x, y, how), dot(x.data(), y.data(), 3, how), dot(where, x.data(), y.data(), 3, how), dot(x, y, as),
             dot(where, x, y, as), dot(x.data(), y.data(), 3, as), dot(where, x.data(), y.data(), 3, as), dot(x, y, as, how),
             dot(where, x, y, as, how), dot(x.data(), y.data(), 3, as, how), dot(where, x.data(), y.data(), 3, as, how));
  const std::vector<long long> n{1, -2};
  EXPECT_EQ(dot(n, n), 5);
}

TEST(spellings, that_store_mean_the_same) {
  const floats x{3, -4, 12};
  const std::vector<int> n{3, -4, std::numeric_limits<int>::min()};
  const auto where = onefold::serial();
  const auto as = accumulate_as<double>;
  const onefold::options how;
  const auto float_by = [&](const auto& function) {
    float a = 0, b = 0, c = 0;
    function(where, x, &a);
    function(where, x.data(), x.size(), &b);
    function(where, x, &c, how);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, c);
    return a;
  };
  const auto double_by = [&](const auto& function) {
    double a = 0, b = 0, c = 0;
    function(where, x, &a, as);
    function(where, x.data(), x.size(), &b, as);
    function(where, x, &c, as, how);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, c);
    return a;
  };
  EXPECT_EQ(float_by(onefold::sum_of_squares_into), 169.0f);
  EXPECT_EQ(float_by(onefold::norm1_into), 19.0f);
  EXPECT_EQ(float_by(onefold::asum_into), 19.0f);
  EXPECT_EQ(float_by(onefold::norm_inf_into), 12.0f);
  EXPECT_EQ(float_by(onefold::norm2_into), 13.0f);
  EXPECT_EQ(float_by(onefold::mean_into), 11.0f / 3.0f);
  EXPECT_EQ(double_by(onefold::sum_into), 11.0);
  EXPECT_EQ(double_by(onefold::norm2_into), 13.0);
  EXPECT_EQ(double_by(onefold::mean_into), 11.0 / 3.0);
  float dot = 0;
  double wide = 0;
  onefold::dot_into(where, x, x, &dot);
  EXPECT_EQ(dot, 169.0f);
  onefold::dot_into(where, x.data(), x.data(), 2, &dot, how);
  EXPECT_EQ(dot, 25.0f);
  onefold::dot_into(where, x, x, &wide, as);
  EXPECT_EQ(wide, 169.0);
  onefold::dot_into(where, x.data(), x.data(), 2, &wide, as, how);
  EXPECT_EQ(wide, 25.0);
  std::uint32_t size = 0;
  onefold::norm1_into(where, n, &size);
  EXPECT_EQ(size, 7u + 0x80000000u);
  onefold::norm_inf_into(where, n, &size);
  EXPECT_EQ(size, 0x80000000u);
  double mean = 0;
  onefold::mean_into(where, n, &mean);
  EXPECT_EQ(mean, (-1.0 - 2147483648.0) / 3.0);
}

TEST(best, takes_every_form_to_the_threads_that_pay) {
  const std::size_t many = 256 * 1024 / sizeof(float);
  const floats x(many, 2.0f);
  const bool has_openmp = backend_under_test(onefold::backend::openmp).built;
  for (const std::size_t count : {std::size_t{10}, many}) {
    onefold::report ran;
    const onefold::options how{.report = &ran};
    const auto expected = count == many && has_openmp ? onefold::backend::openmp : onefold::backend::serial;
    EXPECT_EQ(onefold::dot(x.data(), x.data(), count, how), 4.0f * static_cast<float>(count));
    EXPECT_EQ(ran.backend, expected);
    EXPECT_EQ(onefold::mean(x.data(), count, how), 2.0f);
    EXPECT_EQ(ran.backend, expected);
    EXPECT_EQ(onefold::sum(x.data(), count, accumulate_as<double>, how), 2.0 * static_cast<double>(count));
    EXPECT_EQ(ran.backend, expected);
  }
}

#ifdef ONEFOLD_HAVE_CUDA

TEST(best, takes_every_form_to_where_device_memory_is_cuda) {
  const auto& cuda = backend_under_test(onefold::backend::cuda);
  if (!cuda.usable) GTEST_SKIP() << cuda.detail;
  const floats ones(1'000, 1.0f);
  for (const memory kind : {memory::device, memory::managed}) {
    block memory(kind, ones.size() * sizeof(float));
    memory.write(0, ones.data(), ones.size() * sizeof(float));
    const auto* x = reinterpret_cast<const float*>(memory.address());
    onefold::report ran;
    const onefold::options how{.report = &ran};
    EXPECT_EQ(onefold::dot(x, x, ones.size(), how), 1000.0f);
    EXPECT_EQ(ran.backend, onefold::backend::cuda);
    EXPECT_EQ(onefold::mean(x, ones.size(), how), 1.0f);
    EXPECT_EQ(ran.backend, onefold::backend::cuda);
    EXPECT_EQ(onefold::norm1(x, ones.size(), accumulate_as<double>, how), 1000.0);
    EXPECT_EQ(ran.backend, onefold::backend::cuda);
  }
}

#endif

// --- what is refused, on every executor, and the next call works

class form_refusals_of : public executor_test {
 protected:
  static constexpr std::size_t count = 1'000;

  void SetUp() override {
    executor_test::SetUp();
    if (IsSkipped()) return;
    x_.emplace(memory_for(where()), (count + 1) * sizeof(float));
    y_.emplace(memory_for(where()), (count + 1) * sizeof(float));
    output_.emplace(memory_for(where()), 2 * sizeof(double));
    fill();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    fill();
    const form_trial asked{where(), form::dot, element_type::f32, false, 0, "ones"};
    EXPECT_EQ(reduce(asked, x(), y(), count).value, scalar_of(static_cast<float>(count))) << "the next call does not work";
    executor_test::TearDown();
  }
  void fill() {
    const std::vector<float> ones(count + 1, 1.0f);
    x_->write(0, ones.data(), ones.size() * sizeof(float));
    y_->write(0, ones.data(), ones.size() * sizeof(float));
  }
  [[nodiscard]] float* x() const { return reinterpret_cast<float*>(x_->address()); }
  [[nodiscard]] float* y() const { return reinterpret_cast<float*>(y_->address()); }
  template <class T>
  [[nodiscard]] T* output() const {
    return reinterpret_cast<T*>(output_->address());
  }
  template <class T>
  [[nodiscard]] static T* moved(T* pointer, std::uintptr_t bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
  }
  // dot in each of its four calls.
  void expect_dot_refused(errc code, std::string_view words, const float* a, const float* b, std::uint64_t n) const {
    EXPECT_TRUE(refuses(code, words, [&] { static_cast<void>(onefold::dot(where(), a, b, n)); }));
    EXPECT_TRUE(refuses(code, words, [&] { static_cast<void>(onefold::dot(where(), a, b, n, accumulate_as<double>)); }));
    EXPECT_TRUE(refuses(code, words, [&] { onefold::dot_into(where(), a, b, n, output<float>()); }));
    EXPECT_TRUE(refuses(code, words, [&] { onefold::dot_into(where(), a, b, n, output<double>(), accumulate_as<double>); }));
  }

 private:
  std::optional<block> x_, y_, output_;
};

TEST_P(form_refusals_of, ranges_of_different_lengths) {
  const std::span<const float> a(x(), count), b(y(), count - 1);
  for (const auto& pair : {std::pair(a, b), std::pair(b, a), std::pair(a, std::span<const float>())}) {
    const auto first = pair.first, second = pair.second;  // not a structured binding: clang before 16 lets no lambda use one
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "differ in length", [&] { static_cast<void>(onefold::dot(where(), first, second)); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, std::to_string(second.size()),
                        [&] { static_cast<void>(onefold::dot(where(), first, second, accumulate_as<double>)); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, std::to_string(first.size()),
                        [&] { onefold::dot_into(where(), first, second, output<float>()); }));
    EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length",
                        [&] { onefold::dot_into(where(), first, second, output<double>(), accumulate_as<double>); }));
  }
}

TEST_P(form_refusals_of, a_null_pointer_among_two) {
  expect_dot_refused(errc::null_pointer, "second input pointer is null", x(), nullptr, 5);
  expect_dot_refused(errc::null_pointer, "the input pointer is null", nullptr, y(), 5);
  const float* nothing = nullptr;
  EXPECT_EQ(onefold::dot(where(), nothing, nothing, 0), 0.0f) << "of no elements there is nothing to read";
  EXPECT_EQ(onefold::dot(where(), x(), nothing, 0), 0.0f);
}

TEST_P(form_refusals_of, a_misaligned_second_input) {
  for (const std::uintptr_t bytes : {1u, 2u, 3u})
    expect_dot_refused(errc::misaligned_pointer, "second input pointer is not aligned", x(), moved(y(), bytes), 5);
}

TEST_P(form_refusals_of, an_output_inside_either_input) {
  for (const std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
    EXPECT_TRUE(refuses(errc::invalid_argument, "inside the second input",
                        [&] { onefold::dot_into(where(), x(), y(), count, y() + place); }));
    EXPECT_TRUE(
        refuses(errc::invalid_argument, "inside the input", [&] { onefold::dot_into(where(), x(), y(), count, x() + place); }));
  }
  EXPECT_NO_THROW(onefold::dot_into(where(), x(), y(), count, y() + count)) << "just behind the input is outside";
  EXPECT_NO_THROW(onefold::dot_into(where(), x() + 1, y() + 1, count - 1, y())) << "just before the input is outside";
  onefold::synchronize(where());
}

// The result is wider than the elements: it reaches into the input from before, and its own alignment counts.
TEST_P(form_refusals_of, a_wide_output_that_reaches_into_the_input) {
  const auto wide = accumulate_as<double>;
  auto* before = reinterpret_cast<double*>(x());
  EXPECT_TRUE(
      refuses(errc::invalid_argument, "inside the input", [&] { onefold::sum_into(where(), x() + 1, count - 1, before, wide); }));
  EXPECT_NO_THROW(onefold::sum_into(where(), x() + 2, count - 2, before, wide)) << "just before the input is outside";
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "output pointer is not aligned",
                      [&] { onefold::mean_into(where(), x(), count, moved(output<double>(), 4), wide); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "output pointer is not aligned",
                      [&] { onefold::norm2_into(where(), reinterpret_cast<const int*>(x()), count, moved(output<double>(), 4)); }));
  onefold::synchronize(where());
}

TEST_P(form_refusals_of, a_null_output_and_an_impossible_count) {
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer is null",
                      [&] { onefold::dot_into(where(), x(), y(), count, static_cast<float*>(nullptr)); }));
  expect_dot_refused(errc::invalid_argument, "cannot be", x(), y(), ~std::uint64_t{0});
}

#ifdef ONEFOLD_HAVE_CUDA

TEST_P(form_refusals_of, a_second_input_that_it_cannot_reach) {
  const auto& gpu = backend_under_test(onefold::backend::cuda);
  if (where().backend() == onefold::backend::cuda) {
    const std::vector<float> host(count, 1.0f);
    EXPECT_EQ(onefold::dot(where(), x(), host.data(), count), onefold::sum(where(), x(), count)) << "it is copied";
    float found = 0;
    EXPECT_TRUE(
        refuses(errc::host_pointer, "output is host memory", [&] { onefold::dot_into(where(), x(), host.data(), count, &found); }));
    return;
  }
  if (!gpu.usable) return;  // there is no device memory to give
  const block device(memory::device, count * sizeof(float));
  expect_dot_refused(errc::device_pointer, "second input is GPU memory", x(), reinterpret_cast<const float*>(device.address()),
                     count);
}

#endif

INSTANTIATE_TEST_SUITE_P(executors, form_refusals_of, testing::ValuesIn(each_of_the_executors()), label_of_executor);

// --- workspaces on the executors that need none

TEST(workspaces, of_the_cpu_are_empty_and_accepted) {
  const floats x{3, 4};
  for (const auto& where : {onefold::serial(), onefold::openmp(), onefold::best()}) {
    if (!where.chooses_itself() && !backend_under_test(where.backend()).built) continue;
    onefold::workspace own(where, 1'000'000);
    EXPECT_EQ(own.size_bytes(), 0u);
    EXPECT_EQ(onefold::norm2(where, x, {.workspace = &own}), 5.0f);
    onefold::workspace moved(std::move(own));
    EXPECT_EQ(onefold::dot(where, x, x, accumulate_as<double>, {.workspace = &moved}), 25.0);
    EXPECT_EQ(onefold::memory_in_use(where).device_bytes, 0u);
    EXPECT_EQ(onefold::memory_in_use(where).streams, 0);
    EXPECT_NO_THROW(onefold::release_memory(where));
    EXPECT_TRUE(refuses(errc::null_pointer, "workspace's memory is null", [&] { onefold::workspace none(where, nullptr, 100); }));
  }
  // One made for n elements serves fewer, too.
  std::size_t before = onefold::workspace::bytes(0);
  EXPECT_GT(before, 0u);
  for (std::uint64_t n = 1; n < std::uint64_t{1} << 48; n += n / 7 + 1) {
    ASSERT_GE(onefold::workspace::bytes(n), before) << n;
    before = onefold::workspace::bytes(n);
  }
  EXPECT_LE(before, (3u << 20) + 8192);
}

}  // namespace
}  // namespace onefold_test
