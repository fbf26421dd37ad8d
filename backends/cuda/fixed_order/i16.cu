/// @file i16.cu  All folds of i16 and u16: they share what does not depend on the sign.

#include "folds.hpp"
#include "small.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_i16(element_type type, form what) {
  return type == element_type::i16 ? small_fold_of<element_type::i16>(what, false) : small_fold_of<element_type::u16>(what, false);
}

}  // namespace onefold::cuda_backend
