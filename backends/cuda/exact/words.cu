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

__global__ void __launch_bounds__(device::warp_size)
    complex_moments_of_words_kernel(const __grid_constant__ exact_conclusion how, long long* words, unsigned long long* launches,
                                    const __grid_constant__ device::destination to) {
  __shared__ exact_sums::words_memory shared;
  __shared__ exact_sums::state_memory real;
  device::let_next_kernel_start();
  device::wait_for_previous_kernel();
  exact_sums::conclude_complex_moments(how, words, to, shared, real);
  if (launches == nullptr) return;
  const int all = 2 * (exact_sums::exact::header_words + how.number[0] + how.number[1]);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += device::warp_size) words[i] = 0;
  __syncwarp();
  if (threadIdx.x == 0) atomicAdd(launches, 1ULL);
}

__global__ void addition_of_exact_words_kernel(const long long* words, int states, int of_each, long long* sums) {
  for (int i = static_cast<int>(threadIdx.x); i < of_each; i += static_cast<int>(blockDim.x)) {
    unsigned long long sum = 0;
    for (int s = 0; s < states; ++s) sum += static_cast<unsigned long long>(words[s * of_each + i]);
    sums[i] = static_cast<long long>(sum);
  }
}

}  // namespace

const void* exact_addition_kernel() noexcept { return reinterpret_cast<const void*>(&addition_of_exact_words_kernel); }
const void* exact_conclusion_kernel() noexcept { return reinterpret_cast<const void*>(&exact_conclusion_of_words_kernel); }
const void* exact_complex_moments_kernel() noexcept { return reinterpret_cast<const void*>(&complex_moments_of_words_kernel); }

}  // namespace onefold::cuda_backend
