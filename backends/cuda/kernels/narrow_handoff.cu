/// @file narrow_handoff.cu
///
/// Idea     A block stops halving when 32 (or 64, or 128) values are left, writes them all and hands over to the next kernel, in which
///          they are combined by full warps again.
///
///          block:  2M --> M --> ... --> 32 --> global memory      n / 2M blocks leave 32 values each
///          next kernel: 2M of those per block, and so on; the last one, alone, goes down to one value
///
/// Cost     as segment_halving without its narrow steps; 2M / width elements become one per launch instead of 2M, so there are more
///          launches and more traffic between them (width / 2M of the input).
/// Teaches  A tree's narrow end is latency, not work. Handing it over trades that latency for launches: compare with segment_halving.
/// Source   seed 002, "Eliminate the Narrow Parallelism" ("I didn't try these ideas"). Mended: nothing, the lecture gives no kernel.

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) narrow_handoff_kernel(const T* input, std::uint64_t count, unsigned width, T* values_out) {
  T* values = shared_memory<T>();
  T value = load_segment<Op>(values, input, count);
  for (unsigned stride = blockDim.x; stride >= width; stride /= 2) halve<Op>(value, values, stride);
  if (threadIdx.x < width) values_out[std::uint64_t{blockIdx.x} * width + threadIdx.x] = value;
}

// The last kernel has one block and goes to the end.
template <class T, class Op>
__global__ void __launch_bounds__(1024) narrow_handoff_last_kernel(const T* input, std::uint64_t count, handover<T> to) {
  T* values = shared_memory<T>();
  T value = load_segment<Op>(values, input, count);
  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) halve<Op>(value, values, stride);
  hand_over<Op>(value, to);
}

struct narrow_handoff {
  static constexpr int value_counts[] = {32, 64, 128};
  static constexpr int sizes[] = {128, 256, 512, 1024};  // each launch must leave fewer values than it was given
  static constexpr traits what{
      .block_sizes = sizes, .default_width = 32, .widths = value_counts, .width_meaning = "values that a block hands over"};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    const std::uint64_t segment = 2 * static_cast<std::uint64_t>(now.block_size);
    const T* input = static_cast<const T*>(now.input);
    std::uint64_t count = now.count;
    for (int pass = 0; count > segment; ++pass) {
      const shape how{blocks_for(count, segment), now.block_size, segment * sizeof(T)};
      T* handed_over = static_cast<T*>(partials_for(now, how.grid * now.width, pass % 2));
      launch(now, narrow_handoff_kernel<T, Op>, how, input, count, static_cast<unsigned>(now.width), handed_over);
      input = handed_over;
      count = static_cast<std::uint64_t>(how.grid) * static_cast<std::uint64_t>(now.width);
    }
    launch(now, narrow_handoff_last_kernel<T, Op>, {1, now.block_size, segment * sizeof(T)}, input, count,
           handover<T>{handing::result, nullptr, nullptr, nullptr, static_cast<T*>(now.output)});
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(narrow_handoff)
