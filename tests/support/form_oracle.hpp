#pragma once
/// @file form_oracle.hpp  What a form must give, said three times apart from the library: exactly for data that no order rounds, within
/// the error bound for any data, and to the bit by tree v1 written as slowly as docs/order.md says it.

#include <onefold/types.hpp>

#include "element.hpp"
#include "oracle.hpp"

namespace onefold_test {

using onefold::form;

/// A form of the elements of x, for dot with the elements of y.
struct form_input {
  form what;
  bool wide;  ///< f32 accumulated in f64, integers of 32 bits in 64
  const elements* x;
  std::size_t first_x;
  const elements* y;  ///< of dot; else not looked at
  std::size_t first_y;
  std::size_t count;
};

/// The type of the result, from the table of docs/order.md.
[[nodiscard]] element_type result_type_of(form what, element_type type, bool wide);

/// Whether docs/order.md has this form accumulated in a wider type.
[[nodiscard]] bool has_wide(form what, element_type type);

/// The answer for data that give the same bits in every order (exact_form_data, or special values).
[[nodiscard]] expectation form_exactly(const form_input& of);

/// The answer for any data whose partial results stay in range: integers, extrema and special values to the bit, the others within the
/// rounding error of tree v1 (Higham 2002, sections 3.1 and 4.2), with the roundings of the values and of what follows the tree.
[[nodiscard]] expectation form_within(const form_input& of);

/// The bits of tree v1 for any data.
[[nodiscard]] expectation form_by_tree(const form_input& of);

/// Data for form_exactly in which every element counts: it can neither be lost nor taken twice unseen. Floats are whole numbers, small
/// enough for all partial sums of their values to be exact; `part` 0 makes x, 1 makes y.
[[nodiscard]] elements exact_form_data(element_type type, form what, std::size_t count, std::uint64_t seed, int part);

/// What must not get into the answer of such data: it changes every one that it gets into.
[[nodiscard]] scalar form_poison(form what, element_type type);

/// What changes the answer of such data wherever it stands instead of the element `before`.
[[nodiscard]] scalar telling_element(form what, const scalar& before);

}  // namespace onefold_test
