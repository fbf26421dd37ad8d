/// @file argminmax.cu  The folds of argminmax.

#include "folds.hpp"
#include "row.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_argminmax(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return packed_row_of_fold<onefold::detail::argminmax_fold<E>>();
#include <onefold/types.def>
    default:
      break;
  }
  return packed_row_of_fold<onefold::detail::argminmax_fold<float>>();
}

}  // namespace onefold::cuda_backend
