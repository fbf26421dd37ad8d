/// @file dual_grid_stride.cu
///
/// Idea     grid_stride with the two loads of dual_load: each turn of the loop takes one element from here and one from a block further.
///
///          block b, turn k:   [ B elements | B elements ]      thread t: x[i] (+) x[i + B], then i += 2 B gridDim
///
/// Cost     as grid_stride, with half the turns and two loads in flight per turn.
/// Teaches  More independent loads per turn hide more latency; the compiler's own unrolling of grid_stride does the same, so measure.
/// Source   seed 004 v6. Mended: the seed reads x[i + B] without a bound and keeps its running value in shared memory; a register here.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

constexpr int loads_per_turn = 2;
constexpr int turns_per_round = 2;  // one block alone takes as many elements as grid_stride's

template <class T, class Op>
__global__ void __launch_bounds__(1024) dual_grid_stride_kernel(const T* input, std::uint64_t count, handover<T> to) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * loads_per_turn * blockDim.x;
  T value = Op::template neutral<T>();
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * loads_per_turn * blockDim.x + threadIdx.x; i < count; i += step)
    value = Op::combine(value, Op::combine(input[i], element_or_neutral<Op>(input, i + blockDim.x, count)));
  hand_over<Op>(block_reduce<Op>(value), to);
}

struct dual_grid_stride {
  static constexpr traits what{
      .default_finish = finish::last_block, .finishes = every_finish, .block_sizes = powers_of_two_to_1024, .grid_size_free = true};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_resident<T, Op>(now, dual_grid_stride_kernel<T, Op>, loads_per_turn, turns_per_round * loads_per_turn);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(dual_grid_stride)
