/// @file segment_halving.cu
///
/// Idea     The same segments of 2M elements for M threads, with the partial results compacted into the front half at every step.
///
///          values:    0   1   2   3 | 4   5   6   7      M = 4 threads
///          stride 4   0<--------------4                  threads 0 1 2 3
///          stride 2   0<------2                          threads 0 1
///          stride 1   0<--1                              thread  0
///
/// Cost     as segment_pairwise; active threads stay side by side, so with 1024 threads the first six steps have no divergence and the
///          last five run in one warp.
/// Teaches  How data are assigned to threads decides the cost of the same additions.
/// Source   seed 002, "A Better Strategy". Mended: bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) segment_halving_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  T value = load_segment<Op>(values, input, count);
  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) halve<Op>(value, values, stride);
  hand_over<Op>(value, to);
}

struct segment_halving {
  static constexpr traits what{.default_finish = finish::relaunch, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, segment_halving_kernel<T, Op>, shape_by_threads<2, 2>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(segment_halving)
