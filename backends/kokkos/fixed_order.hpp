#pragma once
/// @file fixed_order.hpp  Tree v1 (docs/order.md) on the CPU.

#include <string_view>

#include <onefold/detail/request.hpp>

namespace onefold::kokkos_backend {

/// Runs a request of host memory and stores its result; returns the threads that could work on it. `threads` is at most pool_size(), and 1
/// on the serial backend. Requires the default floating-point environment. Throws backend_unavailable where the system refuses threads.
int reduce_fixed_order(const detail::request& what, int threads);

/// "fixed_order/avx512": what it runs on this machine.
std::string_view fixed_order_implementation();

/// Throws where ONEFOLD_INSTRUCTION_SET asks for what cannot be had, as the two above do: invalid_argument for an unknown name, unsupported for a
/// set that this processor lacks.
void check_instruction_set();

}  // namespace onefold::kokkos_backend
