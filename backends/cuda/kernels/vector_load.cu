/// @file vector_load.cu
///
/// Idea     Every load instruction moves 16 bytes, and every thread has eight of them on their way before it needs the first.
///          Bytes in flight, not instructions, are what keeps the memory busy.
///
///          thread 0        thread 1        thread 2   ...  one warp, one instruction: 512 bytes in a row
///          [a b c d]       [e f g h]       [i j k l]
///             (+)             (+)             (+)          packs of the next seven steps: already on their way
///          [a'b'c'd']      ...                             four running values per thread (f32), folded at the end
///
/// Cost     n loads' worth of bytes in n / (16 / sizeof(T)) instructions; one launch; log2(block) shuffles and two barriers per block;
///          depth n / (threads * pack) + log2(block) + the finish.
/// Teaches  What grid_stride leaves on the table: four times fewer load instructions, and eight times the bytes in flight per thread.
/// Source   beyond the seeds; seed 001 ("coalescing", "maximise independent parallelism") says why.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

constexpr int packs_in_flight = 8;
// With two blocks of this size asked for, a thread may have 64 registers, and the compiler keeps all the loads of a step in flight.
// Left to itself it takes 32 and waits for every second load.
constexpr int most_threads = 512;

template <class Op, class T>
__device__ inline pack<T> neutral_pack() {
  pack<T> neutral;
#pragma unroll
  for (int e = 0; e < pack<T>::size; ++e) neutral.element[e] = Op::template neutral<T>();
  return neutral;
}

template <class Op, class T>
__device__ inline void absorb(pack<T>& running, const pack<T>& loaded) {
#pragma unroll
  for (int e = 0; e < pack<T>::size; ++e) running.element[e] = Op::combine(running.element[e], loaded.element[e]);
}

template <class T, class Op>
__global__ void __launch_bounds__(most_threads, 2) vector_load_kernel(const T* input, std::uint64_t count, handover<T> to) {
  const aligned_view<T> view(input, count);
  pack<T> running = neutral_pack<Op, T>();

  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (packs_in_flight - 1) * stride < view.packs; i += packs_in_flight * stride) {
    pack<T> loaded[packs_in_flight];
#pragma unroll
    for (int k = 0; k < packs_in_flight; ++k) loaded[k] = load_pack(view.body + i + k * stride);
#pragma unroll
    for (int k = 0; k < packs_in_flight; ++k) absorb<Op>(running, loaded[k]);
  }
  // What is left, at most one turn: the same loads in flight, those beyond the end left out. One by one they cost 1.4 us at the seeds'
  // size, where the array is some three turns long.
  pack<T> rest[packs_in_flight];
#pragma unroll
  for (int k = 0; k < packs_in_flight; ++k)
    rest[k] = i + k * stride < view.packs ? load_pack(view.body + i + k * stride) : neutral_pack<Op, T>();
#pragma unroll
  for (int k = 0; k < packs_in_flight; ++k) absorb<Op>(running, rest[k]);

  T value = running.element[0];
#pragma unroll
  for (int e = 1; e < pack<T>::size; ++e) value = Op::combine(value, running.element[e]);
  // The elements before the first and after the last 16-byte boundary, fewer than a pack each.
  if (blockIdx.x == 0) {
    const int t = static_cast<int>(threadIdx.x);
    if (t < view.head_count) value = Op::combine(value, view.head[t]);
    if (t < view.tail_count) value = Op::combine(value, view.tail[t]);
  }
  hand_over<Op>(block_reduce<Op>(value), to);
}

struct vector_load {
  static constexpr int sizes[] = {32, 64, 128, 256, 512};
  static constexpr traits what{
      .default_finish = finish::last_block, .finishes = every_finish, .block_sizes = sizes, .grid_size_free = true};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    run_resident<T, Op>(now, vector_load_kernel<T, Op>, pack<T>::size, packs_in_flight * pack<T>::size);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(vector_load)
