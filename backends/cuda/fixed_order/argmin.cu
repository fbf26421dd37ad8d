/// @file argmin.cu  The folds of argmin.

#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_argmin(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::arg_fold<E, op::min>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::arg_fold<float, op::min>>();
}

}  // namespace onefold::cuda_backend
