#include "form_oracle_records.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace onefold_test {

namespace {

// 113 bits of significand and 15 of exponent: squares of doubles are in range, and sums of 2^20 of them are off by 2^-93.
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
using quad = long double;
#endif

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

expectation to_the_bit(const scalar& value) {
  expectation expected;
  expected.value = value;
  return expected;
}

scalar as_float(element_type type, double value) {
  if (std::isnan(value)) return {type, type == element_type::f32 ? 0x7fc00000u : 0x7ff8000000000000u};
  return type == element_type::f32 ? scalar_of(static_cast<float>(value)) : scalar_of(value);
}

expectation extremum(const record_input& of, operation op) {
  oracle reference(of.x->type(), op);
  reference.take(*of.x, of.first, of.first + of.count);
  return reference.exactly();
}

bool is_nan(const scalar& value) {
  return (value.type == element_type::f32 && (value.bits & 0x7fffffffu) > 0x7f800000u) ||
         (value.type == element_type::f64 && (value.bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u);
}

// The type is looked at once, not for each element, here and below.
std::uint64_t first_index_of(const record_input& of, const scalar& value) {
  return with_type(of.x->type(), [&]<class T> {
    const auto values = of.x->as<T>().subspan(of.first, of.count);
    for (std::uint64_t k = 0; k < of.count; ++k) {
      const scalar here = scalar_of(values[k]);
      if (here.bits == value.bits || (is_nan(value) && is_nan(here))) return k;
    }
    return ~std::uint64_t{0};  // an oracle at odds with itself: no result agrees
  });
}

// |x|, of integers as ones without a sign.
elements magnitudes(const record_input& of) {
  const element_type type = record_types_of(of.what, of.x->type(), false).first;
  elements sizes(type, of.count);
  const auto fill = [&]<class Bits>(std::type_identity<Bits>) {
    constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
    const auto* const from = static_cast<const std::byte*>(of.x->data()) + of.first * sizeof(Bits);
    auto* const to = static_cast<std::byte*>(sizes.data());
    for (std::size_t k = 0; k < of.count; ++k) {
      Bits bits = 0;
      std::memcpy(&bits, from + k * sizeof(Bits), sizeof(Bits));
      if (is_float(type))
        bits &= ~sign;
      else if (type != of.x->type() && (bits & sign) != 0)
        bits = Bits{0} - bits;
      std::memcpy(to + k * sizeof(Bits), &bits, sizeof(Bits));
    }
  };
  onefold::size_of(type) == 4 ? fill(std::type_identity<std::uint32_t>{}) : fill(std::type_identity<std::uint64_t>{});
  return sizes;
}

record_expectation extrema(const record_input& of) {
  if (of.what == form::argmin_magnitude || of.what == form::argmax_magnitude) {
    const elements sizes = magnitudes(of);
    return extrema({of.what == form::argmin_magnitude ? form::argmin : form::argmax, false, 0, &sizes, 0, of.count});
  }
  if (of.what == form::minmax) return {extremum(of, operation::min), extremum(of, operation::max)};
  const expectation value = extremum(of, of.what == form::argmin ? operation::min : operation::max);
  return {value, to_the_bit({element_type::u64, first_index_of(of, value.value)})};
}

std::vector<double> as_doubles(const record_input& of) {
  std::vector<double> values(of.count);
  with_type(of.x->type(), [&]<class T> {
    const auto from = of.x->as<T>().subspan(of.first, of.count);
    for (std::size_t k = 0; k < of.count; ++k) values[k] = static_cast<double>(from[k]);
  });
  return values;
}

// --- mean_variance by the page: a count of 0 is an absent state

struct state {
  std::uint64_t n = 0;
  double mean = 0, deviation = 0;
};

state of_lane(const std::vector<double>& v, std::size_t begin, std::size_t end, std::size_t stride) {
  const double shift = std::isfinite(v[begin]) ? v[begin] : 0.0;
  double sum = v[begin] - shift, squares = sum * sum;
  std::uint64_t m = 1;
  for (std::size_t i = begin + stride; i < end; i += stride, ++m) {
    const double d = v[i] - shift;
    sum += d;
    squares += d * d;
  }
  const double e = sum / static_cast<double>(m);
  double deviation = squares - sum * e;
  if (deviation < 0) deviation = 0;
  return {m, shift + e, deviation};
}

state join(const state& a, const state& b) {
  if (a.n == 0 || b.n == 0) return a.n == 0 ? b : a;
  state both;
  both.n = a.n + b.n;
  const double total = static_cast<double>(both.n);
  if (a.n == b.n) {
    const double d = a.mean - b.mean, square = d * d;
    both.mean = a.mean / 2 + b.mean / 2;
    both.deviation = (a.deviation + b.deviation) + square * (static_cast<double>(a.n) / 2);
    return both;
  }
  const state& large = a.n < b.n ? b : a;
  const state& small = a.n < b.n ? a : b;
  const double d = small.mean - large.mean, square = d * d;
  const double part = static_cast<double>(small.n) / total;
  if (std::isfinite(d))
    both.mean = large.mean + d * part;
  else
    both.mean = large.mean * (static_cast<double>(large.n) / total) + small.mean * part;
  both.deviation = (large.deviation + small.deviation) + square * (static_cast<double>(large.n) * part);
  return both;
}

state tree_of(const std::vector<double>& v, std::size_t lanes) {
  std::vector<state> level;
  for (std::size_t start = 0; start < v.size(); start += 16 * lanes) {
    std::vector<state> lane(lanes);
    const std::size_t end = std::min(v.size(), start + 16 * lanes);
    for (std::size_t j = 0; j < lanes && start + j < end; ++j) lane[j] = of_lane(v, start + j, end, lanes);
    for (std::size_t h = lanes / 2; h >= 1; h /= 2)
      for (std::size_t j = 0; j < h; ++j) lane[j] = join(lane[j], lane[j + h]);
    level.push_back(lane[0]);
  }
  while (level.size() > 1) {
    std::vector<state> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? join(level[i], level[i + 1]) : level[i]);
    level = std::move(next);
  }
  return level.empty() ? state{} : level[0];
}

record_expectation exact_mean_variance(const record_input& of, double mean, double variance) {
  const auto [first, second] = record_types_of(of.what, of.x->type(), of.wide);
  return {to_the_bit(as_float(first, mean)), to_the_bit(as_float(second, variance))};
}

// What NaN, infinities and a lack of elements decide.
std::optional<record_expectation> special(const record_input& of, const std::vector<double>& values) {
  if (values.empty()) return exact_mean_variance(of, nan, nan);
  bool any_nan = false, plus = false, minus = false;
  for (const double v : values) {
    any_nan = any_nan || std::isnan(v);
    plus = plus || v == infinity;
    minus = minus || v == -infinity;
  }
  if (any_nan || (plus && minus)) return exact_mean_variance(of, nan, nan);
  if (plus || minus) return exact_mean_variance(of, plus ? infinity : -infinity, nan);
  return std::nullopt;
}

expectation within(element_type type, quad value, long double bound) {
  expectation expected;
  expected.exact = false;
  expected.reference = static_cast<long double>(value);
  // The last rounding, into the type of the result.
  const bool single = type == element_type::f32;
  expected.bound =
      bound + (std::fabs(expected.reference) + bound) * (single ? 0x1p-24L : 0x1p-53L) + (single ? 0x1p-149L : 0x1p-1074L);
  expected.value = as_float(type, static_cast<double>(value));
  return expected;
}

}  // namespace

