#pragma once
/// @file small.cuh  The rows of all folds of a type of 1 or 2 bytes.

#include "row.cuh"

namespace onefold::cuda_backend {

template <element_type Type>
const onefold::detail::device_fold& small_fold_of(form what, bool wide) {
  const auto row = [&]<class Fold>() -> const onefold::detail::device_fold& { return packed_row_of_fold<Fold>(); };
  return static_cast<int>(what) < form_count ? onefold::detail::with_fold_of<Type>(what, wide, row)
                                             : onefold::detail::with_record_fold_of<Type>(what, row);
}

}  // namespace onefold::cuda_backend
