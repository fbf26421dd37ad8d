/// @file top_down.cu
///
/// Idea     One kernel with the loop over the levels inside: fold the back half of the array onto the front half, wait for the whole
///          grid, and again.
///
///          n = 8:  a[0..3] (+)= a[4..7] | grid barrier | a[0..1] (+)= a[2..3] | grid barrier | a[0] (+)= a[1]
///
/// Cost     a copy of the input, then one launch; level l reads and writes n / 2^l elements, coalesced; log2(n) barriers of the whole
///          grid at about a microsecond each; depth log2(n).
/// Teaches  A barrier inside a kernel is cheaper than a launch, and addresses that stay dense are cheaper than strides.
/// Source   seed 003, topdownAllFloats. Mended: the seed's barrier spans one work group only, so with more than one its levels race;
///          here the launch is cooperative and the barrier spans the grid. It works on a copy of the input.

#include "../building_blocks/barrier.cuh"
#include "../building_blocks/load.cuh"
#include "../in_place.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) top_down_kernel(T* values, std::uint64_t count, T* result) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  while (count > 1) {
    const std::uint64_t half = (count + 1) / 2;  // of an odd count the middle element stays alone
    // __ldcg: another block wrote the other half in the level before, and the first-level cache may hold the older value.
    for (std::uint64_t i = first; i + half < count; i += threads)
      values[i] = Op::combine(__ldcg(values + i), __ldcg(values + i + half));
    cooperative_groups::this_grid().sync();
    count = half;
  }
  if (first == 0) *result = canonical(__ldcg(values));
}

struct top_down {
  static constexpr traits what{.block_sizes = powers_of_two_to_1024, .grid_size_free = true};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_in_one_grid<T>(now, top_down_kernel<T, Op>, "top_down");
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(top_down)
