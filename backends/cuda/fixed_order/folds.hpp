#pragma once
/// @file folds.hpp  The list of the library's own folds on a GPU. Each is a row of its file, which has its kernels.

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

#include "packed.hpp"

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
const onefold::detail::device_fold& fold_of_packed_sums(element_type type, form what, bool wide);
const onefold::detail::device_fold& fold_of_packed_extremes(element_type type, form what, bool wide);
const onefold::detail::device_fold& fold_of_packed_places(element_type type, form what, bool wide);
const onefold::detail::device_fold& fold_of_packed_states(element_type type, form what, bool wide);

/// The fold of a form for which is_packed().
inline const onefold::detail::device_fold& packed_fold_of(element_type type, form what, bool wide) {
  if (has_index(what)) return fold_of_packed_places(type, what, wide);
  switch (what) {
    case form::min:
    case form::max:
    case form::norm_inf:
    case form::min_number:
    case form::max_number:
    case form::bit_and:
    case form::bit_or:
    case form::bit_xor:
    case form::minmax:
      return fold_of_packed_extremes(type, what, wide);
    case form::mean_variance:
    case form::reduce_together:
      return fold_of_packed_states(type, what, wide);
    default:
      return fold_of_packed_sums(type, what, wide);
  }
}

/// The fold of a form.
inline const onefold::detail::device_fold& fold_of(element_type type, form what, bool wide) {
  const bool really_wide = wide && can_be_wide(type, what);
  if (is_packed(type, what, really_wide)) return packed_fold_of(type, what, really_wide);
  switch (what) {
    case form::argmin:
    case form::argmin_magnitude:  // of what has no sign
      return fold_of_argmin(type);
    case form::argmax:
    case form::argmax_magnitude:
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
    default:
      return fold_of_i64(type, what);
  }
}

}  // namespace onefold::cuda_backend
