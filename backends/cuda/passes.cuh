#pragma once
/// @file passes.cuh  The host's side of the finishes: which launches turn the input into block values and those into the result.

#include <algorithm>
#include <string>
#include <utility>

#include <onefold/error.hpp>

#include "../float_environment.hpp"
#include "building_blocks/grid.cuh"
#include "launch.cuh"

namespace onefold::cuda_backend {

namespace detail {

/// Hands the accumulator over and leaves the neutral element in it for the next call.
template <class T, class Op>
__global__ void collect(T* accumulator, T* result) {
  wait_for_previous_kernel();
  *result = canonical(*accumulator);
  *accumulator = Op::template neutral<T>();
}

template <class T, class Op>
T* accumulator_of(call& now) {
  return static_cast<T*>(now.work.accumulator(element_type_of<T>, Op::id));
}

template <class T, class Op>
handover<T> handover_of(call& now, handing how, T* partials) {
  return {how, partials, accumulator_of<T, Op>(now), now.work.ticket(), static_cast<T*>(now.output)};
}

template <class T>
T* partials_for(call& now, std::int64_t blocks, int which = 0) {
  return static_cast<T*>(now.work.piece(now.work.partials[which], static_cast<std::size_t>(blocks) * sizeof(T)));
}

// The partials come back to the host, which combines them from left to right.
template <class T, class Op>
void finish_on_host(call& now, const T* partials, std::int64_t blocks) {
  const std::size_t bytes = static_cast<std::size_t>(blocks) * sizeof(T);
  const T* values = static_cast<const T*>(now.work.piece(now.work.host_partials, bytes));
  check(calls().memcpy_async(const_cast<T*>(values), partials, bytes, cudaMemcpyDeviceToHost, now.work.stream), "cudaMemcpyAsync");
  check(calls().stream_synchronize(now.work.stream), "cudaStreamSynchronize");
  const onefold::detail::default_float_environment one_operation_is_one_operation;
  T value = Op::template neutral<T>();
  for (std::int64_t i = 0; i < blocks; ++i) value = Op::combine(value, values[i]);
  *static_cast<T*>(now.host_value) = canonical(value);
}

}  // namespace detail

/// Blocks of `per_block` elements that cover `count` elements.
inline std::int64_t blocks_for(std::uint64_t count, std::uint64_t per_block) {
  return static_cast<std::int64_t>((count + per_block - 1) / per_block);
}

/// Block sizes of the kernels that have them as a template parameter; a kernel each, so no more than are useful.
inline constexpr int unrolled_block_sizes[] = {128, 256, 512, 1024};

/// Calls `body.template operator()<BlockSize>()` for one of unrolled_block_sizes.
template <class Body>
void with_block_size(int block_size, Body body) {
  switch (block_size) {
    case 128:
      return body.template operator()<128>();
    case 256:
      return body.template operator()<256>();
    case 512:
      return body.template operator()<512>();
    default:
      return body.template operator()<1024>();
  }
}

/// Runs a kernel that leaves one value per block, and finishes as the call asks.
///
/// @param kernel    void(const T* input, std::uint64_t count, handover<T>, extras...)
/// @param shape_of  shape(std::uint64_t count): the launch for a pass over so many elements; called once a pass, in their order
template <class T, class Op, class Shape, class... Extras>
void run_passes(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>, Extras...), Shape shape_of,
                std::type_identity_t<Extras>... extras) {
  const T* input = static_cast<const T*>(now.input);
  const shape first = shape_of(now.count);
  const auto to = [&](handing how, T* partials) { return detail::handover_of<T, Op>(now, how, partials); };

  switch (now.finish) {
    case finish::atomic:
      launch(now, kernel, first, input, now.count, to(handing::accumulator, nullptr), extras...);
      launch<launch_kind::early>(now, detail::collect<T, Op>, {1, 1}, detail::accumulator_of<T, Op>(now),
                                 static_cast<T*>(now.output));
      return;
    case finish::last_block:
      if (first.grid == 1) break;  // a block alone has nobody to wait for
      launch(now, kernel, first, input, now.count, to(handing::last_block, detail::partials_for<T>(now, first.grid)), extras...);
      return;
    case finish::cooperative: {
      const std::int64_t most = resident_blocks(now, kernel, first.block, first.shared_bytes);
      if (first.grid > most)
        throw error(errc::unsupported, "the cooperative finish needs all " + std::to_string(first.grid) +
                                           " blocks on the device at once, and it holds " + std::to_string(most) +
                                           ": choose another finish, or a variant whose grid does not grow with n");
      launch<launch_kind::cooperative>(now, kernel, first, input, now.count,
                                       to(handing::cooperative, detail::partials_for<T>(now, first.grid)), extras...);
      return;
    }
    case finish::host: {
      T* partials = detail::partials_for<T>(now, first.grid);
      launch(now, kernel, first, input, now.count, to(handing::partials, partials), extras...);
      detail::finish_on_host<T, Op>(now, partials, first.grid);
      return;
    }
    default:
      break;
  }

  // finish::relaunch, or one block in any case: each pass reads the partials of the one before, in two buffers taken in turn.
  std::uint64_t count = now.count;
  for (int pass = 0;; ++pass) {
    const shape how = pass == 0 ? first : shape_of(count);
    if (how.grid == 1) {
      launch(now, kernel, how, input, count, to(handing::result, nullptr), extras...);
      return;
    }
    T* partials = detail::partials_for<T>(now, how.grid, pass % 2);
    launch(now, kernel, how, input, count, to(handing::partials, partials), extras...);
    input = partials;
    count = static_cast<std::uint64_t>(how.grid);
  }
}

/// Blocks of a grid that stays on the device: as many as fit, or fewer if the launch policy says so.
template <class... Parameters>
std::int64_t chosen_blocks(const call& now, void (*kernel)(Parameters...)) {
  const std::int64_t resident = resident_blocks(now, kernel, now.block_size, 0);
  const std::int64_t wanted = std::int64_t{now.choices.blocks_per_multiprocessor} * now.gpu.multiprocessors;
  return wanted == 0 ? resident : std::min(wanted, resident);
}

/// run_passes() for kernels whose threads take many elements each: the grid is what the device holds at once, fewer blocks where
/// there is less to do, or the caller's grid_size.
///
/// @param per_thread        elements that a thread takes at once
/// @param per_round   elements that a thread takes in a turn of its loop. Up to choices.alone_rounds turns one block does the work alone: that
///                    is less than the wait for other blocks costs
template <class T, class Op>
void run_resident(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>), int per_thread, int per_round) {
  const std::int64_t resident = chosen_blocks(now, kernel);
  bool first_pass = true;
  run_passes<T, Op>(now, kernel, [&](std::uint64_t count) {
    const auto block = static_cast<std::uint64_t>(now.block_size);
    if (std::exchange(first_pass, false) && now.grid_size != 0) return shape{now.grid_size, now.block_size};
    if (count <= block * static_cast<std::uint64_t>(now.choices.alone_rounds * per_round)) return shape{1, now.block_size};
    return shape{std::min(blocks_for(count, block * per_thread), resident), now.block_size};
  });
}

}  // namespace onefold::cuda_backend
