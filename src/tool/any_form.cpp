#include "any_form.hpp"

#include <fmt/format.h>

#include <cstring>

#include <onefold/error.hpp>
#include <onefold/reduce.hpp>
#include <onefold/results.hpp>

namespace onefold::tool {

namespace {

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

template <class T>
result_bits bits_of_results(T value) {
  return {bits_of(value)};
}
template <class T>
result_bits bits_of_results(const arg_result<T>& both) {
  return {bits_of(both.value), both.index};
}
template <class T>
result_bits bits_of_results(const argminmax_result<T>& both) {
  return {bits_of(both.min.value), both.min.index, bits_of(both.max.value), both.max.index};
}
template <class T>
result_bits bits_of_results(const minmax_result<T>& both) {
  return {bits_of(both.min), bits_of(both.max)};
}
template <class T>
result_bits bits_of_results(const mean_variance_result<T>& both) {
  return {bits_of(both.mean), bits_of(both.variance)};
}

[[noreturn]] void refuse_wide(const form_request& what) {
  throw error(errc::unsupported, fmt::format("{} of {} cannot be accumulated in a wider type", name(what.form), name(what.type)));
}

// Calls a function object with the arguments of this request, in the wider type where that is asked for and there is such a call.
template <form What, class T, class Function, class... Arguments>
result_bits call(const Function& reduction, const form_request& what, const options& how, Arguments... arguments) {
  if (!what.wide) return bits_of_results(reduction(arguments..., how));
  if constexpr (can_be_wide(element_type_of<T>, What))
    return bits_of_results(reduction(arguments..., accumulate_as<accumulator_t<T, true>>, how));
  else
    refuse_wide(what);
}

template <class T>
result_bits reduce_as(const executor& where, const form_request& what, const options& how) {
  const auto* x = static_cast<const T*>(what.x);
  switch (what.form) {
#define ONEFOLD_FORM(name)                                                                                     \
  case form::name:                                                                                             \
    if constexpr (form::name == form::dot)                                                                     \
      return call<form::dot, T>(onefold::dot, what, how, where, x, static_cast<const T*>(what.y), what.count); \
    else if constexpr (form::name == form::mean_variance)                                                      \
      return call<form::name, T>(onefold::mean_variance, what, how, where, x, what.count, ddof{what.ddof});    \
    else if constexpr (is_known(form::name) && takes_type(form::name, element_type_of<T>))                     \
      return call<form::name, T>(detail::named_reduction<form::name>{}, what, how, where, x, what.count);      \
    break;
#define ONEFOLD_RECORD ONEFOLD_FORM
#include <onefold/forms.def>
#include <onefold/records.def>
#undef ONEFOLD_RECORD
#undef ONEFOLD_FORM
  }
  throw error(errc::unsupported, fmt::format("{} does not take elements of type {}", name(what.form), name(what.type)));
}

}  // namespace

std::array<result_part, most_parts> result_parts(element_type type, form what, bool wide) {
  const element_type result = result_type(type, what, wide);
  constexpr element_type index = element_type::u64;
  switch (what) {
    case form::argmin:
    case form::argmax:
    case form::argmin_magnitude:
    case form::argmax_magnitude:
      return {{{"value", result}, {"index", index, part_kind::index}}};
    case form::argminmax:
      return {{{"min", result}, {"min_index", index, part_kind::index}, {"max", result}, {"max_index", index, part_kind::index}}};
    case form::minmax:
      return {{{"min", result}, {"max", result}}};
    case form::mean_variance:
      return {{{"mean", result}, {"variance", result}}};
    case form::all:
    case form::any:
    case form::none:
      return {{{"value", result, part_kind::truth}}};
    default:
      return {{{"value", result}}};
  }
}

result_bits bits_of_stored(element_type type, form what, bool wide, const std::byte* results) {
  const auto parts = result_parts(type, what, wide);
  const std::size_t stride = has_index(what) ? sizeof(std::uint64_t) : size_of(parts[0].type);  // a value is as wide as an index
  result_bits bits{};
  for (std::size_t i = 0; i < result_count(what); ++i) std::memcpy(&bits[i], results + i * stride, size_of(parts[i].type));
  return bits;
}

result_bits reduce_bits(const executor& where, const form_request& what, const options& how) {
  switch (what.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return reduce_as<T>(where, what, how);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  throw error(errc::unsupported, "the tool does not know this element type");
}

}  // namespace onefold::tool
