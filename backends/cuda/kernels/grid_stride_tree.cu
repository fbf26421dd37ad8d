/// @file grid_stride_tree.cu
///
/// Idea     As many threads as the GPU holds at once, and each combines many elements on its own, one or two in a turn; then the
///          block's tree runs in shared memory, as in warp_shuffle.
///
///          width 1, turn k:  [ B elements of each block ]       thread t: x[i],              then i += B gridDim
///          width 2, turn k:  [ B elements | B elements ]        thread t: x[i] (+) x[i + B], then i += 2 B gridDim
///          then              values in shared memory: B/2 <-- B/2, ..., 32 <-- 32, five shuffles
///
/// Cost     n loads, coalesced, one or two in flight per turn; a tree for each of some hundred blocks, and as many atomics; depth
///          n / threads + log2(block) + the finish.
/// Teaches  What the lectures' last step is worth when nothing but the loop changes: tree and finish are warp_shuffle's.
///          dual_grid_stride is width 2 with a tree of shuffles and another finish; grid_stride has more loads in flight besides.
/// Source   seed 000 #10 (width 1) and seed 004 v6 (width 2). Mended: 64-bit indices. Seed 004 reads its second element without a
///          bound, and keeps the running value in shared memory where a register is here; its last warp has no barriers: here it
///          has the shuffles of 000 #9.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op, int BlockSize, int PerTurn>
__global__ void __launch_bounds__(BlockSize) grid_stride_tree_kernel(const T* input, std::uint64_t count, handover<T> to) {
  __shared__ T values[BlockSize];
  constexpr std::uint64_t taken_by_block = std::uint64_t{PerTurn} * BlockSize;
  T value = Op::template neutral<T>();
  for (std::uint64_t i = blockIdx.x * taken_by_block + threadIdx.x; i < count; i += gridDim.x * taken_by_block) {
    T taken = input[i];
#pragma unroll
    for (int k = 1; k < PerTurn; ++k)
      taken = Op::combine(taken, element_or_neutral<Op>(input, i + k * std::uint64_t{BlockSize}, count));
    value = Op::combine(value, taken);
  }
  values[threadIdx.x] = value;
  halve_to_last_warp<Op, BlockSize>(value, values);
  __syncthreads();
  if (threadIdx.x < warp_size) value = warp_reduce<Op>(Op::combine(value, values[threadIdx.x + warp_size]));
  hand_over<Op>(value, to);
}

struct grid_stride_tree {
  static constexpr int sizes[] = {256, 512};  // the lectures'; a kernel each
  static constexpr int elements_of_turns[] = {1, 2};
  static constexpr traits what{.default_finish = finish::atomic,
                               .finishes = every_finish,
                               .block_sizes = sizes,
                               .grid_size_free = true,
                               .default_width = 1,
                               .widths = elements_of_turns,
                               .width_meaning = "elements that a thread takes in a turn of its loop"};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op, int BlockSize>
  static void run_blocks_of(call& now) {
    run_resident<T, Op>(
        now, now.width == 1 ? grid_stride_tree_kernel<T, Op, BlockSize, 1> : grid_stride_tree_kernel<T, Op, BlockSize, 2>,
        now.width, now.width);
  }

  template <class T, class Op>
  static void run(call& now) {
    now.block_size == 256 ? run_blocks_of<T, Op, 256>(now) : run_blocks_of<T, Op, 512>(now);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(grid_stride_tree)
