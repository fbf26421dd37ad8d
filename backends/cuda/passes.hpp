#pragma once
/// @file passes.hpp  The host's side of the finishes: which launches turn the input into block values, and those into the result.
///
/// Kernels are data here. As a template of the kernel this had nine tenths of each variant's object.

#include <cstddef>
#include <cstdint>

#include "building_blocks/handover.hpp"
#include "launch.cuh"

namespace onefold::cuda_backend {

/// Stores what so many values give, combined from left to right.
using host_combination = void (*)(const void* values, std::int64_t count, void* result);

/// A kernel that leaves one value per block, with what its finishes need beside it.
struct pass_kernel {
  const void* kernel;   ///< void(const T* input, std::uint64_t count, handover<T>, extras...)
  const void* collect;  ///< void(T* accumulator, T* result): hands the accumulator over, and leaves the neutral element in it
  operation op;
  std::uint32_t value_bytes;
  host_combination combine;
  void* const* extras;  ///< the addresses of the kernel's further arguments, at most most_extras
  int extra_count;
  static constexpr int most_extras = 2;
};

/// The shapes of launches, asked for pass by pass, in their order: what refers to a function object of the caller's.
class shape_source {
 public:
  template <class Shape>
  explicit shape_source(Shape& shape_of)
      : of_(&shape_of), call_([](void* of, std::uint64_t count) -> shape { return (*static_cast<Shape*>(of))(count); }) {}
  shape operator()(std::uint64_t count) const { return call_(of_, count); }

 private:
  void* of_;
  shape (*call_)(void* of, std::uint64_t count);
};

/// Blocks of `per_block` elements that cover `count` elements.
inline std::int64_t blocks_for(std::uint64_t count, std::uint64_t per_block) {
  return static_cast<std::int64_t>((count + per_block - 1) / per_block);
}

/// Blocks of a grid that stays on the device: as many as fit, or fewer if the launch policy says so.
std::int64_t chosen_blocks(const call& now, const void* kernel);

/// Runs a kernel that leaves one value per block, and finishes as the call asks.
///
/// @param shape_of  the launch for a pass over so many elements
void run_passes(call& now, const pass_kernel& what, const shape_source& shape_of);

/// run_passes() for kernels whose threads take many elements each: the grid is what the device holds at once, fewer blocks where
/// there is less to do, or the caller's grid_size.
///
/// @param per_thread  elements that a thread takes at once
/// @param per_round   elements that a thread takes in a turn of its loop. Up to choices.alone_rounds turns one block does the work alone: that
///                    is less than the wait for other blocks costs
void run_resident(call& now, const pass_kernel& what, int per_thread, int per_round);

/// Device memory for the values of so many blocks; there are two, for passes in turn.
void* partials_for(call& now, std::int64_t blocks, std::size_t value_bytes, int which = 0);

/// Combines values in device memory on the host, which waits for them, into the call's host_value.
void finish_on_host(call& now, host_combination combine, std::size_t value_bytes, const void* partials, std::int64_t blocks);

/// Where the values of a kernel's blocks go.
handover<void> handover_of(const call& now, operation op, handing how, void* partials);

}  // namespace onefold::cuda_backend
