#pragma once
/// @file pointers.hpp  The caller's pointers and streams as the device sees them; what no kernel of ours can reach is refused before one
/// crashes on it.

#include <cstddef>

#include <onefold/detail/request.hpp>

#include "runtime.hpp"

namespace onefold::cuda_backend {

/// What the device sees at `pointer`, and in `*type` what kind of memory that is. Throws host_pointer, wrong_device, and unsupported for memory
/// of another context.
void* device_view(const void* pointer, const char* role, int device, const device_scope& current, cudaMemoryType* type = nullptr);

/// Throws misaligned_pointer.
void refuse_misaligned(const void* pointer, std::size_t alignment, const char* role);

/// Throws unsupported for a stream of another context.
void refuse_foreign_stream(const executor& where, const device_scope& current);

/// The arrays of a request as the device sees them; null where there are none. Throws null_pointer and what the functions above throw.
struct inputs_of_request {
  inputs_of_request(const onefold::detail::request& what, int device, const device_scope& current);
  const void* of[3] = {};
};

}  // namespace onefold::cuda_backend
