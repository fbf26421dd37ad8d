/// @file fused_test.cpp  Functions of the index instead of an array: the bits of the array that holds their values, each index once, boxes row by
/// row, several values, absent ones, exceptions, calls within calls.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <stdexcept>

#include "../support/zero_pages.hpp"
#include "fused_fixture.hpp"
#include "small_oracle.hpp"

namespace onefold_test {
namespace {

namespace op = onefold::op;
using onefold::errc;

constexpr std::size_t all_sizes[] = {1, 2, 63, 64, 65, 511, 513, 1'023, 1'024, 1'025, 5'000, 16'384, 16'385, 50'021, 300'003};
// With a sanitizer all but the last, which has three quarters of the elements: the one before has several groups for each thread.
constexpr std::span<const std::size_t> sizes(all_sizes, std::size(all_sizes) - (is_sanitized ? 1 : 0));
// Values of which `keep` in a hundred are there: with a sanitizer the largest sizes have half of them alone.
constexpr bool is_asked(std::size_t count, unsigned keep) { return !is_sanitized || count <= 6'000 || keep == 50; }

class fused : public cpu_test {
 protected:
  // A form of f(0) .. f(n - 1) and of the array that holds them, as values and stored.
  template <class T, class Form, class Storing, class... Modifiers>
  void expect_bits_of_the_array(const std::vector<T>& x, const char* name, const Form& form, const Storing& storing,
                                Modifiers... modifiers) {
    const auto of_array = form(where(), x, modifiers...);
    const auto f = [&x](std::uint64_t i) { return x[i]; };
    const auto of_function = form(where(), x.size(), f, modifiers...);
    EXPECT_EQ(bits_of(of_function), bits_of(of_array)) << name << " of " << x.size();
    std::remove_const_t<decltype(of_array)> stored{};
    storing(where(), x.size(), f, &stored, modifiers...);
    EXPECT_EQ(bits_of(stored), bits_of(of_array)) << name << "_into of " << x.size();
  }
};

TEST_P(fused, have_the_bits_of_the_array_that_holds_their_values) {
  for (int t = 0; t < onefold::full_type_count; ++t)
    with_type(static_cast<element_type>(t), [&]<class T> {
      SCOPED_TRACE(std::string(onefold::name(onefold::element_type_of<T>)));
      for (const std::size_t count : sizes) {
        const auto x = any_vector<T>(count, current_seed() + count);
        expect_bits_of_the_array(x, "sum", onefold::sum, onefold::sum_into);
        expect_bits_of_the_array(x, "prod", onefold::prod, onefold::prod_into);
        expect_bits_of_the_array(x, "min", onefold::min, onefold::min_into);
        expect_bits_of_the_array(x, "max", onefold::max, onefold::max_into);
        expect_bits_of_the_array(x, "sum_of_squares", onefold::sum_of_squares, onefold::sum_of_squares_into);
        expect_bits_of_the_array(x, "norm1", onefold::norm1, onefold::norm1_into);
        expect_bits_of_the_array(x, "norm_inf", onefold::norm_inf, onefold::norm_inf_into);
        expect_bits_of_the_array(x, "mean", onefold::mean, onefold::mean_into);
        expect_bits_of_the_array(x, "norm2", onefold::norm2, onefold::norm2_into);
        expect_bits_of_the_array(x, "min_number", onefold::min_number, onefold::min_number_into);
        expect_bits_of_the_array(x, "max_number", onefold::max_number, onefold::max_number_into);
        const auto count_of = [](const auto&... arguments) { return onefold::count(arguments...); };
        const auto count_into = [](const auto&... arguments) { onefold::count_into(arguments...); };
        expect_bits_of_the_array(x, "count", count_of, count_into);
        if constexpr (std::is_integral_v<T>) {
          expect_bits_of_the_array(x, "bit_and", onefold::bit_and, onefold::bit_and_into);
          expect_bits_of_the_array(x, "bit_or", onefold::bit_or, onefold::bit_or_into);
          expect_bits_of_the_array(x, "bit_xor", onefold::bit_xor, onefold::bit_xor_into);
        }
        expect_bits_of_the_array(x, "argmin", onefold::argmin, onefold::argmin_into);
        expect_bits_of_the_array(x, "argmax", onefold::argmax, onefold::argmax_into);
        expect_bits_of_the_array(x, "minmax", onefold::minmax, onefold::minmax_into);
        expect_bits_of_the_array(x, "mean_variance", onefold::mean_variance, onefold::mean_variance_into);
        expect_bits_of_the_array(x, "mean_variance", onefold::mean_variance, onefold::mean_variance_into, onefold::ddof{1});
        if constexpr (std::is_same_v<T, float>) {
          expect_bits_of_the_array(x, "sum in double", onefold::sum, onefold::sum_into, onefold::accumulate_as<double>);
          expect_bits_of_the_array(x, "mean_variance in double", onefold::mean_variance, onefold::mean_variance_into,
                                   onefold::accumulate_as<double>);
        }
        if (HasFailure()) return;
      }
    });
}

TEST_P(fused, of_no_index_give_what_no_elements_give) {
  const auto never = [](std::uint64_t) -> double { throw std::logic_error("called without an index"); };
  const std::vector<double> nothing;
  EXPECT_EQ(bits_of(onefold::sum(where(), 0, never)), bits_of(onefold::sum(where(), nothing)));
  EXPECT_EQ(bits_of(onefold::prod(where(), 0, never)), bits_of(1.0));
  EXPECT_EQ(bits_of(onefold::min(where(), 0, never)), bits_of(onefold::min(where(), nothing)));
  EXPECT_EQ(bits_of(onefold::mean(where(), 0, never)), bits_of(onefold::mean(where(), nothing)));
  EXPECT_EQ(bits_of(onefold::minmax(where(), 0, never)), bits_of(onefold::minmax(where(), nothing)));
  EXPECT_EQ(bits_of(onefold::mean_variance(where(), 0, never)), bits_of(onefold::mean_variance(where(), nothing)));
  EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] { static_cast<void>(onefold::argmin(where(), 0, never)); }));
  EXPECT_TRUE(refuses(errc::invalid_argument, "negative", [&] { static_cast<void>(onefold::sum(where(), -1, never)); }));
}

