#include "variants.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "policy.hpp"

namespace onefold::cuda_backend {

#define ONEFOLD_VARIANT(name, seed, promise, summary) extern const variant_row row_##name;
#include "catalogue.def"
#undef ONEFOLD_VARIANT

namespace {

constexpr std::array rows{
#define ONEFOLD_VARIANT(name, seed, promise, summary) &row_##name,
#include "catalogue.def"
#undef ONEFOLD_VARIANT
};

variant_info describe_variant(const variant_row& row, std::string_view name, std::string_view seed, guarantee promise,
                              std::string_view summary) {
  variant_info info{};
  info.name = name;
  info.seed = seed;
  info.summary = summary;
  info.backend = backend::cuda;
  info.built = true;
  info.guarantee = promise;
  info.default_finish = row.what.default_finish;
  info.finishes = row.what.finishes;
  if (!row.what.block_size_by_count) info.default_block_size = built_in_block_size(name, row.what.block_sizes);
  info.block_sizes = row.what.block_sizes;
  info.grid_size_free = row.what.grid_size_free;
  info.default_width = row.what.default_width;
  info.widths = row.what.widths;
  info.width_meaning = row.what.width_meaning;
  info.min_compute_capability = row.what.min_compute_capability;
  info.takes_everything = promise == guarantee::fixed;
  if (promise == guarantee::exact)
    for (int type = 0; type < element_type_count; ++type)
      info.operators[type] = onefold::detail::exact::has_state(form::sum, static_cast<element_type>(type)) ? 1U : 0U;
  for (int type = 0; type < element_type_count; ++type)
    for (int op = 0; op < operation_count; ++op)
      if (row.run[type][op] != nullptr) info.operators[type] = static_cast<std::uint8_t>(info.operators[type] | 1U << op);
  info.limits = row.what.limits.empty() && !info.takes_everything ? plain_only : row.what.limits;
  return info;
}

const auto& all_variants() {
  static const std::array<variant_info, rows.size()> all{
#define ONEFOLD_VARIANT(name, seed, promise, summary) describe_variant(row_##name, #name, seed, guarantee::promise, summary),
#include "catalogue.def"
#undef ONEFOLD_VARIANT
  };
  return all;
}

}  // namespace

std::span<const variant_info> list_variants() { return all_variants(); }

const variant_row& row_of_variant(const variant_info& wanted) {
  // Found by its name, but for the default, whose calls are the shortest and should not search.
  if (wanted.name == "fixed_order") return row_fixed_order;
  const auto& all = all_variants();
  const auto found = std::ranges::find(all, wanted.name, &variant_info::name);
  return *rows[static_cast<std::size_t>(found - all.begin())];
}

}  // namespace onefold::cuda_backend
