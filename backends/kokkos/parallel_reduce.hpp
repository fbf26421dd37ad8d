#pragma once
/// @file parallel_reduce.hpp  The reference of every variant: Kokkos::parallel_reduce on Kokkos::Serial and Kokkos::OpenMP.

#include <cstdint>

#include <onefold/types.hpp>

namespace onefold::kokkos_backend {

/// Combines `count` elements at `input` and stores the value at `output` (both host memory); returns the threads that worked.
/// `threads` is at most openmp_pool_size(). Requires ensure_initialized(). Throws unsupported on a thread that Kokkos cannot serve.
int reduce_serial(element_type type, operation op, const void* input, std::uint64_t count, void* output);
#ifdef ONEFOLD_HAVE_OPENMP
int reduce_openmp(element_type type, operation op, const void* input, std::uint64_t count, void* output, int threads);
#endif

}  // namespace onefold::kokkos_backend
