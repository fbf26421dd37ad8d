#pragma once
/// @file catalogue.hpp  The rows of the catalogue themselves, of which variants() shows copies.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <onefold/catalogue.hpp>

namespace onefold::detail {

/// Every variant, in learning order, those of the CPU first.
std::span<const variant_info> all_rows() noexcept;

/// Those native to a backend.
std::span<const variant_info> rows_of(backend where) noexcept;

/// The row with this name that is native to a backend, or null.
const variant_info* find_row(std::string_view name, backend where) noexcept;

/// The first row with this name, or null.
const variant_info* find_row(std::string_view name) noexcept;

/// Why the variant cannot run natively on this executor here, or nothing. Throws for lack of memory alone.
std::optional<std::string> reason_against(const variant_info& variant, const executor& where);

}  // namespace onefold::detail
