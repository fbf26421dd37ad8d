/// @file f64.cu  The folds of f64 with one result.

#include "../../forms.hpp"
#include "fold_entry.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_f64(form what, bool wide) {
  return onefold::detail::with_fold_of<element_type::f64>(
      what, wide, [&]<class Fold>() -> const onefold::detail::device_fold& { return row_of_fold<Fold>(); });
}

}  // namespace onefold::cuda_backend
