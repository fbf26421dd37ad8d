#pragma once
/// @file small_oracle.hpp  What the forms of types of 1 and 2 bytes must give, to the bit: docs/order.md in scalars, and none of the library's
/// arithmetic. Even the floats of 2 bytes are taken from their bits here.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold_test::small {

using onefold::form;

/// Stored digits of a float of 2 bytes, with those of the page and not of types.def; of integers 0.
template <class E>
inline constexpr int digits_of = 0;
template <>
inline constexpr int digits_of<onefold::float16> = 10;
template <>
inline constexpr int digits_of<onefold::bfloat16> = 7;

template <class E>
inline constexpr bool is_half = digits_of<E> > 0;
template <class E>
inline constexpr int bias_of = (1 << (14 - digits_of<E>)) - 1;
template <class E>
inline constexpr std::uint16_t infinity_of = 0x8000 - (1 << digits_of<E>);

/// The value of a float of 2 bytes with these bits.
template <class E>
float value_of_bits(std::uint16_t bits) {
  constexpr int digits = digits_of<E>, bias = bias_of<E>;
  constexpr int all_ones = (1 << (15 - digits)) - 1;
  const int exponent = (bits & 0x7fff) >> digits, fraction = bits & ((1 << digits) - 1);
  double size = std::ldexp(exponent == 0 ? fraction : (1 << digits) + fraction, (exponent == 0 ? 1 : exponent) - bias - digits);
  if (exponent == all_ones) size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return static_cast<float>(std::copysign(size, bits >= 0x8000 ? -1.0 : 1.0));
}

/// V of the page where elements are compared: floats, and integers as they are.
template <class E>
auto plain(E element) {
  if constexpr (is_half<E>) {
    static const std::vector<float> values = [] {
      std::vector<float> all;
      for (int bits = 0; bits < 0x10000; ++bits) all.push_back(value_of_bits<E>(static_cast<std::uint16_t>(bits)));
      return all;
    }();
    return values[element.bits()];
  } else {
    return element;
  }
}

// --- types: T, or with `Wide` the other one that can be asked for, and those of absolute values

template <class E, bool Wide>
using total = std::conditional_t<is_half<E>, std::conditional_t<Wide, double, float>,
                                 std::conditional_t<Wide, E, std::conditional_t<std::is_signed_v<E>, std::int64_t, std::uint64_t>>>;
template <class E, bool Integer = std::is_integral_v<E>>
struct magnitude_of {
  using type = E;
};
template <class E>
struct magnitude_of<E, true> {
  using type = std::make_unsigned_t<E>;
};
template <class E>
using magnitude_t = typename magnitude_of<E>::type;

/// R of each form.
template <form What, class E, bool Wide>
constexpr auto type_of_result() {
  using T = total<E, Wide>;
  using floating = std::conditional_t<is_half<E>, T, double>;
  if constexpr (What == form::sum || What == form::prod || What == form::dot || What == form::sum_of_squares)
    return std::type_identity<T>{};
  else if constexpr (What == form::norm1)
    return std::type_identity<magnitude_t<T>>{};
  else if constexpr (What == form::norm_inf)
    return std::type_identity<magnitude_t<E>>{};
  else if constexpr (What == form::mean || What == form::norm2)
    return std::type_identity<floating>{};
  else if constexpr (What == form::count)
    return std::type_identity<std::uint64_t>{};
  else if constexpr (What == form::all || What == form::any || What == form::none)
    return std::type_identity<bool>{};
  else if constexpr (What == form::argmin || What == form::argmax)
    return std::type_identity<onefold::arg_result<E>>{};
  else if constexpr (What == form::argmin_magnitude || What == form::argmax_magnitude)
    return std::type_identity<onefold::arg_result<magnitude_t<E>>>{};
  else if constexpr (What == form::argminmax)
    return std::type_identity<onefold::argminmax_result<E>>{};
  else if constexpr (What == form::minmax)
    return std::type_identity<onefold::minmax_result<E>>{};
  else if constexpr (What == form::mean_variance)
    return std::type_identity<onefold::mean_variance_result<floating>>{};
  else
    return std::type_identity<E>{};
}
template <form What, class E, bool Wide>
using result_of = typename decltype(type_of_result<What, E, Wide>())::type;

// --- one operation

