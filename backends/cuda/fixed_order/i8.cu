/// @file i8.cu  All folds of i8 and u8: they share what does not depend on the sign.

#include "folds.hpp"
#include "small.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_i8(element_type type, form what) {
  return type == element_type::i8 ? small_fold_of<element_type::i8>(what, false) : small_fold_of<element_type::u8>(what, false);
}

}  // namespace onefold::cuda_backend
