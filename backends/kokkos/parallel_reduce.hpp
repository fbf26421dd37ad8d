#pragma once
/// @file parallel_reduce.hpp  The reference of every variant: Kokkos::parallel_reduce on Kokkos::Serial and Kokkos::OpenMP.

#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::kokkos_backend {

/// Combines `count` elements at `input` and stores the value at `output` (both host memory); returns the threads that worked.
/// `threads` is at most openmp_pool_size(). Requires ensure_initialized(), and of reduce_openmp openmp_serves_this_thread().
int reduce_serial(element_type type, operation op, const void* input, std::uint64_t count, void* output);
#ifdef ONEFOLD_HAVE_OPENMP
/// Whether calls from this host thread can use Kokkos's OpenMP threads. Requires ensure_initialized().
bool openmp_serves_this_thread();
int reduce_openmp(element_type type, operation op, const void* input, std::uint64_t count, void* output, int threads);
#endif

}  // namespace onefold::kokkos_backend