TEST_P(fused, are_called_once_for_each_index) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1'025}, std::size_t{300'003}}) {
    std::vector<std::atomic<unsigned char>> calls(count);
    const auto f = [&](std::uint64_t i) {
      calls.at(i).fetch_add(1, std::memory_order_relaxed);
      return static_cast<std::int64_t>(i);
    };
    const auto expect_once = [&](const char* what) {
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(calls[i].exchange(0), 1) << what << ", index " << i << " of " << count;
      }
    };
    EXPECT_EQ(onefold::sum(where(), count, f), static_cast<std::int64_t>(count * (count - 1) / 2));
    expect_once("sum");
    EXPECT_EQ(onefold::argmax(where(), count, f).index, count - 1);
    expect_once("argmax");
    static_cast<void>(onefold::mean_variance(where(), count, f));
    expect_once("mean_variance");
    EXPECT_EQ(onefold::transform_reduce(
                  where(), count, [](std::int64_t a, std::int64_t b) { return std::max(a, b); }, f),
              static_cast<std::int64_t>(count - 1));
    expect_once("an own operator");
    static_cast<void>(onefold::sum(where(), count, [&](std::uint64_t i) { return std::array<std::int64_t, 2>{f(i), 1}; }));
    expect_once("two values");
    static_cast<void>(onefold::sum(where(), count, [&](std::uint64_t i) -> onefold::maybe<std::int64_t> { return f(i); }));
    expect_once("a filter");
    if (HasFatalFailure()) return;
  }
}

TEST_P(fused, predicates_are_counted) {
  for (const std::size_t count : sizes) {
    const auto x = any_vector<float>(count, current_seed());
    const auto is_small = [](float v) { return std::fabs(v) < 1; };
    const auto expected = static_cast<std::uint64_t>(std::count_if(x.begin(), x.end(), is_small));
    EXPECT_EQ(onefold::count_if(where(), x, is_small), expected);
    EXPECT_EQ(onefold::count_if(where(), x.data(), x.size(), is_small), expected);
    EXPECT_EQ(onefold::count_if(where(), x.size(), [&](std::uint64_t i) { return is_small(x[i]); }), expected);
    std::uint64_t stored[] = {0, 0, 0};
    onefold::count_if_into(where(), x, &stored[0], is_small);
    onefold::count_if_into(where(), x.data(), x.size(), &stored[1], is_small);
    onefold::count_if_into(where(), x.size(), &stored[2], [&](std::uint64_t i) { return is_small(x[i]); });
    for (const std::uint64_t one : stored) EXPECT_EQ(one, expected);
  }
  EXPECT_EQ(onefold::count_if(std::vector<int>{1, 2, 3}, [](int v) { return v != 2; }), 2U);
  EXPECT_EQ(onefold::count_if(where(), std::vector<int>{}, [](int) { return true; }), 0U);
  EXPECT_EQ(onefold::count_if(where(), onefold::box({1, 4}, {0, 5}), [](auto j, auto i) { return i < j; }), 6U);
}

// --- boxes

