#pragma once
/// @file driver.hpp  Variant fixed_order on the host.

#include "../variant.hpp"

namespace onefold::cuda_backend {

/// Launches what the call asks for: one of the library's folds, or the caller's own.
void run_fixed_order(call& now);

}  // namespace onefold::cuda_backend
