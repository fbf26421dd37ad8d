#pragma once
/// @file requests.hpp  What calls of the library's forms ask for, as data for the driver, which knows no form, and for the kernels of batches.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <onefold/detail/request.hpp>
#include <onefold/device/destination.hpp>

#include "../../backend.hpp"
#include "runs.hpp"

namespace onefold::cuda_backend {

/// A form as a call has it.
struct form_of_call {
  element_type type;
  onefold::form form;
  bool wide;
  std::int64_t ddof;
  int results;
  const operation* operators;
};

/// What a form makes of its tree's value.
device::destination conclusion_of(const form_of_call& what);
/// What call::as_tree_value asks for in its place.
device::destination tree_value_of(const form_of_call& what, std::uint64_t count);

/// Where call::as_tree_value puts the tree's accumulator: bytes of it, and of a value in it. Of moments that is the mean and the squared deviation alone.
/// Of all forms but reduce_together.
struct tree_value_row {
  std::size_t bytes;
  std::size_t value_bytes;
};
tree_value_row value_in_tree(element_type type, form what, bool wide) noexcept;

/// A form of `count` elements as a part of a launch of several, or none where the kernels of those have not its fold.
std::optional<batched_request> batched_request_of(const form_of_call& what, std::uint64_t count) noexcept;
/// A request as a part of a launch of several. None where that kernel has not its fold, or its array is so large that others in the same launch gain nothing.
std::optional<batched_request> batched_request_of(const onefold::detail::request& what) noexcept;

/// Nodes over a request's array as parts of a launch. None where no such kernel has its fold, or where one would read much more slowly than the fold's own and
/// slots may have too few bytes for that (run_by_leaves()). The addresses, and the stride, are still to be written.
std::optional<batched_run> batched_run_of(const onefold::detail::request& what, const onefold::detail::tree_nodes& which,
                                          std::size_t most_slot_bytes) noexcept;

/// Whether a run gains by two launches (run_by_leaves()): where the kernel of batches reads more slowly than a fold's own, it is alone for fewer tiles.
bool is_for_leaves(const batched_run& run) noexcept;

/// A copy of `bytes` bytes in the launch, whose end the device tells at `word` unless that is null (batched_item::copied).
batched_request batched_copy(const void* from, void* to, std::size_t bytes, unsigned long long* word) noexcept;

}  // namespace onefold::cuda_backend
