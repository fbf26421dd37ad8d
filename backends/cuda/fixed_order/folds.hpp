#pragma once
/// @file folds.hpp  The list of the library's own folds on a GPU. Each is a row of its file, which has its kernels.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_f32(form what, bool wide);
const onefold::detail::device_fold& fold_of_f64(form what, bool wide);
const onefold::detail::device_fold& fold_of_i32(element_type type, form what);
const onefold::detail::device_fold& fold_of_i64(element_type type, form what);
const onefold::detail::device_fold& fold_of_argmin(element_type type);
const onefold::detail::device_fold& fold_of_argmax(element_type type);
const onefold::detail::device_fold& fold_of_minmax(element_type type);
const onefold::detail::device_fold& fold_of_mean_variance(element_type type);
const onefold::detail::device_fold& fold_of_together(element_type type);

/// The fold of a form.
inline const onefold::detail::device_fold& fold_of(element_type type, form what, bool wide) {
  switch (what) {
    case form::argmin:
      return fold_of_argmin(type);
    case form::argmax:
      return fold_of_argmax(type);
    case form::minmax:
      return fold_of_minmax(type);
    case form::mean_variance:
      return fold_of_mean_variance(type);
    case form::reduce_together:
      return fold_of_together(type);
    default:
      break;
  }
  switch (type) {
    case element_type::f32:
      return fold_of_f32(what, wide);
    case element_type::f64:
      return fold_of_f64(what, wide);
    case element_type::i32:
    case element_type::u32:
      return fold_of_i32(type, what);
    case element_type::i64:
    case element_type::u64:
      break;
  }
  return fold_of_i64(type, what);
}

}  // namespace onefold::cuda_backend
