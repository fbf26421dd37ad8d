#pragma once
/// @file lifetime.hpp  Kokkos is started on first use when the application has not done so, and left alone when it has.

#include <mutex>
#include <string>

namespace onefold::kokkos_backend {

/// Starts Kokkos if nobody has; safe from several threads. Throws kokkos_finalized when it was finalised, since Kokkos cannot be
/// started twice. When onefold started it, onefold finalises it at exit.
void ensure_initialized();

#ifdef ONEFOLD_HAVE_OPENMP
/// Threads in the pool of Kokkos::OpenMP. Requires ensure_initialized().
int openmp_pool_size();
#endif

/// Held while an execution space works: the spaces keep scratch memory that two host threads must not use at once (from 4.0 on Kokkos locks
/// it itself).
std::mutex& space_in_use();

/// "Kokkos 3.4.1".
std::string version();

}  // namespace onefold::kokkos_backend
