#pragma once
/// @file peers_kokkos.cuh  Kokkos::parallel_reduce on CUDA, where Kokkos was built with that.

#include <cstdint>
#include <functional>

#include <onefold/types.hpp>

namespace onefold::perf {

/// Enqueues the sum or the maximum of `count` elements of f32 or f64 on a CUDA stream, into `output` on the device. Starts Kokkos.
std::function<void(const void* input)> kokkos_on_cuda(form what, element_type type, std::uint64_t count, void* stream,
                                                      void* output);

}  // namespace onefold::perf
