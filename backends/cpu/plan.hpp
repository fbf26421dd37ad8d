#pragma once
/// @file plan.hpp  A reduction on the threads that there are.

#include <algorithm>
#include <cstdint>
#include <string>

#include <onefold/detail/request.hpp>
#include <onefold/error.hpp>

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

/// Elements whose values a function of the caller's makes are taken for 8 bytes at least: to make one takes longer than to read it.
inline std::uint64_t work_of(std::uint64_t count, std::uint64_t bytes) {
  const std::uint64_t each = std::max<std::uint64_t>(bytes, sizeof(double));
  return count > ~std::uint64_t{0} / each ? ~std::uint64_t{0} : count * each;
}

[[noreturn]] inline void throw_failed(const char* function, int code) {
  throw error(errc::callback_failed, std::string(function) + " has failed and returned " + std::to_string(code) +
                                         ": the reduction was ended, and there is no result");
}

}  // namespace onefold::cpu
