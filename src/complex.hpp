#pragma once
/// @file complex.hpp  Reductions of complex numbers.

#include <cstdint>

#include <onefold/onefold.h>
#include <onefold/types.hpp>

namespace onefold::detail {

/// Throws unsupported where there is no such form of complex numbers.
void check_complex_form(std::int32_t what, element_type type);

/// Runs a request whose type is ONEFOLD_C64 or ONEFOLD_C128. With a tree_value that is stored, of mean_variance those of both parts, and the output need
/// not be. Throws onefold::error and std::bad_alloc.
void reduce_complex(const onefold_request& asked, const onefold_options* how);

}  // namespace onefold::detail
