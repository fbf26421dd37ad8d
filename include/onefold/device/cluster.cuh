#pragma once
/// @file cluster.cuh  Handing values to the first block of a cluster, in its shared memory (sm_90).

#include <cstdint>
#include <cstring>

#include <onefold/device/warp.cuh>

namespace onefold::device {

/// Values on their way from every block of a cluster to the first one's shared memory, which counts the bytes that have come. Against slots
/// in global memory that saves the trips to the second-level cache. One in the shared memory of each block, for one use.
class cluster_mailbox {
 public:
  /// By all threads of all blocks, first of all: the first block will wait for `bytes` bytes.
  __device__ void open(unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&barrier_)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&barrier_)), "r"(bytes) : "memory");
    }
    // Relaxed: there is nothing else to be seen but the mailbox, which the fence releases.
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }
  /// By all threads of all blocks, ahead of the first send: the first block is there, and its mailbox open.
  __device__ void wait_until_open() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }
  /// Puts `value` where the first block has what is `place` in this one. The caller need not wait for it.
  template <class A>
  __device__ void send_to_first_block(A* place, const A& value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned to = in_first_block(address_of(place));
    const unsigned barrier = in_first_block(address_of(&barrier_));
    if constexpr (sizeof(A) % 8 == 0) {
      unsigned long long bits[sizeof(A) / 8];
      memcpy(bits, &value, sizeof(A));
#pragma unroll
      for (unsigned w = 0; w < sizeof(A) / 8; ++w)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to + 8 * w), "l"(bits[w]),
                     "r"(barrier)
                     : "memory");
    } else {
      static_assert(sizeof(A) % 4 == 0, "values are sent in words");
      unsigned bits[sizeof(A) / 4];
      memcpy(bits, &value, sizeof(A));
#pragma unroll
      for (unsigned w = 0; w < sizeof(A) / 4; ++w)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to + 4 * w), "r"(bits[w]),
                     "r"(barrier)
                     : "memory");
    }
#endif
  }
  /// By one warp of the first block: until all bytes have come.
  __device__ void wait_for_all() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred complete; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%1], 0; selp.u32 %0, 1, 0, "
          "complete; }"
          : "=r"(done)
          : "r"(address_of(&barrier_))
          : "memory");
    __syncwarp();
#endif
  }

 private:
  static __device__ unsigned address_of(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
  static __device__ unsigned in_first_block(unsigned address) {
    unsigned there = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(address));
#endif
    return there;
  }

  unsigned long long barrier_;
};

}  // namespace onefold::device
