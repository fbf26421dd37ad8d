/// @file i32.cu  The folds of i32 and u32 with one result: they share what wraps.

#include "row.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_i32(element_type type, form what, bool wide) {
  const auto row = [&]<class Fold>() -> const onefold::detail::device_fold& {
    // Sums in 64 bits, but for counts.
    if constexpr (std::is_same_v<typename Fold::accumulator, std::uint64_t> && !device::detail::may_be_a_byte<Fold>)
      return packed_row_of_fold<Fold>();
    else
      return row_of_fold<Fold>();
  };
  return type == element_type::i32 ? onefold::detail::with_fold_of<element_type::i32>(what, wide, row)
                                   : onefold::detail::with_fold_of<element_type::u32>(what, wide, row);
}

}  // namespace onefold::cuda_backend
