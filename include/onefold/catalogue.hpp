#pragma once
/// @file catalogue.hpp  The variants: list them, find one by name, ask why one cannot run here.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/executor.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// One row of the catalogue. All texts live as long as the program.
struct variant_info {
  std::string_view name;     ///< the one name: file, key, test, performance row
  std::string_view seed;     ///< the lecture it comes from, or "beyond", "peer", "reference"
  std::string_view summary;  ///< its idea in a line
  onefold::backend backend;  ///< cuda, or serial for those of the CPU backends serial and openmp
  bool built;                ///< compiled into this library; the fields below are only known when it is
  onefold::guarantee guarantee = onefold::guarantee::none;
  onefold::finish default_finish = onefold::finish::none;
  std::span<const onefold::finish> finishes = {};  ///< empty where there is nothing to finish
  int default_block_size = 0;                      ///< threads; 0 where the variant chooses it by the count
  std::span<const int> block_sizes = {};           ///< threads; empty where the size cannot be chosen
  bool grid_size_free = false;                     ///< whether grid_size may be chosen
  int default_width = 0;
  std::span<const int> widths = {};  ///< the variant's own parameter; empty where it has none
  std::string_view width_meaning = {};
  int min_compute_capability = 0;  ///< 10 * major + minor; 0 on the CPU
  std::string_view limits = {};    ///< types and operators it refuses, and why; empty when it takes all
  /// Whether it takes every form of every type, f32 accumulated in f64, functions of the index and operators of the caller's. One that does not
  /// reduces elements as they are.
  bool takes_everything = false;
  std::uint8_t operators[element_type_count] = {};  ///< of each type, bit i: operator i; see supports()

  /// Whether the variant takes this element type with this form.
  [[nodiscard]] constexpr bool supports(element_type type, form what) const noexcept {
    if (takes_everything) return true;
    return is_plain(what) && (operators[static_cast<int>(type)] >> static_cast<int>(what) & 1) != 0;
  }
  /// Whether the variant takes this element type with this operator.
  [[nodiscard]] constexpr bool supports(element_type type, operation op) const noexcept { return supports(type, form_of(op)); }
};

/// Every variant of every backend, in learning order; those of a backend that is not built are listed too.
[[nodiscard]] ONEFOLD_EXPORT std::span<const variant_info> variants();

/// The variants of one backend; serial and openmp share theirs.
[[nodiscard]] ONEFOLD_EXPORT std::span<const variant_info> variants(backend where);

/// The variant with this name that is native to a backend, or null. `fixed_order` is native to every backend.
[[nodiscard]] ONEFOLD_EXPORT const variant_info* find_variant(std::string_view name, backend where) noexcept;

/// The first variant with this name in the order of variants(), or null.
[[nodiscard]] ONEFOLD_EXPORT const variant_info* find_variant(std::string_view name) noexcept;

/// The sentence that says why the variant cannot run natively on this executor here, or nothing when it can. Errors:
/// out_of_memory.
[[nodiscard]] ONEFOLD_EXPORT std::optional<std::string> why_not(const variant_info& variant, const executor& where);

}  // namespace onefold
