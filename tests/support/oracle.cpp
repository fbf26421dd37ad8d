#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

namespace onefold_test {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t the_nan_f32 = 0x7fc00000;
constexpr std::uint64_t the_nan_f64 = 0x7ff8000000000000;

std::uint64_t the_nan(element_type type) { return type == element_type::f32 ? the_nan_f32 : the_nan_f64; }

// The answer for no elements.
template <class T>
T of_nothing(operation op) {
  using limits = std::numeric_limits<T>;
  constexpr bool endless = std::is_floating_point_v<T>;
  switch (op) {
    case operation::sum:
      return 0;
    case operation::prod:
      return 1;
    case operation::min:
      return endless ? limits::infinity() : limits::max();
    case operation::max:
      return endless ? -limits::infinity() : limits::lowest();
  }
  return 0;
}

// -0 sorts before +0.
bool before(double a, double b) { return a != b ? a < b : std::signbit(a) && !std::signbit(b); }

// high + low with |low| at most half a unit in the last place of high; exact when |a| >= |b| (Dekker 1971).
void renormalise(double a, double b, double& high, double& low) {
  high = a + b;
  low = std::isfinite(high) ? b - (high - a) : 0;
}

long double gamma(std::uint64_t operations, element_type type) {
  const long double unit = type == element_type::f32 ? 0x1p-24L : 0x1p-53L;
  const long double product = static_cast<long double>(operations) * unit;
  return product < 0.5L ? product / (1 - product) : std::numeric_limits<long double>::infinity();
}

scalar rounded_to(element_type type, double value) {
  if (std::isnan(value)) return {type, the_nan(type)};
  return type == element_type::f32 ? scalar_of(static_cast<float>(value)) : scalar_of(value);
}

}  // namespace

oracle::oracle(element_type type, operation op) : type_(type), op_(op) {
  integer_ = with_type(type, [&]<class T> { return scalar_of(of_nothing<T>(op)).bits; });
  extremum_ = of_nothing<double>(op);
  if (op == operation::prod) high_ = 1;
}

void oracle::take(const elements& data, std::size_t first, std::size_t last) {
  with_type(type_, [&]<class T> {
    const auto values = data.as<T>().subspan(first, last - first);
    if constexpr (std::is_floating_point_v<T>)
      take_floats(values);
    else
      take_integers(values);
  });
  taken_ += last - first;
}

void oracle::take(const scalar& element) {
  elements one(type_, 1);
  one.put(0, element);
  take(one, 0, 1);
}

template <class T>
void oracle::take_integers(std::span<const T> values) {
  T extremum = value_of<T>({type_, integer_});
  switch (op_) {
    case operation::sum:
      for (const T x : values) integer_ += static_cast<std::uint64_t>(x);
      return;
    case operation::prod:
      for (const T x : values) integer_ *= static_cast<std::uint64_t>(x);
      return;
    case operation::min:
      for (const T x : values) extremum = x < extremum ? x : extremum;
      break;
    case operation::max:
      for (const T x : values) extremum = x > extremum ? x : extremum;
      break;
  }
  integer_ = scalar_of(extremum).bits;
}

template <class T>
void oracle::take_floats(std::span<const T> values) {
  if (op_ == operation::min || op_ == operation::max) {  // nothing else is asked of them
    double extremum = extremum_;
    bool nan = false;
    for (const T element : values) {
      const double x = element;
      nan = nan || std::isnan(x);
      if (op_ == operation::min ? before(x, extremum) : before(extremum, x)) extremum = x;
    }
    extremum_ = extremum;
    nan_ = nan_ || nan;
    return;
  }
  for (const T element : values) {
    const double x = element;
    if (std::isnan(x)) {
      nan_ = true;
      continue;
    }
    plus_infinity_ = plus_infinity_ || x == infinity;
    minus_infinity_ = minus_infinity_ || x == -infinity;
    zero_ = zero_ || x == 0;
    only_minus_zeros_ = only_minus_zeros_ && x == 0 && std::signbit(x);
    negative_ = negative_ != std::signbit(x);
    switch (op_) {
      case operation::sum:
        add(x);
        break;
      case operation::prod:
        multiply(x);
        break;
      case operation::min:
      case operation::max:
        break;
    }
  }
}

void oracle::add(double x) {
  if (!std::isfinite(x)) return;  // the flags know
  magnitude_ += std::fabs(x);
  const double sum = high_ + x;
  const double part = sum - high_;
  const double error = (high_ - (sum - part)) + (x - part);  // exact (Knuth)
  renormalise(sum, std::isfinite(sum) ? low_ + error : 0, high_, low_);
}

void oracle::multiply(double x) {
  if (!std::isfinite(x) || x == 0) return;  // the flags know
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  const double product = high_ * mantissa;
  const double error = std::fma(high_, mantissa, -product) + low_ * mantissa;
  renormalise(product, error, high_, low_);
  exponent_ += exponent;
  if (std::fabs(high_) < 0.5) {  // kept near 1, where nothing overflows; doubling is exact
    high_ *= 2;
    low_ *= 2;
    --exponent_;
  }
}

scalar oracle::integer_answer() const {
  const std::uint64_t mask = onefold::size_of(type_) == 4 ? 0xffffffffu : ~std::uint64_t{0};
  return {type_, integer_ & mask};
}

