/// @file i32.cu  The folds of i32 and u32 with one result, but for sums in 64 bits: they share what wraps.

#include "../../forms.hpp"
#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_i32(element_type type, form what) {
  const auto row = [&]<class Fold>() -> const onefold::detail::device_fold& { return row_of_fold<Fold>(); };
  return type == element_type::i32 ? onefold::detail::with_fold_of<element_type::i32, false>(what, false, row)
                                   : onefold::detail::with_fold_of<element_type::u32, false>(what, false, row);
}

}  // namespace onefold::cuda_backend