TEST_P(fused, over_a_box_go_row_by_row) {
  struct bounds {
    std::int64_t j0, j1, i0, i1;
  };
  for (const auto& [j0, j1, i0, i1] :
       {bounds{0, 1, 0, 1}, {0, 7, 0, 1}, {0, 1, 0, 700}, {1, 99, 1, 77}, {-5, 300, -3, 61}, {2, 40, 3, 4'100}}) {
    const auto value = [](std::int64_t j, std::int64_t i) { return std::sin(static_cast<double>(j * 1'000 + i)); };
    std::vector<double> x;
    for (std::int64_t j = j0; j < j1; ++j)
      for (std::int64_t i = i0; i < i1; ++i) x.push_back(value(j, i));
    const auto over = onefold::box({j0, j1}, {i0, i1});
    EXPECT_EQ(over.size(), x.size());
    EXPECT_EQ(bits_of(onefold::sum(where(), over, value)), bits_of(onefold::sum(where(), x)));
    EXPECT_EQ(bits_of(onefold::argmin(where(), over, value)), bits_of(onefold::argmin(where(), x)));
    EXPECT_EQ(bits_of(onefold::mean_variance(where(), over, value)), bits_of(onefold::mean_variance(where(), x)));
    EXPECT_EQ(bits_of(onefold::norm2(where(), over, value)), bits_of(onefold::norm2(where(), x)));
    const auto own = [](double a, double b) { return a + b; };
    EXPECT_EQ(bits_of(onefold::transform_reduce(where(), over, own, value)), bits_of(onefold::sum(where(), x)));
    const auto two = onefold::sum(where(), over, [&](auto j, auto i) {
      return std::array<double, 2>{value(j, i), 2 * value(j, i)};
    });
    EXPECT_EQ(bits_of(two[0]), bits_of(onefold::sum(where(), x)));
  }
}

TEST_P(fused, over_a_box_of_three_go_row_by_row) {
  struct bounds {
    std::int64_t k0, k1, j0, j1, i0, i1;
  };
  for (const auto& [k0, k1, j0, j1, i0, i1] :
       {bounds{0, 2, 0, 3, 0, 4}, {1, 9, 1, 30, 1, 61}, {-2, 40, 7, 8, -9, 90}, {0, 1, 0, 1, 0, 5'000}}) {
    const auto value = [](std::int64_t k, std::int64_t j, std::int64_t i) {
      return std::cos(static_cast<double>((k * 101 + j) * 1'000 + i));
    };
    std::vector<double> x;
    for (std::int64_t k = k0; k < k1; ++k)
      for (std::int64_t j = j0; j < j1; ++j)
        for (std::int64_t i = i0; i < i1; ++i) x.push_back(value(k, j, i));
    const auto over = onefold::box({k0, k1}, {j0, j1}, {i0, i1});
    EXPECT_EQ(bits_of(onefold::sum(where(), over, value)), bits_of(onefold::sum(where(), x)));
    EXPECT_EQ(bits_of(onefold::argmax(where(), over, value)), bits_of(onefold::argmax(where(), x)));
    const auto some = [&](std::int64_t k, std::int64_t j, std::int64_t i) { return onefold::maybe<double>(value(k, j, i)); };
    EXPECT_EQ(bits_of(onefold::sum(where(), over, some)), bits_of(onefold::sum(where(), x))) << "none absent";
    EXPECT_EQ(bits_of(onefold::argmin(where(), over, some)), bits_of(onefold::argmin(where(), x))) << "none absent";
  }
}

TEST_P(fused, over_a_box_without_an_index_give_what_no_elements_give) {
  const auto never = [](std::int64_t, std::int64_t) -> double { throw std::logic_error("called without an index"); };
  for (const auto& over : {onefold::box({1, 1}, {0, 9}), onefold::box({0, 9}, {5, 2}), onefold::box(0, 7)})
    EXPECT_EQ(bits_of(onefold::sum(where(), over, never)), bits_of(0.0));
  constexpr std::int64_t many = std::int64_t{1} << 62;
  for (const auto& over : {onefold::box(0, many, many), onefold::box(many, 0, many), onefold::box(many, many, 0)})
    EXPECT_EQ(over.size(), 0U) << "whichever extent is the one that is nothing";
  EXPECT_TRUE(refuses(errc::invalid_argument, "box",
                      [] { static_cast<void>(onefold::box(std::int64_t{1} << 40, std::int64_t{1} << 40)); }));
}

// --- several values

// Forms with several results, too: a record for each value.
TEST_P(fused, that_return_several_values_give_a_record_for_each) {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{700}, std::uint64_t{100'003}}) {
    const auto first = [](std::uint64_t i) { return std::sin(static_cast<double>(i)); };
    const auto second = [](std::uint64_t i) { return 3 * std::cos(static_cast<double>(i)); };
    const auto both = [&](std::uint64_t i) { return std::array<double, 2>{first(i), second(i)}; };
    const auto same = [n](const auto& got, const auto& alone, const char* what) {
      EXPECT_EQ(bits_of(got), bits_of(alone)) << what << " of " << n;
    };
    const auto places = onefold::argmin(where(), n, both);
    const auto largest = onefold::argmax_magnitude(where(), n, both);
    const auto ends = onefold::minmax(where(), n, both);
    const auto both_places = onefold::argminmax(where(), n, both);
    const auto moments = onefold::mean_variance(where(), n, both, onefold::ddof{1});
    same(places[0], onefold::argmin(where(), n, first), "argmin");
    same(places[1], onefold::argmin(where(), n, second), "argmin");
    same(largest[1], onefold::argmax_magnitude(where(), n, second), "argmax_magnitude");
    same(ends[0], onefold::minmax(where(), n, first), "minmax");
    same(ends[1], onefold::minmax(where(), n, second), "minmax");
    same(both_places[0].min, onefold::argmin(where(), n, first), "argminmax");
    same(both_places[1].max, onefold::argmax(where(), n, second), "argminmax");
    same(moments[0], onefold::mean_variance(where(), n, first, onefold::ddof{1}), "mean_variance");
    same(moments[1], onefold::mean_variance(where(), n, second, onefold::ddof{1}), "mean_variance");
  }
}

TEST_P(fused, that_return_several_values_give_each_its_own_bits) {
  for (const std::size_t count : sizes) {
    const auto x = any_vector<float>(count, current_seed()), y = any_vector<float>(count, current_seed() + 1);
    const auto three = [&](std::uint64_t i) { return std::array<float, 3>{x[i], y[i], -x[i]}; };
    std::vector<float> minus(count);
    std::transform(x.begin(), x.end(), minus.begin(), [](float value) { return -value; });
    const auto expect_three = [&](const auto& form, const auto& storing, const char* name) {
      const auto got = form(where(), count, three);
      EXPECT_EQ(bits_of(got[0]), bits_of(form(where(), x))) << name << " " << count;
      EXPECT_EQ(bits_of(got[1]), bits_of(form(where(), y))) << name << " " << count;
      EXPECT_EQ(bits_of(got[2]), bits_of(form(where(), minus))) << name << " " << count;
      std::remove_const_t<decltype(got)> stored{};
      storing(where(), count, three, stored.data());
      EXPECT_EQ(bits_of(stored), bits_of(got)) << name << " " << count;
    };
    expect_three(onefold::sum, onefold::sum_into, "sum");
    expect_three(onefold::min, onefold::min_into, "min");
    expect_three(onefold::prod, onefold::prod_into, "prod");
    expect_three(onefold::norm2, onefold::norm2_into, "norm2");
    const auto each = onefold::reduce_together(where(), count, three, op::sum{}, op::max{}, op::min{});
    EXPECT_EQ(bits_of(each[0]), bits_of(onefold::sum(where(), x)));
    EXPECT_EQ(bits_of(each[1]), bits_of(onefold::max(where(), y)));
    EXPECT_EQ(bits_of(each[2]), bits_of(onefold::min(where(), minus)));
    if (HasFailure()) return;
  }
}

TEST_P(fused, may_return_sixteen_values) {
  const std::size_t count = 40'003;
  const auto f = [](std::uint64_t i) {
    std::array<double, 16> values{};
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sin(static_cast<double>(i * 16 + k));
    return values;
  };
  const auto got = onefold::sum(where(), count, f);
  for (std::size_t k = 0; k < 16; ++k)
    EXPECT_EQ(bits_of(got[k]), bits_of(onefold::sum(where(), count, [&](std::uint64_t i) { return f(i)[k]; }))) << k;
}

// --- absent values

// The NaN of results.
template <class T>
T the_one_nan(T value) {
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <class T>
T value_of_nothing(const char* form) {
  if (std::string(form) == "prod") return T(1);
  if (std::string(form) == "min") return op::min::identity<T>();
  if (std::string(form) == "max") return op::max::identity<T>();
  return T(0);
}

TEST_P(fused, may_leave_values_out) {
  with_type(element_type::f64, [&]<class T> {
    for (const std::size_t count : sizes) {
      const auto x = any_vector<T>(count, current_seed() + count);
      for (const unsigned keep : {0u, 1u, 2u, 50u, 99u, 100u}) {
        if (!is_asked(count, keep)) continue;
        random_numbers random(current_seed() + keep);
        std::vector<std::optional<T>> some(count);
        for (std::size_t i = 0; i < count; ++i)
          if (random.at(i) % 100 < keep) some[i] = x[i];
        const auto as_maybe = [&](std::uint64_t i) {
          return some[i] ? onefold::maybe<T>(*some[i]) : onefold::maybe<T>(onefold::absent);
        };
        const auto as_optional = [&](std::uint64_t i) { return some[i]; };
        const auto check = [&](const char* name, const auto& form, const auto& combine) {
          const T expected = the_one_nan(tree_v1(some, combine).value_or(value_of_nothing<T>(name)));
          EXPECT_EQ(bits_of(form(where(), count, as_maybe)), bits_of(expected)) << name << " " << count << " " << keep << " %";
          EXPECT_EQ(bits_of(form(where(), count, as_optional)), bits_of(expected)) << name << " " << count << " " << keep << " %";
        };
        check("sum", onefold::sum, [](T a, T b) { return a + b; });
        check("prod", onefold::prod, [](T a, T b) { return a * b; });
        check("min", onefold::min, [](T a, T b) { return op::min::combine<T>(a, b); });
        check("max", onefold::max, [](T a, T b) { return op::max::combine<T>(a, b); });
        check("min", onefold::min_number, [](T a, T b) { return op::min_number::combine<T>(a, b); });
        check("max", onefold::max_number, [](T a, T b) { return op::max_number::combine<T>(a, b); });

        const std::optional<T> sum = tree_v1(some, [](T a, T b) { return a + b; });
        const auto present = std::count_if(some.begin(), some.end(), [](const auto& one) { return one.has_value(); });
        const T mean = sum ? the_one_nan(*sum / static_cast<T>(present)) : std::numeric_limits<T>::quiet_NaN();
        EXPECT_EQ(bits_of(onefold::mean(where(), count, as_maybe)), bits_of(mean)) << count << " " << keep << " %";
        EXPECT_EQ(bits_of(onefold::mean(where(), count, as_optional)), bits_of(mean)) << count << " " << keep << " %";

        std::optional<std::uint64_t> first;
        for (std::size_t i = 0; i < count; ++i)
          if (some[i] && (!first || *some[i] < *some[*first])) first = i;
        if (first) {
          const auto got = onefold::argmin(where(), count, as_maybe);
          EXPECT_EQ(got.index, *first) << count << " " << keep << " %";
          EXPECT_EQ(bits_of(got.value), bits_of(*some[*first]));
        } else {
          EXPECT_TRUE(refuses(errc::invalid_argument, "", [&] { static_cast<void>(onefold::argmin(where(), count, as_maybe)); }));
        }
        if (HasFailure()) return;
      }
    }
  });
}

// The moments of what is there of some values, by the page.
template <class T>
std::optional<small::moments> moments_of_those_there(const std::vector<std::optional<T>>& some) {
  constexpr std::size_t lanes = 256 / sizeof(T);
  const auto join = [](const std::optional<small::moments>& a, const std::optional<small::moments>& b) {
    return !a ? b : !b ? a : std::optional<small::moments>(small::merged(*a, *b));
  };
  std::vector<std::optional<small::moments>> level;
  for (std::size_t start = 0; start < some.size(); start += 16 * lanes) {
    std::vector<std::optional<small::moments>> lane(lanes);
    for (std::size_t j = 0; j < lanes; ++j) {
      std::vector<double> there;
      for (std::size_t i = start + j; i < some.size() && i < start + 16 * lanes; i += lanes)
        if (some[i]) there.push_back(static_cast<double>(*some[i]));
      if (!there.empty()) lane[j] = small::of_lane(there);
    }
    for (std::size_t h = lanes / 2; h >= 1; h /= 2)
      for (std::size_t j = 0; j < h; ++j) lane[j] = join(lane[j], lane[j + h]);
    level.push_back(lane[0]);
  }
  for (; level.size() > 1; level.resize((level.size() + 1) / 2))
    for (std::size_t i = 0; i < level.size(); i += 2) level[i / 2] = i + 1 < level.size() ? join(level[i], level[i + 1]) : level[i];
  return level.empty() ? std::nullopt : level[0];
}

TEST_P(fused, that_leave_values_out_have_variances) {
  for (int t = 0; t < onefold::full_type_count; ++t)
    with_type(static_cast<element_type>(t), [&]<class T> {
      using result = decltype(onefold::mean_variance(std::vector<T>()));
      using R = decltype(result::mean);
      SCOPED_TRACE(std::string(onefold::name(onefold::element_type_of<T>)));
      for (const std::size_t count : sizes) {
        const auto x = any_vector<T>(count, current_seed() + count);
        for (const unsigned keep : {0u, 1u, 50u, 99u, 100u}) {
          if (!is_asked(count, keep)) continue;
          random_numbers random(current_seed() + keep);
          std::vector<std::optional<T>> some(count);
          std::int64_t there = 0;
          for (std::size_t i = 0; i < count; ++i)
            if (random.at(i) % 100 < keep) some[i] = x[i], ++there;
          const auto f = [&](std::uint64_t i) { return some[i]; };
          const auto all = moments_of_those_there(some);
          for (const std::int64_t ddof : {0, 1}) {
            const double nan = std::numeric_limits<double>::quiet_NaN();
            const double variance = there > ddof ? all->deviations / static_cast<double>(there - ddof) : nan;
            const result expected{the_one_nan(static_cast<R>(all ? all->mean : nan)), the_one_nan(static_cast<R>(variance))};
            EXPECT_EQ(bits_of(onefold::mean_variance(where(), count, f, onefold::ddof{ddof})), bits_of(expected))
                << count << ", " << keep << " %, ddof " << ddof;
            result stored{};
            onefold::mean_variance_into(where(), count, f, &stored, onefold::ddof{ddof});
            EXPECT_EQ(bits_of(stored), bits_of(expected)) << count << ", " << keep << " %, ddof " << ddof;
          }
          if (keep == 100) {
            EXPECT_EQ(bits_of(onefold::mean_variance(where(), count, f)), bits_of(onefold::mean_variance(where(), x)));
          }
          if constexpr (std::is_same_v<T, float>) {
            const auto wide = onefold::mean_variance(where(), count, f, onefold::accumulate_as<double>);
            EXPECT_EQ(bits_of(wide.mean), bits_of(the_one_nan(all ? all->mean : std::numeric_limits<double>::quiet_NaN())));
          }
          if (HasFailure()) return;
        }
      }
    });
  const auto nothing = [](std::uint64_t) { return onefold::maybe<double>(onefold::absent); };
  EXPECT_EQ(bits_of(onefold::mean_variance(where(), 100, nothing)), bits_of(onefold::mean_variance(where(), 0, nothing)));
  EXPECT_EQ(bits_of(onefold::mean_variance(where(), 100, nothing, {.guarantee = onefold::guarantee::exact})),
            bits_of(onefold::mean_variance(where(), 0, nothing)));
  const auto throwing = [](std::uint64_t i) {
    return i == 70'000 ? throw std::runtime_error("at 70000") : onefold::maybe<double>(1.0);
  };
  EXPECT_THROW(static_cast<void>(onefold::mean_variance(where(), 100'000, throwing)), std::runtime_error);
}

TEST_P(fused, that_leave_values_out_have_means_in_wider_types) {
  for (const std::size_t count : sizes) {
    const auto is_there = [](std::uint64_t i) { return i % 3 != 1; };
    const auto x = [](std::uint64_t i) { return static_cast<float>(i % 1'000) + 0.1F; };
    const auto k = [](std::uint64_t i) { return static_cast<std::int32_t>(i % 1'000) - 300; };
    const auto some_x = [=](std::uint64_t i) { return is_there(i) ? onefold::maybe<float>(x(i)) : onefold::absent; };
    const auto some_k = [=](std::uint64_t i) { return is_there(i) ? onefold::maybe<std::int32_t>(k(i)) : onefold::absent; };
    std::uint64_t present = 0;
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      if (is_there(i)) ++present, sum += k(i);
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    const double mean_of_x = onefold::sum(where(), count, some_x, onefold::accumulate_as<double>) / static_cast<double>(present);
    const double mean_of_k = static_cast<double>(sum) / static_cast<double>(present);
    EXPECT_EQ(bits_of(onefold::mean(where(), count, some_x, onefold::accumulate_as<double>)),
              bits_of(present == 0 ? nothing : mean_of_x))
        << count;
    EXPECT_EQ(bits_of(onefold::mean(where(), count, some_k)), bits_of(present == 0 ? nothing : mean_of_k)) << count;
  }
}

TEST_P(fused, that_leave_values_out_keep_signs_and_special_values) {
  const std::size_t count = 2'000;
  const auto one = [&](std::uint64_t place, double value) {
    return [=](std::uint64_t i) { return i == place ? onefold::maybe<double>(value) : onefold::maybe<double>(onefold::absent); };
  };
  for (const std::uint64_t place : {0u, 1u, 777u, 1'999u}) {
    for (const double value :
         {-0.0, 0.0, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 5e-324}) {
      EXPECT_EQ(bits_of(onefold::sum(where(), count, one(place, value))), bits_of(value)) << value;
      EXPECT_EQ(bits_of(onefold::prod(where(), count, one(place, value))), bits_of(value)) << value;
      EXPECT_EQ(bits_of(onefold::min(where(), count, one(place, value))), bits_of(value)) << value;
      EXPECT_EQ(bits_of(onefold::max(where(), count, one(place, value))), bits_of(value)) << value;
      EXPECT_EQ(bits_of(onefold::argmin(where(), count, one(place, value))),
                (std::vector<std::uint64_t>{bits_of(value)[0], place}));
      EXPECT_EQ(bits_of(onefold::argmax(where(), count, one(place, value))),
                (std::vector<std::uint64_t>{bits_of(value)[0], place}));
      EXPECT_EQ(bits_of(onefold::minmax(where(), count, one(place, value))),
                (std::vector<std::uint64_t>{bits_of(value)[0], bits_of(value)[0]}));
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(bits_of(onefold::sum(where(), count, one(place, -nan)))[0], 0x7ff8000000000000u);
    EXPECT_EQ(onefold::argmax(where(), count, one(place, nan)).index, place);
  }
  const auto none = [](std::uint64_t) { return std::optional<double>(); };
  EXPECT_EQ(bits_of(onefold::minmax(where(), count, none)), bits_of(onefold::minmax(where(), std::vector<double>())));
  EXPECT_EQ(bits_of(onefold::sum(where(), count, none)), bits_of(0.0));
}

TEST_P(fused, truths_may_be_absent) {
  const std::uint64_t count = 1'077;  // with a rest behind whole blocks of values
  const auto truth_at = [](std::uint64_t place, bool truth) {
    return [=](std::uint64_t i) { return i == place ? onefold::maybe<bool>(truth) : onefold::maybe<bool>(); };
  };
  const auto without = [](std::uint64_t place, bool truth) {
    return [=](std::uint64_t i) { return i == place ? std::nullopt : std::optional<bool>(truth); };
  };
  for (const std::uint64_t place : {0u, 31u, 32u, 1'055u, 1'056u, 1'076u}) {
    for (const bool truth : {false, true}) {
      EXPECT_EQ(onefold::any(where(), count, truth_at(place, truth)), truth) << place;
      EXPECT_EQ(onefold::none(where(), count, truth_at(place, truth)), !truth) << place;
      EXPECT_EQ(onefold::all(where(), count, truth_at(place, truth)), truth) << place;
      EXPECT_EQ(onefold::count(where(), count, truth_at(place, truth)), truth ? 1u : 0u) << place;
      EXPECT_EQ(onefold::any(where(), count, without(place, truth)), truth) << place;
      EXPECT_EQ(onefold::all(where(), count, without(place, truth)), truth) << place;
      EXPECT_EQ(onefold::count(where(), count, without(place, truth)), truth ? count - 1 : 0u) << place;
    }
  }
  const auto nothing = [](std::uint64_t) { return onefold::maybe<bool>(); };
  EXPECT_FALSE(onefold::any(where(), count, nothing));
  EXPECT_TRUE(onefold::all(where(), count, nothing));
  EXPECT_TRUE(onefold::none(where(), count, nothing));
  EXPECT_EQ(onefold::count(where(), count, nothing), 0u);
}

TEST_P(fused, an_initial_value_alone_has_the_bits_of_a_fold) {
  const auto nothing = [](std::uint64_t) { return 1.0; };
  const double payload = -std::numeric_limits<double>::signaling_NaN();
  const std::vector<double> none;
  const auto same = [](double x) { return x; };
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), 0, op::sum{}, nothing, payload))[0], 0x7ff8000000000000u);
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), none, op::min{}, same, payload))[0], 0x7ff8000000000000u);
  EXPECT_EQ(bits_of(onefold::reduce(where(), none, op::prod{}, payload))[0], 0x7ff8000000000000u);
  EXPECT_EQ(bits_of(onefold::transform_reduce(where(), 0, op::sum{}, nothing, -0.0)), bits_of(-0.0));
  EXPECT_EQ(bits_of(onefold::reduce(where(), none, op::max{}, 2.5)), bits_of(2.5));
}

TEST(functions_of_the_index, take_one_and_two_modifiers_with_and_without_an_executor) {
  const std::vector<float> x = {1, 2, 4, 8.25F, 1e-9F};
  const auto f = [&x](std::uint64_t i) { return x[i]; };
  const std::uint64_t n = x.size();
  const auto wide = onefold::accumulate_as<double>;
  const onefold::ddof one{1};
  const auto serial = onefold::serial();
  const auto moments = bits_of(onefold::mean_variance(serial, x, wide, one));
  EXPECT_EQ(bits_of(onefold::mean_variance(x, wide, one)), moments);
  EXPECT_EQ(bits_of(onefold::mean_variance(x.data(), n, one, wide)), moments);
  EXPECT_EQ(bits_of(onefold::mean_variance(serial, n, f, wide, one)), moments);
  EXPECT_EQ(bits_of(onefold::mean_variance(n, f, one, wide)), moments);
  EXPECT_EQ(bits_of(onefold::mean_variance(n, f, one)), bits_of(onefold::mean_variance(serial, x, one)));
  EXPECT_EQ(bits_of(onefold::sum(n, f, wide)), bits_of(onefold::sum(serial, x, wide)));
  onefold::mean_variance_result<double> stored{};
  onefold::mean_variance_into(serial, n, f, &stored, wide, one);
  EXPECT_EQ(bits_of(stored), moments);
  const std::uint64_t place = 4;
  EXPECT_EQ(bits_of(onefold::dot(x.data(), x.data(), n, wide, onefold::count_at{&place})),
            bits_of(onefold::dot(serial, x.data(), x.data(), 4, wide)));
  const std::vector<double> y = {1, 2, 3, 4, 5};
  EXPECT_EQ(bits_of(onefold::dot(x.data(), y.data(), n, wide, onefold::count_at{&place})),
            bits_of(onefold::dot(serial, x.data(), y.data(), 4)));
}

// A number of elements that is no float becomes one, by which the sum is divided: not the quotient of doubles, rounded. As of arrays.
TEST(functions_of_the_index, have_means_over_their_number_in_the_type_of_their_sum) {
  constexpr std::uint64_t count = (1U << 24) + 3;
  constexpr float number = 0x1p24F + 4;
  static_assert(static_cast<float>(count) == number);
  ASSERT_NE(3.0F / number, static_cast<float>(3.0 / static_cast<double>(count)));
  ASSERT_NE(1.5F / number, static_cast<float>(1.5 / static_cast<double>(count)));
  const auto serial = onefold::serial();
  if (!is_sanitized) {
    const auto f = [](std::uint64_t i) { return i == 7 ? 3.0F : 0.0F; };
    EXPECT_EQ(onefold::mean(serial, count, f), onefold::sum(serial, count, f) / number);
    EXPECT_EQ(onefold::mean(serial, count, f), 3.0F / number);
  }

  using c64 = std::complex<float>;
  const zero_pages memory(count * sizeof(c64));
  ASSERT_TRUE(memory.is_there());
  auto* const z = memory.as<c64>();
  z[count - 1] = {3, -1.5F};
  const c64 expected(3 / number, -1.5F / number);
  EXPECT_EQ(onefold::mean(serial, z, count), expected);
  EXPECT_EQ((onefold::range_state<onefold::form::mean, c64>().add(serial, z, count).value()), expected);
  z[count - 1] = {};
  auto* const x = memory.as<float>();
  x[count - 1] = 3;
  EXPECT_EQ(onefold::mean(serial, x, count), 3 / number);
  EXPECT_EQ((onefold::range_state<onefold::form::mean, float>().add(serial, x, count).value()), 3 / number);
}

TEST_P(fused, that_leave_values_out_refuse_places_that_are_none) {
  int calls = 0;
  const auto some = [&calls](std::uint64_t i) {
    ++calls;
    return i % 3 == 0 ? onefold::maybe<double>() : onefold::maybe<double>(static_cast<double>(i));
  };
  alignas(16) unsigned char memory[64] = {};
  onefold::arg_result<double>* nowhere = nullptr;
  EXPECT_TRUE(refuses(onefold::errc::null_pointer, "result", [&] { onefold::argmin_into(where(), 10, some, nowhere); }));
  EXPECT_TRUE(refuses(onefold::errc::misaligned_pointer, "result", [&] {
    onefold::argmax_into(where(), 10, some, reinterpret_cast<onefold::arg_result<double>*>(memory + 4));
  }));
  EXPECT_EQ(calls, 0) << "before f is called";
}

TEST_P(fused, that_leave_values_out_have_exact_places) {
  const auto some = [](std::uint64_t i) {
    return i % 3 == 0 ? onefold::maybe<double>() : onefold::maybe<double>(static_cast<double>(i % 100));
  };
  onefold::options exactly;
  onefold::report ran;
  exactly.guarantee = onefold::guarantee::exact;
  exactly.report = &ran;
  EXPECT_EQ(onefold::argmax(where(), 1'000, some, exactly).index, 199U);
  EXPECT_EQ(ran.guarantee, onefold::guarantee::exact);
  EXPECT_EQ(onefold::minmax(where(), 1'000, some, exactly).max, 99.0);
}

// --- exceptions, nesting, threads

struct own_exception : std::runtime_error {
  explicit own_exception(std::uint64_t i) : std::runtime_error("at " + std::to_string(i)), index(i) {}
  std::uint64_t index;
};

TEST_P(fused, may_throw_at_any_index_and_the_next_call_works) {
  const std::size_t count = 300'003;
  const double right = onefold::sum(where(), count, [](std::uint64_t i) { return static_cast<double>(i); });
  for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{1'023}, std::uint64_t{150'000}, std::uint64_t{count - 1}}) {
    const auto f = [=](std::uint64_t i) {
      if (i == bad) throw own_exception(i);
      return static_cast<double>(i);
    };
    const auto expect_thrown = [&](const char* what, const auto& call) {
      try {
        call();
        ADD_FAILURE() << what << ": nothing was thrown";
      } catch (const own_exception& problem) {
        EXPECT_EQ(problem.index, bad) << what;
      }
    };
    expect_thrown("sum", [&] { static_cast<void>(onefold::sum(where(), count, f)); });
    expect_thrown("sum_into", [&] {
      double stored = 0;
      onefold::sum_into(where(), count, f, &stored);
    });
    expect_thrown("argmin", [&] { static_cast<void>(onefold::argmin(where(), count, f)); });
    expect_thrown("mean_variance", [&] { static_cast<void>(onefold::mean_variance(where(), count, f)); });
    expect_thrown("a filter", [&] {
      static_cast<void>(onefold::argmin(where(), count, [&](std::uint64_t i) { return onefold::maybe<double>(f(i)); }));
    });
    expect_thrown("a function under an own operator", [&] {
      static_cast<void>(onefold::transform_reduce(
          where(), count, [](double a, double b) { return a + b; }, f));
    });
    expect_thrown("a box", [&] {
      static_cast<void>(onefold::sum(where(), onefold::box(1, count),
                                     [&](std::int64_t, std::int64_t i) { return f(static_cast<std::uint64_t>(i)); }));
    });
    EXPECT_EQ(onefold::sum(where(), count, [](std::uint64_t i) { return static_cast<double>(i); }), right) << "the next call";
  }
  // Every thread throws; one of the exceptions comes.
  const auto always = [](std::uint64_t i) -> double { throw own_exception(i); };
  for (int call = 0; call < 20; ++call) EXPECT_THROW(static_cast<void>(onefold::sum(where(), count, always)), own_exception);
  // What is no std::exception at all.
  EXPECT_THROW(static_cast<void>(onefold::sum(where(), count, [](std::uint64_t) -> double { throw 7; })), int);
}

TEST_P(fused, may_reduce_within_a_reduction) {
  const std::size_t rows = 700, columns = 333;
  const auto element = [](std::uint64_t j, std::uint64_t i) { return std::sin(static_cast<double>(j * 1'000 + i)); };
  std::vector<double> of_rows(rows);
  for (std::size_t j = 0; j < rows; ++j) {
    std::vector<double> row(columns);
    for (std::size_t i = 0; i < columns; ++i) row[i] = element(j, i);
    of_rows[j] = onefold::sum(onefold::serial(), row);
  }
  const double expected = onefold::max(onefold::serial(), of_rows);
  for (const auto& inner : {onefold::serial(), where()}) {
    const double got = onefold::max(where(), rows, [&](std::uint64_t j) {
      return onefold::sum(inner, columns, [&](std::uint64_t i) { return element(j, i); });
    });
    EXPECT_EQ(bits_of(got), bits_of(expected));
  }
}

TEST_P(fused, from_several_threads_give_each_its_own) {
  on_host_threads(6, [&](std::size_t t) -> std::string {
    for (int call = 0; call < 20; ++call) {
      const std::size_t count = 9'000 + 1'000 * t;
      const auto f = [=](std::uint64_t i) { return static_cast<double>(i) * (0.1 + static_cast<double>(t)); };
      std::vector<double> x(count);
      for (std::size_t i = 0; i < count; ++i) x[i] = f(i);
      if (bits_of(onefold::sum(where(), count, f)) != bits_of(onefold::sum(onefold::serial(), x))) return "another sum";
      if (t % 2 == 0) continue;
      try {
        static_cast<void>(onefold::sum(where(), count, [&](std::uint64_t i) -> double { throw own_exception(i + 1'000'000 * t); }));
        return "no exception";
      } catch (const own_exception& mine) {
        if (mine.index / 1'000'000 != t) return "an exception of another thread's call";
      }
    }
    return {};
  });
}

TEST_P(fused, report_what_ran) {
  onefold::report ran;
  const onefold::options how{.report = &ran};
  static_cast<void>(onefold::sum(
      where(), 10'000, [](std::uint64_t i) { return static_cast<float>(i); }, how));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.guarantee, onefold::guarantee::fixed);
  ran = {};
  static_cast<void>(onefold::transform_reduce(
      where(), 10'000, [](float a, float b) { return a + b; }, [](std::uint64_t i) { return static_cast<float>(i); }, how));
  EXPECT_EQ(ran.variant, "fixed_order");
  EXPECT_EQ(ran.guarantee, onefold::guarantee::fixed);
}

INSTANTIATE_TEST_SUITE_P(functions, fused, testing::ValuesIn(cpu_executors()), param_name);

}  // namespace
}  // namespace onefold_test
