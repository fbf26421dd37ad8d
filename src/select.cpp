#include "select.hpp"

#include <algorithm>
#include <vector>

#include <onefold/error.hpp>

namespace onefold::detail {

namespace {

// What a request without a name runs: the fastest of the catalogue from small to large n (perf/results, the sweeps).
constexpr std::string_view fastest_on_cuda = "vector_load";
constexpr std::string_view reference_on_cpu = "parallel_reduce";

// Levenshtein distance: insertions, deletions and substitutions that turn one name into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

void check_guarantee(guarantee wanted, const variant_info& row) {
  if (wanted <= row.guarantee) return;
  throw error(errc::guarantee_not_met, "guarantee::" + std::string(name(wanted)) + " cannot be given: " + std::string(row.name) +
                                           " promises guarantee::" + std::string(name(row.guarantee)) +
                                           ", and this version of onefold has no variant that promises more");
}

}  // namespace

std::string nearest_names(std::string_view misspelt) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const auto& row : variants()) {
    const std::size_t distance = edit_distance(misspelt, row.name);
    if (distance <= std::max<std::size_t>(2, std::min(misspelt.size(), row.name.size()) / 3))
      ranked.emplace_back(distance, row.name);
  }
  if (ranked.empty()) return "onefold::variants() lists the names";
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string_view>::first);
  std::string sentence = "did you mean ";
  for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 3); ++i)
    sentence += (i == 0 ? "" : " or ") + std::string(ranked[i].second);
  return sentence + "?";
}

std::string not_built_sentence(backend where) {
  const std::string missing = where == backend::cuda ? "the CUDA Toolkit (-DONEFOLD_CUDA=ON)" : "Kokkos";
  return "this library was built without the " + std::string(name(where)) + " backend: build onefold with " + missing;
}

const variant_info& select(backend where, const options& how) {
  const bool on_cpu = where != backend::cuda;
  const std::string_view wanted = !how.variant.empty() ? how.variant : on_cpu ? reference_on_cpu : fastest_on_cuda;
  const variant_info* row = find_variant(wanted);
  if (row == nullptr)
    throw error(errc::unknown_variant, "no variant is named \"" + std::string(wanted) + "\": " + nearest_names(wanted));
  if (on_cpu && row->backend == backend::cuda) row = find_variant(reference_on_cpu);
  if (!on_cpu && row->backend != backend::cuda)
    throw error(errc::unsupported, std::string(row->name) + " runs on the serial and openmp backends only");
  check_guarantee(how.guarantee, *row);
  return *row;
}

}  // namespace onefold::detail
