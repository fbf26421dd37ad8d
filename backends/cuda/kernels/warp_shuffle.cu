/// @file warp_shuffle.cu
///
/// Idea     The last warp's values move from register to register: a lane reads another lane's value without shared memory.
///
///          values:  0 .. 31 <-- 32 .. 63     the last step in shared memory
///          lane:    0 <-16- 16               __shfl_down_sync, distances 16 8 4 2 1
///                   0 <--8-- 8
///                   ...
///
/// Cost     as unrolled_all, with five shuffles in place of five rounds of load, wait, store, wait.
/// Teaches  Registers are the fastest memory there is, and within a warp they can be shared.
/// Source   seed 000 #9. Mended: the seed's __shfl(d, threadIdx.x + 16) has no mask and names lanes beyond 31; __shfl_down_sync with the
///          whole warp here.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op, int BlockSize>
__global__ void __launch_bounds__(BlockSize) warp_shuffle_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  const std::uint64_t i = std::uint64_t{blockIdx.x} * 2 * BlockSize + threadIdx.x;
  T value = Op::combine(element_or_neutral<Op>(input, i, count), element_or_neutral<Op>(input, i + BlockSize, count));
  values[threadIdx.x] = value;
  halve_to_last_warp<Op, BlockSize>(value, values);
  __syncthreads();
  if (threadIdx.x < warp_size) value = warp_reduce<Op>(Op::combine(value, values[threadIdx.x + warp_size]));
  hand_over<Op>(value, to);
}

struct warp_shuffle {
  static constexpr traits what{.default_finish = finish::atomic, .finishes = every_finish, .block_sizes = unrolled_block_sizes};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    with_block_size(now.block_size, [&]<int BlockSize>() {
      run_passes<T, Op>(now, warp_shuffle_kernel<T, Op, BlockSize>, shape_by_threads<2, 1>);
    });
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(warp_shuffle)
