/// @file i32.cu  Variant fixed_order for i32 and u32, which share what wraps.

#include "kernel.cuh"

namespace onefold::cuda_backend {

void fixed_order_i32(call& now) {
  const auto run = [&]<class Fold>() { run_fixed_order<Fold>(now); };
  if (now.type == element_type::i32)
    onefold::detail::with_fold_of<element_type::i32>(now.form, now.wide, run);
  else
    onefold::detail::with_fold_of<element_type::u32>(now.form, now.wide, run);
}

}  // namespace onefold::cuda_backend
