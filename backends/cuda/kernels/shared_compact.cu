/// @file shared_compact.cu
///
/// Idea     The same tree, but the threads that work stand side by side: thread t takes the pair that begins at 2 s t.
///
///          values:  0   1   2   3   4   5   6   7
///          s=1      0<--1   2<--3   4<--5   6<--7    threads 0 1 2 3
///          s=2      0<------2       4<------6        threads 0 1
///          s=4      0<--------------4                thread  0
///
/// Cost     as shared_interleaved, but whole warps have nothing to do and skip the step. The working lanes now stride by 2s through
///          shared memory: from s = 1 on two, four, ... of them meet in one bank.
/// Teaches  Divergence is about which threads work, not how many. And the next cost: bank conflicts.
/// Source   seed 000 #4, seed 004 reduce1. Mended: bounds; the index is unsigned, so that it compares with blockDim as it should.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) shared_compact_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  values[threadIdx.x] = element_or_neutral<Op>(input, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
  __syncthreads();
  for (unsigned s = 1, active = blockDim.x / 2; active > 0; s *= 2, active /= 2) {
    if (warp_has_work(active)) {
      const unsigned left = 2 * s * threadIdx.x;
      if (threadIdx.x < active) values[left] = Op::combine(values[left], values[left + s]);
      __syncwarp();
    }
    __syncthreads();
  }
  hand_over<Op>(values[threadIdx.x], to);
}

struct shared_compact {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, shared_compact_kernel<T, Op>, shape_by_threads<1, 1>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(shared_compact)
