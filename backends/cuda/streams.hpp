#pragma once
/// @file streams.hpp  The streams of each device: the library's own, and the memory that is kept for each stream between calls.

#include <memory>

#include <onefold/workspace.hpp>

#include "stream_memory.hpp"

namespace onefold::cuda_backend {

/// The stream that an executor means. Requires the device to be current.
cudaStream_t stream_of(int device, bool has_stream, cudaStream_t stream);

/// The memory of the caller's stream, which must not be being captured, or of the library's own on this device. Requires the device to be
/// current.
std::shared_ptr<stream_memory> memory_of(int device, bool has_stream, cudaStream_t stream);

/// Memory for one call that is being recorded on `stream`, and for no other until the graph and all that was made from it are gone. Requires
/// the device to be current.
std::shared_ptr<stream_memory> recorded_memory_of(int device, cudaStream_t stream);

/// The stream of the library's that copies to this device are put on, beside the reductions. Requires the device to be current.
cudaStream_t copy_stream_of(int device);

/// One of the library's for what must not wait for any other stream, nor they for it. Requires the device to be current.
cudaStream_t side_stream_of(int device);

/// The library's own device memory: what is held, and its return. What calls are using stays. Requires the device to be current.
memory_use memory_held(int device);
void release_held_memory(int device);

}  // namespace onefold::cuda_backend
