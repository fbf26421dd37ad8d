/// @file f64.cu  Variant fixed_order for f64.

#include "kernel.cuh"

namespace onefold::cuda_backend {

void fixed_order_f64(call& now) {
  onefold::detail::with_fold_of<element_type::f64>(now.form, now.wide, [&]<class Fold>() { run_fixed_order<Fold>(now); });
}

}  // namespace onefold::cuda_backend
