#pragma once
/// @file form_oracle_records.hpp  What argmin, argmax, minmax and mean_variance must give, apart from the library: to the bit by the page on
/// the order, and for means and variances within the error bound of what many more bits give.

#include <cstdint>

#include <onefold/types.hpp>

#include "element.hpp"
#include "form_oracle.hpp"
#include "oracle.hpp"

namespace onefold_test {

/// argmin, argmax, those of absolute values, minmax or mean_variance of `count` elements of x from `first` on.
struct record_input {
  form what;
  bool wide;  ///< f32 accumulated in f64; mean_variance alone
  std::int64_t ddof;
  const elements* x;
  std::size_t first;
  std::size_t count;  ///< at least 1 for argmin and argmax
};

/// Value and index, minimum and maximum, or mean and variance.
struct record_expectation {
  expectation first;
  expectation second;
};

/// The types of the two results.
struct record_types {
  element_type first;
  element_type second;
};
[[nodiscard]] record_types record_types_of(form what, element_type type, bool wide);

/// The bits of tree v1 for any data.
[[nodiscard]] record_expectation record_by_tree(const record_input& of);

/// The answer for any data whose squared deviations stay in range. Extrema, indices and what follows from NaN and infinities to the bit; mean
/// and variance within the rounding error of merged deviations (Chan, Golub, LeVeque 1983, and the page's lanes) in a tree of this depth.
[[nodiscard]] record_expectation record_within(const record_input& of);

}  // namespace onefold_test
