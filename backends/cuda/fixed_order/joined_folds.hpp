#pragma once
/// @file joined_folds.hpp  The folds that the kernel of joined images has, and where a form finds its own. Plain C++.

#include "batched_folds.hpp"

namespace onefold::cuda_backend {

namespace detail {

// Those of all forms with one result, of integers of 4 and 8 bytes, written out as one_result_folds are. Signed ones share most with unsigned ones.
using integers_folds =
    fold_list<fold<std::uint32_t, std::uint32_t, as_is, op::sum>, fold<std::uint32_t, std::uint32_t, as_is, op::prod>,
              fold<std::int32_t, std::int32_t, as_is, op::min>, fold<std::uint32_t, std::uint32_t, as_is, op::min>,
              fold<std::int32_t, std::int32_t, as_is, op::max>, fold<std::uint32_t, std::uint32_t, as_is, op::max>,
              fold<std::uint32_t, std::uint32_t, product, op::sum>, fold<std::uint32_t, std::uint32_t, square, op::sum>,
              fold<std::int32_t, std::uint32_t, absolute, op::sum>, fold<std::int32_t, std::uint32_t, absolute, op::max>,
              fold<std::int32_t, double, as_is, op::sum>, fold<std::uint32_t, double, as_is, op::sum>,
              fold<std::int32_t, double, square, op::sum>, fold<std::uint32_t, double, square, op::sum>,
              fold<std::uint32_t, std::uint32_t, as_is, op::bit_and>, fold<std::uint32_t, std::uint32_t, as_is, op::bit_or>,
              fold<std::uint32_t, std::uint32_t, as_is, op::bit_xor>, fold<std::uint32_t, std::uint64_t, nonzero, op::sum>,  //
              fold<std::int32_t, std::uint64_t, as_is, op::sum>, fold<std::uint32_t, std::uint64_t, as_is, op::sum>,
              fold<std::int32_t, std::uint64_t, as_is, op::prod>, fold<std::uint32_t, std::uint64_t, as_is, op::prod>,
              fold<std::int32_t, std::uint64_t, product, op::sum>, fold<std::uint32_t, std::uint64_t, product, op::sum>,
              fold<std::int32_t, std::uint64_t, square, op::sum>, fold<std::uint32_t, std::uint64_t, square, op::sum>,
              fold<std::int32_t, std::uint64_t, absolute, op::sum>,  //
              fold<std::uint64_t, std::uint64_t, as_is, op::sum>, fold<std::uint64_t, std::uint64_t, as_is, op::prod>,
              fold<std::int64_t, std::int64_t, as_is, op::min>, fold<std::uint64_t, std::uint64_t, as_is, op::min>,
              fold<std::int64_t, std::int64_t, as_is, op::max>, fold<std::uint64_t, std::uint64_t, as_is, op::max>,
              fold<std::uint64_t, std::uint64_t, product, op::sum>, fold<std::uint64_t, std::uint64_t, square, op::sum>,
              fold<std::int64_t, std::uint64_t, absolute, op::sum>, fold<std::int64_t, std::uint64_t, absolute, op::max>,
              fold<std::int64_t, double, as_is, op::sum>, fold<std::uint64_t, double, as_is, op::sum>,
              fold<std::int64_t, double, square, op::sum>, fold<std::uint64_t, double, square, op::sum>,
              fold<std::uint64_t, std::uint64_t, as_is, op::bit_and>, fold<std::uint64_t, std::uint64_t, as_is, op::bit_or>,
              fold<std::uint64_t, std::uint64_t, as_is, op::bit_xor>, fold<std::uint64_t, std::uint64_t, nonzero, op::sum>>;

}  // namespace detail

namespace detail {

using onefold::detail::argminmax_fold;
using onefold::detail::mean_variance_fold;
using onefold::detail::minmax_fold;

// Those of several results, of numbers of one type; `More` are those of absolute values, where these differ.
template <class T, class... More>
using several_results_folds =
    fold_list<minmax_fold<T>, mean_variance_fold<T>, arg_fold<T, op::min>, arg_fold<T, op::max>, argminmax_fold<T>, More...>;
template <class T>
using signed_results_folds = several_results_folds<T, arg_fold<T, op::min, absolute>, arg_fold<T, op::max, absolute>>;

using floats_results_folds = decltype(both_of(signed_results_folds<float>{}, signed_results_folds<double>{}));
using signed_integers_results_folds = decltype(both_of(signed_results_folds<std::int32_t>{}, signed_results_folds<std::int64_t>{}));
using unsigned_results_folds = decltype(both_of(several_results_folds<std::uint32_t>{}, several_results_folds<std::uint64_t>{}));
using all_results_folds =
    decltype(both_of(both_of(floats_results_folds{}, signed_integers_results_folds{}), unsigned_results_folds{}));

}  // namespace detail

using joined_folds =
    decltype(detail::both_of(detail::both_of(detail::one_result_folds{}, detail::integers_folds{}), detail::all_results_folds{}));

/// The number of a form's fold in the list, or -1 where it is not there: those of real numbers of 4 and 8 bytes are, in all forms but reduce_together.
constexpr int joined_fold(element_type type, form what, bool wide) noexcept {
  if (what == form::reduce_together || !takes_type(what, type)) return -1;
  int found = -1;
  const auto look = [&found]<class Fold>() { found = detail::number_in<Fold>(joined_folds{}); };
  switch (type) {
#define ONEFOLD_TYPE(name, T)                                               \
  case element_type::name:                                                  \
    if (is_record(what))                                                    \
      onefold::detail::with_record_fold_of<element_type::name>(what, look); \
    else                                                                    \
      onefold::detail::with_fold_of<element_type::name>(what, wide, look);  \
    break;
#include <onefold/types.def>
    default:
      break;
  }
  return found;
}

}  // namespace onefold::cuda_backend
