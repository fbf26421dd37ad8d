#pragma once
/// @file thread.cuh  What one thread combines on its own, from global memory.

#include <cstdint>

namespace onefold::cuda_backend {

/// Combines elements first, first + stride, ... below `count`, `Batch` of them at a time: so many loads are on their way before the
/// first is needed. Without the batch the compiler, which knows nothing of the trip count, waits for each.
template <class Op, int Batch, class T>
__device__ inline T thread_reduce(const T* input, std::uint64_t first, std::uint64_t stride, std::uint64_t count) {
  T value = Op::template neutral<T>();
  std::uint64_t i = first;
  for (; i + (Batch - 1) * stride < count; i += Batch * stride) {
    T loaded[Batch];
#pragma unroll
    for (int k = 0; k < Batch; ++k) loaded[k] = input[i + k * stride];
#pragma unroll
    for (int k = 0; k < Batch; ++k) value = Op::combine(value, loaded[k]);
  }
  for (; i < count; i += stride) value = Op::combine(value, input[i]);
  return value;
}

}  // namespace onefold::cuda_backend
