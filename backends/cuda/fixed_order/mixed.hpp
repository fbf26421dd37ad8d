#pragma once
/// @file mixed.hpp  Dots of elements of two types on a GPU.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// What the elements of both arrays are: that fold's object. The first is the one that comes first in detail::comes_first().
struct mixed_types {
  element_type x;
  element_type y;
};

/// The fold of a dot of elements of two different types of real numbers, whose object `types` must live until the call ends.
onefold::detail::device_fold fold_of_mixed_dot(const mixed_types& types, const void* x, const void* y);

}  // namespace onefold::cuda_backend
