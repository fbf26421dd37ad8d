#include "any_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include <onefold/error.hpp>
#include <onefold/exact.hpp>
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
result_bits bits_of_results(const std::complex<T>& value) {
  return {bits_of(value.real()), bits_of(value.imag())};
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
template <class T>
result_bits bits_of_results(const mean_variance_result<std::complex<T>>& both) {
  return {bits_of(both.mean.real()), bits_of(both.mean.imag()), bits_of(both.variance)};
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

// With the words of the exact state.
template <form What, class T>
result_bits reduce_to_state(const executor& where, const form_request& what, const options& how) {
  if constexpr (detail::exact::has_state(What, element_type_of<T>)) {
    exact_state<What, T> state;
    const auto* x = static_cast<const T*>(what.x);
    if constexpr (What == form::dot)
      state.add(where, x, static_cast<const T*>(what.y), what.count, how);
    else
      state.add(where, x, what.count, how);
    std::copy_n(state.words(), state.size(), what.exact_state);
    return results_of_state(what.type, What, what.wide, what.ddof, what.exact_state);
  } else {
    throw error(errc::unsupported, fmt::format("{} of {} has no exact state", name(what.form), name(what.type)));
  }
}

template <class T>
result_bits reduce_as(const executor& where, const form_request& what, const options& how) {
  const auto* x = static_cast<const T*>(what.x);
  switch (what.form) {
#define ONEFOLD_FORM(name)                                                                                     \
  case form::name:                                                                                             \
    if (what.exact_state != nullptr) return reduce_to_state<form::name, T>(where, what, how);                  \
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
  throw error(errc::unsupported, fmt::format("{} does not take elements of type {}{}", name(what.form), name(what.type),
                                             asks_for_order(what.form) && is_complex(what.type)
                                                 ? ": complex numbers have no order; norm_inf finds the largest absolute value"
                                                 : ""));
}

}  // namespace

std::array<result_part, most_parts> result_parts(element_type type, form what, bool wide) {
  const element_type result = part_type(result_type(type, what, wide));
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
      if (is_complex(type)) return {{{"mean_real", result}, {"mean_imaginary", result}, {"variance", result}}};
      return {{{"mean", result}, {"variance", result}}};
    case form::all:
    case form::any:
    case form::none:
      return {{{"value", result, part_kind::truth}}};
    default:
      if (is_complex(result_type(type, what, wide))) return {{{"real", result}, {"imaginary", result}}};
      return {{{"value", result}}};
  }
}

result_bits bits_of_stored(element_type type, form what, bool wide, const std::byte* results) {
  const auto parts = result_parts(type, what, wide);
  const std::size_t stride = has_index(what) ? sizeof(std::uint64_t) : size_of(parts[0].type);  // a value is as wide as an index
  result_bits bits{};
  for (std::size_t i = 0; i < result_count(type, what); ++i) std::memcpy(&bits[i], results + i * stride, size_of(parts[i].type));
  return bits;
}

std::size_t state_words(element_type type, form what) noexcept {
  return onefold_exact_words(static_cast<std::int32_t>(type), static_cast<std::int32_t>(what));
}

result_bits results_of_state(element_type type, form what, bool wide, std::int64_t ddof, const std::int64_t* words) {
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  detail::check_status(onefold_exact_result(static_cast<std::int32_t>(type), static_cast<std::int32_t>(what),
                                            wide ? ONEFOLD_WIDE : 0U, ddof, words, results));
  return bits_of_stored(type, what, wide, results);
}

std::optional<std::uint64_t> ulps_between(element_type type, std::uint64_t a, std::uint64_t b) noexcept {
  if (a == b) return 0;
  const std::uint64_t infinity = type == element_type::f64    ? std::uint64_t{0x7ff} << 52
                                 : type == element_type::f32  ? std::uint64_t{0xff} << 23
                                 : type == element_type::f16  ? std::uint64_t{0x1f} << 10
                                 : type == element_type::bf16 ? std::uint64_t{0xff} << 7
                                                              : 0;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  const std::uint64_t magnitude_a = a & ~sign, magnitude_b = b & ~sign;  // which count the numbers from 0 up
  if (magnitude_a >= infinity || magnitude_b >= infinity) return std::nullopt;
  if ((a & sign) != (b & sign)) return magnitude_a + magnitude_b;
  return std::max(magnitude_a, magnitude_b) - std::min(magnitude_a, magnitude_b);
}

result_bits reduce_bits(const executor& where, const form_request& what, const options& how) {
  switch (what.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return reduce_as<T>(where, what, how);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#define ONEFOLD_COMPLEX_TYPE(name, T, part) ONEFOLD_TYPE(name, T)
#include <onefold/types.def>
    default:
      break;
  }
  throw error(errc::unsupported, "the tool does not know this element type");
}

}  // namespace onefold::tool
