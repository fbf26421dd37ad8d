/// @file devices_test.cpp  One array on several executors: wherever it is cut, and whoever reduces a part, the result has the bits of the whole. On
/// machines with several GPUs on all of them; everywhere the executors of CPUs stand for GPUs. Images, which GPUs make in stream order.

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <onefold/devices.hpp>

#ifdef ONEFOLD_HAVE_CUDA
#include "../support/cuda.hpp"
#include "gpus.hpp"
#endif
#include "../support/parts.hpp"
#include "range_support.hpp"

namespace onefold_test {
namespace {

using onefold::devices;
using onefold::options;
using onefold::parts;

const std::vector<onefold_executor>& cpu_executors() {
  static const std::vector<onefold_executor> all = [] {
    std::vector<onefold_executor> found{onefold_serial(), onefold_best()};
    if (backend_under_test(onefold::backend::openmp).built) found.push_back(onefold_openmp(3));
    return found;
  }();
  return all;
}

TEST(parts_of_an_array, have_the_bytes_of_the_whole_in_every_form) {
  int compared = 0, kinds = 0;
  for (const kind& of : every_kind()) {
    const uint64_t counts[] = {1, of.tile(), 9 * of.tile() + 5};
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities})
      for (int i = 0; i < 3; ++i) {
        // With a sanitizer each kind has each count once and all values once, and three kinds that follow each other have all nine.
        if (is_sanitized && (static_cast<int>(values) + i + kinds) % 3 != 0) continue;
        const uint64_t count = counts[i], seed = current_seed() + count;
        const arrays in(of, count, seed, values);
        const uint64_t begin = count % 2 == 0 ? 3 : of.tile();
        const std::vector<uint64_t> cuts = cuts_of(count, 4, seed + 1);
        std::vector<onefold_range_part> all;
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
          all.push_back({cpu_executors()[k % cpu_executors().size()], in.x(cuts[k]), in.second(cuts[k]), cuts[k + 1] - cuts[k]});
        const state joined = empty_state(of, begin);
        check(onefold_range_add_parts(joined.get(), all.data(), all.size(), nullptr));
        ASSERT_EQ(bytes_of(joined), bytes_of(state_of(of, in, begin, 0, count))) << text(of) << ", " << count;
        ++compared;
      }
    ++kinds;
  }
  EXPECT_GT(compared, is_sanitized ? 700 : 2000);
}

class several_executors : public testing::Test {
 protected:
  several_executors() {
    const random_numbers random(current_seed());
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = static_cast<double>(random.at(2 * i) >> 11) * 0x1p-53 - 0.25;
      y_[i] = static_cast<double>(random.at(2 * i + 1) >> 11) * 0x1p-40 - 1000;
    }
  }
  static parts<double> cut(const std::vector<double>& x) {
    return {{x.data(), 777}, {x.data() + 777, 0}, {x.data() + 777, x.size() - 777}};
  }

  std::vector<double> x_ = std::vector<double>(100'003);
  std::vector<double> y_ = std::vector<double>(100'003);
  devices all_{onefold::serial(), onefold::best(), onefold::serial()};
  parts<double> x_parts_ = cut(x_);
  parts<double> y_parts_ = cut(y_);
};

TEST_F(several_executors, take_the_calls_that_one_takes) {
  const auto one = onefold::serial();
  EXPECT_EQ(onefold::sum(all_, x_parts_), onefold::sum(one, x_));
  EXPECT_EQ(onefold::dot(all_, x_parts_, y_parts_), onefold::dot(one, x_, y_));
  EXPECT_EQ(onefold::norm2(all_, x_parts_), onefold::norm2(one, x_));
  const auto least = onefold::argmin(all_, x_parts_), expected = onefold::argmin(one, x_);
  EXPECT_EQ(least.value, expected.value);
  EXPECT_EQ(least.index, expected.index);
  const auto unbiased = onefold::mean_variance(all_, x_parts_, onefold::ddof{1}),
             of_one = onefold::mean_variance(one, x_, onefold::ddof{1});
  EXPECT_EQ(unbiased.mean, of_one.mean);
  EXPECT_EQ(unbiased.variance, of_one.variance);
  EXPECT_EQ(onefold::count(all_, x_parts_), onefold::count(one, x_));
  EXPECT_FALSE(onefold::none(all_, x_parts_));
  const std::vector<float> floats(x_.begin(), x_.end());
  const auto in_double = onefold::accumulate_as<double>;
  EXPECT_EQ(onefold::sum(all_, floats, in_double), onefold::sum(one, floats, in_double));
  EXPECT_EQ(onefold::dot(all_, floats, floats, in_double), onefold::dot(one, floats, floats, in_double));
  const std::vector<std::complex<double>> complex(5000, {0.1, -0.3});
  EXPECT_EQ(onefold::sum(all_, complex), onefold::sum(one, complex));
}

TEST_F(several_executors, store_the_result_where_each_has_a_place_for_it) {
  const auto one = onefold::serial();
  double sums[3] = {}, dots[3] = {};
  onefold::sum_into(all_, x_parts_, {&sums[0], &sums[1], &sums[2]});
  onefold::dot_into(all_, x_parts_, y_parts_, {&dots[2], &dots[0], &dots[1]});
  onefold::arg_result<double> least[3];
  std::vector<onefold::arg_result<double>*> places{&least[0], &least[1], &least[2]};
  onefold::argmin_into(all_, x_parts_, places);
  onefold::mean_variance_result<double> moments[3];
  onefold::mean_variance_into(all_, x_parts_, {&moments[0], &moments[1], &moments[2]}, onefold::ddof{1});
  bool any[3] = {};
  onefold::any_into(all_, x_parts_,
                    onefold::outputs<bool>{&any[0], &any[1], &any[2]});  // a function, which takes no list in braces
  const std::vector<float> floats(x_.begin(), x_.end());
  double in_double[3] = {};
  onefold::sum_into(all_, floats, {&in_double[0], &in_double[1], &in_double[2]}, onefold::accumulate_as<double>);
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  double exact[3] = {};
  onefold::sum_into(all_, x_parts_, {&exact[0], &exact[1], &exact[2]}, exactly);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sums[i], onefold::sum(one, x_));
    EXPECT_EQ(dots[i], onefold::dot(one, x_, y_));
    EXPECT_EQ(least[i].index, onefold::argmin(one, x_).index);
    EXPECT_EQ(moments[i].variance, onefold::mean_variance(one, x_, onefold::ddof{1}).variance);
    EXPECT_TRUE(any[i]);
    EXPECT_EQ(in_double[i], onefold::sum(one, floats, onefold::accumulate_as<double>));
    EXPECT_EQ(exact[i], onefold::sum(one, x_, exactly));
  }
  EXPECT_TRUE(refuses(errc::invalid_argument, "2 outputs and 3 executors", [&] {
    onefold::sum_into(all_, x_parts_, {&sums[0], &sums[1]});
  }));
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer of executor 1", [&] {
    onefold::sum_into(all_, x_parts_, {&sums[0], nullptr, &sums[2]});
  }));
}

