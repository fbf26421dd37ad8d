#pragma once
/// @file two_types.hpp  Dots of elements of two types.

#include <onefold/detail/request.hpp>

namespace onefold::cpu {

/// A request with `products`, of at least one element. Returns the threads that have worked.
int reduce_two_types(const detail::request& what, int threads);

}  // namespace onefold::cpu
