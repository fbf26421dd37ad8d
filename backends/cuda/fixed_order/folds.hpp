#pragma once
/// @file folds.hpp  The list of the library's own folds on a GPU. Each is a row of its file, which has its kernels.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

namespace onefold::cuda_backend {

const onefold::detail::device_fold& fold_of_f32(form what, bool wide);
const onefold::detail::device_fold& fold_of_f64(form what, bool wide);
const onefold::detail::device_fold& fold_of_i32(element_type type, form what, bool wide);
const onefold::detail::device_fold& fold_of_i64(element_type type, form what);
const onefold::detail::device_fold& fold_of_i8(element_type type, form what);
const onefold::detail::device_fold& fold_of_i16(element_type type, form what);
const onefold::detail::device_fold& fold_of_f16(form what, bool wide);
const onefold::detail::device_fold& fold_of_bf16(form what, bool wide);
const onefold::detail::device_fold& fold_of_argmin(element_type type);
const onefold::detail::device_fold& fold_of_argmax(element_type type);
const onefold::detail::device_fold& fold_of_argmin_magnitude(element_type type);
const onefold::detail::device_fold& fold_of_argmax_magnitude(element_type type);
const onefold::detail::device_fold& fold_of_argminmax(element_type type);
const onefold::detail::device_fold& fold_of_minmax(element_type type);
const onefold::detail::device_fold& fold_of_mean_variance(element_type type);
const onefold::detail::device_fold& fold_of_together(element_type type);

/// The fold of a form on a small type.
inline const onefold::detail::device_fold& fold_of_small(element_type type, form what, bool wide) {
  switch (type) {
    case element_type::i8:
    case element_type::u8:
      return fold_of_i8(type, what);
    case element_type::i16:
    case element_type::u16:
      return fold_of_i16(type, what);
    case element_type::f16:
      return fold_of_f16(what, wide);
    default:
      return fold_of_bf16(what, wide);
  }
}

/// The fold of a form.
inline const onefold::detail::device_fold& fold_of(element_type type, form what, bool wide) {
  if (is_small(type)) return fold_of_small(type, what, wide);
  switch (what) {
    case form::argmin:
      return fold_of_argmin(type);
    case form::argmax:
      return fold_of_argmax(type);
    case form::argmin_magnitude:
      return fold_of_argmin_magnitude(type);
    case form::argmax_magnitude:
      return fold_of_argmax_magnitude(type);
    case form::argminmax:
      return fold_of_argminmax(type);
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
      return fold_of_i32(type, what, wide);
    default:
      return fold_of_i64(type, what);
  }
}

}  // namespace onefold::cuda_backend