TEST_F(several_executors, share_out_an_array_in_whole_tiles) {
  for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{512}, uint64_t{513}, uint64_t{1536}, uint64_t{100'003}}) {
    const parts<double> shares = all_.share_out(x_.data(), count);
    ASSERT_EQ(shares.size(), all_.size());
    EXPECT_EQ(shares.count(), count);
    EXPECT_TRUE(shares.is_aligned());
    const double* next = x_.data();
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_TRUE(shares[i].count == 0 || shares[i].data == next);
      next += shares[i].count;
      EXPECT_LE(shares[i].count, (count / 512 / 3 + 1) * 512);
    }
    EXPECT_EQ(onefold::sum(all_, shares), onefold::sum(onefold::serial(), x_.data(), count));
  }
  EXPECT_FALSE(x_parts_.is_aligned());
  EXPECT_EQ(onefold::sum(all_, x_), onefold::sum(onefold::serial(), x_));
}

TEST_F(several_executors, of_exact_sums_add_their_states) {
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  onefold::report ran;
  exactly.report = &ran;
  const double expected = onefold::sum(onefold::serial(), x_, exactly);
  EXPECT_EQ(onefold::sum(all_, x_parts_, exactly), expected);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  EXPECT_EQ(onefold::dot(all_, x_parts_, y_parts_, exactly), onefold::dot(onefold::serial(), x_, y_, exactly));
  // Other parts, in another order: another array, with the same elements.
  const parts<double> turned{{x_.data() + 777, x_.size() - 777}, {x_.data(), 700}, {x_.data() + 700, 77}};
  EXPECT_EQ(onefold::sum(all_, turned, exactly), expected);
  EXPECT_EQ(onefold::max(all_, x_parts_, exactly), onefold::max(onefold::serial(), x_));
  // Complex numbers: a state for each part, or one of all.
  std::vector<std::complex<double>> z;
  for (std::size_t i = 0; i < x_.size(); ++i) z.emplace_back(x_[i], y_[i]);
  const parts<std::complex<double>> pieces{{z.data() + 501, z.size() - 501}, {z.data(), 500}, {z.data() + 500, 1}};
  EXPECT_EQ(onefold::sum(all_, pieces, exactly), onefold::sum(onefold::serial(), z, exactly));
  EXPECT_EQ(onefold::mean(all_, pieces, exactly), onefold::mean(onefold::serial(), z, exactly));
  EXPECT_EQ(onefold::dot(all_, pieces, pieces, exactly), onefold::dot(onefold::serial(), z, z, exactly));
  EXPECT_EQ(onefold::norm2(all_, pieces, exactly), onefold::norm2(onefold::serial(), z, exactly));
  EXPECT_TRUE(
      refuses(errc::guarantee_not_met, "several devices", [&] { static_cast<void>(onefold::norm1(all_, pieces, exactly)); }));
  EXPECT_TRUE(
      refuses(errc::guarantee_not_met, "several devices", [&] { static_cast<void>(onefold::prod(all_, x_parts_, exactly)); }));
}

// What reduce_together and multi_dot give of parts, which `on_parts` makes of an array, is what they give of the arrays.
template <class Parts>
void expect_several_results_of_parts(const devices& all, const std::vector<std::vector<double>>& arrays, const Parts& on_parts) {
  const auto one = onefold::serial();
  std::vector<parts<double>> x, y;
  for (std::size_t k = 0; k < arrays.size(); ++k) (k < 3 ? x : y).push_back(on_parts(arrays[k]));
  const std::vector<std::vector<double>> first(arrays.begin(), arrays.begin() + 3), second(arrays.begin() + 3, arrays.end());
  EXPECT_EQ(onefold::multi_dot(all, x, y), onefold::multi_dot(one, first, second));
  EXPECT_EQ(onefold::multi_dot(all, {x[0], x[1]}, {y[0]}), onefold::multi_dot(one, {first[0], first[1]}, {second[0]}));
  // As many as there may be.
  const std::vector<parts<double>> sixteen(16, x[0]), eight(8, y[0]);
  const double of_each = onefold::dot(one, first[0], second[0]);
  EXPECT_EQ(onefold::multi_dot(all, sixteen, eight), std::vector<double>(128, of_each));
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_EQ(onefold::multi_dot(all, x, y, exactly), onefold::multi_dot(one, first, second, exactly));
  using namespace onefold::op;
  EXPECT_EQ(onefold::reduce_together(all, x[0], sum{}, min{}, max{}, prod{}),
            onefold::reduce_together(one, first[0], sum{}, min{}, max{}, prod{}));
  EXPECT_EQ(onefold::reduce_together(all, x[1], exactly, max{}, min{}),
            onefold::reduce_together(one, first[1], exactly, max{}, min{}));
  EXPECT_TRUE(refuses(errc::guarantee_not_met, "reduce_together has no exact sums",
                      [&] { static_cast<void>(onefold::reduce_together(all, x[1], exactly, max{}, sum{})); }));
  onefold::report ran;
  options how;
  how.report = &ran;
  static_cast<void>(onefold::multi_dot(all, x, y, how));
  EXPECT_EQ(ran.variant, "fixed_order");
}

