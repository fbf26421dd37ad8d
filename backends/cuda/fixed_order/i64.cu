/// @file i64.cu  Variant fixed_order for i64 and u64, which share what wraps.

#include "kernel.cuh"

namespace onefold::cuda_backend {

void fixed_order_i64(call& now) {
  const auto run = [&]<class Fold>() { run_fixed_order<Fold>(now); };
  if (now.type == element_type::i64)
    onefold::detail::with_fold_of<element_type::i64>(now.form, now.wide, run);
  else
    onefold::detail::with_fold_of<element_type::u64>(now.form, now.wide, run);
}

}  // namespace onefold::cuda_backend
