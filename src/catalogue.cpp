#include <onefold/catalogue.hpp>

#include <algorithm>
#include <vector>

#include "../backends/backend.hpp"
#include "select.hpp"

namespace onefold {

namespace {

// The names of a backend that is not built are still listed, so that a CPU-only build can say what a GPU would add.
constexpr variant_info listed_only(backend where, std::string_view name, std::string_view seed, guarantee promise,
                                   std::string_view summary) {
  variant_info row{};
  row.name = name;
  row.seed = seed;
  row.summary = summary;
  row.backend = where;
  row.built = false;
  row.guarantee = promise;
  return row;
}

std::vector<variant_info> collect() {
  std::vector<variant_info> all;
  const auto add = [&](backend where, std::initializer_list<variant_info> names) {
    if (const auto* entry = detail::find_backend(where)) {
      const auto native = entry->variants();
      all.insert(all.end(), native.begin(), native.end());
    } else {
      all.insert(all.end(), names);
    }
  };
  add(backend::serial, {
#define ONEFOLD_VARIANT(name, seed, promise, summary) listed_only(backend::serial, #name, seed, guarantee::promise, summary),
#include "../backends/kokkos/catalogue.def"
#undef ONEFOLD_VARIANT
                       });
  add(backend::cuda, {
#define ONEFOLD_VARIANT(name, seed, promise, summary) listed_only(backend::cuda, #name, seed, guarantee::promise, summary),
#include "../backends/cuda/catalogue.def"
#undef ONEFOLD_VARIANT
                     });
  return all;
}

const std::vector<variant_info>& all_variants() {
  static const std::vector<variant_info> all = collect();
  return all;
}

}  // namespace

std::span<const variant_info> variants() { return all_variants(); }

std::span<const variant_info> variants(backend where) {
  const auto& all = all_variants();
  const auto first_cuda = std::ranges::find(all, backend::cuda, &variant_info::backend);
  return where == backend::cuda ? std::span<const variant_info>(first_cuda, all.end())
                                : std::span<const variant_info>(all.begin(), first_cuda);
}

const variant_info* find_variant(std::string_view name, backend where) noexcept {
  const auto native = variants(where);
  const auto row = std::ranges::find(native, name, &variant_info::name);
  return row == native.end() ? nullptr : &*row;
}

const variant_info* find_variant(std::string_view name) noexcept {
  const auto& all = all_variants();
  const auto row = std::ranges::find(all, name, &variant_info::name);
  return row == all.end() ? nullptr : &*row;
}

std::optional<std::string> why_not(const variant_info& variant, const executor& where) {
  const backend native = variant.backend;
  const backend asked = where.chooses_itself() ? native : where.backend();
  // A name that both have, fixed_order, is a variant of each.
  if (const variant_info* own = find_variant(variant.name, asked); own != nullptr && own->backend != native)
    return why_not(*own, where);
  const bool on_cpu = asked != backend::cuda;
  if (on_cpu != (native != backend::cuda))
    return std::string(variant.name) + (on_cpu ? " is a CUDA kernel; on the CPU backends its name runs Kokkos::parallel_reduce"
                                               : " runs on the serial and openmp backends only");
  const auto* entry = detail::find_backend(asked);
  if (entry == nullptr) return detail::not_built_sentence(asked);
  return entry->why_not(variant, where.chooses_itself() && asked == backend::cuda ? cuda() : where);
}

}  // namespace onefold
