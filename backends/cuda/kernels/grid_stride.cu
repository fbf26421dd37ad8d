/// @file grid_stride.cu
///
/// Idea     As many threads as the GPU holds at once, and each combines many elements on its own before the tree begins (Brent).
///
///          threads:  0 1 2 .. T-1
///          input:    0 1 2 .. T-1 | T T+1 .. 2T-1 | 2T ...      thread t takes t, t + T, t + 2T, ... in registers
///                    then one tree per block, and blocks are few
///
/// Cost     n loads, coalesced; n / T sequential combinations per thread; a tree for each of some hundred blocks instead of some ten
///          thousand; depth n / T + log2(block) + the finish.
/// Teaches  With P processors, P threads' worth of sequential work and one tree is the cheapest: cost O(n), where a thread per element
///          costs O(n log n).
/// Source   seed 000 #10. Mended: 64-bit indices; the block's tree is of shuffles and the finish a choice, where the lecture has
///          shared memory and an atomic addition.

#include "../building_blocks/thread.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

constexpr int loads_in_flight = 4;

template <class T, class Op>
__global__ void __launch_bounds__(1024) grid_stride_kernel(const T* input, std::uint64_t count, handover<T> to) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const T value = thread_reduce<Op, loads_in_flight>(input, first, threads, count);
  hand_over<Op>(block_reduce<Op>(value), to);
}

struct grid_stride {
  static constexpr traits what{
      .default_finish = finish::last_block, .finishes = every_finish, .block_sizes = powers_of_two_to_1024, .grid_size_free = true};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_resident<T, Op>(now, grid_stride_kernel<T, Op>, 1, loads_in_flight);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(grid_stride)
