/// @file packed_places.cu  The folds in packs whose result has an index.

#include "families.cuh"
#include "folds.hpp"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_packed_places(element_type type, form what, bool wide) {
  return packed_row<form::argmin, form::argmax, form::argmin_magnitude, form::argmax_magnitude, form::argminmax>(type, what, wide);
}

}  // namespace onefold::cuda_backend