TEST_F(several_executors, take_several_dots_and_several_operators) {
  std::vector<std::vector<double>> arrays;
  for (std::size_t k = 0; k < 5; ++k) {
    arrays.push_back(k % 2 == 0 ? x_ : y_);
    std::rotate(arrays.back().begin(), arrays.back().begin() + static_cast<std::ptrdiff_t>(37 * k), arrays.back().end());
  }
  expect_several_results_of_parts(all_, arrays, cut);

  const auto one = onefold::serial();
  const std::vector<float> floats(x_.begin(), x_.end());
  EXPECT_EQ(onefold::multi_dot(all_, {all_.share_out(floats)}, {all_.share_out(floats)}),
            onefold::multi_dot(one, {floats}, {floats}));
  EXPECT_EQ(onefold::reduce_together(all_, floats, onefold::op::min{}), onefold::reduce_together(one, floats, onefold::op::min{}));

  // Where each has places for them; more dots than a store takes at a time.
  const std::vector<parts<double>> x{x_parts_, y_parts_, x_parts_, y_parts_, y_parts_}, y{y_parts_, x_parts_, y_parts_, y_parts_};
  const std::vector<std::vector<double>> of_x{x_, y_, x_, y_, y_}, of_y{y_, x_, y_, y_};
  const std::vector<double> dots = onefold::multi_dot(one, of_x, of_y);
  std::vector<double> stored[3];
  for (auto& each : stored) each.assign(dots.size() + 1, -7.0);
  onefold::multi_dot_into(all_, x, y, {stored[0].data(), stored[1].data(), stored[2].data()});
  for (auto& each : stored) {
    EXPECT_EQ(each.back(), -7.0);
    each.pop_back();
    EXPECT_EQ(each, dots);
  }
  std::array<double, 2> extremes[3];
  onefold::reduce_together_into(all_, x_parts_, {extremes[0].data(), extremes[1].data(), extremes[2].data()}, onefold::op::min{},
                                onefold::op::max{});
  for (const auto& each : extremes) EXPECT_EQ(each, onefold::reduce_together(one, x_, onefold::op::min{}, onefold::op::max{}));
}

TEST_F(several_executors, refuse_dots_that_do_not_fit) {
  const std::vector<parts<double>> none, one{x_parts_}, many(65, x_parts_), two(2, x_parts_);
  EXPECT_TRUE(onefold::multi_dot(all_, none, one).empty());
  EXPECT_TRUE(refuses(errc::invalid_argument, "65 by 2 dots", [&] { static_cast<void>(onefold::multi_dot(all_, many, two)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length",
                      [&] { static_cast<void>(onefold::multi_dot(all_, one, {all_.share_out(x_)})); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "2 parts and 3 executors", [&] {
    static_cast<void>(onefold::multi_dot(all_, {x_parts_, parts<double>{{x_.data(), 777}, {x_.data(), 5}}}, one));
  }));
  double result = 0;
  EXPECT_TRUE(refuses(errc::null_pointer, "output pointer of executor 2", [&] {
    onefold::multi_dot_into(all_, one, one, {&result, &result, nullptr});
  }));
  const parts<double> null{{x_.data(), 777}, {nullptr, 0}, {nullptr, x_.size() - 777}};
  EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::multi_dot(all_, {x_parts_, null}, one)); }));
}

