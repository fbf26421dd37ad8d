#pragma once
/// @file whole_sums.hpp  Exact means, norms and variances of integers by GMP's whole numbers, and the words of their states.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "../support/exact_oracle.hpp"

namespace onefold_test {

/// The sums of integers and of their squares, and what the forms with exact results give of them.
struct whole_sums {
  mpz_class elements, squares;
  std::uint64_t count = 0;

  template <class T>
  explicit whole_sums(const std::vector<T>& x) : count(x.size()) {
    for (const T one : x) {
      const mpz_class whole = std::is_signed_v<T> ? mpz_class(static_cast<long>(one)) : mpz_class(static_cast<unsigned long>(one));
      elements += whole;
      squares += whole * whole;
    }
  }
  // docs/exact.md: the states of doubles, whose units are 2^-1074 and of squares 2^-2148.
  [[nodiscard]] std::vector<std::int64_t> words(form what) const {
    const bool has_elements = what != form::norm2, has_squares = what != form::mean;
    const int kind = what == form::mean ? 2 : what == form::norm2 ? 6 : 8;
    std::vector<std::int64_t> all;
    if (count != 0) all = {0x0f1d0100 + kind, 1, static_cast<std::int64_t>(count), 0, 0, 0, 1, 0};
    all.resize(8);
    if (has_elements) append_limbs(all, elements << 1074, 68);
    if (has_squares) append_limbs(all, squares << 2148, 134);
    if (count != 0) all[7] = exact_check(all);
    return all;
  }
  [[nodiscard]] scalar mean() const { return count == 0 ? not_a_number() : quotient(elements, count); }
  [[nodiscard]] scalar norm2() const {
    return {element_type::f64, squares == 0 ? 0 : exactly_rounded(element_type::f64, exact_function::root, squares, 1, 0)};
  }
  [[nodiscard]] scalar variance(std::int64_t ddof) const {
    const mpz_class n = count, freedom = n - ddof;
    return n == 0 || freedom <= 0 ? not_a_number() : quotient(n * squares - elements * elements, n * freedom);
  }

 private:
  static void append_limbs(std::vector<std::int64_t>& to, mpz_class value, int limbs) {
    for (int i = 0; i < limbs; ++i) {
      mpz_class digit;
      mpz_fdiv_r_2exp(digit.get_mpz_t(), value.get_mpz_t(), 32);
      mpz_fdiv_q_2exp(value.get_mpz_t(), value.get_mpz_t(), 32);
      std::int64_t limb = digit.get_si();
      if (i + 1 == limbs && limb >= std::int64_t{1} << 31) limb -= std::int64_t{1} << 32;
      to.push_back(limb);
    }
  }
  static scalar not_a_number() { return {element_type::f64, layout_of(element_type::f64).nan()}; }
  static scalar quotient(const mpz_class& numerator, const mpz_class& denominator) {
    if (numerator == 0) return {element_type::f64, 0};
    const auto size = exactly_rounded(element_type::f64, exact_function::quotient, abs(numerator), denominator, 0);
    return {element_type::f64, size | (numerator < 0 ? layout_of(element_type::f64).sign() : 0)};
  }
};

}  // namespace onefold_test
