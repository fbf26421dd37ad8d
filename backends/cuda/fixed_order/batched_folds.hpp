#pragma once
/// @file batched_folds.hpp  The folds that the kernel of batches has, and where a form finds its own. Plain C++.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../../forms.hpp"
#include "batched.hpp"

namespace onefold::cuda_backend {

template <class... Fold>
struct fold_list {};

namespace detail {

using onefold::detail::absolute;
using onefold::detail::arg_fold;
using onefold::detail::arg_state;
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

/// argmin, argmax and those of magnitudes as one fold, of elements of which the item says how their signs are changed: the first maximum of -x is the first
/// minimum of x, NaNs and zeros too (decision 0050). Its states have values with these signs. Not argminmax, whose states are larger than all others.
template <class V>
struct place_fold : arg_fold<V, op::max> {
  using state = arg_state<V>;
  using sign_bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
  static constexpr sign_bits sign = sign_bits{1} << (8 * sizeof(V) - 1);
  sign_bits kept = ~sign_bits{0};  // of an element
  sign_bits changed = 0;

  /// By batched_item::how.
  static ONEFOLD_HOST_DEVICE place_fold of(unsigned how) noexcept {
    place_fold made{};
    if ((how & batched_item::of_absolute) != 0) made.kept = ~sign;
    if ((how & batched_item::of_negated) != 0) made.changed = sign;
    return made;
  }
  ONEFOLD_HOST_DEVICE V value(V x) const noexcept { return with_bits(x, kept, changed); }
  /// Between values with these signs and those that are the result's, either way.
  ONEFOLD_HOST_DEVICE V turned(V value) const noexcept { return with_bits(value, ~sign_bits{0}, changed); }
  ONEFOLD_HOST_DEVICE state turned(const state& of) const noexcept { return {turned(of.value), of.index}; }

 private:
  static ONEFOLD_HOST_DEVICE V with_bits(V x, sign_bits kept, sign_bits changed) noexcept {
    sign_bits bits;
    std::memcpy(&bits, &x, sizeof(x));
    bits = (bits & kept) ^ changed;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
  }
};

/// Combines states whose values have the signs of the result.
template <class V>
struct seen_place_fold : place_fold<V> {
  using state = arg_state<V>;
  explicit ONEFOLD_HOST_DEVICE seen_place_fold(const place_fold<V>& of) noexcept : place_fold<V>(of) {}
  ONEFOLD_HOST_DEVICE state combine(const state& a, const state& b) const noexcept {
    return this->turned(place_fold<V>::combine(this->turned(a), this->turned(b)));
  }
  ONEFOLD_HOST_DEVICE state neutral() const noexcept { return this->turned(place_fold<V>::neutral()); }
};

// Those of all forms with one result, of f32, f32 accumulated in f64, and f64. Written out: made of the table of forms they took nvcc's front end
// more than ten minutes.
using one_result_folds = fold_list<
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

template <class... First, class... More>
constexpr fold_list<First..., More...> both_of(fold_list<First...>, fold_list<More...>) noexcept {
  return {};
}
using place_folds = fold_list<place_fold<float>, place_fold<double>>;

}  // namespace detail

using batched_folds = decltype(detail::both_of(detail::one_result_folds{}, detail::place_folds{}));

/// The number of a form's fold in the list, or -1 where it is not there: those of f32 and f64 are, in all forms with one result and of one place.
constexpr int batched_fold(element_type type, form what, bool wide) noexcept {
  if (is_arg(what)) {
    if (type == element_type::f32) return detail::number_in<detail::place_fold<float>>(batched_folds{});
    return type == element_type::f64 ? detail::number_in<detail::place_fold<double>>(batched_folds{}) : -1;
  }
  if (is_record(what) || !takes_type(what, type)) return -1;
  int found = -1;
  const auto look = [&found]<class Fold>() { found = detail::number_in<Fold>(batched_folds{}); };
  if (type == element_type::f32) onefold::detail::with_fold_of<element_type::f32>(what, wide, look);
  if (type == element_type::f64) onefold::detail::with_fold_of<element_type::f64>(what, wide, look);
  return found;
}

/// What of batched_item::how says which place is meant; 0 of other forms.
constexpr std::uint8_t batched_place_of(form what) noexcept {
  if (!is_arg(what)) return 0;
  const bool is_least = what == form::argmin || what == form::argmin_magnitude;
  const bool is_magnitude = what == form::argmin_magnitude || what == form::argmax_magnitude;
  return static_cast<std::uint8_t>((is_least ? batched_item::of_negated : 0) | (is_magnitude ? batched_item::of_absolute : 0));
}

}  // namespace onefold::cuda_backend
