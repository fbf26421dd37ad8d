/// @file f16.cu  All folds of f16.

#include "folds.hpp"
#include "small.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_f16(form what, bool wide) { return small_fold_of<element_type::f16>(what, wide); }

}  // namespace onefold::cuda_backend
