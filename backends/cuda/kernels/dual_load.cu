/// @file dual_load.cu
///
/// Idea     In shared_sequential half of the threads load an element and never combine one. Here every thread combines two elements
///          on their way in, so half as many blocks do the work.
///
///          input:   0 .. B-1 | B .. 2B-1       thread t: values[t] = x[t] (+) x[t + B]
///          values:  0 .. B-1                   then the tree of shared_sequential
///
/// Cost     n loads, two per thread and both in flight at once; n / (2 block) blocks; depth 1 + log2(block) + the finish.
/// Teaches  The tree is overhead that every block pays: give each block more to pay it for.
/// Source   seed 000 #6, seed 004 reduce3. Mended: seed 000 has no bounds and would read past the end.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) dual_load_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
  T value = Op::combine(element_or_neutral<Op>(input, i, count), element_or_neutral<Op>(input, i + blockDim.x, count));
  values[threadIdx.x] = value;
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) halve<Op>(value, values, s);
  hand_over<Op>(value, to);
}

struct dual_load {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, dual_load_kernel<T, Op>, shape_by_threads<2, 1>);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(dual_load)
