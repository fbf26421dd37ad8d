/// @file together.cu  The folds of reduce_together.

#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_together(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::together_fold<E>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::together_fold<float>>();
}

}  // namespace onefold::cuda_backend
