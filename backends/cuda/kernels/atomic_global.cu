/// @file atomic_global.cu
///
/// Idea     A thread per element, and every thread combines its element with one accumulator in global memory.
///
///          x0  x1  x2  x3  x4 ...     n threads
///            \  \  |  /  /
///             accumulator             n atomics on one address, one after the other
///
/// Cost     n loads, n atomics on one address: the memory system carries out about one every two nanoseconds, whatever the GPU's
///          width. Depth n. Two launches.
/// Teaches  Correct and parallel is not yet fast: the accumulator is a queue.
/// Source   seed 000 #1. Mended: bounds; the accumulator starts at the neutral element of the operator. There is no atomic
///          multiplication: a product compares and swaps, and so that its losers do not drown the winner only one block takes part.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void atomic_global_kernel(const T* input, std::uint64_t count, handover<T> to) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    atomic_combine<Op>(to.accumulator, input[i]);
}

struct atomic_global {
  static constexpr finish only_atomic[] = {finish::atomic};
  static constexpr traits what{.default_finish = finish::atomic, .finishes = only_atomic, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  static shape of_all(const call& now, std::uint64_t count) {
    return {blocks_for(count, static_cast<std::uint64_t>(now.block_size)), now.block_size};
  }
  // Of those who compare and swap, each round has one winner: more than a block of them only adds traffic.
  static shape of_one_block(const call& now, std::uint64_t) { return {1, now.block_size}; }

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, atomic_global_kernel<T, Op>, has_native_atomic<Op> ? of_all : of_one_block);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(atomic_global)
