#pragma once
/// @file batch.hpp  Where the results of calls lie that are waited for together.

#include <memory>

#include "../backend.hpp"

namespace onefold::cuda_backend {

/// Pinned memory of the executor's stream, which one batch has at a time.
std::unique_ptr<onefold::detail::batch_results> results_of_batch(const executor& where, std::size_t bytes);

}  // namespace onefold::cuda_backend
