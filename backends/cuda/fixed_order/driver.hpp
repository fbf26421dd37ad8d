#pragma once
/// @file driver.hpp  Variant fixed_order on the host.

#include <cstdint>
#include <span>

#include <onefold/detail/request.hpp>

#include "../../backend.hpp"
#include "../variant.hpp"
#include "requests.hpp"

namespace onefold::cuda_backend {

/// Launches what the call asks for: one of the library's folds, or the caller's own.
void run_fixed_order(call& now);

/// Of a run that keeps a GPU busy: launches the fold's own kernel once, over all of it but its ends, whose blocks read leaves of one size, and a
/// kernel of batches, which has the ends, what is to be made `beside`, and the nodes over those leaves. Returns false, with nothing launched, where that
/// gains nothing or cannot be.
bool run_by_leaves(call& now, const batched_run& run, std::span<const batched_request> beside);

/// Launches them, as many neighbours of one kernel together as it takes. The call says where; what it asks for is not looked at.
void run_batched(call& now, std::span<const batched_request> all);

}  // namespace onefold::cuda_backend
