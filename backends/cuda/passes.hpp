#pragma once
/// @file passes.hpp  The host's side of the finishes: which launches turn the input into block values, and those into the result.
///
/// Kernels are data here. As a template of the kernel this had nine tenths of each variant's object.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "building_blocks/handover.hpp"
#include "launch.cuh"

namespace onefold::cuda_backend {

/// Stores what so many values give, combined from left to right.
using host_combination = void (*)(const void* values, std::int64_t count, void* result);

/// The combination of elements of a type, null where no variant reduces them (collect.cu).
host_combination combination_on_host(element_type type, operation op);

/// void(T* accumulator, T* result): hands the accumulator over and leaves the neutral element in it for the next call (collect.cu).
const void* collect_kernel(element_type type, operation op);

/// A kernel that leaves one value per block.
struct pass_kernel {
  const void* kernel;  ///< void(const T* input, std::uint64_t count, handover<T>, extras...)
  operation op;
  void* const* extras = nullptr;  ///< the addresses of the kernel's further arguments, at most most_extras
  int extra_count = 0;
  static constexpr int most_extras = 2;
};

/// The launch of a pass over `count` elements or block values. A plain function of the variant's: a function object of each type and operator
/// had a third of its object.
using shape_rule = shape (*)(const call& now, std::uint64_t count);

/// Throws unsupported where the device lends a block less shared memory than such a launch and the kernel's own variables take. `choice`: what to make smaller, as
/// options have it, with its value.
void require_shared_memory(const call& now, std::size_t dynamic_bytes, std::string_view choice, std::int64_t value);

/// Blocks of `per_block` elements that cover `count` elements.
inline std::int64_t blocks_for(std::uint64_t count, std::uint64_t per_block) {
  return static_cast<std::int64_t>((count + per_block - 1) / per_block);
}

/// Blocks of a grid that stays on the device: as many as fit, or fewer if the launch policy says so.
std::int64_t chosen_blocks(const call& now, const void* kernel);

/// Of kernels whose threads take `PerThread` elements each and have room for `Places` values in shared memory.
template <unsigned PerThread, unsigned Places>
shape shape_by_threads(const call& now, std::uint64_t count) {
  const auto threads = static_cast<std::uint64_t>(now.block_size);
  return {blocks_for(count, PerThread * threads), now.block_size, Places * threads * size_of(now.type)};
}

/// Runs a kernel that leaves one value per block, and finishes as the call asks.
///
/// @param shape_of  asked at each pass, in their order
void run_passes(call& now, const pass_kernel& what, shape_rule shape_of);

/// run_passes() for kernels whose threads take many elements each: the grid is what the device holds at once, fewer blocks where
/// there is less to do, or the caller's grid_size.
///
/// @param per_thread  elements that a thread takes at once
/// @param per_round   elements of a thread that count as a round, one or more turns of its loop. Up to choices.alone_rounds rounds one block does
///                    the work alone: that is less than the wait for other blocks costs
void run_resident(call& now, const pass_kernel& what, int per_thread, int per_round);

/// Device memory for the values of so many blocks, of the call's type; there are two, for passes in turn.
void* partials_for(call& now, std::int64_t blocks, int which = 0);

/// Combines values of the call's type in device memory on the host, which waits for them, into the call's host_value.
void finish_on_host(call& now, operation op, const void* partials, std::int64_t blocks);

}  // namespace onefold::cuda_backend
