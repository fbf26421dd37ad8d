#pragma once
/// @file batch.hpp  Several calls on one executor: those that one kernel serves in one launch, and all of them waited for together.

#include <memory>

#include "../backend.hpp"

namespace onefold::cuda_backend {

/// Results that are waited for lie in pinned memory that is kept with the executor's stream. Batches on several devices may be under way in one
/// thread: the device of one is current until it has been launched.
std::unique_ptr<onefold::detail::batch_in_progress> begin_batch(const executor& where, const options& how, std::size_t bytes);

}  // namespace onefold::cuda_backend