template <class A>
A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class A>
A times(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <class E>
bool is_nan(E element) {
  if constexpr (std::is_integral_v<E>)
    return false;
  else
    return std::isnan(static_cast<double>(plain(element)));
}
/// Whether a < b, with -0 < +0.
template <class E>
bool is_below(E a, E b) {
  if constexpr (is_half<E>)
    if (plain(a) == plain(b)) return std::signbit(plain(a)) && !std::signbit(plain(b));
  return plain(a) < plain(b);
}
template <class E>
E least(E a, E b) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  return is_below(b, a) ? b : a;
}
template <class E>
E greatest(E a, E b) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  return is_below(a, b) ? b : a;
}
template <class E>
E least_number(E a, E b) {
  return is_nan(a) ? b : is_nan(b) ? a : least(a, b);
}
template <class E>
E greatest_number(E a, E b) {
  return is_nan(a) ? b : is_nan(b) ? a : greatest(a, b);
}
/// Exact.
template <class E>
magnitude_t<E> magnitude(E element) {
  if constexpr (is_half<E>) {
    return E::from_bits(element.bits() & 0x7fff);
  } else {
    using U = magnitude_t<E>;
    return static_cast<U>(element < E{0} ? std::uint64_t{0} - static_cast<std::uint64_t>(element)
                                         : static_cast<std::uint64_t>(element));
  }
}
template <class E>
E highest() {
  if constexpr (is_half<E>)
    return E::from_bits(infinity_of<E>);
  else
    return std::numeric_limits<E>::max();
}
template <class E>
E lowest() {
  if constexpr (is_half<E>)
    return E::from_bits(infinity_of<E> | 0x8000);
  else
    return std::numeric_limits<E>::min();
}

// --- the tree

/// Halving: the value of a tile.
template <class A, class Combine>
A of_tile(std::vector<std::optional<A>> lane, Combine combine) {
  for (std::size_t h = lane.size() / 2; h > 0; h /= 2)
    for (std::size_t j = 0; j < h; ++j)
      if (lane[j + h]) lane[j] = lane[j] ? combine(*lane[j], *lane[j + h]) : *lane[j + h];
  return *lane[0];
}
/// The aligned binary tree.
template <class A, class Combine>
std::optional<A> of_tiles(std::vector<A> level, Combine combine) {
  if (level.empty()) return std::nullopt;
  while (level.size() > 1) {
    std::vector<A> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? combine(level[i], level[i + 1]) : level[i]);
    level = std::move(next);
  }
  return level[0];
}
/// Of the values value(0) .. value(n - 1), of elements of type E.
template <class E, class A, class Value, class Combine>
std::optional<A> tree(std::size_t n, Value value, Combine combine) {
  constexpr std::size_t lanes = 256 / sizeof(E);
  std::vector<A> tiles;
  for (std::size_t begin = 0; begin < n; begin += 16 * lanes) {
    std::vector<std::optional<A>> lane(lanes);
    for (std::size_t i = begin; i < n && i < begin + 16 * lanes; ++i) {
      auto& mine = lane[(i - begin) % lanes];
      mine = mine ? combine(*mine, value(i)) : value(i);
    }
    tiles.push_back(of_tile(std::move(lane), combine));
  }
  return of_tiles(std::move(tiles), combine);
}

// --- mean_variance

struct moments {
  std::uint64_t n;
  double mean, deviations;
};

inline moments of_lane(const std::vector<double>& v) {
  const double c = std::isfinite(v[0]) ? v[0] : 0.0;
  double d = v[0] - c, s = d, q = d * d;
  for (std::size_t r = 1; r < v.size(); ++r) {
    d = v[r] - c;
    s = s + d;
    q = q + d * d;
  }
  const double e = s / static_cast<double>(v.size());
  const double deviations = q - s * e;
  return {v.size(), c + e, deviations < 0 ? 0.0 : deviations};
}

inline moments merged(const moments& a, const moments& b) {
  const std::uint64_t n = a.n + b.n;
  if (a.n == b.n) {
    const double d = b.mean - a.mean, w = static_cast<double>(a.n) * 0.5;
    return {n, a.mean * 0.5 + b.mean * 0.5, (a.deviations + b.deviations) + (d * d) * w};
  }
  const moments &smaller = a.n < b.n ? a : b, &larger = a.n < b.n ? b : a;
  const double d = smaller.mean - larger.mean;
  const double f = static_cast<double>(smaller.n) / static_cast<double>(n);
  const double share = static_cast<double>(larger.n) / static_cast<double>(n);
  const double mean = std::isfinite(d) ? larger.mean + d * f : larger.mean * share + smaller.mean * f;
  return {n, mean, (larger.deviations + smaller.deviations) + (d * d) * (static_cast<double>(larger.n) * f)};
}

