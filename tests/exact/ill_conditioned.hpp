#pragma once
/// @file ill_conditioned.hpp  Dot products and sums of condition numbers that are chosen.

#include <cmath>
#include <utility>
#include <vector>

#include "data.hpp"

namespace onefold_test {

template <class T>
struct vectors {
  std::vector<T> x, y;
};

/// The two vectors of a dot product of about this condition number, after T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot
/// product", SIAM J. Sci. Comput. 26 (2005), algorithm 6.1: in the first half products as large as the condition number, of any
/// exponents; in the second half y is chosen so that what has been added so far shrinks step by step to about 1.
template <class T>
vectors<T> ill_conditioned(std::size_t count, double log2_condition, std::uint64_t seed) {
  random_numbers random(seed);
  const auto any = [&](double exponent) { return static_cast<T>(std::ldexp(2 * random.unit() - 1, static_cast<int>(exponent))); };
  const std::size_t half = count / 2;
  const double highest = log2_condition / 2;
  std::vector<std::pair<T, T>> pairs;
  exact_pairs so_far(onefold::element_type_of<T>);
  const auto put = [&](T x, T y) {
    pairs.emplace_back(x, y);
    so_far.add(scalar_of(x).bits, scalar_of(y).bits);
  };
  for (std::size_t i = 0; i < half; ++i) {
    const double exponent = i == 0 ? highest + 1 : i + 1 == half ? 0 : std::round(random.unit() * highest);
    put(any(exponent), any(exponent));
  }
  for (std::size_t i = half; i < count; ++i) {
    const double exponent = std::round(highest * static_cast<double>(count - 1 - i) / static_cast<double>(count - 1 - half));
    const T x = any(exponent);
    // All digits of what has been added, as far as doubles have them: those of floats have more than a float.
    const double now = value_of<double>(so_far.result(true));
    put(x, static_cast<T>((static_cast<double>(any(exponent)) - now) / static_cast<double>(x)));
  }
  shuffle(pairs, random);
  vectors<T> made;
  for (const auto& [x, y] : pairs) {
    made.x.push_back(x);
    made.y.push_back(y);
  }
  return made;
}

inline double log2_of(const mpz_class& whole) {
  long exponent = 0;
  const double digits = mpz_get_d_2exp(&exponent, whole.get_mpz_t());
  return std::log2(std::fabs(digits)) + static_cast<double>(exponent);
}

/// log2 of 2 |x| |y| / |x y|
template <class T>
double log2_condition_of(const vectors<T>& of) {
  exact_pairs sizes(onefold::element_type_of<T>);
  for (std::size_t i = 0; i < of.x.size(); ++i) sizes.add(scalar_of(std::fabs(of.x[i])).bits, scalar_of(std::fabs(of.y[i])).bits);
  const exact_pairs all{std::span<const T>(of.x), std::span<const T>(of.y)};
  return 1 + log2_of(sizes.sum()) - log2_of(all.sum());
}

/// The terms of a sum of as many digits as this dot product, and of its condition number: each product as what it is rounded to and what that leaves
/// (TwoProduct of the same paper). Products must not overflow, nor what they leave underflow.
template <class T>
std::vector<T> terms_of(const vectors<T>& of, std::uint64_t seed) {
  std::vector<T> terms;
  for (std::size_t i = 0; i < of.x.size(); ++i) {
    const T product = of.x[i] * of.y[i];
    terms.push_back(product);
    terms.push_back(std::fma(of.x[i], of.y[i], -product));
  }
  random_numbers random(seed);
  shuffle(terms, random);
  return terms;
}

/// log2 of the sum of all |x| by |the sum of all x|
template <class T>
double log2_condition_of(const std::vector<T>& x) {
  // Products with 1, whose sums the oracle shows.
  std::vector<T> sizes;
  for (const T one : x) sizes.push_back(std::fabs(one));
  const std::vector<T> ones(x.size(), T(1));
  return log2_of(exact_pairs(std::span<const T>(sizes), std::span<const T>(ones)).sum()) -
         log2_of(exact_pairs(std::span<const T>(x), std::span<const T>(ones)).sum());
}

}  // namespace onefold_test
