/// @file f32.cu  Variant fixed_order for f32.

#include "kernel.cuh"

namespace onefold::cuda_backend {

void fixed_order_f32(call& now) {
  onefold::detail::with_fold_of<element_type::f32>(now.form, now.wide, [&]<class Fold>() { run_fixed_order<Fold>(now); });
}

}  // namespace onefold::cuda_backend
