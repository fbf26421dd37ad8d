/// @file shared_sequential.cu
///
/// Idea     Halve instead of pairing neighbours: the front half takes the back half, element by element.
///
///          values:  0   1   2   3 | 4   5   6   7
///          s=4      0<--------------4               threads 0..3: 0+4 1+5 2+6 3+7
///          s=2      0<------2                       threads 0..1: 0+2 1+3
///          s=1      0<--1                           thread  0
///
/// Cost     as shared_compact, with a warp's accesses in consecutive words: no bank is asked twice.
/// Teaches  The order of combination is free, so choose the one whose addresses suit the memory.
/// Source   seed 000 #5, seed 004 reduce2. Mended: bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) shared_sequential_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  T value = element_or_neutral<Op>(input, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
  values[threadIdx.x] = value;
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) halve<Op>(value, values, s);
  hand_over<Op>(value, to);
}

struct shared_sequential {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, shared_sequential_kernel<T, Op>, shape_by_threads<1, 1>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(shared_sequential)
