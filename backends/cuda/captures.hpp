#pragma once
/// @file captures.hpp  Streams whose work is recorded into a graph.

#include <onefold/executor.hpp>

#include "stream_memory.hpp"

namespace onefold::cuda_backend {

/// Whether work put on the stream is being recorded into a graph instead of run.
bool is_capturing(cudaStream_t stream);

/// Throws where nothing may be put on an executor's stream now, CUDA's legacy one beside a capture under way elsewhere, which the attempt would spoil. Asking does not.
void refuse_unusable_stream(const executor& where);

/// Lets the graph that `stream` is being recorded into hold `work`, which is_recorded, until the graph and all that was made from it are gone
/// and its launches have ended. Then, or if that cannot be had, it is no longer recorded.
void give_to_graph(in_graphs& work, cudaStream_t stream);

}  // namespace onefold::cuda_backend
