/// @file unrolled_all.cu
///
/// Idea     The block size is a template parameter, so the compiler writes the whole tree out: no loop is left.
///
///          if (B >= 1024) 512 <-- 512;  if (B >= 512) 256 <-- 256;  ...  last warp       each `if` decided at compile time
///
/// Cost     as unrolled_last_warp, less the loop's counter and test; one kernel per block size in the program.
/// Teaches  Loop overhead in a tree of nine steps can be seen in the time. Whether it is worth a kernel per block size is a question of
///          the compiler's age: compare with unrolled_last_warp.
/// Source   seed 000 #8, seed 004 v5. Mended: as unrolled_last_warp; seed 004 misses a brace and goes below 64 threads without bounds.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op, int BlockSize>
__global__ void __launch_bounds__(BlockSize) unrolled_all_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 2 * BlockSize + threadIdx.x;
  T value = Op::combine(element_or_neutral<Op>(input, i, count), element_or_neutral<Op>(input, i + BlockSize, count));
  values[threadIdx.x] = value;
  halve_to_last_warp<Op, BlockSize>(value, values);
  last_warp<Op>(value, values);
  hand_over<Op>(value, to);
}

struct unrolled_all {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = unrolled_block_sizes};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    with_block_size(now.block_size, [&]<int BlockSize>() {
      run_passes<T, Op>(now, unrolled_all_kernel<T, Op, BlockSize>, shape_by_threads<2, 1>);
    });
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(unrolled_all)
