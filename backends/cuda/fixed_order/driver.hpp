#pragma once
/// @file driver.hpp  Variant fixed_order on the host.

#include <cstdint>
#include <optional>
#include <span>

#include <onefold/detail/request.hpp>

#include "../../backend.hpp"
#include "../variant.hpp"
#include "runs.hpp"

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

/// A request as a part of a launch of several. None where that kernel has not its fold, or its array is so large that others in the same launch gain nothing.
std::optional<batched_request> batched_request_of(const onefold::detail::request& what) noexcept;

/// Nodes over a request's array as parts of a launch. None where no such kernel has its fold, or where one would read much more slowly than the fold's own and
/// slots may have too few bytes for that (run_by_leaves()). The addresses, and the stride, are still to be written.
std::optional<batched_run> batched_run_of(const onefold::detail::request& what, const onefold::detail::tree_nodes& which,
                                          std::size_t most_slot_bytes) noexcept;

/// Of a run that keeps a GPU busy: launches the fold's own kernel once, over all of it but its ends, whose blocks read leaves of one size, and a
/// kernel of batches, which has the ends, what is to be made `beside`, and the nodes over those leaves. Returns false, with nothing launched, where that
/// gains nothing or cannot be.
bool run_by_leaves(call& now, const batched_run& run, std::span<const batched_request> beside);

/// A copy of `bytes` bytes in the launch, whose end the device tells at `word` unless that is null (batched_item::copied).
batched_request batched_copy(const void* from, void* to, std::size_t bytes, unsigned long long* word) noexcept;

/// Launches them, as many neighbours of one kernel together as it takes. The call says where; what it asks for is not looked at.
void run_batched(call& now, std::span<const batched_request> all);

}  // namespace onefold::cuda_backend