template <class E>
std::optional<moments> tree_of_moments(const E* x, std::size_t n) {
  constexpr std::size_t lanes = 256 / sizeof(E);
  std::vector<moments> tiles;
  for (std::size_t begin = 0; begin < n; begin += 16 * lanes) {
    std::vector<std::optional<moments>> lane(lanes);
    for (std::size_t j = 0; j < lanes; ++j) {
      std::vector<double> values;
      for (std::size_t i = begin + j; i < n && i < begin + 16 * lanes; i += lanes)
        values.push_back(static_cast<double>(plain(x[i])));
      if (!values.empty()) lane[j] = of_lane(values);
    }
    tiles.push_back(of_tile(std::move(lane), merged));
  }
  return of_tiles(std::move(tiles), merged);
}

// --- forms

/// Value and index of a least or greatest one of the values, of which there are some.
template <class E, class V, class Pick>
onefold::arg_result<V> first_of(const std::vector<V>& values, Pick pick) {
  const V best = *tree<E, V>(
      values.size(), [&](std::size_t i) { return values[i]; }, pick);
  std::uint64_t i = 0;
  while (is_nan(best) ? !is_nan(values[i]) : std::memcmp(&values[i], &best, sizeof(V)) != 0) ++i;
  return {best, i};
}

template <class E>
bool is_set(E element) {
  return plain(element) != decltype(plain(element)){0};  // a NaN is
}

/// What sums and products give.
template <form What, class E, bool Wide>
result_of<What, E, Wide> by_sums(const E* x, const E* y, std::size_t n) {
  using T = total<E, Wide>;
  using R = result_of<What, E, Wide>;
  const auto value = [&](std::size_t i) { return static_cast<T>(plain(x[i])); };
  const auto sum_of = [&]<class A>(auto each, std::type_identity<A>) { return tree<E, A>(n, each, plus<A>); };
  if constexpr (What == form::prod) {
    return tree<E, T>(n, value, times<T>).value_or(T{1});
  } else if constexpr (What == form::dot) {
    const auto product = [&](std::size_t i) { return times<T>(value(i), static_cast<T>(plain(y[i]))); };
    return sum_of(product, std::type_identity<T>{}).value_or(T{0});
  } else if constexpr (What == form::sum_of_squares) {
    return sum_of([&](std::size_t i) { return times<T>(value(i), value(i)); }, std::type_identity<T>{}).value_or(T{0});
  } else if constexpr (What == form::norm1) {
    const auto size = [&](std::size_t i) { return static_cast<R>(plain(magnitude(x[i]))); };
    return sum_of(size, std::type_identity<R>{}).value_or(R{0});
  } else if constexpr (What == form::norm2) {
    const auto square = [&](std::size_t i) { return static_cast<double>(plain(x[i])) * static_cast<double>(plain(x[i])); };
    return static_cast<R>(std::sqrt(sum_of(square, std::type_identity<double>{}).value_or(0.0)));
  } else {
    const std::optional<T> sum = sum_of(value, std::type_identity<T>{});
    if constexpr (What == form::sum) return sum.value_or(T{0});
    return sum ? static_cast<R>(static_cast<R>(*sum) / static_cast<R>(n)) : std::numeric_limits<R>::quiet_NaN();
  }
}

/// What is one of the elements, or made of their bits.
template <form What, class E>
auto by_picking(const E* x, std::size_t n) {
  const auto pick = [&](auto combine, auto of_none) {
    return tree<E, E>(
               n, [&](std::size_t i) { return x[i]; }, combine)
        .value_or(of_none);
  };
  if constexpr (What == form::min)
    return pick(least<E>, highest<E>());
  else if constexpr (What == form::max)
    return pick(greatest<E>, lowest<E>());
  else if constexpr (What == form::min_number)
    return pick(least_number<E>, highest<E>());
  else if constexpr (What == form::max_number)
    return pick(greatest_number<E>, lowest<E>());
  else if constexpr (What == form::minmax)
    return onefold::minmax_result<E>{pick(least<E>, highest<E>()), pick(greatest<E>, lowest<E>())};
  else if constexpr (What == form::bit_and)
    return pick([](E a, E b) { return static_cast<E>(a & b); }, static_cast<E>(-1));
  else if constexpr (What == form::bit_or)
    return pick([](E a, E b) { return static_cast<E>(a | b); }, E{0});
  else
    return pick([](E a, E b) { return static_cast<E>(a ^ b); }, E{0});
}

