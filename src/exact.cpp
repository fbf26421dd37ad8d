/// @file exact.cpp  States of guarantee::exact for C: sizes, merging, results.

#include <cstdint>
#include <cstring>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

#include "../backends/exact/state.hpp"
#include "c_api.hpp"

namespace onefold::detail {

namespace {

using state_memory = std::uint64_t[most_state_bytes / sizeof(std::uint64_t)];

bool is_known(std::int32_t type, std::int32_t what) {
  return type >= 0 && type < element_type_count && what >= 0 && what < form_count + record_count &&
         exact::has_state(static_cast<form>(what), static_cast<element_type>(type));
}

const exact::kind_row& kind_of(std::int32_t type, std::int32_t what) {
  if (!is_known(type, what))
    throw error(errc::unsupported,
                "this form of this element type has no exact state: sum, norm1, dot, sum_of_squares, norm2, mean and mean_variance "
                "of f32, f64, "
                "f16 and bf16 have");
  return exact::kind_of(static_cast<form>(what), static_cast<element_type>(type));
}

void add(const exact::kind_row& kind, std::int64_t* to, const std::int64_t* from) {
  std::int64_t sum[exact::most_words];
  state_memory state;
  const auto canonical = [&](const std::int64_t* words) { exact::store(kind, state, exact::load(kind, words, state), sum); };
  canonical(to);
  if (from != nullptr) {
    std::int64_t first[exact::most_words];
    std::memcpy(first, sum, sizeof(first));
    canonical(from);
    for (std::size_t i = 0; i < kind.words(); ++i) sum[i] += first[i];
    canonical(sum);
  }
  std::memcpy(to, sum, kind.words() * sizeof(*to));
}

}  // namespace

}  // namespace onefold::detail

using namespace onefold::detail;

size_t onefold_exact_words(int32_t type, int32_t form) { return is_known(type, form) ? kind_of(type, form).words() : 0; }

int onefold_exact_add(int32_t type, int32_t form, int64_t* to, const int64_t* from) {
  return guarded([&] {
    const exact::kind_row& kind = kind_of(type, form);
    if (to == nullptr) refuse_null("state");
    add(kind, to, from);
  });
}

int onefold_exact_result(int32_t type, int32_t form, uint32_t flags, int64_t ddof, const int64_t* state, void* result) {
  return guarded([&] {
    const exact::kind_row& kind = kind_of(type, form);
    if (state == nullptr) refuse_null("state");
    if (result == nullptr) refuse_null("result");
    const auto element = static_cast<onefold::element_type>(type);
    const auto what = static_cast<onefold::form>(form);
    const bool wide = (flags & ONEFOLD_WIDE) != 0;
    if ((flags & ~ONEFOLD_WIDE) != 0 || (wide && !onefold::can_be_wide(element, what)))
      throw onefold::error(onefold::errc::unsupported, "the flags of a state's result are 0, or ONEFOLD_WIDE of f32, f16 and bf16");
    state_memory loaded;
    const std::uint64_t count = exact::load(kind, state, loaded);
    exact::conclude(element, what, wide, loaded, count, ddof, result);
  });
}

int onefold_exact_count(int32_t type, int32_t form, const int64_t* state, uint64_t* count) {
  return guarded([&] {
    const exact::kind_row& kind = kind_of(type, form);
    if (state == nullptr) refuse_null("state");
    if (count == nullptr) refuse_null("count");
    state_memory loaded;
    *count = exact::load(kind, state, loaded);
  });
}
