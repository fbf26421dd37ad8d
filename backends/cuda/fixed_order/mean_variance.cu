/// @file mean_variance.cu  The folds of mean_variance.

#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_mean_variance(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::mean_variance_fold<E>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::mean_variance_fold<float>>();
}

}  // namespace onefold::cuda_backend
