#include "exact_oracle.hpp"

#include <algorithm>
#include <cstdlib>

namespace onefold_test {

namespace {

// |an element| is digits 2^exponent, unless it is infinite or NaN.
struct number {
  enum { finite, infinite, not_a_number } kind;
  bool negative;
  std::uint64_t digits;
  int exponent;
  [[nodiscard]] bool is_zero() const { return kind == finite && digits == 0; }
};

number decoded(element_type type, std::uint64_t bits) {
  const float_layout in = layout_of(type);
  const bool negative = (bits & in.sign()) != 0;
  const std::uint64_t field = (bits >> in.stored) & in.last_field(), stored = bits & ((std::uint64_t{1} << in.stored) - 1);
  if (field == in.last_field()) return {stored == 0 ? number::infinite : number::not_a_number, negative, 0, 0};
  if (field == 0) return {number::finite, negative, stored, in.lowest()};
  return {number::finite, negative, stored | std::uint64_t{1} << in.stored, in.lowest() + static_cast<int>(field) - 1};
}

number product(const number& x, const number& y) {
  const bool negative = x.negative != y.negative;
  if (x.kind == number::not_a_number || y.kind == number::not_a_number) return {number::not_a_number, negative, 0, 0};
  if (x.kind == number::finite && y.kind == number::finite) return {number::finite, negative, 0, x.exponent + y.exponent};
  return {x.is_zero() || y.is_zero() ? number::not_a_number : number::infinite, negative, 0, 0};
}

// The term |digits| 2^shift units, so many times; `what` has its kind and sign.
void add_term(exact_terms& to, const number& what, const mpz_class& digits, int shift, std::uint64_t times) {
  to.count += times;
  if (what.kind == number::not_a_number) to.nan = true;
  if (what.kind == number::infinite) (what.negative ? to.minus_infinity : to.plus_infinity) = true;
  const bool is_minus_zero = what.kind == number::finite && what.negative && digits == 0;
  if (!is_minus_zero) to.not_minus_zero = true;
  if (what.kind != number::finite || digits == 0) return;
  static thread_local mpz_class term;  // keeps its memory
  mpz_mul_2exp(term.get_mpz_t(), digits.get_mpz_t(), static_cast<mp_bitcnt_t>(shift));
  if (times != 1) term *= times;
  if (what.negative)
    to.sum -= term;
  else
    to.sum += term;
}

// Small types share the units of f32.
int unit_of(element_type type) { return layout_of(type == element_type::f64 ? type : element_type::f32).lowest(); }

element_type result_format(element_type type, bool wide) {
  return wide || type == element_type::f64 ? element_type::f64 : element_type::f32;
}

scalar not_a_number(element_type format) { return {format, layout_of(format).nan()}; }

// The bits of sum 2^unit / divisor, from the sum's kind on.
scalar rounded_quotient(element_type format, const exact_terms& terms, const mpz_class& divisor, int unit) {
  const float_layout in = layout_of(format);
  if (terms.nan || (terms.plus_infinity && terms.minus_infinity)) return not_a_number(format);
  if (terms.plus_infinity) return {format, in.infinity()};
  if (terms.minus_infinity) return {format, in.infinity() | in.sign()};
  if (terms.sum == 0) return {format, terms.count != 0 && !terms.not_minus_zero ? in.sign() : 0};
  const std::uint64_t size = exactly_rounded(format, exact_function::quotient, abs(terms.sum), divisor, unit);
  return {format, size | (terms.sum < 0 ? in.sign() : 0)};
}

// 2^31 - 1
constexpr std::int64_t modulus = 2147483647;

std::int64_t residue(std::int64_t word) {
  const std::int64_t left = word % modulus;
  return left < 0 ? left + modulus : left;
}

void append_limbs(std::vector<std::int64_t>& words, const mpz_class& sum, int limbs) {
  mpz_class left = sum;
  for (int i = 0; i < limbs; ++i) {
    mpz_class limb = left;
    if (i + 1 < limbs) mpz_fdiv_r_2exp(limb.get_mpz_t(), left.get_mpz_t(), 32);
    words.push_back(limb.get_si());
    mpz_fdiv_q_2exp(left.get_mpz_t(), left.get_mpz_t(), 32);
  }
}

struct kind {
  int number;
  int limbs;
  int more_limbs;  // of the second sum
};

kind kind_of(element_type type, form what) {
  const bool is_double = type == element_type::f64;
  switch (what) {
    case form::sum:
    case form::mean:
      return is_double ? kind{2, 68, 0} : kind{1, 11, 0};
    case form::norm1:
      return is_double ? kind{4, 68, 0} : kind{3, 11, 0};
    case form::dot:
    case form::sum_of_squares:
    case form::norm2:
      return is_double ? kind{6, 134, 0} : kind{5, 20, 0};
    case form::mean_variance:
      return is_double ? kind{8, 68, 134} : kind{7, 11, 20};
    default:
      std::abort();  // a form without states
  }
}

std::vector<std::int64_t> state_words(const kind& of, const exact_terms& terms, const mpz_class* second) {
  std::vector<std::int64_t> words;
  if (terms.count == 0) {
    words.assign(static_cast<std::size_t>(8 + of.limbs + of.more_limbs), 0);
    return words;
  }
  words = {0x0f1d0100 + of.number, 1, static_cast<std::int64_t>(terms.count), terms.nan, terms.plus_infinity, terms.minus_infinity,
           terms.not_minus_zero,   0};
  const bool is_number = !terms.nan && !terms.plus_infinity && !terms.minus_infinity;
  append_limbs(words, is_number ? terms.sum : mpz_class(0), of.limbs);
  if (second != nullptr) append_limbs(words, is_number ? *second : mpz_class(0), of.more_limbs);
  words[7] = exact_check(words);
  return words;
}

}  // namespace

std::uint64_t exactly_rounded(element_type to, exact_function function, const mpz_class& numerator, const mpz_class& denominator,
                              long exponent) {
  const float_layout in = layout_of(to);
  const int digits = in.stored + 1;
  const auto bits_in = [](const mpz_class& of) { return static_cast<long>(mpz_sizeinbase(of.get_mpz_t(), 2)); };
  const bool root = function == exact_function::root;
  // The number is above 2^(size - 1). So it has 66 digits and more in units of 2^-scale.
  const long size = bits_in(numerator) - bits_in(denominator) + exponent;
  const long scale = 70 - (root ? size / 2 : size);
  const long shift = exponent + (root ? 2 * scale : scale);
  mpz_class scaled = numerator, divisor = denominator, left;
  (shift >= 0 ? scaled : divisor) <<= static_cast<mp_bitcnt_t>(std::labs(shift));
  mpz_fdiv_qr(scaled.get_mpz_t(), left.get_mpz_t(), scaled.get_mpz_t(), divisor.get_mpz_t());
  bool more = left != 0;  // whether something follows the digits
  if (root) {
    mpz_sqrtrem(scaled.get_mpz_t(), left.get_mpz_t(), scaled.get_mpz_t());
    more = more || left != 0;
  }
  // Drop digits so far that as many as the format has are left, or down to the smallest subnormal number.
  const long unit = std::max(bits_in(scaled) - scale - digits, static_cast<long>(in.lowest()));
  const auto drop = static_cast<mp_bitcnt_t>(unit + scale);
  const bool half = mpz_tstbit(scaled.get_mpz_t(), drop - 1) != 0;
  more = more || mpz_scan1(scaled.get_mpz_t(), 0) < drop - 1;
  scaled >>= drop;
  std::uint64_t kept = scaled.get_ui();
  if (half && (more || kept % 2 != 0)) ++kept;
  // A normal number's first digit stands for one step of the exponent field, and so does a carry.
  const long steps = unit - in.lowest();
  if (steps >= static_cast<long>(in.last_field())) return in.infinity();
  return std::min(in.infinity(), (static_cast<std::uint64_t>(steps) << in.stored) + kept);
}

void exact_terms::merge(const exact_terms& other) {
  sum += other.sum;
  count += other.count;
  nan = nan || other.nan;
  plus_infinity = plus_infinity || other.plus_infinity;
  minus_infinity = minus_infinity || other.minus_infinity;
  not_minus_zero = not_minus_zero || other.not_minus_zero;
}

exact_elements::exact_elements(element_type type) : type_(type) {}

void exact_elements::add(std::uint64_t bits, std::uint64_t times) {
  const int unit = unit_of(type_);
  number one = decoded(type_, bits);
  const mpz_class digits = one.digits;
  add_term(elements_, one, digits, one.exponent - unit, times);
  const number square = product(one, one);
  add_term(squares_, square, digits * digits, square.exponent - 2 * unit, times);
  one.negative = false;
  add_term(magnitudes_, one, digits, one.exponent - unit, times);
}

void exact_elements::merge(const exact_elements& other) {
  elements_.merge(other.elements_);
  magnitudes_.merge(other.magnitudes_);
  squares_.merge(other.squares_);
}

scalar exact_elements::result(form what, bool wide) const {
  const element_type format = result_format(type_, wide);
  const int unit = unit_of(type_);
  switch (what) {
    case form::sum:
      return rounded_quotient(format, elements_, 1, unit);
    case form::norm1:
      return rounded_quotient(format, magnitudes_, 1, unit);
    case form::sum_of_squares:
      return rounded_quotient(format, squares_, 1, 2 * unit);
    case form::norm2:
      if (squares_.nan || squares_.plus_infinity || squares_.sum == 0) return rounded_quotient(format, squares_, 1, 2 * unit);
      return {format, exactly_rounded(format, exact_function::root, squares_.sum, 1, 2L * unit)};
    case form::mean:
      if (elements_.count == 0) return not_a_number(format);
      return rounded_quotient(format, elements_, elements_.count, unit);
    default:
      std::abort();  // no form of this oracle
  }
}

scalar exact_elements::variance(std::int64_t ddof, bool wide) const { return variance_with(exact_elements(type_), ddof, wide); }

scalar exact_elements::variance_with(const exact_elements& other, std::int64_t ddof, bool wide) const {
  const element_type format = result_format(type_, wide);
  const mpz_class n = elements_.count, freedom = n - ddof;
  const auto is_no_number = [](const exact_terms& of) { return of.nan || of.plus_infinity || of.minus_infinity; };
  if (n == 0 || freedom <= 0 || is_no_number(elements_) || is_no_number(other.elements_)) return not_a_number(format);
  exact_terms scaled;
  scaled.sum = n * (squares_.sum + other.squares_.sum) - elements_.sum * elements_.sum - other.elements_.sum * other.elements_.sum;
  scaled.not_minus_zero = true;
  return rounded_quotient(format, scaled, n * freedom, 2 * unit_of(type_));
}

std::vector<std::int64_t> exact_elements::words(form what) const {
  const kind of = kind_of(type_, what);
  if (what == form::mean_variance) return state_words(of, elements_, &squares_.sum);
  const bool squared = what == form::sum_of_squares || what == form::norm2;
  return state_words(of, squared ? squares_ : what == form::norm1 ? magnitudes_ : elements_, nullptr);
}

exact_pairs::exact_pairs(element_type type) : type_(type) {}

void exact_pairs::add(std::uint64_t x, std::uint64_t y, std::uint64_t times) {
  const number one = decoded(type_, x), other = decoded(type_, y), both = product(one, other);
  mpz_class digits = one.digits;
  digits *= other.digits;
  add_term(products_, both, digits, both.exponent - 2 * unit_of(type_), times);
}

scalar exact_pairs::result(bool wide) const {
  return rounded_quotient(result_format(type_, wide), products_, 1, 2 * unit_of(type_));
}

std::vector<std::int64_t> exact_pairs::words() const { return state_words(kind_of(type_, form::dot), products_, nullptr); }

std::int64_t exact_check(const std::vector<std::int64_t>& words) {
  std::int64_t factor = 48271, sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 7) sum = (sum + factor * residue(words[i])) % modulus;
    factor = factor * 48271 % modulus;
  }
  return sum;
}

}  // namespace onefold_test
