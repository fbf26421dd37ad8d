#pragma once
/// @file complex.hpp  Reductions of complex numbers.

#include <onefold/onefold.h>

namespace onefold::detail {

/// Runs a request whose type is ONEFOLD_C64 or ONEFOLD_C128. Throws onefold::error and std::bad_alloc.
void reduce_complex(const onefold_request& asked, const onefold_options* how);

}  // namespace onefold::detail
