/// @file argmax.cu  The folds of argmax, and those of magnitudes.

#include "folds.hpp"
#include "row.cuh"

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_argmax(element_type type) {
  switch (type) {
#define ONEFOLD_TYPE(name, E) \
  case element_type::name:    \
    return row_of_fold<onefold::detail::arg_fold<E, op::max>>();
#include <onefold/types.def>
    default:
      break;
  }
  return row_of_fold<onefold::detail::arg_fold<float, op::max>>();
}

const onefold::detail::device_fold& fold_of_argmax_magnitude(element_type type) {
  using onefold::detail::absolute;
  switch (type) {
    case element_type::f32:
      return packed_row_of_fold<onefold::detail::arg_fold<float, op::max, absolute>>();
    case element_type::f64:
      return packed_row_of_fold<onefold::detail::arg_fold<double, op::max, absolute>>();
    case element_type::i32:
      return packed_row_of_fold<onefold::detail::arg_fold<std::int32_t, op::max, absolute>>();
    case element_type::i64:
      return packed_row_of_fold<onefold::detail::arg_fold<std::int64_t, op::max, absolute>>();
    default:
      return fold_of_argmax(type);  // unsigned: the elements themselves
  }
}

}  // namespace onefold::cuda_backend
