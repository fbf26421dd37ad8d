#pragma once
/// @file data.hpp  Floats by their bits: of any exponent, sets that nearly cancel, and sets whose sum lies in the middle between
/// two results.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../support/data.hpp"
#include "../support/exact_oracle.hpp"

namespace onefold_test {

template <onefold::element T>
[[nodiscard]] T from_bits(std::uint64_t bits) {
  return value_of<T>({onefold::element_type_of<T>, bits});
}
template <onefold::element T>
[[nodiscard]] constexpr float_layout layout() {
  return layout_of(onefold::element_type_of<T>);
}

/// Calls `f.operator()<T>()` for each type that has exact results.
template <class F>
void for_each_float(F&& f) {
  f.template operator()<float>();
  f.template operator()<double>();
  f.template operator()<onefold::float16>();
  f.template operator()<onefold::bfloat16>();
}

/// 2^exponent as an element, or nothing where there is none.
template <onefold::element T>
[[nodiscard]] std::optional<T> power_of_two(int exponent, bool negative = false) {
  constexpr float_layout in = layout<T>();
  const std::uint64_t sign = negative ? in.sign() : 0;
  const int above = exponent - in.lowest();
  if (above < 0) return std::nullopt;
  if (above < in.stored) return from_bits<T>(sign | std::uint64_t{1} << above);
  const auto field = static_cast<std::uint64_t>(above - in.stored + 1);
  if (field >= in.last_field()) return std::nullopt;
  return from_bits<T>(sign | field << in.stored);
}
template <onefold::element T>
[[nodiscard]] T negated(T value) {
  return from_bits<T>(scalar_of(value).bits ^ layout<T>().sign());
}
template <onefold::element T>
[[nodiscard]] T infinity(bool negative = false) {
  return from_bits<T>(layout<T>().infinity() | (negative ? layout<T>().sign() : 0));
}
template <onefold::element T>
[[nodiscard]] T largest(bool negative = false) {
  return from_bits<T>((layout<T>().infinity() - 1) | (negative ? layout<T>().sign() : 0));
}

/// The exponent of half a unit in the last place of a finite result.
[[nodiscard]] int exponent_of_half_unit(const scalar& result);

/// Which exponents elements have.
enum class spread { whole, within_250, within_60, one, subnormal, highest };
inline constexpr spread spreads[] = {spread::whole, spread::within_250, spread::within_60,
                                     spread::one,   spread::subnormal,  spread::highest};
enum class signs { both, plus, minus };
[[nodiscard]] std::string_view name(spread kind);
[[nodiscard]] std::string_view name(signs kind);

/// Exponent fields from `low` to `high`.
struct fields {
  std::uint64_t low, high;
};
[[nodiscard]] fields fields_of(float_layout in, spread kind, random_numbers& random);

template <onefold::element T>
[[nodiscard]] T random_element(random_numbers& random, const fields& within, signs sign);
template <onefold::element T>
[[nodiscard]] std::vector<T> random_elements(std::size_t count, spread kind, signs sign, std::uint64_t seed);

/// Few elements: some nearly cancel, some have a sum beside or on the middle between two results, some are no numbers.
template <onefold::element T>
void make_small_case(std::vector<T>& x, random_numbers& random);
/// The same of two arrays for dot.
template <onefold::element T>
void make_small_case(std::vector<T>& x, std::vector<T>& y, random_numbers& random);

template <class T>
void shuffle(std::vector<T>& x, random_numbers& random) {
  for (std::size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[random.below(i)]);
}

/// "{0x3f800000 0x80000000}", at most 50 of them.
template <onefold::element T>
[[nodiscard]] std::string text_of(std::span<const T> x);

}  // namespace onefold_test
