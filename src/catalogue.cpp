#include "catalogue.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "../backends/backend.hpp"
#include "select.hpp"

namespace onefold::detail {

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

#undef ONEFOLD_ONLY_FIXED_ORDER  // those that were left out are listed too
constexpr variant_info cpu_rows[] = {
#define ONEFOLD_VARIANT(name, seed, promise, summary) listed_only(backend::serial, #name, seed, guarantee::promise, summary),
#include "../backends/cpu/catalogue.def"
#undef ONEFOLD_VARIANT
};
constexpr variant_info cuda_rows[] = {
#define ONEFOLD_VARIANT(name, seed, promise, summary) listed_only(backend::cuda, #name, seed, guarantee::promise, summary),
#include "../backends/cuda/catalogue.def"
#undef ONEFOLD_VARIANT
};
using catalogue = std::array<variant_info, std::size(cpu_rows) + std::size(cuda_rows)>;

// A backend that is built gives the rows itself that it has, of the lines of the same file.
template <std::size_t N>
variant_info* put(variant_info* to, backend where, const variant_info (&names)[N]) {
  const auto* entry = find_backend(where);
  const auto built = entry == nullptr ? std::span<const variant_info>() : entry->variants();
  for (const variant_info& listed : names) {
    const auto own = std::ranges::find(built, listed.name, &variant_info::name);
    *to++ = own == built.end() ? listed : *own;
  }
  return to;
}

catalogue collect() {
  catalogue all{};
  put(put(all.data(), backend::serial, cpu_rows), backend::cuda, cuda_rows);
  return all;
}

// In memory that is there from the start: whoever looks a name up is promised that nothing is thrown.
const catalogue& all_variants() noexcept {
  static const catalogue all = collect();
  return all;
}

}  // namespace

std::span<const variant_info> all_rows() noexcept { return all_variants(); }

std::span<const variant_info> rows_of(backend where) noexcept {
  const auto all = all_rows();
  return where == backend::cuda ? all.last(std::size(cuda_rows)) : all.first(std::size(cpu_rows));
}

const variant_info* find_row(std::string_view name, backend where) noexcept {
  const auto native = rows_of(where);
  const auto row = std::ranges::find(native, name, &variant_info::name);
  return row == native.end() ? nullptr : &*row;
}

const variant_info* find_row(std::string_view name) noexcept {
  const auto& all = all_variants();
  const auto row = std::ranges::find(all, name, &variant_info::name);
  return row == all.end() ? nullptr : &*row;
}

std::optional<std::string> reason_against(const variant_info& variant, const executor& where) {
  const backend native = variant.backend;
  const backend asked = where.chooses_itself() ? native : where.backend();
  // A name that both have, fixed_order, is a variant of each.
  if (const variant_info* own = find_row(variant.name, asked); own != nullptr && own->backend != native)
    return reason_against(*own, where);
  const bool on_cpu = asked != backend::cuda;
  if (on_cpu != (native != backend::cuda))
    return std::string(variant.name) + (on_cpu ? " is a CUDA kernel; on the CPU backends its name runs Kokkos::parallel_reduce"
                                               : " runs on the serial and openmp backends only");
  const auto* entry = find_backend(asked);
  if (entry == nullptr) return not_built_sentence(asked);
  if (!variant.built) return left_out_sentence(variant.name);
  return entry->why_not(variant, where.chooses_itself() && asked == backend::cuda ? cuda() : where);
}

}  // namespace onefold::detail
