/// @file records_test.cpp  The forms with several results on the CPU, bit for bit what docs/order.md says.

#include <cmath>
#include <limits>

#include "support.hpp"
#include "tree.hpp"

namespace onefold_test {
namespace {

template <class T>
bool is_nan(T x) {
  return x != x;
}

template <class T>
bool is_negative(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::signbit(x);
  else
    return x < 0;
}

// NaN, then the order of numbers with -0 < +0, or the reverse of that.
template <class T>
bool comes_first(T a, T b, bool smallest) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  if (a == b) return smallest ? is_negative(a) && !is_negative(b) : is_negative(b) && !is_negative(a);
  return smallest ? a < b : a > b;
}

template <class T>
uint64_t first_index(const std::vector<T>& x, bool smallest) {
  uint64_t best = 0;
  for (uint64_t i = 1; i < x.size(); ++i)
    if (comes_first(x[i], x[best], smallest)) best = i;
  return best;
}

template <class T>
T one_nan(T x) {
  return is_nan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

struct moments {
  uint64_t n;
  double mean, deviation;
};

moments meet(const moments& a, const moments& b) {
  const double n = static_cast<double>(a.n + b.n);
  if (a.n == b.n) {
    const double d = b.mean - a.mean, w = static_cast<double>(a.n) * 0.5;
    return {a.n + b.n, a.mean * 0.5 + b.mean * 0.5, (a.deviation + b.deviation) + (d * d) * w};
  }
  const moments& s = a.n < b.n ? a : b;
  const moments& l = a.n < b.n ? b : a;
  const double d = s.mean - l.mean, f = static_cast<double>(s.n) / n;
  const double mean = std::isfinite(d) ? l.mean + d * f : l.mean * (static_cast<double>(l.n) / n) + s.mean * f;
  return {a.n + b.n, mean, (l.deviation + s.deviation) + (d * d) * (static_cast<double>(l.n) * f)};
}

template <class T>
moments moments_of(const std::vector<T>& x) {
  const auto lane_of = [&](uint64_t first, int rows) -> moments {
    const auto v = [&](int r) { return static_cast<double>(x[first + static_cast<uint64_t>(r) * lanes<T>]); };
    const double c = std::isfinite(v(0)) ? v(0) : 0.0;
    double d = v(0) - c, s = d, q = d * d;
    for (int r = 1; r < rows; ++r) {
      d = v(r) - c;
      s = s + d;
      q = q + d * d;
    }
    const double e = s / rows, deviation = q - s * e;
    return {static_cast<uint64_t>(rows), c + e, deviation < 0 ? 0.0 : deviation};
  };
  return tree_v1<moments>(x.size(), lanes<T>, lane_of, meet);
}

template <class R>
std::vector<unsigned char> bytes_of(R first, R second) {
  const R both[2] = {one_nan(first), one_nan(second)};
  const auto* const begin = reinterpret_cast<const unsigned char*>(both);
  return {begin, begin + sizeof(both)};
}

template <class T>
std::vector<unsigned char> bytes_of_arg(T value, uint64_t index) {
  std::vector<unsigned char> all(16, 0);
  value = one_nan(value);
  std::memcpy(all.data(), &value, sizeof(value));
  std::memcpy(all.data() + 8, &index, sizeof(index));
  return all;
}

template <class T>
std::vector<unsigned char> mean_variance_bytes(const std::vector<T>& x, std::int64_t ddof, bool wide) {
  const moments m = moments_of(x);
  const std::int64_t divisor = static_cast<std::int64_t>(m.n) - ddof;
  const double variance = divisor <= 0 ? std::nan("") : m.deviation / static_cast<double>(divisor);
  if (std::is_same_v<T, float> && !wide) return bytes_of(static_cast<float>(m.mean), static_cast<float>(variance));
  return bytes_of(m.mean, variance);
}

// Data with what is special here and there.
template <class T>
std::vector<std::vector<T>> families(uint64_t count, uint64_t seed) {
  std::vector<std::vector<T>> all{values<T>(count, seed, true), values<T>(count, seed + 1, false)};
  std::vector<T> few(count);  // many that are equal
  for (uint64_t i = 0; i < count; ++i) few[i] = static_cast<T>(random_numbers(seed).at(i) % 3);
  all.push_back(few);
  std::vector<T> falling(count), rising(count);
  for (uint64_t i = 0; i < count; ++i) rising[i] = static_cast<T>(i), falling[i] = static_cast<T>(count - i);
  all.push_back(falling);
  all.push_back(rising);
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> zeros(count);
    for (uint64_t i = 0; i < count; ++i) zeros[i] = random_numbers(seed).at(i) % 97 == 0 ? -T(0) : T(0);
    all.push_back(zeros);
    for (T& zero : zeros) zero = -zero;
    all.push_back(zeros);
    std::vector<T> infinite = all[0];
    infinite[count / 2] = std::numeric_limits<T>::infinity();
    all.push_back(infinite);
    infinite[count / 3] = -std::numeric_limits<T>::infinity();
    all.push_back(infinite);
    std::vector<T> with_nan = all[0];
    with_nan[count - 1] = std::numeric_limits<T>::quiet_NaN();
    with_nan[count * 2 / 3] = -std::numeric_limits<T>::quiet_NaN();
    all.push_back(with_nan);
    std::vector<T> infinities(count, std::numeric_limits<T>::infinity());
    all.push_back(infinities);
  }
  return all;
}

TEST(records, have_the_bits_of_the_page_on_every_executor) {
  for_each_type([]<class T>(T) {
    constexpr element_type type = onefold::element_type_of<T>;
    for (const uint64_t count : sizes<T>()) {
      int family = 0;
      for (auto x : families<T>(count, current_seed() + count)) {
        const uint64_t least = first_index(x, true), most = first_index(x, false);
        const auto variance = mean_variance_bytes(x, 1, false);
        for (const auto& [words, where] : places()) {
          SCOPED_TRACE(words + ", " + std::to_string(count) + " elements, family " + std::to_string(family));
          const auto ask = [&, &where = where](form what) { return request_of(where, type, what, x.data(), count, nullptr); };
          ASSERT_EQ(results_of(ask(form::argmin), 16), bytes_of_arg(x[least], least));
          ASSERT_EQ(results_of(ask(form::argmax), 16), bytes_of_arg(x[most], most));
          ASSERT_EQ(results_of(ask(form::minmax), 2 * sizeof(T)), bytes_of(x[least], x[most]));
          auto asked = ask(form::mean_variance);
          asked.ddof = 1;
          ASSERT_EQ(results_of(asked, variance.size()), variance);
          if (std::is_same_v<T, float>) {
            asked.wide = true, asked.ddof = -3;
            ASSERT_EQ(results_of(asked, 16), mean_variance_bytes(x, -3, true));
          }
        }
        ++family;
      }
    }
  });
}

TEST(records, of_operators_side_by_side_are_those_of_each_alone) {
  using onefold::operation;
  const std::vector<operation> few{operation::max, operation::sum, operation::prod};
  std::vector<operation> many;
  for (int k = 0; k < onefold::most_results; ++k) many.push_back(static_cast<operation>(k * 7 % onefold::operation_count));
  for_each_type([&]<class T>(T) {
    constexpr element_type type = onefold::element_type_of<T>;
    for (const uint64_t count : sizes<T>())
      for (const bool tame : {true, false}) {
        const auto x = values<T>(count, current_seed(), tame);
        for (const auto& operators : {few, many, {operation::min}})
          for (const auto& [words, where] : places()) {
            std::vector<unsigned char> alone;
            for (const operation op : operators) {
              const auto one = results_of(request_of(where, type, onefold::form_of(op), x.data(), count, nullptr), sizeof(T));
              alone.insert(alone.end(), one.begin(), one.end());
            }
            auto asked = request_of(where, type, form::reduce_together, x.data(), count, nullptr);
            asked.results = static_cast<int>(operators.size());
            asked.operators = operators.data();
            ASSERT_EQ(results_of(asked, alone.size()), alone) << words << ", " << count;
          }
      }
  });
}

TEST(records, of_no_elements) {
  for_each_type([]<class T>(T) {
    constexpr element_type type = onefold::element_type_of<T>;
    using limits = std::numeric_limits<T>;
    for (const auto& [words, where] : places()) {
      const T largest = limits::has_infinity ? limits::infinity() : limits::max();
      const T smallest = limits::has_infinity ? -limits::infinity() : limits::lowest();
      EXPECT_EQ(results_of(request_of(where, type, form::minmax, nullptr, 0, nullptr), 2 * sizeof(T)), bytes_of(largest, smallest));
      using R = std::conditional_t<std::is_same_v<T, float>, float, double>;
      const R nan = std::numeric_limits<R>::quiet_NaN();
      EXPECT_EQ(results_of(request_of(where, type, form::mean_variance, nullptr, 0, nullptr), 2 * sizeof(R)), bytes_of(nan, nan));
      const onefold::operation operators[] = {onefold::operation::prod, onefold::operation::sum};
      auto asked = request_of(where, type, form::reduce_together, nullptr, 0, nullptr);
      asked.results = 2;
      asked.operators = operators;
      EXPECT_EQ(results_of(asked, 2 * sizeof(T)), bytes_of(T(1), T(0)));
      for (const form what : {form::argmin, form::argmax})
        EXPECT_TRUE(refuses(onefold::errc::invalid_argument, "there is no index",
                            [&, &where = where] { results_of(request_of(where, type, what, nullptr, 0, nullptr), 16); }));
    }
  });
}

TEST(records, of_fewer_elements_than_ddof_have_no_variance) {
  const double x[] = {1.0, 3.0};
  for (const std::int64_t ddof : {2, 3}) {
    auto asked = request_of(onefold::serial(), element_type::f64, form::mean_variance, x, 2, nullptr);
    asked.ddof = ddof;
    EXPECT_EQ(results_of(asked, 16), bytes_of(2.0, std::nan("")));
  }
}

}  // namespace
}  // namespace onefold_test
