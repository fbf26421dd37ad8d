#pragma once
/// @file lifetime.hpp  Kokkos is started when something needs it and the application has not done so, and left alone when it has. Named
/// variants need it; fixed_order does not.

#include <cstdint>
#include <string>

namespace onefold::kokkos_backend {

/// Starts Kokkos if nobody has; safe from several threads. When onefold started it, onefold finalises it at exit. Throws
///   kokkos_finalized     when it was finalised, since Kokkos cannot be started twice,
///   backend_unavailable  when an environment variable holds what Kokkos would end the process for, or the system refuses its threads,
///   unsupported          inside a parallel region and in a forked process, where it cannot be started.
void ensure_initialized();

/// Whether Kokkos runs, after starting it if need be.
bool runs();

/// What Kokkos would not start with: the sentence about an environment variable, or an empty one.
std::string wrong_environment();

#ifdef ONEFOLD_HAVE_OPENMP
/// Threads that openmp() means: those of Kokkos's pool where it runs, else those of OpenMP.
int pool_size() noexcept;

/// Whether the calling host thread can use Kokkos::OpenMP without a new team of threads. Requires ensure_initialized().
bool openmp_serves_this_thread();

/// Whether a tool listens to Kokkos. Starts Kokkos where the environment names a tool.
bool tools_see_kokkos();

/// Calls work(0) to work(count - 1) on Kokkos::OpenMP, as a kernel named "onefold". Requires that Kokkos runs, and threads::in_use().
void parallel_for(std::int64_t count, void (*work)(std::int64_t));
#endif

/// "Kokkos 3.4.1".
std::string version();

}  // namespace onefold::kokkos_backend
