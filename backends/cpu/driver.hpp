#pragma once
/// @file driver.hpp  Tree v1 on threads: who takes which groups, and how their states become one. It knows no fold.

#include <cstdint>

#include "fold.hpp"

namespace onefold::cpu {

/// Computes the tree's state over `count` elements, at least one, on the calling thread. Returns 0, or what a failing function of the fold has.
///
/// @param state  fold.state_bytes bytes
int reduce_alone(const cpu_fold& fold, std::uint64_t count, void* state);

/// Threads of `threads` that there is work for in `count` elements that are `bytes` bytes of input.
int useful_threads(const cpu_fold& fold, std::uint64_t count, std::uint64_t bytes, int threads);

#ifdef ONEFOLD_HAVE_OPENMP
struct on_threads {
  int threads;          ///< so many work; fewer for best() where they are not to be had
  bool best;            ///< of the call's executor: it takes the threads that it can get at once
  std::uint64_t bytes;  ///< of the input, as a measure of how long the call may take; 0 where that depends on the caller's own code
};

/// The same on up to how.threads threads, two or more; sets it to the number that could work. Throws backend_unavailable where the system
/// refuses threads.
int reduce_on_threads(const cpu_fold& fold, std::uint64_t count, on_threads& how, void* state);
#endif

}  // namespace onefold::cpu
