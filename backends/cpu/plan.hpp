#pragma once
/// @file plan.hpp  A reduction on the threads that there are.

#include <cstdint>

#include <onefold/detail/request.hpp>

#include "../kokkos/lifetime.hpp"
#include "driver.hpp"

namespace onefold::cpu {

/// Threads that there is work for, and the driver's way with them.
struct plan {
  int threads = 1;
  bool best = false;
  std::uint64_t timed_bytes = 0;

  /// Of `bytes` bytes of input, or as much work.
  plan(const detail::request& what, const cpu_fold& fold, std::uint64_t bytes, int most) {
    threads = useful_threads(fold, what.count, bytes, most);
    best = what.best;
  }

  int run(const cpu_fold& fold, std::uint64_t count, void* state) {
#ifdef ONEFOLD_HAVE_OPENMP
    if (threads > 1) {
      on_threads how{threads, best && !kokkos_backend::tools_see_kokkos(), timed_bytes};
      const int failed = reduce_on_threads(fold, count, how, state);
      threads = how.threads;
      return failed;
    }
#endif
    return reduce_alone(fold, count, state);
  }
};

}  // namespace onefold::cpu