/// What has an index. There are elements.
template <form What, class E>
auto by_place(const E* x, std::size_t n) {
  const std::vector<E> values(x, x + n);
  std::vector<magnitude_t<E>> sizes;
  for (const E& element : values) sizes.push_back(magnitude(element));
  using M = magnitude_t<E>;
  if constexpr (What == form::argmin)
    return first_of<E>(values, least<E>);
  else if constexpr (What == form::argmax)
    return first_of<E>(values, greatest<E>);
  else if constexpr (What == form::argmin_magnitude)
    return first_of<E>(sizes, least<M>);
  else if constexpr (What == form::argmax_magnitude)
    return first_of<E>(sizes, greatest<M>);
  else
    return onefold::argminmax_result<E>{first_of<E>(values, least<E>), first_of<E>(values, greatest<E>)};
}

/// The result of n elements. A NaN in it may have any bits.
template <form What, class E, bool Wide>
result_of<What, E, Wide> oracle(const E* x, const E* y, std::size_t n, std::int64_t ddof) {
  using R = result_of<What, E, Wide>;
  if constexpr (What == form::count || What == form::all || What == form::any || What == form::none) {
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < n; ++i) set += is_set(x[i]) ? 1 : 0;
    if constexpr (What == form::count) return set;
    return What == form::all ? set == n : What == form::any ? set != 0 : set == 0;
  } else if constexpr (What == form::norm_inf) {
    return tree<E, R>(
               n, [&](std::size_t i) { return magnitude(x[i]); }, greatest<R>)
        .value_or(R{});
  } else if constexpr (What == form::mean_variance) {
    using M = decltype(R::mean);
    const auto all = tree_of_moments(x, n);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::int64_t freedom = static_cast<std::int64_t>(n) - ddof;
    const double variance = all && freedom > 0 ? all->deviations / static_cast<double>(freedom) : nan;
    return {static_cast<M>(all ? all->mean : nan), static_cast<M>(variance)};
  } else if constexpr (onefold::has_index(What)) {
    return by_place<What>(x, n);
  } else if constexpr ((std::is_same_v<R, E> && !Wide) || What == form::minmax) {
    return by_picking<What>(x, n);
  } else {
    return by_sums<What, E, Wide>(x, y, n);
  }
}

// --- results as bits

using result_bits = std::array<std::uint64_t, 4>;

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}
template <class T>
result_bits all_bits(T value) {
  return {bits_of(value)};
}
template <class T>
result_bits all_bits(const onefold::arg_result<T>& of) {
  return {bits_of(of.value), of.index};
}
template <class T>
result_bits all_bits(const onefold::argminmax_result<T>& of) {
  return {bits_of(of.min.value), of.min.index, bits_of(of.max.value), of.max.index};
}
template <class T>
result_bits all_bits(const onefold::minmax_result<T>& of) {
  return {bits_of(of.min), bits_of(of.max)};
}
template <class T>
result_bits all_bits(const onefold::mean_variance_result<T>& of) {
  return {bits_of(of.mean), bits_of(of.variance)};
}

/// The value, or the NaN that results have.
template <class T>
T settled(T value) {
  if (!is_nan(value)) return value;
  if constexpr (is_half<T>) return T::from_bits(infinity_of<T> | 1 << (digits_of<T> - 1));
  T nan{};
  const std::uint64_t bits = sizeof(T) == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
  if constexpr (std::is_floating_point_v<T>) std::memcpy(&nan, &bits, sizeof(T));
  return nan;
}
template <class T>
onefold::arg_result<T> settled(const onefold::arg_result<T>& of) {
  return {settled(of.value), of.index};
}
template <class T>
onefold::argminmax_result<T> settled(const onefold::argminmax_result<T>& of) {
  return {settled(of.min), settled(of.max)};
}
template <class T>
onefold::minmax_result<T> settled(const onefold::minmax_result<T>& of) {
  return {settled(of.min), settled(of.max)};
}
template <class T>
onefold::mean_variance_result<T> settled(const onefold::mean_variance_result<T>& of) {
  return {settled(of.mean), settled(of.variance)};
}

}  // namespace onefold_test::small
