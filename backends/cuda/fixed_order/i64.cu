/// @file i64.cu  The folds of i64 and u64 with one result: they share what wraps.

#include "../../forms.hpp"
#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_i64(element_type type, form what) {
  const auto row = [&]<class Fold>() -> const onefold::detail::device_fold& { return row_of_fold<Fold>(); };
  return type == element_type::i64 ? onefold::detail::with_fold_of<element_type::i64>(what, false, row)
                                   : onefold::detail::with_fold_of<element_type::u64>(what, false, row);
}

}  // namespace onefold::cuda_backend