record_types record_types_of(form what, element_type type, bool wide) {
  if (what == form::mean_variance) {
    const element_type result = type == element_type::f32 && !wide ? element_type::f32 : element_type::f64;
    return {result, result};
  }
  if (what == form::argmin_magnitude || what == form::argmax_magnitude) {
    if (type == element_type::i32) return {element_type::u32, element_type::u64};
    if (type == element_type::i64) return {element_type::u64, element_type::u64};
  }
  return {type, what == form::minmax ? type : element_type::u64};
}

record_expectation record_by_tree(const record_input& of) {
  if (of.what != form::mean_variance) return extrema(of);
  const state all = tree_of(as_doubles(of), 256 / onefold::size_of(of.x->type()));
  if (all.n == 0) return exact_mean_variance(of, nan, nan);
  const auto freedom = static_cast<std::int64_t>(all.n) - of.ddof;
  return exact_mean_variance(of, all.mean, freedom > 0 ? all.deviation / static_cast<double>(freedom) : nan);
}

record_expectation record_within(const record_input& of) {
  if (of.what != form::mean_variance) return extrema(of);
  const auto values = as_doubles(of);
  if (const auto decided = special(of, values)) return *decided;
  const auto [type, same_type] = record_types_of(of.what, of.x->type(), of.wide);

  quad sum = 0;
  double largest = 0;
  for (const double v : values) {
    sum += static_cast<quad>(v);
    largest = std::max(largest, std::fabs(v));
  }
  const quad n = static_cast<quad>(of.count);
  const quad mean = sum / n;
  quad deviations = 0;
  for (const double v : values) deviations += (static_cast<quad>(v) - mean) * (static_cast<quad>(v) - mean);

  // A lane is off by at most 16 roundings of 16 differences of at most 2 X over 16, and a few more: 37 u X. A merge adds at most 4 u X, and never
  // enlarges what there is, because the mean of two is between them.
  constexpr long double u = 0x1p-53L;
  const auto depth = static_cast<long double>(depth_of_fixed_order(of.x->type(), of.count));
  const auto size = static_cast<long double>(largest);
  const long double off = (40 + 5 * depth) * u * size + (20 + depth) * 0x1p-1074L;

  // D of a lane: 40 roundings of squares from its first element, which sum up to at most 17 D. Each merge: 8 roundings of what is never
  // negative; and its d, off by twice the above, changes the sum over a level of d^2 w, with sum w <= n / 2, by Cauchy's inequality by at most
  // 4 off sqrt(n D / 2) + 2 n off^2.
  const auto count = static_cast<long double>(of.count), exact = static_cast<long double>(deviations);
  const long double roundings = (700 + 8 * depth) * u * exact;
  const long double merges = depth * (4 * off * std::sqrt(count * exact / 2) + 2 * count * off * off);
  const long double off_deviations = 1.1L * (roundings + merges) + count * 0x1p-1073L;

  record_expectation expected{within(type, mean, off), {}};
  const auto freedom = static_cast<std::int64_t>(of.count) - of.ddof;
  expected.second =
      freedom <= 0 ? to_the_bit(as_float(same_type, nan))
                   : within(same_type, deviations / static_cast<quad>(freedom), off_deviations / static_cast<long double>(freedom));
  return expected;
}

}  // namespace onefold_test
