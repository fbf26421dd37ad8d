#pragma once
/// @file mixed_types.hpp  What a dot of elements of two types is accumulated in, and which of its arrays comes first.

#include <onefold/types.hpp>

namespace onefold::detail {

struct types_of_dot {
  element_type x;
  element_type y;
};

// What C adds two numbers of these accumulators in.
constexpr element_type common_type(element_type a, element_type b) noexcept {
  if (a == element_type::f64 || b == element_type::f64) return element_type::f64;
  if (a == element_type::f32 || b == element_type::f32) return element_type::f32;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  if (a == b) return a;
  return size_of(a) == 4 ? element_type::u32 : element_type::u64;
}
/// What C adds two numbers of these in, 64 bits for small integers; with `wide` the one that ONEFOLD_WIDE asks for, where there is such.
constexpr element_type type_of_products(types_of_dot of, bool wide = false) noexcept {
  const element_type common = common_type(accumulator_type(of.x), accumulator_type(of.y));
  if (!wide) return common;
  return common == element_type::f32 ? element_type::f64 : common == element_type::u32 ? element_type::u64 : common;
}
constexpr bool can_be_wide(types_of_dot of) noexcept { return type_of_products(of, true) != type_of_products(of); }

// Of two arrays the one with the larger elements is the first, and of equal ones either may be: products know no order, and half as many functions do.
constexpr bool stands_right(types_of_dot of) noexcept {
  return size_of(of.x) > size_of(of.y) || (size_of(of.x) == size_of(of.y) && of.x < of.y);
}

// Whole numbers of 4 and 8 bytes whose products are as long: modulo a power of two those of either type are the same.
constexpr bool differ_in_sign_alone(types_of_dot of) noexcept {
  return !is_float(of.x) && !is_float(of.y) && size_of(of.x) == size_of(of.y) && size_of(of.x) >= 4;
}

/// Both arrays of a dot of two types, in that order.
struct arrays_of_two_types {
  types_of_dot types;
  const void* x;
  const void* y;
};

}  // namespace onefold::detail
