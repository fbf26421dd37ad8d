/// @file bottom_up.cu
///
/// Idea     The tree lies in global memory, in the array itself, and every level is a kernel of its own: neighbours first, then
///          neighbours of neighbours. The end of a kernel is the only barrier that it needs.
///
///          level 1:  a[0]<-a[1]  a[2]<-a[3]  a[4]<-a[5]  a[6]<-a[7]
///          level 2:  a[0]<------a[2]         a[4]<------a[6]
///          level 3:  a[0]<-----------------a[4]
///
/// Cost     a copy of the input (n reads, n writes), then log2(n) launches; level l reads n / 2^(l-1) elements, strided by 2^l, so that
///          from the third level on every element costs a memory transaction of its own; depth log2(n).
/// Teaches  A tree without shared memory, and what launches and strides cost.
/// Source   seed 003, totalFloats/totalArray. Mended: it works on a copy, for the user's input is not ours to change; 64-bit indices;
///          threads beyond the last pair do nothing.

#include "../building_blocks/load.cuh"
#include "../in_place.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) bottom_up_level(T* values, std::uint64_t count, std::uint64_t step) {
  const std::uint64_t left = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * step;
  const std::uint64_t right = left + step / 2;
  if (right < count) values[left] = Op::combine(values[left], values[right]);
}

struct bottom_up {
  static constexpr traits what{.block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    const scratch_copy copy(now, sizeof(T));
    T* values = static_cast<T*>(copy.data());
    for (std::uint64_t step = 2; step / 2 < now.count; step *= 2) {
      const auto pairs = static_cast<std::uint64_t>(blocks_for(now.count, step));
      launch(now, bottom_up_level<T, Op>, {blocks_for(pairs, static_cast<std::uint64_t>(now.block_size)), now.block_size}, values,
             now.count, step);
    }
    launch(now, root_kernel<T>, {1, now.block_size}, values, static_cast<T*>(now.output));
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(bottom_up)
