/// @file shared_interleaved.cu
///
/// Idea     The first tree: neighbours combine, then neighbours of neighbours. Thread t works in a step when t is a multiple of 2s.
///
///          t:    0   1   2   3   4   5   6   7
///          s=1   0<--1   2<--3   4<--5   6<--7     threads 0 2 4 6
///          s=2   0<------2       4<------6         threads 0 4
///          s=4   0<--------------4                 thread  0
///
/// Cost     n loads, one element per thread; log2(block) steps with a barrier each; depth log2(block) + the finish. In every step all
///          warps of the block run, most of their lanes switched off.
/// Teaches  A tree needs log2(n) steps where the accumulator needed n. And: lanes that are switched off cost as much as lanes that
///          work ("divergence"), and `%` is slow.
/// Source   seed 000 #3, seed 001, seed 004 reduce0. Mended: seed 000 adds an undeclared `x` at the end where data[0] is meant; bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) shared_interleaved_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const unsigned t = threadIdx.x;
  values[t] = element_or_neutral<Op>(input, std::uint64_t{blockIdx.x} * blockDim.x + t, count);
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) values[t] = Op::combine(values[t], values[t + s]);
    __syncthreads();
  }
  hand_over<Op>(values[threadIdx.x], to);
}

struct shared_interleaved {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, shared_interleaved_kernel<T, Op>, shape_by_threads<1, 1>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(shared_interleaved)
