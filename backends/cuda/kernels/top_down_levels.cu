/// @file top_down_levels.cu
///
/// Idea     The tree of top_down with a kernel for each level: the back half of the array is folded onto the front half, and the
///          end of the kernel is the only barrier that it needs.
///
///          n = 8, launch 1:  a[0..3] (+)= a[4..7]
///                 launch 2:  a[0..1] (+)= a[2..3]
///                 launch 3:  a[0] (+)= a[1]
///
/// Cost     a copy of the input (n reads, n writes), then log2(n) launches; level l reads n / 2^(l-1) elements and writes half as
///          many, coalesced; depth log2(n), and the same bits as top_down.
/// Teaches  Beside bottom_up, which has as many launches, what dense addresses save; beside top_down, what launches cost.
/// Source   seed 003, top-down "by calling a log number of kernels" (the lecture has code for the loop on the GPU). Mended: it
///          works on a copy of the input; 64-bit indices.

#include "../building_blocks/load.cuh"
#include "../in_place.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) top_down_level(T* values, std::uint64_t count, std::uint64_t half) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i + half < count) values[i] = Op::combine(values[i], values[i + half]);
}

struct top_down_levels {
  static constexpr traits what{.block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    const scratch_copy copy(now, sizeof(T));
    T* values = static_cast<T*>(copy.data());
    for (std::uint64_t count = now.count; count > 1;) {
      const std::uint64_t half = (count + 1) / 2;  // of an odd count the middle element stays alone
      launch(now, top_down_level<T, Op>, {blocks_for(count - half, static_cast<std::uint64_t>(now.block_size)), now.block_size},
             values, count, half);
      count = half;
    }
    launch(now, root_kernel<T>, {1, now.block_size}, values, static_cast<T*>(now.output));
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(top_down_levels)
