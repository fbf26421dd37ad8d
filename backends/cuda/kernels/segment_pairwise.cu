/// @file segment_pairwise.cu
///
/// Idea     A block of M threads reduces a segment of 2M elements in shared memory. Thread t owns the pair (2t, 2t + 1) and combines
///          whenever t is a multiple of the stride.
///
///          values:    0   1   2   3   4   5   6   7      M = 4 threads
///          stride 1   0<--1   2<--3   4<--5   6<--7      threads 0 1 2 3
///          stride 2   0<------2       4<------6          threads 0 2
///          stride 4   0<--------------4                  thread  0
///
/// Cost     n loads, two per thread; log2(2M) steps, a barrier before each; n / 2M partials, finished by launching again. From the
///          second step on warps are partly idle; after the fifth every active warp has one active lane.
/// Teaches  The segmented reduction: a tree per block, and a tree of blocks above it. And what "t % stride" costs.
/// Source   seed 002, "A Simple Mapping of Data to Threads". Mended: the lecture loads blockDim+t where blockDim.x + t is meant; bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) segment_pairwise_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const unsigned t = threadIdx.x;
  load_segment<Op>(values, input, count);
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % stride == 0) values[2 * t] = Op::combine(values[2 * t], values[2 * t + stride]);
  }
  hand_over<Op>(values[2 * t], to);
}

struct segment_pairwise {
  static constexpr traits what{.default_finish = finish::relaunch, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, segment_pairwise_kernel<T, Op>, shape_by_threads<2, 2>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(segment_pairwise)
