/// @file absent.cpp  Kokkos, in a library without the lectures' variants: there is none. What lifetime.hpp and parallel_reduce.hpp promise then.

#include <algorithm>

#include <onefold/error.hpp>

#include "../threads/process.hpp"
#include "lifetime.hpp"
#include "parallel_reduce.hpp"

namespace onefold::kokkos_backend {

namespace {

[[noreturn]] void refuse() {
  throw error(errc::unsupported, "this library was built with fixed_order alone: configure onefold with -DONEFOLD_VARIANTS=all");
}

}  // namespace

void ensure_initialized() { refuse(); }
bool runs() { return false; }
std::string wrong_environment() { return {}; }
std::string version() { return "without Kokkos"; }
bool reduce_serial(element_type, operation, const void*, std::uint64_t, void*) { refuse(); }

#ifdef ONEFOLD_HAVE_OPENMP
int pool_size() noexcept { return std::max(threads::openmp_threads(), 1); }
bool openmp_serves_this_thread() { return threads::openmp_team_is_ours(pool_size()); }
bool tools_see_kokkos() { return false; }
void parallel_for(std::int64_t, void (*)(std::int64_t)) { refuse(); }
void reduce_openmp(element_type, operation, const void*, std::uint64_t, void*, int) { refuse(); }
#endif

}  // namespace onefold::kokkos_backend
