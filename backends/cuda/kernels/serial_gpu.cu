/// @file serial_gpu.cu
///
/// Idea     One thread walks through the array. The sequential program, moved to the GPU and nothing else.
///
///          thread 0:  x0 -> x1 -> x2 -> ... -> x(n-1)
///
/// Cost     n loads and n - 1 dependent operations on one of some hundred thousand threads; depth n - 1; one launch.
/// Teaches  A GPU thread is slower than a CPU core by far, and its memory latency has nothing to hide behind. All that follows is
///          about having more threads, and then about having them wait for each other less.
/// Source   seed 003, "seq GPU". Mended: any n; the seed's kernel is one work item, so there was nothing to race.

#include "../building_blocks/thread.cuh"
#include "../passes.cuh"

namespace onefold::cuda_backend {

namespace {

constexpr int loads_in_flight = 16;  // two sectors of 32 bytes: the thread waits for memory once where it waited twice

template <class T, class Op>
__global__ void serial_gpu_kernel(const T* input, std::uint64_t count, handover<T> to) {
  hand_over<Op>(thread_reduce<Op, loads_in_flight>(input, 0, 1, count), to);
}

struct serial_gpu {
  static constexpr traits what{};
  template <class T, class Op>
  static constexpr bool supports = true;

  static shape shape_of(const call&, std::uint64_t) { return {1, 1}; }

  template <class T, class Op>
  static void run(call& now) {
    run_passes<T, Op>(now, serial_gpu_kernel<T, Op>, shape_of);
  }
};

}  // namespace

}  // namespace onefold::cuda_backend

ONEFOLD_DEFINE_VARIANT(serial_gpu)
