#pragma once
/// @file any_form.hpp  Any form of elements of any type, both known at run time only, through onefold's public functions.

#include <cstdint>
#include <optional>
#include <string>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::tool {

/// What is to be reduced.
struct form_request {
  element_type type;
  onefold::form form;
  bool wide;      ///< f32 accumulated in f64
  const void* x;  ///< count elements
  const void* y;  ///< of dot: count elements; else not looked at
  std::uint64_t count;

  [[nodiscard]] element_type result() const noexcept { return result_type(type, form, wide); }
};

/// Reduces and waits.
/// Result   the value's bits, in the low bytes; of the type result().
/// Errors   onefold::error, as reduce(); unsupported where elements of this type cannot be accumulated in f64.
[[nodiscard]] std::uint64_t reduce_bits(const executor& where, const form_request& what, const options& how);

}  // namespace onefold::tool
