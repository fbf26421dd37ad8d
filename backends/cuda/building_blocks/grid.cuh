#pragma once
/// @file grid.cuh  From one value per block to the result: what a block does with its value, one branch per finish.

#include <onefold/device/dependent.cuh>
#include <onefold/operators.hpp>

#include "../../float_semantics.hpp"
#include "atomic.cuh"
#include "barrier.cuh"
#include "block.cuh"
#include "handover.hpp"

namespace onefold::cuda_backend {

using device::let_next_kernel_start;
using device::wait_for_previous_kernel;
using onefold::detail::canonical;

/// Combines `count` partials with the whole block and stores the result. The order is fixed by the block size alone.
template <class Op, class T>
__device__ inline void combine_partials(const T* partials, std::uint64_t count, T* result) {
  T value = Op::template neutral<T>();
  // __ldcg: the partials were written by other blocks, and the first-level cache does not see their stores.
  for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) value = Op::combine(value, __ldcg(partials + i));
  value = block_reduce<Op>(value);
  if (threadIdx.x == 0) *result = canonical(value);
}

namespace detail {

// The finishes in which the whole block, or the whole grid, takes part. Kept out of line: inlined, the compiler computes its addresses
// ahead of the branch, and some twenty more instructions per thread are a sixth of the time of the short tree kernels.
template <class Op, class T>
__device__ __noinline__ void hand_over_together(T value, handing how, T* partials, unsigned* ticket, T* result) {
  if (how == handing::cooperative) {
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) combine_partials<Op>(partials, gridDim.x, result);
    return;
  }
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = value;
    __threadfence();                                              // the partial is visible before the arrival is
    is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // wraps to zero: ready for the next call
    __threadfence();                                              // the others' partials are read after their arrivals
  }
  __syncthreads();
  if (is_last) combine_partials<Op>(partials, gridDim.x, result);
}

}  // namespace detail

/// The last act of a kernel: hands over the block's value, which thread 0 holds. All threads of the block must call it; what the others
/// pass is not used. The branches are uniform over the grid, so a kernel pays for one of them; as template parameters they would multiply
/// the kernels by five.
template <class Op, class T>
__device__ inline void hand_over(T value, const handover<T>& to) {
  if (to.how >= handing::last_block) return detail::hand_over_together<Op>(value, to.how, to.partials, to.ticket, to.result);
  if (threadIdx.x != 0) return;
  if (to.how == handing::accumulator) {
    let_next_kernel_start();
    atomic_combine<Op>(to.accumulator, value);
  } else if (to.how == handing::partials) {
    to.partials[blockIdx.x] = value;
  } else {
    *to.result = canonical(value);
  }
}

}  // namespace onefold::cuda_backend
