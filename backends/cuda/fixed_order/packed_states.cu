/// @file packed_states.cu  The folds in packs of mean and variance, and of several operators together.

#include "families.cuh"
#include "folds.hpp"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_packed_states(element_type type, form what, bool wide) {
  return packed_row<form::mean_variance, form::reduce_together>(type, what, wide);
}

}  // namespace onefold::cuda_backend
