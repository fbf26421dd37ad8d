#pragma once
/// @file backend.hpp  What a backend gives to src/: five functions. The one seam between the dispatch and everything that computes.

#include <optional>
#include <span>
#include <string>

#include <onefold/catalogue.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>

namespace onefold::detail {

struct backend_entry {
  /// The variants that are native to this backend, in learning order.
  std::span<const variant_info> (*variants)();
  /// What is here and what runs. Never throws.
  backend_info (*describe)();
  /// Why this native variant cannot run on this executor, or nothing. Never throws.
  std::optional<std::string> (*why_not)(const variant_info& variant, const executor& where);
  /// Runs a checked request with a native variant and fills in the report. Throws onefold::error.
  void (*run)(const request& what, const options& how, const variant_info& variant, report& ran);
  /// Waits for the executor's stream. Throws onefold::error.
  void (*synchronize)(const executor& where);
};

/// The backend's entry, or null when this library was built without it.
const backend_entry* find_backend(backend where) noexcept;

}  // namespace onefold::detail
