#pragma once
/// @file exact_oracle.hpp  What docs/exact.md says of a set of elements, computed with GMP's whole numbers: the results of
/// guarantee::exact to the bit, and the words of its states. Shares nothing with the library but the names of types and forms.

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include <onefold/types.hpp>

#include "element.hpp"

namespace onefold_test {

using onefold::form;

/// A float format as numbers. All bits of an element are its sign, `exponent_bits` and `stored` bits of the significand.
struct float_layout {
  int exponent_bits;
  int stored;
  [[nodiscard]] constexpr int width() const { return 1 + exponent_bits + stored; }
  /// The exponent field of infinities and NaN: one more than that of the largest numbers.
  [[nodiscard]] constexpr std::uint64_t last_field() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  /// The exponent e of the smallest positive number 2^e.
  [[nodiscard]] constexpr int lowest() const { return 2 - (1 << (exponent_bits - 1)) - stored; }
  [[nodiscard]] constexpr std::uint64_t sign() const { return std::uint64_t{1} << (width() - 1); }
  [[nodiscard]] constexpr std::uint64_t infinity() const { return last_field() << stored; }
  [[nodiscard]] constexpr std::uint64_t nan() const { return infinity() | std::uint64_t{1} << (stored - 1); }
};

/// The layout of f32, f64, f16 or bf16.
[[nodiscard]] constexpr float_layout layout_of(element_type type) {
  switch (type) {
    case element_type::f32:
      return {8, 23};
    case element_type::f64:
      return {11, 52};
    case element_type::f16:
      return {5, 10};
    case element_type::bf16:
      return {8, 7};
    default:
      std::abort();  // no float
  }
}

/// The sum of terms, each a whole number of units or none at all.
struct exact_terms {
  mpz_class sum;            ///< of the finite terms, in units
  std::uint64_t count = 0;  ///< of all
  bool nan = false, plus_infinity = false, minus_infinity = false, not_minus_zero = false;

  void merge(const exact_terms& other);
};

/// A set of elements, of one type, and what each form gives of it: sum, norm1, sum_of_squares, norm2, mean and mean_variance.
class exact_elements {
 public:
  explicit exact_elements(element_type type);
  template <onefold::element T>
  explicit exact_elements(std::span<const T> all) : exact_elements(onefold::element_type_of<T>) {
    for (const T& one : all) add(scalar_of(one).bits);
  }

  /// The element with these bits, so many times.
  void add(std::uint64_t bits, std::uint64_t times = 1);
  void merge(const exact_elements& other);

  /// The result of any of these forms but mean_variance; `wide`: with accumulate_as<double>.
  [[nodiscard]] scalar result(form what, bool wide = false) const;
  /// The second result of mean_variance. The first one is that of mean.
  [[nodiscard]] scalar variance(std::int64_t ddof = 0, bool wide = false) const;
  /// That of complex numbers, of which these are the real parts: the mean of the squares of distances from the mean.
  [[nodiscard]] scalar variance_with(const exact_elements& imaginary_parts, std::int64_t ddof = 0, bool wide = false) const;
  /// The words of the canonical state.
  [[nodiscard]] std::vector<std::int64_t> words(form what) const;
  [[nodiscard]] std::uint64_t count() const { return elements_.count; }

 private:
  element_type type_;
  exact_terms elements_, magnitudes_, squares_;
};

/// A set of pairs, and what dot gives of it.
class exact_pairs {
 public:
  explicit exact_pairs(element_type type);
  template <onefold::element T>
  exact_pairs(std::span<const T> x, std::span<const T> y) : exact_pairs(onefold::element_type_of<T>) {
    for (std::size_t i = 0; i < x.size(); ++i) add(scalar_of(x[i]).bits, scalar_of(y[i]).bits);
  }

  void add(std::uint64_t x, std::uint64_t y, std::uint64_t times = 1);
  void merge(const exact_pairs& other) { products_.merge(other.products_); }
  [[nodiscard]] scalar result(bool wide = false) const;
  [[nodiscard]] std::vector<std::int64_t> words() const;
  [[nodiscard]] std::uint64_t count() const { return products_.count; }
  /// The exact sum of the finite products in units of the square of the smallest positive number of f32 or f64.
  [[nodiscard]] const mpz_class& sum() const { return products_.sum; }

 private:
  element_type type_;
  exact_terms products_;
};

/// The check over all words but word 7.
[[nodiscard]] std::int64_t exact_check(const std::vector<std::int64_t>& words);

enum class exact_function { quotient, root };
/// The bits of numerator 2^exponent / denominator, or of its square root, in f32 or f64: rounded to nearest, ties to even. Both
/// numbers are positive.
[[nodiscard]] std::uint64_t exactly_rounded(element_type to, exact_function function, const mpz_class& numerator,
                                            const mpz_class& denominator, long exponent);

}  // namespace onefold_test
