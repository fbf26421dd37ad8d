/// @file callers_environment_test.cpp  Calls whose last operations are not a kernel's have the bits of the default floating-point environment, whatever the caller's
/// thread has set: neither its rounding, nor that it flushes subnormal numbers.

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace onefold_test {
namespace {

using onefold::errc;
using std::uint64_t;

// Calls body(name) in every environment that a caller may have, and checks that it comes back.
template <class Body>
void in_all_environments(const Body& body) {
  for (const auto& [mode, name] : {std::pair{FE_UPWARD, "upward"}, {FE_DOWNWARD, "downward"}, {FE_TOWARDZERO, "toward zero"}}) {
    std::fesetround(mode);
    body(std::string(name));
    const int left = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(left, mode);
  }
#ifdef __SSE2__
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040U);  // flushes subnormal results, and takes subnormal operands for zeros
  body(std::string("flushing"));
  _mm_setcsr(before);
#endif
}

std::vector<double> some_values(uint64_t count) {
  const random_numbers random(current_seed());
  std::vector<double> x(count);
  for (uint64_t i = 0; i < count; ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  return x;
}

// A message to which neighbouring tiles are added piece by piece, as ranks do whose ranges are cut.
template <class Result = double>
Result result_of_message(onefold_form what, const std::vector<double>& x, const std::vector<uint64_t>& cuts) {
  const onefold_message_part part{ONEFOLD_F64, what, 0, 64};
  const std::size_t bytes = onefold_message_bytes(&part, 1);
  std::vector<std::max_align_t> memory(1 + bytes / sizeof(std::max_align_t));
  void* const message = memory.data();
  EXPECT_EQ(onefold_message_begin(message, bytes, &part, 1, x.size(), 0), ONEFOLD_OK);
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
    EXPECT_EQ(onefold_message_add(message, 0, onefold_serial(), x.data() + cuts[k], nullptr, cuts[k], cuts[k + 1] - cuts[k],
                                  x.size(), nullptr),
              ONEFOLD_OK)
        << onefold_last_error();
  Result result{};
  EXPECT_EQ(onefold_message_result(message, 0, 1, x.size(), 0, &result), ONEFOLD_OK);
  return result;
}

TEST(the_environment_of_the_caller, is_in_no_message) {
  std::vector<double> x = some_values(40 * 512 + 77);
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] *= 0x1p-1022;
  std::vector<uint64_t> cuts;
  for (uint64_t tile = 0; tile <= 40; tile += 1 + tile % 3) cuts.push_back(tile * 512);
  cuts.push_back(x.size());
  const auto serial = onefold::serial();
  const double sum = onefold::sum(serial, x), norm1 = onefold::norm1(serial, x), mean = onefold::mean(serial, x),
               norm2 = onefold::norm2(serial, x);
  const auto moments = onefold::mean_variance(serial, x);
  EXPECT_EQ(result_of_message(ONEFOLD_SUM, x, cuts), sum);
  in_all_environments([&](const std::string& name) {
    EXPECT_EQ(result_of_message(ONEFOLD_SUM, x, cuts), sum) << name;
    EXPECT_EQ(result_of_message(ONEFOLD_NORM1, x, cuts), norm1) << name;
    // Behind the tree there is one operation more: a quotient, a root, and a quotient of squares.
    EXPECT_EQ(result_of_message(ONEFOLD_MEAN, x, cuts), mean) << name;
    EXPECT_EQ(result_of_message(ONEFOLD_NORM2, x, cuts), norm2) << name;
    const auto found = result_of_message<onefold::mean_variance_result<double>>(ONEFOLD_MEAN_VARIANCE, x, cuts);
    EXPECT_EQ(found.mean, moments.mean) << name;
    EXPECT_EQ(found.variance, moments.variance) << name;
  });
}

// The parts' moments, which are doubles, become floats; and the variance is the sum of both parts' ones.
TEST(the_environment_of_the_caller, is_in_no_moments_of_complex_numbers) {
  const std::vector<double> parts = some_values(6'000);
  std::vector<std::complex<double>> doubles(parts.size() / 2);
  std::vector<std::complex<float>> floats(doubles.size());
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    doubles[i] = {parts[2 * i], parts[2 * i + 1] * 1e-3};  // the variances' exponents differ, so that their sum is always rounded
    floats[i] = std::complex<float>(doubles[i]);
  }
  const auto serial = onefold::serial();
  const auto expect_same = [](const auto& found, const auto& expected, const std::string& name) {
    EXPECT_EQ(found.mean, expected.mean) << name;
    EXPECT_EQ(found.variance, expected.variance) << name;
  };
  const auto as_wide = onefold::accumulate_as<std::complex<double>>;
  const auto of_doubles = onefold::mean_variance(serial, doubles),
             of_floats_in_doubles = onefold::mean_variance(serial, floats, as_wide);
  const auto of_floats = onefold::mean_variance(serial, floats);
  in_all_environments([&](const std::string& name) {
    expect_same(onefold::mean_variance(serial, doubles), of_doubles, name + ", c128");
    expect_same(onefold::mean_variance(serial, floats, as_wide), of_floats_in_doubles, name + ", c64 in c128");
    expect_same(onefold::mean_variance(serial, floats), of_floats, name + ", c64");
    expect_same(onefold::mean_variance(onefold::openmp(2), floats), of_floats, name + ", c64 on threads");
  });
}

// Of tiles that are cut a state keeps the products themselves, which are rounded where nobody adds anything.
TEST(the_environment_of_the_caller, is_in_no_products_that_are_kept) {
  constexpr std::size_t n = 700;
  constexpr uint64_t begin = 3;  // the first tile of 512 is cut, and so is the second one
  const std::vector<double> y = some_values(n);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(y[n - 1 - i]) + 0.3F;
  const onefold_products of{x.data(), y.data(), ONEFOLD_F32, ONEFOLD_F64};
  const auto state = [&] {
    onefold_range* made = nullptr;
    EXPECT_EQ(onefold_range_create(ONEFOLD_F64, ONEFOLD_SUM, 0, begin, &made), ONEFOLD_OK);
    EXPECT_EQ(onefold_range_add_products(made, onefold_serial(), &of, n, nullptr), ONEFOLD_OK) << onefold_last_error();
    std::vector<std::byte> bytes(onefold_range_bytes(made));
    EXPECT_EQ(onefold_range_write(made, bytes.data(), bytes.size()), ONEFOLD_OK);
    onefold_range_destroy(made);
    return bytes;
  };
  const auto copied = [&] {
    std::vector<double> products(500);
    EXPECT_EQ(onefold_copy_products(ONEFOLD_F64, onefold_serial(), &of, begin, products.size(), products.data()), ONEFOLD_OK);
    return products;
  };
  const auto expected = state();
  const auto expected_copies = copied();
  for (std::size_t i = 0; i < expected_copies.size(); ++i)
    ASSERT_EQ(expected_copies[i], static_cast<double>(x[begin + i]) * y[begin + i]) << i;
  in_all_environments([&](const std::string& name) {
    EXPECT_EQ(state(), expected) << name;
    EXPECT_EQ(copied(), expected_copies) << name;
  });
}

TEST(the_environment_of_the_caller, is_in_no_mean_of_what_is_there) {
  for (const uint64_t n : {uint64_t{0}, uint64_t{4}, uint64_t{1000}, uint64_t{100'003}}) {
    const std::vector<double> x = some_values(n);
    const auto some = [&x](uint64_t i) { return onefold::maybe<double>(x[i], i % 3 != 0); };
    const auto floats = [&x](uint64_t i) { return onefold::maybe<float>(static_cast<float>(x[i]) * 1e-38F, i % 5 != 1); };
    const auto none = [](uint64_t) { return onefold::maybe<double>(); };
    std::vector<double> there;
    for (uint64_t i = 0; i < n; ++i)
      if (i % 3 != 0) there.push_back(x[i]);
    const double mean = onefold::mean(onefold::serial(), n, some);
    const float of_floats = onefold::mean(onefold::openmp(2), n, floats);
    if (n > 0) {
      EXPECT_NEAR(mean, onefold::mean(onefold::serial(), there), 1e-15);
    }
    const bool is_number = mean == mean;
    in_all_environments([&](const std::string& name) {
      const double got = onefold::mean(onefold::serial(), n, some), of_none = onefold::mean(onefold::serial(), n, none);
      EXPECT_EQ(std::memcmp(&got, &mean, sizeof(mean)), 0) << name << ", " << n;
      EXPECT_NE(of_none, of_none) << name;
      const float of_these = onefold::mean(onefold::openmp(2), n, floats);
      EXPECT_EQ(std::memcmp(&of_these, &of_floats, sizeof(of_floats)), 0) << name << ", " << n;
    });
    EXPECT_EQ(is_number, n > 0);
  }
}

TEST(the_environment_of_the_caller, is_in_no_initial_value) {
  const std::vector<double> x = some_values(1000);
  const auto value = [&x](uint64_t i) { return x[i]; };
  namespace op = onefold::op;
  const auto serial = onefold::serial();
  const auto all = [&] {
    return std::vector<double>{onefold::reduce(serial, x, op::sum{}, 1e-17),
                               onefold::transform_reduce(serial, x.size(), op::sum{}, value, 1e-17),
                               onefold::reduce(serial, x, op::prod{}, 1.1),
                               onefold::reduce(serial, x, op::max{}, 0x1p-1040),
                               onefold::transform_reduce(serial, 0, op::sum{}, value, 0.1),
                               onefold::transform_reduce(serial, x.size(), op::min{}, value, -3.0)};
  };
  const std::vector<double> expected = all();
  EXPECT_EQ(expected[0], onefold::sum(serial, x) + 1e-17);
  EXPECT_EQ(expected[4], 0.1);
  EXPECT_EQ(expected[5], -3.0);
  in_all_environments([&](const std::string& name) { EXPECT_EQ(all(), expected) << name; });
  EXPECT_EQ(onefold::reduce(serial, std::vector<float>{1, 2}, op::sum{}, 0.5F), 3.5F);
  EXPECT_EQ(onefold::reduce(serial, std::vector<std::int64_t>{1, -2}, op::min{}, std::int64_t{-7}), -7);
}

// --- numbers of elements that are none

#ifdef __SSE2__
// A trap that went off would end this program.
TEST(the_environment_of_the_caller, may_have_traps_for_subnormal_and_inexact_operations) {
  std::vector<float> x(20'000, 0.0F);
  for (std::size_t i = 0; i < x.size(); i += 7) x[i] = static_cast<float>(i) * 1e-42F;
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const auto all = [&x, &exactly] {
    std::vector<float> found;
    for (const onefold::executor& where : {onefold::serial(), onefold::openmp(2)}) {
      onefold::range_state<onefold::form::sum, float> state(0), behind(5'000);
      state.add(where, x.data(), 5'000);
      behind.add(where, x.data() + 5'000, x.size() - 5'000);
      found.push_back(state.append(behind).value());
      onefold::range_state<onefold::form::max, float> most(3);
      most.add(where, x.data() + 3, x.size() - 3);
      onefold::range_state<onefold::form::max, float> first(0);
      found.push_back(first.add(where, x.data(), 3).append(most).value());
      onefold::exact_state<onefold::form::mean, float> exact;
      found.push_back(exact.add(where, x).value());
      found.push_back(onefold::norm2(where, x, exactly));
    }
    return found;
  };
  const std::vector<float> expected = all();
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x3fU) & ~0x1100U);  // no mask of those two
  const std::vector<float> found = all();
  _mm_setcsr(before);
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)), 0);
}

// So would one for a NaN that signals, wherever it comes from.
template <class T>
void expect_no_trap_for_signalling_nan() {
  std::vector<T> x(3'000, T(1));
  const std::conditional_t<sizeof(T) == 4, std::uint32_t, uint64_t> bits = sizeof(T) == 4 ? 0x7fa00001U : 0x7ff4000000000001U;
  std::memcpy(&x[1'000], &bits, sizeof(bits));
  // By a pointer: as a value some compilers would have loaded it already.
  const auto some = [p = x.data()](uint64_t i) -> onefold::maybe<T> {
    if (i % 3 == 0) return onefold::absent;
    return p[i];
  };
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x3fU) & ~0x80U);  // no mask of invalid operations
  uint64_t least = 0, most = 0, both = 0;
  T sizes[2];
  for (const onefold::executor& where : {onefold::serial(), onefold::openmp(2)}) {
    least += onefold::argmin(where, x.size(), some).index;
    most += onefold::argmax(where, x.size(), some).index;
    both += onefold::argminmax(where, x.size(), some).max.index;
    const auto found = onefold::minmax(where, x.size(), some);
    std::memcpy(&sizes[0], &found.min, sizeof(T));
    std::memcpy(&sizes[1], &found.max, sizeof(T));
    least += onefold::argmin(where, x).index;
  }
  _mm_setcsr(before);
  EXPECT_EQ(least, 4'000U);
  EXPECT_EQ(most, 2'000U);
  EXPECT_EQ(both, 2'000U);
  EXPECT_TRUE(std::isnan(sizes[0]) && std::isnan(sizes[1]));
}
TEST(the_environment_of_the_caller, may_have_a_trap_for_invalid_operations) {
  expect_no_trap_for_signalling_nan<float>();
  expect_no_trap_for_signalling_nan<double>();
}
#endif

TEST(a_count, that_is_a_negative_number_is_refused) {
  const double x[] = {1, 2, 3};
  const auto serial = onefold::serial();
  int called = 0;
  const auto value = [&called](uint64_t) { return ++called, 1.0; };
  const auto same = [](double t) { return t; };
  for (const uint64_t n : {~uint64_t{0}, ~uint64_t{0} - 2, uint64_t{1} << 63}) {
    const auto is_refused = [&](const auto& call) {
      EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { static_cast<void>(call()); })) << n;
    };
    is_refused([&] { return onefold::transform_reduce(serial, x, n, onefold::op::sum{}, same); });
    is_refused([&] { return onefold::reduce(serial, x, n, [](double a, double b) { return a + b; }); });
    is_refused([&] {
      return onefold::reduce(
          serial, x, n, [](double a, double b) { return a + b; }, 1.0);
    });
    is_refused([&] { return onefold::count_if(serial, x, n, [](double t) { return t > 0; }); });
    is_refused([&] { return onefold::sum(serial, n, value); });
    is_refused([&] { return onefold::argmin(onefold::openmp(2), n, value); });
    is_refused([&] { return onefold::exact_state<onefold::form::sum, double>().add(serial, n, value).count(); });
    is_refused([&] { return onefold::box(n, 5).size(); });
  }
  EXPECT_EQ(called, 0);
  EXPECT_EQ(onefold::box(-1, 5).size(), 0u);  // as in a loop
}

TEST(a_count, whose_address_is_null_is_refused) {
  const double x[] = {1, 2, 3};
  const float y[] = {1, 2, 3};
  const onefold::count_at nowhere{nullptr};
  EXPECT_TRUE(refuses(errc::null_pointer, "count", [&] { static_cast<void>(onefold::sum(onefold::serial(), x, 3, nowhere)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "count", [&] { static_cast<void>(onefold::dot(onefold::serial(), x, x, 3, nowhere)); }));
  EXPECT_TRUE(refuses(errc::null_pointer, "count", [&] { static_cast<void>(onefold::dot(onefold::serial(), x, y, 3, nowhere)); }));
}

}  // namespace
}  // namespace onefold_test
