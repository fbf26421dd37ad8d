#pragma once
/// @file fixed_order.hpp  Tree v1 (docs/order.md) on the CPU.

#include <string_view>

#include <onefold/detail/request.hpp>

namespace onefold::kokkos_backend {

/// Runs a request of host memory and stores its result; returns the threads that worked. `threads` is at most openmp_pool_size(), and 1 on
/// the serial backend. Requires ensure_initialized(), the default floating-point environment, and for more than one thread
/// openmp_serves_this_thread().
int reduce_fixed_order(const detail::request& what, int threads);

/// "fixed_order/avx512": what it runs on this machine.
std::string_view fixed_order_implementation();

}  // namespace onefold::kokkos_backend
