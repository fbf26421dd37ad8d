#pragma once
/// @file forms.hpp  The one place where a form's name turns into its fold.

#include "float_semantics.hpp"

#include <onefold/detail/folds.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// Calls body.template operator()<Fold>() with the fold of this form on elements of one type; without `MayBeWide` never with one in the wider type.
template <element_type Type, bool MayBeWide = true, class Body>
constexpr decltype(auto) with_fold_of(form what, bool wide, Body&& body) {
  using T = typename c_type<Type>::type;
  switch (what) {
#define ONEFOLD_FORM(name)                                                                                            \
  case form::name:                                                                                                    \
    if constexpr (MayBeWide && can_be_wide(Type, form::name))                                                         \
      if (wide) return body.template operator()<form_fold_t<form::name, T, true>>();                                  \
    if constexpr (takes_type(form::name, Type)) return body.template operator()<form_fold_t<form::name, T, false>>(); \
    break;
#include <onefold/forms.def>
#undef ONEFOLD_FORM
    default:
      break;
  }
  return body.template operator()<form_fold_t<form::sum, T, false>>();
}

/// The same for the forms with several results.
template <element_type Type, class Body>
constexpr decltype(auto) with_record_fold_of(form what, Body&& body) {
  using T = typename c_type<Type>::type;
  switch (what) {
#define ONEFOLD_RECORD(name) \
  case form::name:           \
    return body.template operator()<form_fold_t<form::name, T, false>>();
#include <onefold/records.def>
#undef ONEFOLD_RECORD
    default:
      break;
  }
  return body.template operator()<form_fold_t<form::reduce_together, T, false>>();
}

}  // namespace onefold::detail
