#pragma once
/// @file dispatch.hpp  What stands behind onefold_reduce().

#include <onefold/detail/request.hpp>
#include <onefold/options.hpp>

namespace onefold::detail {

/// Validates, chooses and runs; where best() was asked for, `what` then says where that was. Throws onefold::error and std::bad_alloc.
void dispatch(request& what, const options& how);

}  // namespace onefold::detail
