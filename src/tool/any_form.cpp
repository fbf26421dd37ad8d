#include "any_form.hpp"

#include <fmt/format.h>

#include <bit>
#include <type_traits>

#include <onefold/error.hpp>
#include <onefold/reduce.hpp>

namespace onefold::tool {

namespace {

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

template <class Function, class... Pointers>
std::uint64_t call(const Function& reduction, const executor& where, const form_request& what, const options& how,
                   Pointers... inputs) {
  if (!what.wide) return bits_of(reduction(where, inputs..., what.count, how));
  constexpr auto as_double = accumulate_as<double>;
  if constexpr (requires { reduction(where, inputs..., what.count, as_double, how); })
    return bits_of(reduction(where, inputs..., what.count, as_double, how));
  throw error(errc::unsupported, fmt::format("{} of {} cannot be accumulated in f64: that is for f32 and for the forms that round",
                                             name(what.form), name(what.type)));
}

template <class T>
std::uint64_t reduce_as(const executor& where, const form_request& what, const options& how) {
  const auto* x = static_cast<const T*>(what.x);
  const auto with = [&](const auto& reduction) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(reduction)>, detail::named_dot>)
      return call(reduction, where, what, how, x, static_cast<const T*>(what.y));
    else
      return call(reduction, where, what, how, x);
  };
  switch (what.form) {
#define ONEFOLD_FORM(name, op) \
  case form::name:             \
    return with(onefold::name);
#include <onefold/forms.def>
#undef ONEFOLD_FORM
    default:
      break;
  }
  throw error(errc::unsupported, "the tool does not know this form");
}

}  // namespace

std::uint64_t reduce_bits(const executor& where, const form_request& what, const options& how) {
  switch (what.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return reduce_as<T>(where, what, how);
#include <onefold/types.def>
#undef ONEFOLD_TYPE
  }
  throw error(errc::unsupported, "the tool does not know this element type");
}

}  // namespace onefold::tool
