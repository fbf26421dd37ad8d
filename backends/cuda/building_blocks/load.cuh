#pragma once
/// @file load.cuh  Reading elements from global memory: one by one, and 16 bytes at a time from any alignment.

#include <cstdint>

#include <onefold/device/load.cuh>

namespace onefold::cuda_backend {

using device::load_pack;
using device::pack;

/// Element i, or the neutral element where the input has ended: every operator leaves the other operand unchanged by it.
template <class Op, class T>
__device__ inline T element_or_neutral(const T* input, std::uint64_t i, std::uint64_t count) {
  return i < count ? input[i] : Op::template neutral<T>();
}

/// Fills values[0, 2 blockDim.x) in shared memory with the block's segment of as many elements, and returns the calling thread's own
/// element, values[threadIdx.x]. No barrier.
template <class Op, class T>
__device__ inline T load_segment(T* values, const T* input, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
  const T own = element_or_neutral<Op>(input, i, count);
  values[threadIdx.x + blockDim.x] = element_or_neutral<Op>(input, i + blockDim.x, count);
  values[threadIdx.x] = own;
  return own;
}

/// An input of any alignment seen as a head of single elements, a body of packs and a tail of single elements.
template <class T>
struct aligned_view {
  const T* head;
  const pack<T>* body;
  const T* tail;
  std::uint64_t packs;
  int head_count;  ///< fewer than pack<T>::size
  int tail_count;  ///< fewer than pack<T>::size

  __host__ __device__ aligned_view(const T* input, std::uint64_t count) : head(input) {
    const auto address = reinterpret_cast<std::uintptr_t>(input);
    const std::uint64_t to_boundary = ((16 - address % 16) % 16) / sizeof(T);
    head_count = static_cast<int>(to_boundary < count ? to_boundary : count);
    const std::uint64_t rest = count - static_cast<std::uint64_t>(head_count);
    packs = rest / pack<T>::size;
    tail_count = static_cast<int>(rest % pack<T>::size);
    body = reinterpret_cast<const pack<T>*>(input + head_count);
    tail = input + head_count + packs * pack<T>::size;
  }
};

}  // namespace onefold::cuda_backend
