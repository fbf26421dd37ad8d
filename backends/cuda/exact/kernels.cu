/// @file kernels.cu  The kernels of exact sums.

#include "kernels.hpp"
#include "sums.cuh"

namespace onefold::cuda_backend {

namespace exact_sums {

// Carries, so that limbs are digits of 32 bits and the last one has the sign. By all threads. From the limb with the number that it returns on there are
// digits of the sign alone, and those ahead of shared.first are zeros.
__device__ inline int carry(long long* limbs, int number, finish_memory& shared) {
  if (threadIdx.x == 0) {
    shared.first = number;
    shared.last = -1;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < number; i += static_cast<int>(blockDim.x)) {
    if (limbs[i] == 0) continue;
    atomicMin(&shared.first, i);
    atomicMax(&shared.last, i);
  }
  __syncthreads();
  // Of most sums few limbs are not zero, and behind them there is nothing but the sign.
  const int end = ::min(shared.last + 3, number);
  if (threadIdx.x == 0) {
    long long carried = 0;
    for (int i = shared.first; i < end; ++i) {
      const long long now = limbs[i] + carried;
      carried = now >> 32;
      limbs[i] = i + 1 < number ? now & 0xffffffff : now;
    }
    shared.sign = static_cast<int>(carried);
  }
  __syncthreads();
  for (int i = end + static_cast<int>(threadIdx.x); i < number; i += static_cast<int>(blockDim.x))
    limbs[i] = i + 1 < number ? shared.sign & 0xffffffffLL : shared.sign;
  __syncthreads();
  return end;
}

__device__ __noinline__ void finish_launch(const exact_launch& how, exact_memory* memory, unsigned long long* launches,
                                           const device::destination& to, block_sums& sums, finish_memory& shared) {
  long long* const limbs = sums.limb;
  exact::u64* const state = shared.state;
  int words = 1;
  int first = 0;  // words of the first sum that are not zeros, or the sign: the others need not be looked at
  int last = 0;
  for (int s = 0; s < 2; ++s) {
    const int number = how.number[s];
    if (number == 0) break;
    for (int i = static_cast<int>(threadIdx.x); i < number; i += static_cast<int>(blockDim.x)) {
      if (how.is_alone) break;
      limbs[i] = __ldcg(memory->limb[s] + i);
      if (how.concludes) memory->limb[s][i] = 0;
    }
    const int end = carry(limbs, number, shared);
    for (int i = static_cast<int>(threadIdx.x); i < number; i += static_cast<int>(blockDim.x)) {
      if (!how.concludes) memory->limb[s][i] = limbs[i];
      if (i % 2 != 0) continue;
      const auto low = static_cast<exact::u64>(limbs[i]);
      state[words + i / 2] = i + 1 < number ? low | static_cast<exact::u64>(limbs[i + 1]) << 32 : low;
    }
    if (s == 0) {
      first = ::min(shared.first, number - 1) / 2;
      last = ::max(first, ::min((end + 1) / 2, exact::integer_words(number) - 1));
    }
    words += exact::integer_words(number);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    state[0] = how.is_alone ? sums.flags : __ldcg(&memory->flags);
    if (!how.is_alone && !how.of_values) memory->arrived = 0;
    if (!how.is_alone && how.concludes) memory->flags = 0;
    if (how.concludes && launches != nullptr) ++*launches;
    if (how.of_values) {
      if ((state[0] & exact::has_term) == 0) state[0] |= exact::has_other_than_minus_zero;  // nothing at all is +0
      state[0] &= ~exact::has_term;
    }
  }
  __syncthreads();
  if (!how.concludes) return;
  if (how.as_state) {
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
      device::detail::store_part(to, 8 * i, state[i]);
  } else if (threadIdx.x == 0) {
    exact::rounding part = how.result;
    if (how.number[1] == 0) {
      state[first] = state[0];  // the flags stand ahead
      part.words[0] = last - first + 1;
      part.unit[0] += 64 * first;
    } else {
      first = 0;
    }
    exact::u64 result[2];
    exact::round_state(part, state + first, shared.rounding, result);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(result);
    for (int i = 0; i < to.bytes && to.output != nullptr; ++i) static_cast<unsigned char*>(to.output)[i] = bytes[i];
    for (int i = 0; i < to.bytes && to.output == nullptr; i += 4)
      device::detail::send_word(to, i / 4, static_cast<std::uint32_t>(result[i / 8] >> (8 * (i % 8))));
  }
}

__global__ void __launch_bounds__(exact_end_threads)
    end_of_values_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                         const __grid_constant__ device::destination to) {
  __shared__ block_sums sums;
  __shared__ finish_memory shared;
  device::wait_for_previous_kernel();
  device::destination mine = to;
  const auto before = static_cast<int>(blockIdx.x) * to.bytes;
  if (to.output != nullptr)
    mine.output = static_cast<unsigned char*>(to.output) + before;
  else
    mine.host_words = to.host_words + before / 4;
  finish_launch(how, memory + blockIdx.x, nullptr, mine, sums, shared);
  if (!how.concludes) return;
  // Whoever is the last to end says that the launch has ended.
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&memory->arrived, 1U) + 1 != gridDim.x) return;
  memory->arrived = 0;
  ++*launches;
}

}  // namespace exact_sums

namespace {

using namespace exact_sums;

template <class E>
const exact_kernel& float_sums() {
  static const exact_kernel kernel{reinterpret_cast<const void*>(&float_sums_kernel<E>),
                                   float_threads,
                                   float_blocks,
                                   float_bytes,
                                   most_floats_of_thread * float_threads,
                                   2 * warp_size * elements_of<E>::count};
  return kernel;
}
template <class Terms>
const exact_kernel& window_sums() {
  static const exact_kernel kernel{reinterpret_cast<const void*>(&window_sums_kernel<Terms>),
                                   window_threads,
                                   window_blocks,
                                   window_bytes,
                                   most_doubles_of_thread * (Terms::fits ? window_threads : all_bins_warps * warp_size),
                                   Terms::packs * warp_size * elements_of<typename Terms::type>::count};
  return kernel;
}

template <class E>
const exact_kernel& kernel_of(exact_terms terms) {
  if constexpr (sizeof(E) >= 4)  // there are no complex numbers of two halves
    if (terms == exact_terms::turned_products) return window_sums<product_terms<E, false, true>>();
  if (terms == exact_terms::products) return window_sums<product_terms<E, false>>();
  if (terms == exact_terms::squares) return window_sums<product_terms<E, true>>();
  if constexpr (sizeof(E) == 8)
    return window_sums<element_terms<E>>();
  else
    return float_sums<E>();
}

}  // namespace

const exact_kernel& exact_kernel_of(element_type type, exact_terms terms) {
  switch (type) {
    case element_type::f16:
      return kernel_of<float16>(terms);
    case element_type::bf16:
      return kernel_of<bfloat16>(terms);
    case element_type::f32:
      return kernel_of<float>(terms);
    default:
      return kernel_of<double>(terms);
  }
}

const void* exact_end_kernel() { return reinterpret_cast<const void*>(&exact_sums::end_of_values_kernel); }

}  // namespace onefold::cuda_backend
