#include "any_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "file_types.hpp"

namespace onefold::tool {

namespace {

void check_form(const form_request& what) {
  if (!is_known(what.form) || !takes_type(what.form, what.type))
    throw error(errc::unsupported, fmt::format("{} does not take elements of type {}{}", name(what.form), name(what.type),
                                               asks_for_order(what.form) && is_complex(what.type)
                                                   ? ": complex numbers have no order; norm_inf finds the largest absolute value"
                                                   : ""));
  if (what.wide && !can_be_wide(what.type, what.form))
    throw error(errc::unsupported, fmt::format("{} of {} cannot be accumulated in a wider type", name(what.form), name(what.type)));
}

std::int32_t number_of(element_type type) { return static_cast<std::int32_t>(type); }
std::int32_t number_of(form what) { return static_cast<std::int32_t>(what); }

// With the words of the exact state.
result_bits reduce_to_state(const form_request& what, detail::request asked, options how) {
  if (state_words(what.type, what.form) == 0)
    throw error(errc::unsupported, fmt::format("{} of {} has no exact state", name(what.form), name(what.type)));
  asked.exact_state = what.exact_state;
  how.guarantee = guarantee::exact;
  detail::run(asked, how);
  return results_of_state(what.type, what.form, what.wide, what.ddof, {what.exact_state, state_words(what.type, what.form)});
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

std::size_t state_words(element_type type, form what) noexcept { return onefold_exact_words(number_of(type), number_of(what)); }

void add_state(element_type type, form what, std::span<std::int64_t> to, std::span<const std::int64_t> from) {
  detail::check_status(onefold_exact_add(number_of(type), number_of(what), to.data(), from.data()));
}

std::uint64_t count_of_state(element_type type, form what, std::span<const std::int64_t> words) {
  std::uint64_t count = 0;
  detail::check_status(onefold_exact_count(number_of(type), number_of(what), words.data(), &count));
  return count;
}

result_bits results_of_state(element_type type, form what, bool wide, std::int64_t ddof, std::span<const std::int64_t> words) {
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  detail::check_status(
      onefold_exact_result(number_of(type), number_of(what), wide ? ONEFOLD_WIDE : 0U, ddof, words.data(), results));
  return bits_of_stored(type, what, wide, results);
}

std::optional<std::uint64_t> ulps_between(element_type type, std::uint64_t a, std::uint64_t b) noexcept {
  if (a == b) return 0;
  if (!is_float(type)) return std::nullopt;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  const std::uint64_t infinity = sign - (std::uint64_t{1} << (detail::digits_of_type(type) - 1));
  const std::uint64_t magnitude_a = a & ~sign, magnitude_b = b & ~sign;  // which count the numbers from 0 up
  if (magnitude_a >= infinity || magnitude_b >= infinity) return std::nullopt;
  if ((a & sign) != (b & sign)) return magnitude_a + magnitude_b;
  return std::max(magnitude_a, magnitude_b) - std::min(magnitude_a, magnitude_b);
}

result_bits reduce_bits(const executor& where, const form_request& what, const options& how) {
  if (static_cast<int>(what.type) >= file_type_count) throw error(errc::unsupported, "the tool does not know this element type");
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  detail::request asked{where, what.type, what.form, what.x, what.count, results, true};
  if (what.form == form::dot) asked.second = what.y;
  if (what.exact_state != nullptr) return reduce_to_state(what, asked, how);
  check_form(what);
  asked.wide = what.wide;
  if (what.form == form::mean_variance) asked.ddof = what.ddof;
  detail::run(asked, how);
  return bits_of_stored(what.type, what.form, what.wide, results);
}

}  // namespace onefold::tool
