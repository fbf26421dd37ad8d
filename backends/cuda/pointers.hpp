#pragma once
/// @file pointers.hpp  The caller's pointers and streams as the device sees them; what no kernel of ours can reach is refused before one
/// crashes on it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <onefold/detail/request.hpp>

#include "runtime.hpp"

namespace onefold::cuda_backend {

/// What CUDA knows of `pointer`. Throws wrong_device, and unsupported for memory of another context.
cudaPointerAttributes attributes_of(const void* pointer, const char* role, int device, const device_scope& current);

/// Throws host_pointer for memory that CUDA does not know. `reason`, if not empty, says why it is not copied to the device.
[[noreturn]] void refuse_host_memory(const char* role, const std::string& reason);

/// What the device sees at `pointer`, and in `*type` what kind of memory that is. Throws host_pointer, and as attributes_of().
void* device_view(const void* pointer, const char* role, int device, const device_scope& current, cudaMemoryType* type = nullptr);
/// The same of memory that a graph may allocate, in the capture under way on the stream: the runtime does not know it until the graph runs, so it is taken
/// as it is. Of memory that is never the host's.
const void* device_view_in_graph(const void* pointer, const char* role, int device, const device_scope& current,
                                 cudaStream_t stream);

/// Throws misaligned_pointer.
void refuse_misaligned(const void* pointer, std::size_t alignment, const char* role);

/// Throws what is wrong with arrays of `count` elements that a kernel is to read where they are: null_pointer, and as the two above.
void refuse_unreadable(std::span<const onefold_array> arrays, std::uint64_t count, int device, const device_scope& current);

/// Throws unsupported for a stream of another context.
void refuse_foreign_stream(const executor& where, const device_scope& current);

/// The arrays of a request, or where their addresses stand, as the device sees them; null where there are none. Throws null_pointer and what the functions above throw, but for
/// memory of the host's, which it tells.
struct inputs_of_request {
  inputs_of_request(const onefold::detail::request& what, int device, const device_scope& current);
  const void* of[3] = {};
  const char* pageable = nullptr;  ///< not null: an array of this role is host memory that CUDA does not know
  bool has_pinned = false;         ///< an array is host memory that the device can read where it is

 private:
  void look(int which, const void* pointer, int device, const device_scope& current);
};

}  // namespace onefold::cuda_backend
