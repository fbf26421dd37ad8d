/// @file packed_sums.cu  The folds in packs that add and multiply.

#include "families.cuh"
#include "folds.hpp"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_packed_sums(element_type type, form what, bool wide) {
  return packed_row<form::sum, form::prod, form::dot, form::sum_of_squares, form::norm1, form::mean, form::norm2, form::count,
                    form::all, form::any, form::none>(type, what, wide);
}

}  // namespace onefold::cuda_backend
