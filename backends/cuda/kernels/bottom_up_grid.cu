/// @file bottom_up_grid.cu
///
/// Idea     The tree of bottom_up with the loop over the levels inside one kernel: its threads stay, and share out the pairs of
///          each level anew.
///
///          level 1:  a[0]<-a[1]  a[2]<-a[3]  a[4]<-a[5]  a[6]<-a[7]  | grid barrier
///          level 2:  a[0]<------a[2]         a[4]<------a[6]         | grid barrier
///          level 3:  a[0]<-----------------a[4]                      | grid barrier
///
/// Cost     a copy of the input, then one launch; reads and writes as bottom_up, in strides; log2(n) barriers of the whole grid at
///          about a microsecond each; depth log2(n), and the same bits as bottom_up.
/// Teaches  Beside bottom_up, what a launch costs and a barrier does not; beside top_down, which has the same barriers, what
///          strides cost.
/// Source   seed 003, totalFloats with the loop of totalArray on the GPU: "for either bottom-up or top-down", of which the lecture
///          has code for top-down. Mended: as in top_down the barrier spans the grid. It works on a copy of the input.

#include "../building_blocks/barrier.cuh"
#include "../building_blocks/load.cuh"
#include "../in_place.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) bottom_up_grid_kernel(T* values, std::uint64_t count, T* result) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t step = 2; step / 2 < count; step *= 2) {
    // __ldcg: another block may have written these in the level before, and the first-level cache may hold the older values.
    for (std::uint64_t left = first * step; left + step / 2 < count; left += threads * step)
      values[left] = Op::combine(__ldcg(values + left), __ldcg(values + left + step / 2));
    cooperative_groups::this_grid().sync();
  }
  if (first == 0) *result = canonical(__ldcg(values));
}

struct bottom_up_grid {
  static constexpr traits what{.block_sizes = powers_of_two_to_1024, .grid_size_free = true};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_in_one_grid<T>(now, bottom_up_grid_kernel<T, Op>, "bottom_up_grid");
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(bottom_up_grid)
