#pragma once
/// @file fixed_order.hpp  Tree v1 (docs/order.md) on the CPU: what a request means to the driver, and what becomes of the tree's state.

#include <string_view>

#include <onefold/detail/request.hpp>

namespace onefold::cpu {

/// Runs a checked request of host memory, of values that are called for, or in the caller's own code, and stores its results; returns the threads
/// that could work on it. `threads` may be more than pool_size(); it is 1 on the serial backend. Requires the default floating-point environment.
/// Throws backend_unavailable where the system refuses threads, and callback_failed where a function of the caller's has failed.
int reduce_fixed_order(const detail::request& what, int threads);

/// backend_entry::reduce_few: a group of tiles or less, of any form but reduce_together, in host memory, by the calling thread. Half of what such a call
/// takes by the long way is finding out that nothing else is asked for.
bool reduce_few(const onefold_request& asked);

/// "fixed_order/avx512": what it runs on this machine.
std::string_view fixed_order_implementation();

/// Throws where ONEFOLD_INSTRUCTION_SET asks for what cannot be had, as the two above do: invalid_argument for an unknown name, unsupported for a
/// set that this processor lacks.
void check_instruction_set();

}  // namespace onefold::cpu
