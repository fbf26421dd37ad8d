/// @file segment_wide.cu
///
/// Idea     Shared memory holds more than two elements per thread: load 4096 or 8192 of them per block, or 6144, which three into one
///          makes the 2048 that segment_halving begins with.
///
///          width 8192:  [ 4096 <-- 4096 ]  every thread several times, then halve down to one
///          width 6144:  [ 2048 <-- 2048 <-- 2048 ]  three into one first, then halve 2048 down to one
///
/// Cost     n loads, width / block per thread, all in flight together; n / width partials; width * sizeof(T) bytes of shared memory
///          per block, which bounds how many blocks a multiprocessor holds.
/// Teaches  More work per block pays for the narrow end of the tree, until shared memory crowds the other blocks out.
/// Source   seed 002, "Make Use of Shared Memory". Mended: nothing to mend, the lecture gives sizes and no kernel.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) segment_wide_kernel(const T* input, std::uint64_t count, handover<T> to, unsigned width) {
  T* values = shared_memory<T>();
  const std::uint64_t start = std::uint64_t{blockIdx.x} * width;
#pragma unroll 8
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x) values[i] = element_or_neutral<Op>(input, start + i, count);
  __syncthreads();

  unsigned left = width;
  if (width % 3 == 0) {
    left = width / 3;
    for (unsigned i = threadIdx.x; i < left; i += blockDim.x)
      values[i] = Op::combine(Op::combine(values[i], values[i + left]), values[i + 2 * left]);
    __syncthreads();
  }
  for (left /= 2; left > 0; left /= 2) {
    for (unsigned i = threadIdx.x; i < left; i += blockDim.x) values[i] = Op::combine(values[i], values[i + left]);
    __syncthreads();
  }
  hand_over<Op>(values[threadIdx.x], to);
}

struct segment_wide {
  static constexpr int element_counts[] = {4096, 6144, 8192};
  static constexpr traits what{.default_finish = finish::relaunch,
                               .finishes = every_finish,
                               .block_sizes = powers_of_two_to_1024,
                               .default_width = 4096,
                               .widths = element_counts,
                               .width_meaning = "elements of shared memory per block"};
  template <class T, class Op>
  static constexpr bool supports = true;

  static std::size_t shared_bytes_of(const call& now) { return static_cast<std::size_t>(now.width) * size_of(now.type); }
  static shape shape_of(const call& now, std::uint64_t count) {
    return {blocks_for(count, static_cast<std::uint64_t>(now.width)), now.block_size, shared_bytes_of(now)};
  }

  template <class T, class Op>
  static void run(call& now) {
    require_shared_memory(now, shared_bytes_of(now), "width", now.width);
    run_passes<T, Op>(now, segment_wide_kernel<T, Op>, shape_of, static_cast<unsigned>(now.width));
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(segment_wide)
