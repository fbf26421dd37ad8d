#pragma once
/// @file oracle.hpp  What a reduction must give: an obvious scalar reference, and how far from it a result may be.
///
/// Written apart from onefold/operators.hpp on purpose: identities, NaN, signed zeros and the wrap of integers are said here a
/// second time, in other words, so that a slip in one of the two shows.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onefold/options.hpp>

#include "element.hpp"

namespace onefold_test {

/// The answer that a reduction must give.
struct expectation {
  scalar value;
  bool exact = true;            ///< no order of combination can give other bits
  bool may_be_flushed = false;  ///< a subnormal answer may come as a zero (float sums through the GPU's atomics in global memory)
  long double reference = 0;    ///< unrounded, when not exact
  long double bound = 0;        ///< |got - reference| may be at most this, when not exact
};

/// What is wrong with `got`, or nothing.
[[nodiscard]] std::optional<std::string> disagreement(const expectation& expected, const scalar& got);

/// "exact: no order gives other bits" or the bound as a number.
[[nodiscard]] std::string bound_text(const expectation& expected);

/// Folds elements one after the other; can be asked for the answer at any moment. Sums and products of floats are kept in
/// double-double, about 106 bits: the reference is far more accurate than any bound that it is compared with.
class oracle {
 public:
  oracle(element_type type, operation op);

  void take(const elements& data, std::size_t first, std::size_t last);
  void take(const scalar& element);

  /// The answer for data that give the same bits in every order.
  [[nodiscard]] expectation exactly() const;
  /// The answer for any data, combined by a tree of this depth or a shallower one. Minima, maxima, integers and special values stay
  /// exact. Bound: gamma(depth) * sum|x| for a sum, gamma(n - 1) * |product| for a product (Higham 2002, sections 3.1 and 4.2).
  [[nodiscard]] expectation within(std::uint64_t depth) const;

 private:
  template <class T>
  void take_integers(std::span<const T> values);
  template <class T>
  void take_floats(std::span<const T> values);
  void add(double x);
  void multiply(double x);
  [[nodiscard]] scalar integer_answer() const;
  [[nodiscard]] double float_answer() const;
  [[nodiscard]] bool is_special() const;  // the answer follows from NaN, infinities and zeros alone

  element_type type_;
  operation op_;
  std::uint64_t taken_ = 0;
  std::uint64_t integer_;  // modulo 2^64, which wraps to every smaller type; of an extremum: its bits

  double high_ = 0, low_ = 0;  // sum, or the mantissa of the product
  long exponent_ = 0;          // of the product
  double magnitude_ = 0;       // sum of |x|
  double extremum_;
  bool nan_ = false, plus_infinity_ = false, minus_infinity_ = false, zero_ = false, only_minus_zeros_ = true;
  bool negative_ = false;  // sign of the product
};

/// The answer for `count` elements from `first` on, for data that give the same bits in every order.
[[nodiscard]] expectation expected_exactly(operation op, const elements& data, std::size_t first, std::size_t count);
[[nodiscard]] inline expectation expected_exactly(operation op, const elements& data) {
  return expected_exactly(op, data, 0, data.size());
}

/// Operations between an element of this type and the result on the longest path that the reported launch can have taken.
[[nodiscard]] std::uint64_t depth_of(const onefold::report& ran, element_type type, std::uint64_t count);

/// The same for tree v1 (docs/order.md): 15 + log2(lanes) + ceil(log2(tiles)).
[[nodiscard]] std::uint64_t depth_of_fixed_order(element_type type, std::uint64_t count);

}  // namespace onefold_test
