#pragma once
/// @file driver.hpp  Variant fixed_order on the host.

#include <cstdint>
#include <optional>
#include <span>

#include <onefold/detail/request.hpp>

#include "../variant.hpp"
#include "batched.hpp"

namespace onefold::cuda_backend {

/// Where call::as_tree_value puts the tree's accumulator: bytes of it, and of a value in it. Of moments that is the mean and the squared deviation alone.
/// Of all forms but reduce_together.
struct tree_value_row {
  std::size_t bytes;
  std::size_t value_bytes;
};
tree_value_row value_in_tree(element_type type, form what, bool wide) noexcept;

/// Launches what the call asks for: one of the library's folds, or the caller's own.
void run_fixed_order(call& now);

/// A request as a part of a launch of several: its item, but for the addresses as the device sees them and the blocks.
struct batched_request {
  batched_item item;
  std::uint64_t units;  ///< tiles
};
/// None where that kernel has not its fold, or its array is so large that others in the same launch gain nothing.
std::optional<batched_request> batched_request_of(const onefold::detail::request& what) noexcept;

/// Launches them, most_batched together. The call says where; what it asks for is not looked at.
void run_batched(call& now, std::span<const batched_request> all);

}  // namespace onefold::cuda_backend
