/// @file atomic_shared.cu
///
/// Idea     Each block has an accumulator of its own in shared memory; only its value goes on to global memory.
///
///          block 0             block 1
///          x0 x1 x2 ...        x512 x513 ...    one shared atomic per element
///            \ | /               \ | /
///             acc0                acc1          one value per block
///                 \              /
///                    the finish
///
/// Cost     n loads, n shared atomics (serial within a block, parallel between blocks), n / block partials; depth block + the finish.
/// Teaches  Privatisation: the queue is cut into as many as there are blocks, and the atomics stay on the multiprocessor.
/// Source   seed 000 #2. Mended: the seed lets every thread of the block clear the accumulator; one does here. Bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) atomic_shared_kernel(const T* input, std::uint64_t count, handover<T> to) {
  __shared__ T accumulator;
  if (threadIdx.x == 0) accumulator = Op::template neutral<T>();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const T value = element_or_neutral<Op>(input, i, count);  // on its way while the block waits
  __syncthreads();
  if (i < count) atomic_combine<Op>(&accumulator, value);
  __syncthreads();
  hand_over<Op>(accumulator, to);
}

struct atomic_shared {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, atomic_shared_kernel<T, Op>, shape_by_threads<1, 0>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(atomic_shared)
