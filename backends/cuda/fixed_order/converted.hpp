#pragma once
/// @file converted.hpp  The second kernel of batches, which takes the same table as the first (batched.hpp). Plain C++.

#include <cstddef>

#include "batched.hpp"

namespace onefold::cuda_backend {

inline constexpr std::size_t most_converted_state_bytes = 32;  ///< of argminmax and reduce_together
inline constexpr std::size_t converted_slot_bytes = device::slot_bytes_of(most_converted_state_bytes);

/// The kernel's symbol.
const void* converted_kernel() noexcept;

}  // namespace onefold::cuda_backend
