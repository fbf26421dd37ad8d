/// @file unrolled_last_warp.cu
///
/// Idea     Once 64 values are left, one warp does the rest, and a warp needs no barrier of the block.
///
///          values:  0 ........ 255     halving with __syncthreads() while s > 32
///          s=32     0 .. 31 <-- 32 .. 63   |
///          s=16     0 .. 15 <-- 16 .. 31   |  warp 0 alone, __syncwarp() between the steps,
///           ...                            |  no loop, no test
///          s=1      0 <-- 1                |
///
/// Cost     as dual_load, less six block barriers and six loop turns.
/// Teaches  What the last steps cost was not the additions but the instructions around them. And that a warp's lanes have not run in
///          step since Volta: what was free then is __syncwarp() now.
/// Source   seed 000 #7, seed 004 v4. Mended: both seeds rely on `volatile` and lanes in step, which races today; every step here reads,
///          waits, writes, waits. Seed 000 stops at two values and adds data[0] + data[1]; here the tree goes to one.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) unrolled_last_warp_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
  T value = Op::combine(element_or_neutral<Op>(input, i, count), element_or_neutral<Op>(input, i + blockDim.x, count));
  values[threadIdx.x] = value;
  for (unsigned s = blockDim.x / 2; s > warp_size; s /= 2) halve<Op>(value, values, s);
  last_warp<Op>(value, values);
  hand_over<Op>(value, to);
}

struct unrolled_last_warp {
  static constexpr int sizes[] = {64, 128, 256, 512, 1024};  // the last warp starts with 64 values
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = sizes};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, unrolled_last_warp_kernel<T, Op>, shape_by_threads<2, 1>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(unrolled_last_warp)
