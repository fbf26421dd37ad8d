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
  return {bits_of(value), 0};
}
template <class T>
result_bits bits_of_results(const arg_result<T>& both) {
  return {bits_of(both.value), both.index};
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
  throw error(errc::unsupported, fmt::format("{} of {} cannot be accumulated in f64: that is for f32 and for the forms that round",
                                             name(what.form), name(what.type)));
}

// Calls a function object with the arguments of this request, in double where that is asked for and there is such a call.
template <class Function, class... Arguments>
result_bits call(const Function& reduction, const form_request& what, const options& how, Arguments... arguments) {
  if (!what.wide) return bits_of_results(reduction(arguments..., how));
  constexpr auto as_double = accumulate_as<double>;
  if constexpr (requires { reduction(arguments..., as_double, how); })
    return bits_of_results(reduction(arguments..., as_double, how));
  else
    refuse_wide(what);
}

// onefold::count is a function.
constexpr auto count_elements = [](const auto&... arguments) -> decltype(onefold::count(arguments...)) {
  return onefold::count(arguments...);
};

template <class T>
result_bits reduce_as(const executor& where, const form_request& what, const options& how) {
  const auto* x = static_cast<const T*>(what.x);
  switch (what.form) {
#define ONEFOLD_FORM(name)                                                                       \
  case form::name:                                                                               \
    if constexpr (form::name == form::dot)                                                       \
      return call(onefold::dot, what, how, where, x, static_cast<const T*>(what.y), what.count); \
    else if constexpr (form::name == form::count)                                                \
      return call(count_elements, what, how, where, x, what.count);                              \
    else if constexpr (takes_type(form::name, element_type_of<T>))                               \
      return call(onefold::name, what, how, where, x, what.count);                               \
    break;
#include <onefold/forms.def>
#undef ONEFOLD_FORM
    case form::argmin:
      return call(onefold::argmin, what, how, where, x, what.count);
    case form::argmax:
      return call(onefold::argmax, what, how, where, x, what.count);
    case form::minmax:
      return call(onefold::minmax, what, how, where, x, what.count);
    case form::mean_variance:
      return call(onefold::mean_variance, what, how, where, x, what.count, ddof{what.ddof});
    case form::reduce_together:
      break;
  }
  throw error(errc::unsupported, fmt::format("{} does not take elements of type {}", name(what.form), name(what.type)));
}

}  // namespace

std::array<result_part, 2> result_parts(element_type type, form what, bool wide) {
  const element_type result = result_type(type, what, wide);
  switch (what) {
    case form::argmin:
    case form::argmax:
      return {{{"value", result}, {"index", element_type::u64}}};
    case form::minmax:
      return {{{"min", result}, {"max", result}}};
    case form::mean_variance:
      return {{{"mean", result}, {"variance", result}}};
    default:
      return {{{"value", result}, {"", result}}};
  }
}

result_bits reduce_bits(const executor& where, const form_request& what, const options& how) {
  switch (what.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return reduce_as<T>(where, what, how);
#include <onefold/types.def>
  }
  throw error(errc::unsupported, "the tool does not know this element type");
}

}  // namespace onefold::tool
