#include "any_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
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

// Of complex numbers states are those of their parts' type.
struct states_of_parts {
  states_of_parts(element_type of, onefold::form what) noexcept
      : type(static_cast<std::int32_t>(part_type(of))),
        form(static_cast<std::int32_t>(what)),
        words(onefold_exact_words(type, form)) {
    if (!is_complex(of)) return;
    number = detail::exact::has_state_for_each_part(what) ? 2 : detail::exact::has_state_of_parts(what) ? 1 : 0;
    if (what == form::dot || number == 1) terms = 2;
  }
  std::int32_t type, form;
  std::size_t words;        // of one
  std::size_t number = 1;   // 0: this form has none
  std::uint64_t terms = 1;  // that one counts for each element
};

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

std::size_t state_words(element_type type, form what) noexcept {
  const states_of_parts parts(type, what);
  return parts.number * parts.words;
}

void add_state(element_type type, form what, std::span<std::int64_t> to, std::span<const std::int64_t> from) {
  const states_of_parts parts(type, what);
  std::vector<std::int64_t> sum(to.begin(), to.end());  // nothing is stored where the second is refused
  for (std::size_t at = 0; at < sum.size(); at += parts.words)
    detail::check_status(onefold_exact_add(parts.type, parts.form, sum.data() + at, from.data() + at));
  std::ranges::copy(sum, to.begin());
}

std::uint64_t count_of_state(element_type type, form what, std::span<const std::int64_t> words) {
  const states_of_parts parts(type, what);
  std::array<std::uint64_t, 2> counts{};
  for (std::size_t i = 0; i < parts.number; ++i)
    detail::check_status(onefold_exact_count(parts.type, parts.form, words.data() + i * parts.words, &counts[i]));
  if (parts.number == 2 && counts[0] != counts[1])
    throw error(
        errc::invalid_argument,
        fmt::format("these words are no state: the real parts are of {} terms, the imaginary ones of {}", counts[0], counts[1]));
  if (counts[0] % parts.terms != 0)
    throw error(errc::invalid_argument, fmt::format("these words are no state: they are of {} terms, of which each number gives {}",
                                                    counts[0], parts.terms));
  return counts[0] / parts.terms;
}

result_bits results_of_state(element_type type, form what, bool wide, std::int64_t ddof, std::span<const std::int64_t> words) {
  const states_of_parts parts(type, what);
  alignas(std::uint64_t) std::byte results[sizeof(result_bits)] = {};
  const std::size_t stride = size_of(part_type(result_type(type, what, wide)));
  for (std::size_t i = 0; i < parts.number; ++i)
    detail::check_status(onefold_exact_result(parts.type, parts.form, wide ? ONEFOLD_WIDE : 0U, ddof,
                                              words.data() + i * parts.words, results + i * stride));
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