// In C: all states or none.
TEST_F(several_executors, leave_all_states_as_they_were_where_one_part_is_refused) {
  const kind sums{element_type::f64, form::sum}, greatest{element_type::f64, form::max};
  const state first = empty_state(sums, 3), second = empty_state(greatest, 0);
  onefold_range* const both[] = {first.get(), second.get()};
  const double* const x = x_.data();
  onefold_range_part all[] = {{onefold_serial(), x, nullptr, 700},
                              {onefold_best(), x + 700, nullptr, 1000},
                              {onefold_serial(), x, nullptr, 0},
                              {onefold_serial(), x, nullptr, 1500}};
  check(onefold_ranges_add_parts(both, 2, all, 2, nullptr));
  EXPECT_EQ(onefold_range_end(first.get()), 1703u);
  EXPECT_EQ(onefold_range_end(second.get()), 1500u);
  double greatest_of_all = 0;
  check(onefold_range_result(second.get(), 0, &greatest_of_all));
  EXPECT_EQ(greatest_of_all, onefold::max(onefold::serial(), x, std::uint64_t{1500}));
  const state expected = empty_state(sums, 3);
  check(onefold_range_add(expected.get(), onefold_serial(), x, nullptr, 1700, nullptr));
  EXPECT_EQ(bytes_of(first), bytes_of(expected));

  const bytes of_second = bytes_of(second);
  const auto refused = [&](errc code, const char* text, const auto& call) {
    EXPECT_TRUE(refuses(code, text, [&] { check(call()); }));
    EXPECT_EQ(bytes_of(first), bytes_of(expected));
    EXPECT_EQ(bytes_of(second), of_second);
  };
  all[3].x = nullptr;
  refused(errc::null_pointer, "input", [&] { return onefold_ranges_add_parts(both, 2, all, 2, nullptr); });
  all[3].x = x;
  all[3].count = ~std::uint64_t{0};
  refused(errc::invalid_argument, "elements", [&] { return onefold_ranges_add_parts(both, 2, all, 2, nullptr); });
  onefold_range* const twice[] = {first.get(), first.get()};
  refused(errc::invalid_argument, "twice", [&] { return onefold_ranges_add_parts(twice, 2, all, 1, nullptr); });
  onefold_range* const lacking[] = {first.get(), nullptr};
  refused(errc::null_pointer, "state", [&] { return onefold_ranges_add_parts(lacking, 2, all, 1, nullptr); });
  refused(errc::null_pointer, "list of states", [&] { return onefold_ranges_add_parts(nullptr, 2, all, 1, nullptr); });
  refused(errc::null_pointer, "list of parts", [&] { return onefold_ranges_add_parts(both, 2, nullptr, 1, nullptr); });
  refused(errc::invalid_argument, "memory", [&] { return onefold_ranges_add_parts(both, 2, all, SIZE_MAX, nullptr); });
  check(onefold_ranges_add_parts(nullptr, 0, nullptr, 2, nullptr));
  check(onefold_ranges_add_parts(both, 2, nullptr, 0, nullptr));
  EXPECT_EQ(bytes_of(second), of_second);

  // Kinds of all sorts, that of reduce_together among them; an operator of the caller's has calls of its own.
  constexpr std::uint8_t operators[] = {ONEFOLD_OP_SUM, ONEFOLD_OP_MIN};
  onefold_range* made = nullptr;
  check(onefold_range_create_together(ONEFOLD_F64, operators, 2, 0, &made));
  const state together(made);
  onefold_range* const mixed[] = {first.get(), together.get()};
  all[3] = all[2] = {onefold_best(), x, nullptr, 600};
  check(onefold_ranges_add_parts(mixed, 2, all, 2, nullptr));
  double results[2] = {};
  check(onefold_range_result(together.get(), 0, results));
  std::vector<double> of_both(x, x + 600);
  of_both.insert(of_both.end(), x, x + 600);
  EXPECT_EQ(results[0], onefold::sum(onefold::serial(), of_both));
  EXPECT_EQ(results[1], onefold::min(onefold::serial(), of_both));
  EXPECT_EQ(onefold_range_end(first.get()), 3403u);
}

