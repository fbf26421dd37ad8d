#pragma once
/// @file complex.hpp  Reductions of complex numbers on a GPU.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// The fold of a form (sum, prod, dot, mean, norm1 or norm_inf) of c64 or c128 elements, at least one. `y` is the second array of dot.
onefold::detail::device_fold fold_of_complex(element_type type, form what, const void* x, const void* y);

}  // namespace onefold::cuda_backend
