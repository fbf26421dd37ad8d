#include "lifetime.hpp"

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include <onefold/error.hpp>

namespace onefold::kokkos_backend {

namespace {

// Kokkos can be asked whether it was finalised only from 3.7 on. A hook tells for every version, once onefold has seen Kokkos alive.
std::atomic<bool> finalized_since_seen{false};

bool was_finalized() {
#if KOKKOS_VERSION >= 30700
  if (Kokkos::is_finalized()) return true;
#endif
  return finalized_since_seen.load(std::memory_order_acquire);
}

void start() {
  // Kokkos writes warnings about thread binding to standard error when it starts; a library must not.
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  std::atexit([] {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  });
}

}  // namespace

void ensure_initialized() {
  static std::mutex starting;
  static std::atomic<bool> seen_alive{false};
  if (seen_alive.load(std::memory_order_acquire) && !was_finalized()) return;

  const std::lock_guard lock(starting);
  if (was_finalized())
    throw error(
        errc::kokkos_finalized,
        "the application has finalised Kokkos, and Kokkos cannot be started again: finalise it after the last call to onefold's "
        "serial() and openmp() executors");
  if (seen_alive.load(std::memory_order_relaxed)) return;
  if (!Kokkos::is_initialized()) {
    try {
      start();
    } catch (const std::exception& problem) {
      throw error(errc::backend_unavailable, std::string("Kokkos could not be started: ") + problem.what());
    }
  }
  Kokkos::push_finalize_hook([] { finalized_since_seen.store(true, std::memory_order_release); });
  seen_alive.store(true, std::memory_order_release);
}

#ifdef ONEFOLD_HAVE_OPENMP
int openmp_pool_size() {
  static const int threads = static_cast<int>(Kokkos::OpenMP().concurrency());
  return threads;
}
#endif

std::mutex& space_in_use() {
  static std::mutex lock;
  return lock;
}

std::string version() {
  return "Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

}  // namespace onefold::kokkos_backend
