/// @file persistent_blocks.cu
///
/// Idea     Be compute-centric: 2048 threads, or as many as a multiprocessor holds, sit on every one until the data are exhausted.
///          Each block owns a chunk; it fills its shared memory, reduces only while every thread has work, loads more, and lets the
///          parallelism drop once, at the end.
///
///          chunk of a block: [ fill | fill | fill | ... ]
///          each fill:        slots 0..15 of each thread --> halve, halve, halve, halve --> slot 0, kept for the next fill
///          at the end:       one tree over the block, and the blocks are gathered
///
/// Cost     n loads, 15 or 7 per thread in flight per fill; no barrier while filling: with strides that are multiples of the block size a
///          thread meets only its own slots; one tree per block; 64 bytes of shared memory per thread. Where that, or registers,
///          leave room for fewer blocks, there are fewer, and their chunks are longer.
/// Teaches  The lecture's untried idea works, and shows why grid_stride needs no shared memory: what only one thread touches can stay in
///          its registers. Chunks per block instead of strides over the grid keep each block's reads in one place of memory.
/// Source   seed 002, "Work Until the Data is Exhausted!". Mended: nothing, the lecture gives no kernel. The gather is any finish.

#include <algorithm>

#include "../building_blocks/load.cuh"
#include "../device.hpp"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

constexpr int slot_bytes_per_thread = 64;
template <class T>
inline constexpr unsigned slots_per_thread = slot_bytes_per_thread / sizeof(T);

template <class T, class Op>
__global__ void __launch_bounds__(1024)
    persistent_blocks_kernel(const T* input, std::uint64_t count, handover<T> to, std::uint64_t chunk) {
  constexpr unsigned slots = slots_per_thread<T>;
  T* values = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const std::uint64_t begin = blockIdx.x * chunk;
  const std::uint64_t end = begin + chunk < count ? begin + chunk : count;

  values[t] = Op::template neutral<T>();
  // Slot 0 carries what is combined so far, the others are filled.
  for (std::uint64_t fill = begin + t; fill < end; fill += std::uint64_t{slots - 1} * blockDim.x) {
#pragma unroll
    for (unsigned slot = 1; slot < slots; ++slot)
      values[t + slot * blockDim.x] = element_or_neutral<Op>(input, fill + std::uint64_t{slot - 1} * blockDim.x, end);
#pragma unroll
    for (unsigned half = slots / 2; half > 0; half /= 2)
#pragma unroll
      for (unsigned slot = 0; slot < half; ++slot)
        values[t + slot * blockDim.x] = Op::combine(values[t + slot * blockDim.x], values[t + (slot + half) * blockDim.x]);
  }
  hand_over<Op>(block_reduce<Op>(values[t]), to);
}

struct persistent_blocks {
  static constexpr int sizes[] = {128, 256, 512, 1024};
  static constexpr traits what{.default_finish = finish::last_block, .finishes = every_finish, .block_sizes = sizes};
  template <class T, class Op>
  static constexpr bool supports = true;

  // As many as fill the GPU with threads, or fewer where registers or shared memory have no room for all: so all are there at once.
  static std::int64_t blocks_that_stay(const call& now, const void* kernel) {
    const std::int64_t threads = std::int64_t{now.gpu.multiprocessors} * now.gpu.threads_per_multiprocessor;
    return std::min(threads / now.block_size, resident_blocks(now, kernel, now.block_size, shared_bytes_of(now)));
  }
  // Whole rows of the block, so that reads are coalesced, for the blocks that run() has chosen; the same for every pass, should the
  // kernel be launched again.
  static std::uint64_t chunk_of(const call& now) {
    const auto block = static_cast<std::uint64_t>(now.block_size);
    const auto most = static_cast<std::uint64_t>(now.grid_size);
    const std::uint64_t share = (now.count + most - 1) / most;
    return (share + block - 1) / block * block;
  }
  static std::size_t shared_bytes_of(const call& now) { return static_cast<std::size_t>(now.block_size) * slot_bytes_per_thread; }
  static shape shape_of(const call& now, std::uint64_t count) {
    return {blocks_for(count, chunk_of(now)), now.block_size, shared_bytes_of(now)};
  }

  template <class T, class Op>
  static void run(call& now) {
    require_shared_memory(now, shared_bytes_of(now), "block_size", now.block_size);
    const auto kernel = persistent_blocks_kernel<T, Op>;
    now.grid_size = blocks_that_stay(now, reinterpret_cast<const void*>(kernel));
    run_passes<T, Op>(now, kernel, shape_of, chunk_of(now));
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(persistent_blocks)
