#pragma once
/// @file batched_folds.hpp  The folds that the kernel of batches has, and where a form finds its own. Plain C++.

#include <type_traits>

#include "../../forms.hpp"

namespace onefold::cuda_backend {

template <class... Fold>
struct fold_list {};

namespace detail {

using onefold::detail::absolute;
using onefold::detail::as_is;
using onefold::detail::fold;
using onefold::detail::nonzero;
using onefold::detail::norm2_fold;
using onefold::detail::product;
using onefold::detail::square;

// The number of a fold in a list, or -1.
template <class Fold, class... Folds>
constexpr int number_in(fold_list<Folds...>) noexcept {
  constexpr bool same[] = {std::is_same_v<Folds, Fold>...};
  for (int number = 0; number < static_cast<int>(sizeof...(Folds)); ++number)
    if (same[number]) return number;
  return -1;
}

// Those of all forms with one result, of f32, f32 accumulated in f64, and f64. Written out: made of the table of forms they took nvcc's front end
// more than ten minutes.
using batched_folds = fold_list<
    fold<float, float, as_is, op::sum>, fold<float, float, as_is, op::prod>, fold<float, float, as_is, op::min>,
    fold<float, float, as_is, op::max>, fold<float, float, product, op::sum>, fold<float, float, square, op::sum>,
    fold<float, float, absolute, op::sum>, fold<float, float, absolute, op::max>, fold<float, float, as_is, op::min_number>,
    fold<float, float, as_is, op::max_number>, fold<float, std::uint64_t, nonzero, op::sum>,  //
    fold<float, double, as_is, op::sum>, fold<float, double, as_is, op::prod>, fold<float, double, product, op::sum>,
    fold<float, double, square, op::sum>, fold<float, double, absolute, op::sum>,  //
    fold<double, double, as_is, op::sum>, fold<double, double, as_is, op::prod>, fold<double, double, as_is, op::min>,
    fold<double, double, as_is, op::max>, fold<double, double, product, op::sum>, fold<double, double, square, op::sum>,
    fold<double, double, absolute, op::sum>, fold<double, double, absolute, op::max>, fold<double, double, as_is, op::min_number>,
    fold<double, double, as_is, op::max_number>, fold<double, std::uint64_t, nonzero, op::sum>, norm2_fold>;

}  // namespace detail

using detail::batched_folds;

/// The number of a form's fold in the list, or -1 where it is not there: those of f32 and f64 are, in all forms with one result.
constexpr int batched_fold(element_type type, form what, bool wide) noexcept {
  if (is_record(what) || !takes_type(what, type)) return -1;
  int found = -1;
  const auto look = [&found]<class Fold>() { found = detail::number_in<Fold>(batched_folds{}); };
  if (type == element_type::f32) onefold::detail::with_fold_of<element_type::f32>(what, wide, look);
  if (type == element_type::f64) onefold::detail::with_fold_of<element_type::f64>(what, wide, look);
  return found;
}

}  // namespace onefold::cuda_backend
