#pragma once
/// @file block.cuh  Reductions within a block.

#include "warp.cuh"

namespace onefold::cuda_backend {

/// The block's dynamic shared memory as elements of T. One symbol for every type: the language wants one declaration per name.
template <class T>
__device__ inline T* shared_memory() {
  extern __shared__ __align__(16) unsigned char onefold_shared[];
  return reinterpret_cast<T*>(onefold_shared);
}

/// Combines one value per thread; the result is in thread 0. Block sizes are multiples of 32. Two rounds of shuffles with one
/// barrier between them, and one behind them so that it can be called again.
template <class Op, class T>
__device__ inline T block_reduce(T value) {
  __shared__ T of_warp[warp_size];
  const unsigned warp_lane = threadIdx.x % warp_size;
  const unsigned warp = threadIdx.x / warp_size;
  value = warp_reduce<Op>(value);
  if (warp_lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = warp_lane < blockDim.x / warp_size ? of_warp[warp_lane] : Op::template neutral<T>();
    value = warp_reduce<Op>(value);
  }
  __syncthreads();  // of_warp may be written again after this
  return value;
}

/// Whether the calling thread's warp holds a thread below `active`. A warp that holds none jumps over its step; asked thread by thread
/// only, the compiler makes every instruction of the step conditional, and idle warps issue them all.
__device__ inline bool warp_has_work(unsigned active) { return threadIdx.x / warp_size * warp_size < active; }

/// One step of a tree in shared memory: waits for the block, then thread t < active combines its value with that of thread t + active.
/// Each thread keeps its own value in a register too, so that a step is one load and one store, and after the last one thread 0 has the
/// result without another barrier. Before the first step values[t] is stored, by thread t below 2 * active or by whoever loads it.
template <class Op, class T>
__device__ inline void halve(T& value, T* values, unsigned active) {
  __syncthreads();
  if (warp_has_work(active)) {
    if (threadIdx.x < active) {
      value = Op::combine(value, values[threadIdx.x + active]);
      values[threadIdx.x] = value;
    }
    __syncwarp();
  }
}

/// halve() until 64 values are left, written out at compile time. BlockSize is a power of two from 64 up.
template <class Op, int BlockSize, class T>
__device__ inline void halve_to_last_warp(T& value, T* values) {
  if constexpr (BlockSize > 2 * warp_size) {
    halve<Op>(value, values, BlockSize / 2);
    halve_to_last_warp<Op, BlockSize / 2>(value, values);
  }
}

/// The tree over values[0, 64) by the first warp, in shared memory; the result is in thread 0's value. Each step reads, waits, writes
/// and waits: threads of a warp need not run in step.
template <class Op, class T>
__device__ inline void last_warp(T& value, T* values) {
  __syncthreads();
  if (threadIdx.x >= warp_size) return;
#pragma unroll
  for (unsigned s = warp_size; s > 0; s /= 2) {
    value = Op::combine(value, values[threadIdx.x + s]);
    __syncwarp();
    values[threadIdx.x] = value;
    __syncwarp();
  }
}

}  // namespace onefold::cuda_backend
