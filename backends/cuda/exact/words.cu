/// @file words.cu  The kernel that makes the result of an exact state's words.

#include "words.cuh"

#include <onefold/device/dependent.cuh>

namespace onefold::cuda_backend {

namespace {

// It may begin while the kernel ahead of it ends.
__global__ void __launch_bounds__(device::warp_size)
    exact_conclusion_of_words_kernel(const __grid_constant__ exact_conclusion how, const long long* words,
                                     const __grid_constant__ device::destination to) {
  __shared__ exact_sums::words_memory shared;
  device::let_next_kernel_start();  // it waits for this one's end, whenever it starts
  device::wait_for_previous_kernel();
  device::destination mine = to;
  mine.output = static_cast<unsigned char*>(to.output) + static_cast<int>(blockIdx.x) * to.bytes;
  words += static_cast<int>(blockIdx.x) * (exact_sums::exact::header_words + how.number[0] + how.number[1]);
  exact_sums::conclude_words(how, words, mine, shared);
}

}  // namespace

const void* exact_conclusion_kernel() noexcept { return reinterpret_cast<const void*>(&exact_conclusion_of_words_kernel); }

}  // namespace onefold::cuda_backend
