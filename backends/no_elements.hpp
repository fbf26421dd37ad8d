#pragma once
/// @file no_elements.hpp  The result for no elements of a form, or of all that a request asks for.

#include "float_semantics.hpp"

#include <cstddef>
#include <cstring>

#include <onefold/detail/conclusions.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

/// Stores the result for no elements of a form with one operator, and returns its bytes.
inline std::size_t store_empty(element_type type, form what, bool wide, void* to) {
  const auto store = [to](auto result) {
    std::memcpy(to, &result, sizeof(result));
    return sizeof(result);
  };
  const auto of_type = [&]<class T>(T) -> std::size_t {
    switch (what) {
#define ONEFOLD_FORM(name)                                                                                             \
  case form::name:                                                                                                     \
    if constexpr (can_be_wide(element_type_of<T>, form::name))                                                         \
      if (wide) return store(result_of_nothing<form::name, T, true>());                                                \
    if constexpr (takes_type(form::name, element_type_of<T>)) return store(result_of_nothing<form::name, T, false>()); \
    break;
#include <onefold/forms.def>
#undef ONEFOLD_FORM
      case form::minmax:
        return store(result_of_nothing<form::minmax, T, false>());
      case form::mean_variance:
        if constexpr (can_be_wide(element_type_of<T>, form::mean_variance))
          if (wide) return store(result_of_nothing<form::mean_variance, T, true>());
        return store(result_of_nothing<form::mean_variance, T, false>());
      default:  // an index of nothing is refused, and reduce_together asks for its operators
        break;
    }
    return 0;
  };
  switch (type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return of_type(T());
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return 0;
}

/// An element at `value` becomes one of the type of a sum, in which reduce_together has all its results.
inline void to_total(element_type type, void* value) {
  switch (type) {
#define ONEFOLD_SMALL_TYPE(name, T)                                                    \
  case element_type::name: {                                                           \
    T element;                                                                         \
    std::memcpy(&element, value, sizeof(element));                                     \
    const typename c_type<accumulator_type(element_type::name)>::type total = element; \
    std::memcpy(value, &total, sizeof(total));                                         \
    break;                                                                             \
  }
#include <onefold/types.def>
    default:
      break;
  }
}

/// The same, all results of a request.
inline void store_empty(const request& what, void* output) {
  auto* to = static_cast<std::byte*>(output);
  const bool together = what.form == form::reduce_together;
  for (int k = 0; k < what.results; ++k) {
    const form its = together ? form_of(what.operators[k]) : what.form;
    std::size_t bytes = store_empty(what.type, its, what.wide, to);
    if (together && result_type(what.type, its) == what.type) {
      to_total(what.type, to);
      bytes = size_of(result_type(what.type, what.form));
    }
    to += bytes;
  }
}

}  // namespace onefold::detail
