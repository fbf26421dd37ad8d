#pragma once
/// @file parallel_reduce.hpp  The reference of every variant: Kokkos::parallel_reduce on Kokkos::Serial and Kokkos::OpenMP.

#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::kokkos_backend {

/// Combines `count` elements at `input` and stores the value at `output` (both host memory), on the calling thread, left to right: through
/// Kokkos::Serial where Kokkos runs or can be started, and else without it. Returns whether it was with Kokkos.
bool reduce_serial(element_type type, operation op, const void* input, std::uint64_t count, void* output);

#ifdef ONEFOLD_HAVE_OPENMP
/// The same on `threads` threads of Kokkos::OpenMP, at most pool_size(). Requires openmp_serves_this_thread().
void reduce_openmp(element_type type, operation op, const void* input, std::uint64_t count, void* output, int threads);
#endif

}  // namespace onefold::kokkos_backend
