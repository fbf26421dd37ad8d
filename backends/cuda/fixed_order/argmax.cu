/// @file argmax.cu  The folds of argmax.

#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_argmax(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::arg_fold<E, op::max>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::arg_fold<float, op::max>>();
}

}  // namespace onefold::cuda_backend
