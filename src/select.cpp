#include "select.hpp"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "catalogue.hpp"
#include "edit_distance.hpp"

namespace onefold::detail {

namespace {

// What a request without a name runs, on every backend. Also with guarantee::none: nothing measured is faster (perf/results, the sweeps).
constexpr std::string_view default_variant = "fixed_order";
constexpr std::string_view reference_on_cpu = "parallel_reduce";
constexpr std::string_view exact_variant = "superaccumulator";

// These are looked up once: a search by name would be a part of the time of a small reduction.
struct known_rows {
  const variant_info* fixed_order[2] = {find_row(default_variant, backend::serial), find_row(default_variant, backend::cuda)};
  const variant_info* exact[2] = {find_row(exact_variant, backend::serial), find_row(exact_variant, backend::cuda)};
};
const known_rows& rows() noexcept {
  static const known_rows all;
  return all;
}

// No process is forked while another thread looks them up: its child would wait for that for ever.
[[maybe_unused]] const int registered = pthread_atfork([] { static_cast<void>(rows()); }, nullptr, nullptr);

void check_guarantee(guarantee wanted, const variant_info& row) {
  if (wanted <= row.guarantee) return;
  std::string sentence = "guarantee::" + std::string(name(wanted)) + " cannot be given: " + std::string(row.name) +
                         " promises guarantee::" + std::string(name(row.guarantee));
  if (wanted == guarantee::exact)
    sentence += "; leave the variant's name away, or name superaccumulator";
  else
    sentence += "; leave the variant's name away, or name fixed_order";
  throw error(errc::guarantee_not_met, sentence);
}

bool is_free_of_order(const request& what) {
  if (what.form != form::reduce_together || what.operators == nullptr) return exact::is_free_of_order(what.form, what.type);
  return std::all_of(what.operators, what.operators + what.results,
                     [&](operation each) { return exact::is_free_of_order(form_of(each), what.type); });
}

bool has_own_operator(const request& what) { return what.own != nullptr || (what.device != nullptr && what.source == nullptr); }

// Whether the fixed order's result is exact, as any other's.
bool is_exact_in_fixed_order(const request& what) { return !has_own_operator(what) && is_free_of_order(what); }

// Without a variant's name.
const variant_info& select_exact(const request& what, backend where, const variant_info& fixed_order) {
  if (is_exact_in_fixed_order(what)) return fixed_order;
  const std::string sentence = "guarantee::exact cannot be given: ";
  if (has_own_operator(what))
    throw error(errc::guarantee_not_met, sentence + "an operator of your own and an initial value have no exact sum so far");
  const variant_info& row = *rows().exact[where == backend::cuda ? 1 : 0];
  if (!row.supports(what.type, what.form))
    throw error(errc::guarantee_not_met, sentence + std::string(name(what.form)) + " of " + std::string(name(what.type)) +
                                             " has no exact form: sum, norm1, dot, sum_of_squares, norm2, mean and mean_variance "
                                             "of floats have, and mean, norm2 and "
                                             "mean_variance of integers");
  return row;
}

}  // namespace

std::string nearest_names(std::string_view misspelt) {
  std::multimap<std::size_t, std::string_view> ranked;  // those at one distance in the catalogue's order
  for (const auto& row : all_rows()) {
    const std::size_t distance = edit_distance(misspelt, row.name);
    if (is_near(distance, misspelt, row.name)) ranked.emplace(distance, row.name);
  }
  if (ranked.empty()) return "onefold::variants() lists the names";
  std::string sentence;
  int said = 0;
  std::string_view last;  // a name that several backends have is there several times
  for (const auto& [distance, near] : ranked) {
    if (near == std::exchange(last, near)) continue;
    if (said++ == 3) break;
    sentence += (sentence.empty() ? "did you mean " : " or ") + std::string(near);
  }
  return sentence + "?";
}

std::string not_built_sentence(backend where) {
  const std::string missing = where == backend::cuda ? "the CUDA Toolkit (-DONEFOLD_CUDA=ON)" : "Kokkos";
  return "this library was built without the " + std::string(name(where)) + " backend: build onefold with " + missing;
}

std::string left_out_sentence(std::string_view variant) {
  return std::string("this library was built without ")
      .append(variant)
      .append(": configure onefold with -DONEFOLD_VARIANTS=all, or leave the name away");
}

bool is_exact_variant(std::string_view name) noexcept {
  const variant_info* const named = find_row(name);
  return named != nullptr && named->guarantee == guarantee::exact;
}

bool asks_for_exact(const onefold_options* how) noexcept {
  if (how == nullptr || how->struct_bytes < offsetof(onefold_options, needs_workspace)) return false;
  if (how->guarantee == ONEFOLD_GUARANTEE_EXACT) return true;
  if (how->variant == nullptr || *how->variant == '\0') return false;
  return is_exact_variant(how->variant_bytes == 0 ? std::string_view(how->variant)
                                                  : std::string_view(how->variant, how->variant_bytes));
}

const variant_info& select(const request& what, backend where, const options& how) {
  const variant_info* const* const defaults = rows().fixed_order;
  const bool on_cpu = where != backend::cuda;
  const variant_info* row = defaults[on_cpu ? 0 : 1];
  if (!how.variant.empty()) {
    row = find_row(how.variant, where);
    if (row == nullptr) {
      if (find_row(how.variant) == nullptr)
        throw error(errc::unknown_variant,
                    "no variant is named \"" + std::string(how.variant) + "\": " + nearest_names(how.variant));
      if (!on_cpu) throw error(errc::unsupported, std::string(how.variant) + " runs on the serial and openmp backends only");
      row = find_row(reference_on_cpu, where);
    }
    const bool is_exact_anyhow =
        how.guarantee == guarantee::exact && row->guarantee == guarantee::fixed && is_exact_in_fixed_order(what);
    if (!is_exact_anyhow) check_guarantee(how.guarantee.value_or(row->guarantee), *row);
  } else {
    if (how.guarantee == guarantee::exact)
      row = &select_exact(what, where, *row);
    else
      check_guarantee(how.guarantee.value_or(guarantee::fixed), *row);
  }
  if (!row->built && find_backend(where) != nullptr) throw error(errc::unsupported, left_out_sentence(row->name));
  if (row->built &&
      (!row->supports(what.type, what.form) || (what.wide && !row->takes_everything && row->guarantee < guarantee::exact)))
    throw error(errc::unsupported, std::string(row->name) + " does not take " + std::string(name(what.form)) + " of " +
                                       std::string(name(what.type)) +
                                       (!what.wide                                    ? ""
                                        : is_small(what.type) && !is_float(what.type) ? " accumulated in its own type"
                                                                                      : " accumulated in a wider type") +
                                       ": " + std::string(row->limits));
  return *row;
}

}  // namespace onefold::detail
