/// @file packed_extremes.cu  The folds in packs of the least and the greatest, and of bits.

#include "families.cuh"
#include "folds.hpp"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_packed_extremes(element_type type, form what, bool wide) {
  return packed_row<form::min, form::max, form::norm_inf, form::min_number, form::max_number, form::bit_and, form::bit_or,
                    form::bit_xor, form::minmax>(type, what, wide);
}

}  // namespace onefold::cuda_backend
