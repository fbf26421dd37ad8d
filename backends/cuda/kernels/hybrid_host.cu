/// @file hybrid_host.cu
///
/// Idea     The low levels of the tree in shared memory, where threads can wait for each other cheaply; the high levels on the CPU,
///          where a few thousand values are combined before a GPU has launched another kernel.
///
///          GPU:   [ 2M ] [ 2M ] [ 2M ] ...   one value per block, launched again while more than 4096 are left
///          copy:  at most 4096 values
///          CPU:   v0 (+) v1 (+) v2 ...
///
/// Cost     n loads; one or two launches, a copy back and a wait of the host; at most 4096 combinations on the CPU.
/// Teaches  The best tree may span two processors. What decides is the wait: the result is on the host when it is done, and only there.
/// Source   seed 003, last paragraph (the lecture gives no kernel). The *_into calls cannot have it, since the host must wait.

#include <onefold/policy.hpp>

#include "../building_blocks/load.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void __launch_bounds__(1024) hybrid_host_kernel(const T* input, std::uint64_t count, T* partials) {
  T* values = shared_memory<T>();
  T value = load_segment<Op>(values, input, count);
  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) halve<Op>(value, values, stride);
  if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

struct hybrid_host {
  static constexpr finish only_host[] = {finish::host};
  static constexpr traits what{.default_finish = finish::host, .finishes = only_host, .block_sizes = powers_of_two_to_1024};
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static void run(call& now) {
    const std::uint64_t segment = 2 * static_cast<std::uint64_t>(now.block_size);
    const T* values = static_cast<const T*>(now.input);
    std::int64_t count = static_cast<std::int64_t>(now.count);
    int pass = 0;
    do {
      const shape how{blocks_for(static_cast<std::uint64_t>(count), segment), now.block_size, segment * sizeof(T)};
      T* partials = static_cast<T*>(partials_for(now, how.grid, pass++ % 2));
      launch(now, hybrid_host_kernel<T, Op>, how, values, static_cast<std::uint64_t>(count), partials);
      values = partials;
      count = how.grid;
    } while (count > now.choices.host_values);
    finish_on_host(now, Op::id, values, count);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(hybrid_host)