bool oracle::is_special() const {
  return taken_ == 0 || nan_ || plus_infinity_ || minus_infinity_ || op_ == operation::min || op_ == operation::max ||
         (op_ == operation::prod && zero_) || (op_ == operation::sum && only_minus_zeros_);
}

double oracle::float_answer() const {
  if (taken_ == 0) return of_nothing<double>(op_);
  if (nan_) return std::numeric_limits<double>::quiet_NaN();
  switch (op_) {
    case operation::sum:
      if (plus_infinity_ && minus_infinity_) return std::numeric_limits<double>::quiet_NaN();
      if (plus_infinity_) return infinity;
      if (minus_infinity_) return -infinity;
      if (only_minus_zeros_) return -0.0;
      return high_ == 0 ? 0.0 : high_;  // what cancels is +0
    case operation::prod: {
      const bool infinite = plus_infinity_ || minus_infinity_;
      if (infinite && zero_) return std::numeric_limits<double>::quiet_NaN();
      if (infinite || zero_) return std::copysign(infinite ? infinity : 0.0, negative_ ? -1.0 : 1.0);
      const long bounded = std::clamp(exponent_, -100000L, 100000L);  // ldexp takes an int; both ends are out of every range
      return std::ldexp(high_, static_cast<int>(bounded));
    }
    case operation::min:
    case operation::max:
      return extremum_;
  }
  return 0;
}

expectation oracle::exactly() const {
  expectation expected;
  expected.value = is_float(type_) ? rounded_to(type_, float_answer()) : integer_answer();
  return expected;
}

expectation oracle::within(std::uint64_t depth) const {
  expectation expected = exactly();
  if (!is_float(type_) || is_special()) return expected;
  expected.exact = false;
  if (op_ == operation::sum) {
    expected.reference = static_cast<long double>(high_) + low_;
    expected.bound = gamma(depth, type_) * magnitude_;
  } else {
    expected.reference =
        std::ldexp(static_cast<long double>(high_) + low_, static_cast<int>(std::clamp(exponent_, -16000L, 16000L)));
    expected.bound = gamma(taken_, type_) * std::fabs(expected.reference);  // whatever the order, n - 1 roundings
  }
  return expected;
}

expectation expected_exactly(operation op, const elements& data, std::size_t first, std::size_t count) {
  oracle reference(data.type(), op);
  reference.take(data, first, first + count);
  return reference.exactly();
}

std::optional<std::string> disagreement(const expectation& expected, const scalar& got) {
  if (expected.exact) {
    if (got == expected.value) return std::nullopt;
    const std::uint64_t without_sign = got.bits << (64 - 8 * onefold::size_of(got.type) + 1);
    if (expected.may_be_flushed && without_sign == 0) return std::nullopt;
    return "the bits differ";
  }
  const long double value = got.type == element_type::f32 ? static_cast<long double>(value_of<float>(got)) : value_of<double>(got);
  const long double error = std::fabs(value - expected.reference);
  if (error <= expected.bound) return std::nullopt;  // false for NaN, too
  char buffer[96];
  std::snprintf(buffer, sizeof(buffer), "off by %.6Lg, which is %.3Lg of the bound", error, error / expected.bound);
  return buffer;
}

std::string bound_text(const expectation& expected) {
  if (expected.exact) return expected.may_be_flushed ? "exact, or flushed to zero" : "exact: no order gives other bits";
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.6Lg", expected.bound);
  return buffer;
}

std::uint64_t depth_of_fixed_order(element_type type, std::uint64_t count) {
  const std::uint64_t lanes = 256 / onefold::size_of(type);
  const std::uint64_t tiles = std::max<std::uint64_t>((count + 16 * lanes - 1) / (16 * lanes), 1);
  return 15 + static_cast<std::uint64_t>(std::bit_width(lanes) - 1) + static_cast<std::uint64_t>(std::bit_width(tiles - 1));
}

std::uint64_t depth_of(const onefold::report& ran, element_type type, std::uint64_t count) {
  if (ran.implementation.starts_with("fixed_order")) return depth_of_fixed_order(type, count);
  if (ran.guarantee == onefold::guarantee::exact) return 1;  // one rounding
  const auto parts = [&](std::uint64_t n) { return (count + n - 1) / n; };
  if (ran.backend != onefold::backend::cuda) {
    const auto threads = static_cast<std::uint64_t>(std::max(ran.threads, 1));
    return parts(threads) + threads;
  }
  const auto grid = static_cast<std::uint64_t>(ran.grid_size);
  const auto block = static_cast<std::uint64_t>(ran.block_size);
  if (grid * block == 0) return count;  // the launch is not onefold's own (a peer's): take what holds for every order
  // Partials that are combined one after the other; else by a block, whose threads take several each.
  const bool one_by_one = ran.finish == onefold::finish::atomic || ran.finish == onefold::finish::host;
  const std::uint64_t finish = one_by_one ? grid : grid / block + 1;
  // Variants that combine the elements of a block, or of the whole grid, one after the other.
  if (ran.implementation.find("atomic") != std::string::npos) return parts(grid) + block + finish;
  // Trees: per launch at most 2 log2(block) levels and a few elements per thread; 256 covers the launches that follow the first.
  return parts(grid * block) + static_cast<std::uint64_t>(std::max(ran.width, 0)) / block + finish + 256;
}

}  // namespace onefold_test