TEST_F(several_executors, refuse_parts_that_do_not_fit) {
  const devices two{onefold::serial(), onefold::serial()};
  EXPECT_TRUE(refuses(errc::invalid_argument, "3 parts and 2 executors", [&] { static_cast<void>(onefold::sum(two, x_parts_)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "differ in length",
                      [&] { static_cast<void>(onefold::dot(all_, x_parts_, all_.share_out(y_))); }));
  const parts<double> null{{x_.data(), 5}, {nullptr, 4}, {x_.data(), 1}};
  EXPECT_TRUE(refuses(errc::null_pointer, "null", [&] { static_cast<void>(onefold::sum(all_, null)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "no index", [&] {
    static_cast<void>(onefold::argmin(all_, parts<double>{{x_.data(), 0}, {x_.data(), 0}, {x_.data(), 0}}));
  }));
  EXPECT_EQ(onefold::sum(devices(std::vector<onefold::executor>()), parts<double>(std::vector<parts<double>::part>())), 0.0);

  onefold::range_state<form::sum, double> state(7);
  state.add(onefold::serial(), x_.data(), 1000);
  const auto before = state.bytes();
  const onefold_range_part bad[] = {{onefold_serial(), x_.data(), nullptr, 5}, {onefold_serial(), nullptr, nullptr, 5}};
  EXPECT_THROW(state.add_parts(bad, 2), onefold::error);
  EXPECT_EQ(state.bytes(), before);
  EXPECT_NE(onefold_range_add_parts(nullptr, bad, 1, nullptr), 0);
}

TEST_F(several_executors, tell_what_ran_of_the_first_part_with_elements) {
  onefold::report ran;
  options how;
  how.report = &ran;
  const parts<double> x{{x_.data(), 0}, {x_.data(), 2000}, {x_.data() + 2000, 90'000}};
  static_cast<void>(onefold::sum(all_, x, how));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.threads, 1);
  if (!backend_under_test(onefold::backend::openmp).built) GTEST_SKIP() << "one executor alone says how many threads it had";
  const devices serial_first{onefold::serial(), onefold::serial(), onefold::openmp(3)};
  static_cast<void>(onefold::sum(serial_first, x, how));
  EXPECT_EQ(ran.backend, onefold::backend::serial);
  static_cast<void>(onefold::multi_dot(serial_first, {x, x}, {x}, how));
  EXPECT_EQ(ran.backend, onefold::backend::serial);
  const devices openmp_first{onefold::serial(), onefold::openmp(3), onefold::serial()};
  static_cast<void>(onefold::multi_dot(openmp_first, {x, x}, {x}, how));
  EXPECT_EQ(ran.backend, onefold::backend::openmp);
  static_cast<void>(onefold::reduce_together(openmp_first, x, how, onefold::op::min{}, onefold::op::sum{}));
  EXPECT_EQ(ran.backend, onefold::backend::openmp);

  // Of several states the first of which gets nothing.
  const state first = empty_state({element_type::f64, form::sum}, 0), second = empty_state({element_type::f64, form::max}, 0);
  onefold_range* const both[] = {first.get(), second.get()};
  const onefold_range_part all[] = {{onefold_serial(), nullptr, nullptr, 0}, {onefold_openmp(3), x_.data(), nullptr, 90'000}};
  onefold_report told{};
  told.struct_bytes = sizeof(told);
  onefold_options asked{};
  asked.struct_bytes = sizeof(asked);
  asked.report = &told;
  check(onefold_ranges_add_parts(both, 2, all, 1, &asked));
  EXPECT_EQ(told.backend, ONEFOLD_OPENMP);
}

TEST(images, are_made_by_gpus_alone) {
  const std::vector<double> x(100, 1.0);
  onefold::range_state<form::sum, double> state;
  std::vector<double> image(state.image_bytes(x.size()) / sizeof(double) + 2);
  EXPECT_TRUE(
      refuses(errc::unsupported, "cuda()", [&] { state.put_image(onefold::serial(), x.data(), nullptr, x.size(), image.data()); }));
  EXPECT_TRUE(
      refuses(errc::null_pointer, "image", [&] { state.put_image(onefold::serial(), x.data(), nullptr, x.size(), nullptr); }));
  EXPECT_TRUE(refuses(errc::misaligned_pointer, "16 bytes", [&] {
    state.put_image(onefold::serial(), x.data(), nullptr, x.size(),
                    reinterpret_cast<char*>(image.data()) + 8 + (reinterpret_cast<std::uintptr_t>(image.data()) % 16 == 8 ? 8 : 0));
  }));
  EXPECT_EQ(state.image_bytes(0), 0u);
}

#ifdef ONEFOLD_HAVE_CUDA

// --- on GPUs: on all that there are, and on one of them several times -------------------------------------------------------------------------------

TEST_F(gpus, take_several_dots_and_several_operators_cuda) {
  std::vector<std::vector<double>> vectors(5);
  const random_numbers random(current_seed());
  for (std::size_t k = 0; k < vectors.size(); ++k)
    for (uint64_t i = 0; i < 300'007; ++i) vectors[k].push_back(static_cast<double>(random.at(7 * i + k) >> 11) * 0x1p-53 - 0.25);
  // Three parts on GPUs, one of a CPU, and one in host memory that a GPU copies.
  const devices all{onefold::cuda(device_of(0)), onefold::cuda(device_of(1)), onefold::serial(), onefold::cuda(device_of(2)),
                    onefold::cuda(device_of(3))};
  const std::size_t cuts[] = {0, 100'000, 131'072, 140'001, 250'000, 300'007};
  std::vector<memory_on> memory;
  // States of different kinds in one call: those of small types and of reduce_together, and places.
  const kind kinds[] = {{element_type::f64, form::sum},    {element_type::f32, form::sum, true}, {element_type::f16, form::max},
                        {element_type::i32, form::argmin}, {element_type::c64, form::norm2},     {element_type::f64, form::minmax}};
  std::vector<state> states;
  std::vector<bytes> expected;
  std::vector<onefold_range*> places;
  std::vector<onefold_range_part> of_all;
  for (const kind& of : kinds) {
    const uint64_t n = 9 * of.tile() + 77, cut = 3 * of.tile() + 5;
    const arrays in(of, n, current_seed(), values_of::few);
    states.push_back(empty_state(of, 0));
    places.push_back(states.back().get());
    expected.push_back(bytes_of(state_of(of, in, 0, 0, n)));
    for (const auto& [from, to] : {std::pair{uint64_t{0}, cut}, std::pair{cut, n}}) {
      const int device = device_of(from == 0 ? 0 : 1);
      memory.emplace_back(device, in.x(from), (to - from) * of.element_bytes());
      of_all.push_back({onefold_cuda_device(device), memory.back().as<void>(), nullptr, to - from});
    }
  }
  check(onefold_ranges_add_parts(places.data(), places.size(), of_all.data(), 2, nullptr));
  for (std::size_t k = 0; k < states.size(); ++k) EXPECT_EQ(bytes_of(states[k]), expected[k]) << text(kinds[k]);

  const auto on_parts = [&](const std::vector<double>& x) {
    std::vector<parts<double>::part> made;
    for (std::size_t i = 0; i < 5; ++i) {
      const double* data = x.data() + cuts[i];
      const std::size_t count = cuts[i + 1] - cuts[i];
      if (i != 2 && i != 4) {
        memory.emplace_back(device_of(i == 3 ? 2 : i), data, count * sizeof(double));
        data = memory.back().as<double>();
      }
      made.push_back({data, count});
    }
    return parts<double>(made);
  };
  expect_several_results_of_parts(all, vectors, on_parts);
}

TEST_F(gpus, give_parts_the_bytes_of_the_whole_in_every_form_cuda) {
  uint64_t compared = 0;
  for (const kind& of : all_kinds())
    for (const values_of values : {values_of::any_bits, values_of::few, values_of::infinities})
      for (const uint64_t count : {uint64_t{1}, 3 * of.tile(), 21 * of.tile() + 7}) {
        const uint64_t seed = current_seed() + count;
        const arrays in(of, count, seed, values);
        const std::vector<uint64_t> cuts = cuts_of(count, 5, seed + 1);
        std::vector<memory_on> memory;
        std::vector<onefold_range_part> all;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
          const uint64_t its = cuts[i + 1] - cuts[i];
          const std::size_t size = its * of.element_bytes();
          memory.emplace_back(device_of(i), in.x(cuts[i]), size);
          const void* const x = memory.back().as<void>();
          const void* y = nullptr;
          if (of.what == form::dot) {
            memory.emplace_back(device_of(i), in.y(cuts[i]), size);
            y = memory.back().as<void>();
          }
          all.push_back({onefold_cuda_device(device_of(i)), x, y, its});
        }
        // One part from the host, which a CPU reduces meanwhile.
        all[2] = {onefold_serial(), in.x(cuts[2]), in.second(cuts[2]), cuts[3] - cuts[2]};
        const state joined = empty_state(of, 0);
        check(onefold_range_add_parts(joined.get(), all.data(), all.size(), nullptr));
        ASSERT_EQ(bytes_of(joined), bytes_of(state_of(of, in, 0, 0, count))) << text(of) << ", " << count;
        ++compared;
      }
  RecordProperty("compared", static_cast<int>(compared));
  EXPECT_GT(compared, 2000u);
}

// Those of its forms that a GPU has.
TEST_F(gpus, give_complex_numbers_the_bytes_of_the_whole_cuda) {
  int compared = 0;
  std::vector<std::string> refused;
  for (const kind& of : complex_kinds())
    for (const auto& [begin, count] :
         {std::pair{uint64_t{0}, uint64_t{1}}, {uint64_t{0}, 8 * of.tile()}, {uint64_t{5}, 21 * of.tile() + 7}}) {
      const arrays in(of, count, current_seed() + count, values_of::any_bits);
      const memory_on x(0, in.x(), count * of.element_bytes()), y(0, in.y(), count * of.element_bytes());
      const state there = empty_state(of, begin);
      const void* const second = of.what == form::dot ? y.as<void>() : nullptr;
      const int status = onefold_range_add(there.get(), onefold_cuda_device(0), x.as<void>(), second, count, nullptr);
      if (status != 0) {
        refused.push_back(text(of) + ": " + onefold_last_error());
        continue;
      }
      EXPECT_EQ(bytes_of(there), bytes_of(state_of(of, in, begin, 0, count))) << text(of) << ", " << count << " from " << begin;
      ++compared;
    }
  RecordProperty("refused", static_cast<int>(refused.size()));
  for (const std::string& why : refused) std::printf("refused: %s\n", why.c_str());
  EXPECT_GE(compared, 40);
}

TEST_F(gpus, all_get_the_result_in_stream_order_cuda) {
  std::vector<double> x(100'003);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  const double none = 0;
  std::vector<onefold::executor> each;
  std::vector<memory_on> memory, results;
  std::vector<parts<double>::part> list;
  std::vector<double*> to;
  const auto several = static_cast<std::size_t>(std::max(count_, 2));
  for (std::size_t i = 0; i < several; ++i) {
    const auto share = onefold::detail::aligned_share<double>(x.size(), i, several);
    each.push_back(onefold::cuda(device_of(i)));
    memory.emplace_back(device_of(i), x.data() + share.begin, share.size() * sizeof(double));
    results.emplace_back(device_of(i), &none, sizeof(none));
    list.emplace_back(memory.back().as<const double>(), share.size());
    to.push_back(results.back().as<double>());
  }
  const devices all(each);
  const double expected = onefold::sum(onefold::serial(), x);
  onefold::report ran;
  onefold::sum_into(all, parts<double>(list), to, {.report = &ran});
  EXPECT_EQ(ran.backend, onefold::backend::cuda);
  for (std::size_t i = 0; i < several; ++i) {
    // Behind it on the stream, and on this GPU alone.
    EXPECT_EQ(onefold::sum(each[i], to[i], 1), expected) << "GPU " << device_of(i);
  }
  std::vector<double> here(several, 0);  // the host's own memory, which a GPU does not write
  std::vector<double*> host;
  for (double& one : here) host.push_back(&one);
  EXPECT_TRUE(refuses(errc::host_pointer, "output", [&] { onefold::sum_into(all, parts<double>(list), host); }));
}

TEST_F(gpus, store_values_that_graphs_replay_cuda) {
  expect_success(cudaSetDevice(0), "cudaSetDevice");
  const stream on;
  const auto where = onefold_cuda(0, on.get());
  const double none = 0;
  const memory_on result(0, &none, sizeof(none));
  double value = 2.5;
  recording graph(on.get());
  EXPECT_EQ(onefold_store(where, result.as<double>(), &value, sizeof(value)), ONEFOLD_OK) << onefold_last_error();
  graph.end();
  value = 0;  // read when it was recorded
  for (int round = 0; round < 2; ++round) {
    expect_success(cudaMemset(result.as<double>(), 0, sizeof(double)), "cudaMemset");
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    graph.replay();
    EXPECT_EQ(onefold::sum(onefold::cuda(0, on.get()), result.as<double>(), 1), 2.5);
  }
}

TEST_F(gpus, reduce_in_calls_from_several_threads_in_any_order_cuda) {
  std::vector<float> x(300'000);
  std::iota(x.begin(), x.end(), -1000.0F);
  const float expected = onefold::sum(onefold::serial(), x);
  const devices one_way{onefold::cuda(0), onefold::cuda(count_ - 1), onefold::cuda(0)};
  const devices other_way{onefold::cuda(count_ - 1), onefold::cuda(0), onefold::cuda(count_ - 1)};
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (const devices* all : {&one_way, &other_way, &one_way, &other_way})
    threads.emplace_back([&, all] {
      std::vector<memory_on> memory;
      std::vector<parts<float>::part> list;
      const parts<float> on_host = all->share_out(x);
      for (std::size_t i = 0; i < all->size(); ++i) {
        memory.emplace_back((*all)[i].device(), on_host[i].data, on_host[i].count * sizeof(float));
        list.emplace_back(memory.back().as<float>(), on_host[i].count);
      }
      const parts<float> there(list);
      for (int again = 0; again < 200; ++again)
        if (onefold::sum(*all, there) != expected) ++wrong;
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(gpus, copy_shares_of_host_arrays_at_the_same_time_cuda) {
  std::vector<double> x(5'000'001);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  const devices all = devices::all();
  EXPECT_EQ(all.size(), static_cast<std::size_t>(count_));
  EXPECT_EQ(onefold::sum(all, x), onefold::sum(onefold::serial(), x));
  EXPECT_EQ(onefold::norm2(all, x), onefold::norm2(onefold::serial(), x));
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  EXPECT_EQ(onefold::sum(all, x, exactly), onefold::sum(onefold::serial(), x, exactly));
}

TEST_F(gpus, refuse_parts_on_another_gpu_cuda) {
  if (count_ < 2) GTEST_SKIP() << "there is one GPU";
  const std::vector<double> x(10'000, 0.1);
  const memory_on there(1, x.data(), x.size() * sizeof(double));
  const parts<double> both{{there.as<double>(), 5000}, {there.as<double>() + 5000, 5000}};
  EXPECT_TRUE(refuses(errc::wrong_device, "", [&] {
    static_cast<void>(onefold::sum(devices{onefold::cuda(1), onefold::cuda(0)}, both));
  }));
  EXPECT_EQ(onefold::sum(devices{onefold::cuda(1), onefold::cuda(1)}, both), onefold::sum(onefold::serial(), x));
  int current = -1;
  expect_success(cudaGetDevice(&current), "cudaGetDevice");
  EXPECT_EQ(current, 0) << "the caller's device stays current";
}

// Work that is ahead of a call on each of its streams, and two parts on one; on one GPU, where there are no more, all streams are that one's.
TEST_F(gpus, reduce_on_streams_of_their_own_and_on_shared_ones_cuda) {
  std::vector<double> x(300'007);
  const random_numbers random(current_seed());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  const double expected = onefold::sum(onefold::serial(), x), least = onefold::min(onefold::serial(), x);
  options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  const double exact = onefold::sum(onefold::serial(), x, exactly);
  std::vector<std::unique_ptr<stream>> streams;
  const auto stream_on = [&](int device) {
    expect_success(cudaSetDevice(device), "cudaSetDevice");
    streams.push_back(std::make_unique<stream>());
    expect_success(cudaSetDevice(0), "cudaSetDevice");
    return onefold::cuda(device, streams.back()->get());
  };
  const onefold::executor first = stream_on(device_of(0)), second = stream_on(device_of(1)), third = stream_on(device_of(2));
  const std::size_t cuts[] = {0, 100'001, 180'000, x.size()};
  const std::vector<double> others(x.size(), 1e6);
  for (const devices& all : {devices{first, second, third}, devices{first, second, first}, devices{first, first, first},
                             devices{first, onefold::cuda(device_of(1)), stream_on(device_of(0))}})
    for (int again = 0; again < 20; ++again) {
      std::vector<memory_on> memory, results;
      std::vector<parts<double>::part> list;
      std::vector<double*> to;
      const double none = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t size = (cuts[i + 1] - cuts[i]) * sizeof(double);
        memory.emplace_back(all[i].device(), others.data(), size);
        results.emplace_back(all[i].device(), &none, sizeof(none));
        to.push_back(results.back().as<double>());
        list.emplace_back(memory.back().as<double>(), cuts[i + 1] - cuts[i]);
        // What the call is to read comes on its own stream, for which nobody waits but where that is the library's.
        expect_success(cudaSetDevice(all[i].device()), "cudaSetDevice");
        expect_success(cudaMemcpyAsync(memory.back().as<double>(), x.data() + cuts[i], size, cudaMemcpyDefault, all[i].stream()),
                       "cudaMemcpyAsync");
        if (all[i].stream() == nullptr) expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        expect_success(cudaSetDevice(0), "cudaSetDevice");
      }
      const parts<double> there(list);
      ASSERT_EQ(onefold::sum(all, there), expected);
      ASSERT_EQ(onefold::min(all, there), least);
      ASSERT_EQ(onefold::sum(all, there, exactly), exact);
      onefold::sum_into(all, there, to);
      for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(onefold::max(all[i], to[i], 1), expected) << "on executor " << i;
    }
}

// Each part's state in working memory of the caller's own on its GPU.
TEST_F(gpus, may_each_have_a_workspace_of_its_own_cuda) {
  std::vector<double> x(200'001);
  std::iota(x.begin(), x.end(), 0.1);
  const std::size_t several = static_cast<std::size_t>(std::max(count_, 2)), share = x.size() / several;
  onefold::range_state<form::sum, double> all;
  std::vector<onefold::workspace> own;
  for (std::size_t i = 0; i < several; ++i) own.emplace_back(onefold::cuda(device_of(i)), x.size());
  for (std::size_t i = 0; i < several; ++i) {
    const std::size_t first = i * share, end = i + 1 == several ? x.size() : first + share;
    const memory_on there(device_of(i), x.data() + first, (end - first) * sizeof(double));
    onefold::range_state<form::sum, double> mine(first);
    options how;
    how.workspace = &own[i];
    all.append(mine.add(onefold::cuda(device_of(i)), there.as<double>(), end - first, how));
    if (count_ < 2) continue;
    how.workspace = &own[(i + 1) % several];
    EXPECT_TRUE(refuses(errc::wrong_device, "", [&] {
      static_cast<void>(onefold::sum(onefold::cuda(device_of(i)), there.as<double>(), end - first, how));
    }));
  }
  EXPECT_EQ(all.value(), onefold::sum(onefold::serial(), x));
  if (count_ < 2) GTEST_SKIP() << "there is one GPU, so no workspace of another";
}

class pinned_memory {
 public:
  explicit pinned_memory(std::size_t bytes) { expect_success(cudaMallocHost(&data_, bytes), "cudaMallocHost"); }
  ~pinned_memory() { cudaFreeHost(data_); }
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

TEST_F(gpus, make_images_in_stream_order_cuda) {
  const stream on;
  const auto where = onefold_cuda(0, on.get());
  const device_memory there(std::size_t{1} << 20);
  const pinned_memory here(std::size_t{1} << 20);
  int compared = 0;
  for (const kind& of : every_kind()) {
    const uint64_t tile = of.tile();
    for (const auto& [begin, count] :
         {std::pair{uint64_t{0}, uint64_t{1}}, {uint64_t{0}, 8 * tile}, {tile + 3, tile / 2}, {uint64_t{5}, 21 * tile + 7}}) {
      const arrays in(of, count, current_seed() + count, values_of::any_bits);
      const memory_on x(0, in.x(), count * of.element_bytes()), y(0, in.y(), count * of.element_bytes());
      const void* const second = of.what == form::dot ? y.as<void>() : nullptr;
      const state got = empty_state(of, begin);
      std::size_t size = 0;
      check(onefold_range_image_bytes(got.get(), count, &size));
      ASSERT_LE(size, std::size_t{1} << 20);
      const bool on_host = compared % 2 == 0;  // else through memory of the device
      check(onefold_range_put_image(got.get(), where, x.as<void>(), second, count, on_host ? here.data() : there.as<void>(),
                                    nullptr));
      if (!on_host)
        expect_success(cudaMemcpyAsync(here.data(), there.as<void>(), size, cudaMemcpyDefault, on.get()), "cudaMemcpyAsync");
      on.synchronize();
      check(onefold_range_add_image(got.get(), here.data(), count));
      ASSERT_EQ(bytes_of(got), bytes_of(state_of(of, in, begin, 0, count))) << text(of) << ", " << count << " from " << begin;
      ++compared;
    }
  }
  EXPECT_GT(compared, 800);
}

TEST_F(gpus, join_images_in_stream_order_cuda) {
  const stream on;
  const auto where = onefold_cuda(0, on.get());
  int joined = 0;
  const uint64_t nothing[1] = {};
  alignas(16) std::byte no_images[64];
  EXPECT_EQ(onefold_range_can_join_images(ONEFOLD_C64, ONEFOLD_SUM, 0, 1, 0), 0);
  EXPECT_EQ(onefold_range_join_images(ONEFOLD_C64, ONEFOLD_SUM, 0, where, no_images, 16, nothing, 1, 0, no_images),
            ONEFOLD_UNSUPPORTED);
  for (const kind& of : every_kind()) {
    const uint64_t tile = of.tile();
    const auto type = static_cast<int32_t>(of.type), what = static_cast<int32_t>(of.what);
    ASSERT_EQ(onefold_range_can_join_images(type, what, of.flags(), 2, 3 * tile), 1) << text(of);
    for (const uint64_t parts : {1, 2, 3, 8, 64})
      for (const uint64_t each : {uint64_t{3}, tile, 5 * tile / 2 + 1}) {
        std::vector<uint64_t> borders{0};
        const random_numbers random(current_seed() + parts);
        for (uint64_t p = 0; p < parts; ++p)  // some empty, and every second layout cut anywhere
          borders.push_back(borders.back() + (random.at(p) % 5 == 0   ? 0
                                              : random.at(1) % 2 == 0 ? each
                                                                      : random.at(p + 100) % (2 * each)));
        const uint64_t total = borders.back();
        if (total == 0 && is_complex(of.type)) continue;
        const arrays in(of, total, current_seed() + total, values_of::rounding);
        const memory_on x(0, in.x(), total * of.element_bytes()), y(0, in.y(), total * of.element_bytes());
        const device_memory result(64);
        std::size_t stride = 16;
        for (uint64_t p = 0; p < parts; ++p) {
          std::size_t bytes = 0;
          check(onefold_range_image_bytes(empty_state(of, borders[p]).get(), borders[p + 1] - borders[p], &bytes));
          stride = std::max(stride, bytes);
        }
        const device_memory images(parts * stride);
        for (uint64_t p = 0; p < parts; ++p) {
          const std::size_t first = borders[p] * of.element_bytes();
          check(onefold_range_put_image(empty_state(of, borders[p]).get(), where, x.as<std::byte>() + first,
                                        of.what == form::dot ? y.as<std::byte>() + first : nullptr, borders[p + 1] - borders[p],
                                        images.as<std::byte>() + p * stride, nullptr));
        }
        const int status = onefold_range_join_images_ddof(type, what, of.flags(), 1, where, images.as<void>(), stride,
                                                          borders.data(), parts, total, result.as<void>());
        if (total == 0 && has_index(of.what)) {
          EXPECT_EQ(status, ONEFOLD_INVALID_ARGUMENT) << text(of);
          continue;
        }
        check(status);
        bytes got(of.result_bytes());
        expect_success(cudaMemcpyAsync(got.data(), result.as<void>(), got.size(), cudaMemcpyDefault, on.get()), "cudaMemcpyAsync");
        on.synchronize();
        bytes expected = whole(of, in, total);
        if (const std::size_t size = size_of(of.type); has_index(of.what) && size < 8)
          for (std::size_t at = size; at < got.size(); at += 16)  // nobody speaks of what lies between a value and its index
            std::copy_n(got.begin() + static_cast<std::ptrdiff_t>(at), 8 - size,
                        expected.begin() + static_cast<std::ptrdiff_t>(at));
        ASSERT_EQ(got, expected) << text(of) << ", " << parts << " parts of " << total;
        ++joined;
      }
  }
  EXPECT_GT(joined, 2300);
  std::printf("%d results of images\n", joined);
}

TEST_F(gpus, make_images_in_graphs_cuda) {
  std::vector<double> x(100'000);
  std::iota(x.begin(), x.end(), 0.25);
  const memory_on there(0, x.data(), x.size() * sizeof(double));
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  const onefold::range_state<form::mean_variance, double> before(100);
  const pinned_memory image(before.image_bytes(x.size()));
  recording graph(on.get());
  before.put_image(where, there.as<double>(), nullptr, x.size(), image.data());
  graph.end();
  for (const double factor : {1.0, -3.0}) {
    for (double& one : x) one *= factor;
    expect_success(cudaMemcpyAsync(there.as<double>(), x.data(), x.size() * sizeof(double), cudaMemcpyDefault, on.get()),
                   "cudaMemcpyAsync");
    graph.replay();
    on.synchronize();
    auto got = before;
    got.add_image(image.data(), x.size());
    onefold::range_state<form::mean_variance, double> expected(100);
    expected.add(onefold::serial(), x);
    EXPECT_EQ(got.bytes(), expected.bytes());
  }
}

#endif

}  // namespace
}  // namespace onefold_test
