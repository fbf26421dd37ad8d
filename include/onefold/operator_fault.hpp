#pragma once
/// @file operator_fault.hpp  For the tests of those who write an operator: whether it may stand in a reduction.

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace onefold {

namespace detail {

template <class V, class = void>
inline constexpr bool has_equality = false;
template <class V>
inline constexpr bool
    has_equality<V, std::void_t<decltype(static_cast<bool>(std::declval<const V&>() == std::declval<const V&>()))>> = true;

template <class V>
bool is_same_value(const V& a, const V& b) {
  if constexpr (std::is_floating_point_v<V>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

/// Whether `a` and `b` are the same up to a few roundings of numbers as large as `scale`.
template <class V>
bool is_close(const V& a, const V& b, [[maybe_unused]] double scale) {
  if constexpr (std::is_floating_point_v<V>) {
    if (!std::isfinite(a) || !std::isfinite(b)) return true;  // an overflow on one way only is a rounding too
    return std::fabs(static_cast<double>(a) - static_cast<double>(b)) <=
           8 * static_cast<double>(std::numeric_limits<V>::epsilon()) * scale;
  } else {
    return is_same_value(a, b);
  }
}

template <class V>
double magnitude([[maybe_unused]] const V& of) {
  if constexpr (std::is_arithmetic_v<V>)
    return std::fabs(static_cast<double>(of));
  else
    return 0;
}

/// Stands for a `close` that the caller has not given.
struct by_value {};

}  // namespace detail

/// Looks for samples with which `op` does not commute, or is not associative up to rounding: the tree pairs values that do not stand side by
/// side, so the results of such an operator would say nothing. Returns a sentence that names them, or nothing.
///
/// @param op       op(a, b), as for reduce()
/// @param samples  a range of values; the more kinds of them, the more it finds. Cost: two calls for each pair, four for each three of the first 32.
/// @param close    close(a, b): whether two values are the same up to rounding. Needed for types that are no numbers and have no ==. Left away,
///                 numbers may differ by a few roundings of the largest number at hand, and others not at all
template <class Op, class Samples, class Close = detail::by_value>
[[nodiscard]] std::optional<std::string> operator_fault(Op&& op, const Samples& samples, const Close& close = {}) {
  using V = std::decay_t<decltype(*std::begin(samples))>;
  constexpr bool asks = !std::is_same_v<Close, detail::by_value>;
  static_assert(asks || detail::has_equality<V>,
                "give operator_fault a function that says whether two values are the same up to rounding");
  const auto same = [&close](const V& a, const V& b) {
    static_cast<void>(close);  // or clang warns where it is not called
    if constexpr (detail::has_equality<V>)
      return detail::is_same_value(a, b);
    else
      return static_cast<bool>(close(a, b));
  };
  const auto alike = [&close]([[maybe_unused]] const V& a, [[maybe_unused]] const V& b, [[maybe_unused]] double scale) {
    static_cast<void>(close);
    if constexpr (asks)
      return static_cast<bool>(close(a, b));
    else
      return detail::is_close(a, b, scale);
  };
  const auto combine = [&op](const V& a, const V& b) { return static_cast<V>(op(a, b)); };
  const auto name = [](std::size_t i) { return std::string("sample ").append(std::to_string(i)); };

  std::size_t i = 0;
  for (auto a = std::begin(samples); a != std::end(samples); ++a, ++i) {
    std::size_t j = 0;
    for (auto b = std::begin(samples); j < i; ++b, ++j)
      if (!same(combine(*a, *b), combine(*b, *a)))
        return name(j).append(" and ").append(name(i)).append(
            " give another value when they are exchanged: the operator does not commute");
  }
  constexpr std::size_t most = 32;
  i = 0;
  for (auto a = std::begin(samples); a != std::end(samples) && i < most; ++a, ++i) {
    std::size_t j = 0;
    for (auto b = std::begin(samples); b != std::end(samples) && j < most; ++b, ++j) {
      std::size_t k = 0;
      for (auto c = std::begin(samples); c != std::end(samples) && k < most; ++c, ++k) {
        const V ab = combine(*a, *b);
        const V bc = combine(*b, *c);
        const V left = combine(ab, *c);
        const V right = combine(*a, bc);
        double scale = 0;
        for (const double size : {detail::magnitude<V>(*a), detail::magnitude<V>(*b), detail::magnitude<V>(*c),
                                  detail::magnitude(ab), detail::magnitude(bc), detail::magnitude(left), detail::magnitude(right)})
          scale = size > scale ? size : scale;
        if (!alike(left, right, scale))
          return name(i).append(", ").append(name(j)).append(" and ").append(name(k)).append(
              " give another value when the first two are combined first: the operator is not associative");
      }
    }
  }
  return std::nullopt;
}

}  // namespace onefold
