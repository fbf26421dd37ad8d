#pragma once
/// @file exchanges.hpp  What GPUs of one process hand over to each other in stream order: memory that all of them reach, and events between their streams. No
/// kernel waits for another GPU.

#include <cstddef>
#include <memory>
#include <span>

#include "../backend.hpp"

namespace onefold::cuda_backend {

/// Throws invalid_argument where some of the executors' streams are being captured and others are not, or into other graphs; and what is said of check().
std::unique_ptr<onefold::detail::exchange_in_progress> begin_exchange(std::span<const executor> gpus, std::size_t bytes);

/// Whether this is memory of an exchange that the device takes part in, so that it reaches it.
bool is_exchanged_with(const void* memory, int device) noexcept;

/// Memory of exchanges whose first GPU this is: what is held, and its return. What calls or graphs are using stays; what work still uses is waited for. Requires the
/// device to be current.
memory_use exchange_memory_held(int device);
void release_exchange_memory(int device);

}  // namespace onefold::cuda_backend
