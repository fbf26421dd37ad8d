#pragma once
/// @file complex.hpp  Reductions of complex numbers on a GPU.

#include <cstdint>

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

/// The fold of a form (sum, prod, dot, mean, norm1 or norm_inf) of c64 or c128 elements, at least one. `y` is the second array of dot.
onefold::detail::device_fold fold_of_complex(element_type type, form what, const void* x, const void* y);

/// The same of c64 elements that are accumulated in c128, but for norm_inf.
onefold::detail::device_fold fold_of_wide_complex(form what, const void* x, const void* y);

/// What becomes of the tree's value, where a fold has to be told: it is that fold's object.
struct complex_conclusion {
  std::int64_t ddof;  ///< of mean_variance
  form what;          ///< count, all, any, none or mean_variance
  bool shows_state;   ///< the tree's value is the result
  bool wide = false;  ///< of mean_variance of c64: the result is of doubles
};

/// The fold of one of those forms, of any number of elements. `conclusion` is in use as long as the fold is.
onefold::detail::device_fold fold_of_complex_states(element_type type, const complex_conclusion& conclusion, const void* x);

}  // namespace onefold::cuda_backend
