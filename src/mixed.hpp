#pragma once
/// @file mixed.hpp  Dots of elements of two types, as sums of values that a function makes of them.

#include <cstddef>

#include <onefold/onefold.h>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

#include "mixed_types.hpp"

namespace onefold::detail {

/// Stores `count` products of elements of two different types, in one of these two; every NaN is the canonical one, since which of two factors' it is depends on
/// compilers. All is host memory, and the floating-point environment the default one.
void store_products(const types_of_dot& of, element_type products, const void* x, const void* y, std::size_t count, void* to);

/// onefold_reduce() of a request with a second type. Throws as dispatch().
void reduce_mixed(const onefold_request& asked, const onefold_options* how);

/// The type of such a request's result; its types have been found right.
element_type type_of_mixed(const onefold_request& asked) noexcept;

/// Bytes of such a request's result, or 0 where it will be refused.
std::size_t result_bytes_of_mixed(const onefold_request& asked) noexcept;

}  // namespace onefold::detail
