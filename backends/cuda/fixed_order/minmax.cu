/// @file minmax.cu  The folds of minmax.

#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_minmax(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::minmax_fold<E>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::minmax_fold<float>>();
}

}  // namespace onefold::cuda_backend
