/// @file kernels.cu  The kernels of exact sums.

#include "kernels.hpp"
#include "sums.cuh"
#include "words.cuh"

namespace onefold::cuda_backend {

namespace exact_sums {

template <bool OfValues>
__device__ __noinline__ void finish_launch(exact_memory* memory, unsigned long long* launches, block_sums& sums,
                                           finish_memory& shared) {
  if (threadIdx.x >= warp_size) return;
  constexpr int limbs_of_thread = (exact_memory::most + warp_size - 1) / warp_size;
  const auto warp_lane = static_cast<int>(threadIdx.x);
  exact_launch& how = sums.how;
  const device::destination& to = sums.to;
  long long* const limbs = sums.limb;
  exact::u64* const state = shared.state;
  const unsigned flags = how.is_alone ? sums.flags : __ldcg(&memory->flags);  // is under way while the limbs are
  const bool asks_for_top = how.concludes && how.outcome == exact_outcome::number && how.number[1] == 0;
  used_limbs there{0, 0};
  bool is_short = false;  // whether there is no need of a state
  int words = 1;
  integers of_first{0, 0};
  for (int s = 0; s < 2; ++s) {
    const int number = how.number[s];
    if (number == 0) break;
    long long mine[limbs_of_thread];
#pragma unroll
    for (int k = 0; k < limbs_of_thread; ++k) {
      const int i = k * warp_size + warp_lane;
      mine[k] = i >= number ? 0 : how.is_alone ? limbs[i] : __ldcg(memory->limb[s] + i);
    }
#pragma unroll
    for (int k = 0; k < limbs_of_thread; ++k) {
      const int i = k * warp_size + warp_lane;
      if (i >= number || how.is_alone) break;
      limbs[i] = mine[k];
      if (how.concludes) memory->limb[s][i] = 0;
    }
    __syncwarp();
    there = used_of(number, mine);
    is_short = asks_for_top && are_few(there);
    if (is_short) break;
    const digits used = carry(limbs, number, there);
#pragma unroll 1
    for (int i = warp_lane; i < number; i += warp_size) {
      if (!how.concludes) memory->limb[s][i] = limbs[i];
      if (i % 2 == 0) state[words + i / 2] = word_of_limbs(limbs, number, i);
    }
    if (s == 0) of_first = integers_of(used, number);
    words += exact::integer_words(number);
    __syncwarp();
  }
  if (warp_lane == 0) {
    state[0] = flags;
    if (!how.is_alone && !OfValues) {
      memory->arrived = 0;
      static_cast<exact_memory_of_array*>(memory)->tickets = 0;
    }
    if (!how.is_alone && how.concludes) memory->flags = 0;
    if (how.concludes && launches != nullptr) atomicAdd(launches, 1ULL);  // whose result nobody waits for
    if (OfValues && how.outcome != exact_outcome::state) {
      const bool has_none = (state[0] & exact::has_term) == 0;
      state[0] &= ~exact::has_term;
      if (has_none) state[0] |= exact::has_other_than_minus_zero;  // nothing at all is +0
      // Words, which are added to others, are those of no elements then, which change nothing and are +0 where no others have any.
      if (has_none && how.outcome == exact_outcome::words) how.result.count = 0;
    }
    if (!OfValues && how.count_at != nullptr && how.concludes) {
      if (*how.count_at < how.result.count) how.result.count = *how.count_at;
      how.result.degrees = exact::degrees_of(how.result.count, how.ddof);
    }
    if (OfValues && how.counts && how.concludes) {
      unsigned long long& present = static_cast<onefold::detail::counted_exact_limbs*>(memory)->present;
      how.result.count = __ldcg(&present);
      how.result.degrees = exact::degrees_of(how.result.count, how.ddof);
      present = 0;
    }
  }
  __syncwarp();
  if (!how.concludes) return;
  if (how.outcome == exact_outcome::state) {
    for (int i = warp_lane; i < words; i += warp_size) device::detail::store_part(to, 8 * i, state[i]);
  } else if (how.outcome == exact_outcome::words) {
    store_words(how.kind, how.number, state, how.result.count, static_cast<long long*>(to.output));
  } else if (warp_lane == 0) {
    exact::u64 result[2] = {how.of_none[0], how.of_none[1]};
    if (how.result.count != 0) {
      result[0] = result[1] = 0;
      const int scale = how.result.scale[0];
      const exact::leading<3> top =
          is_short ? leading_of_few(there, how.number[0], limbs, scale) : leading_of(of_first, state, scale);
      exact::round_state(how.result, top, state, shared.rounding, result);
    }
    store_result(to, result, static_cast<int>(how.result.to.bytes));
  }
}

__global__ void __launch_bounds__(exact_end_threads)
    end_of_values_kernel(const __grid_constant__ exact_launch how, exact_memory* memory, unsigned long long* launches,
                         const __grid_constant__ device::destination to) {
  __shared__ block_sums sums;
  __shared__ finish_memory shared;
  device::destination mine = to;
  const auto before = static_cast<int>(blockIdx.x) * to.bytes;
  if (to.output != nullptr)
    mine.output = static_cast<unsigned char*>(to.output) + before;
  else
    mine.host_words = to.host_words + before / 4;
  sums.clear(how, mine);
  device::wait_for_previous_kernel();
  finish_launch<true>(memory + blockIdx.x, nullptr, sums, shared);
  if (!how.concludes) return;
  // Whoever is the last to end says that the launch has ended.
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (arrive(&memory->arrived) + 1 != gridDim.x) return;
  memory->arrived = 0;
  ++*launches;
}

}  // namespace exact_sums

namespace {

using namespace exact_sums;

// What a block may be given, so that there is room for what it asks for beyond the others' share.
constexpr std::uint64_t of_most(std::uint64_t elements) { return elements / 4 * 3; }

template <class E, exact_bins Bins>
const exact_kernel& float_sums() {
  constexpr auto* symbol = Bins == exact_bins::doubles ? &float_sums_kernel<E> : &integer_sums_kernel<E>;
  constexpr int threads = Bins == exact_bins::doubles ? float_threads : integer_threads(Bins == exact_bins::integers_in_64_kib);
  static const exact_kernel kernel{
      reinterpret_cast<const void*>(symbol),
      threads,
      float_blocks,
      float_bytes(threads),
      Bins == exact_bins::doubles ? of_most(most_floats_of_thread * threads) : most_floats_of_thread * threads,
      2 * warp_size * elements_of<E>::count};
  return kernel;
}
template <class Terms, bool Has227KiB>
const exact_kernel& window_sums() {
  constexpr int adding = Terms::fits ? window_threads<Terms> : warps_of_left_over<Terms>(Has227KiB) * warp_size;
  static const exact_kernel kernel{reinterpret_cast<const void*>(&window_sums_kernel<Terms>),
                                   window_threads<Terms>,
                                   window_blocks<Terms>,
                                   window_bytes<Terms>(Has227KiB),
                                   of_most(most_doubles_of_thread * adding),
                                   Terms::packs * warp_size * elements_of<typename Terms::type>::count};
  return kernel;
}

template <class Terms>
exact_kernel with_pieces(const void* symbol, bool has_64_kib, std::uint64_t elements_of_warp) {
  const int threads = piece_threads<Terms>(has_64_kib);
  return {symbol, threads, piece_blocks<Terms>, piece_bytes<Terms>(threads), most_terms_of_thread * threads, elements_of_warp};
}
template <class Terms, bool Has64KiB>
const exact_kernel& piece_sums() {
  static const exact_kernel kernel = with_pieces<Terms>(reinterpret_cast<const void*>(&piece_sums_kernel<Terms>), Has64KiB,
                                                        Terms::packs * warp_size * elements_of<typename Terms::type>::count);
  return kernel;
}
template <class E, bool Has64KiB>
const exact_kernel& sums_of_two_types() {
  static const exact_kernel kernel = with_pieces<product_terms<E, false>>(reinterpret_cast<const void*>(&two_types_kernel<E>),
                                                                          Has64KiB, products_ahead<E> * warp_size);
  return kernel;
}

template <class E>
const exact_kernel& whole_sums() {
  static const exact_kernel kernel{reinterpret_cast<const void*>(&whole_sums_kernel),
                                   whole_threads,
                                   whole_blocks,
                                   0,
                                   whole_sum<E, true>::most_of_thread * whole_threads,
                                   whole_packs * warp_size * 16 / sizeof(E)};
  return kernel;
}

template <class Terms>
const exact_kernel& sums_of(exact_bins bins) {
  if (bins == exact_bins::doubles_in_227_kib) return window_sums<Terms, true>();
  if (bins == exact_bins::doubles) return window_sums<Terms, false>();
  return bins == exact_bins::integers ? piece_sums<Terms, false>() : piece_sums<Terms, true>();
}
template <class E>
const exact_kernel& kernel_of(exact_terms terms, exact_bins bins) {
  if constexpr (sizeof(E) >= 4)  // there are no complex numbers of two halves
    if (terms == exact_terms::turned_products) return sums_of<product_terms<E, false, true>>(bins);
  if (terms == exact_terms::products) return sums_of<product_terms<E, false>>(bins);
  if (terms == exact_terms::squares) {
    if constexpr (sizeof(E) == 8)
      return sums_of<product_terms<E, true>>(bins);
    else
      return are_doubles(bins) ? window_sums<product_terms<E, true>, false>() : sums_of<product_terms<E, false>>(bins);
  }
  if constexpr (sizeof(E) == 8)
    return sums_of<element_terms<E>>(bins);
  else if (are_doubles(bins))
    return float_sums<E, exact_bins::doubles>();
  else
    return bins == exact_bins::integers ? float_sums<E, exact_bins::integers>() : float_sums<E, exact_bins::integers_in_64_kib>();
}

}  // namespace

const exact_kernel& exact_kernel_of(element_type type, exact_terms terms, exact_bins bins) {
  switch (type) {
#define ONEFOLD_FLOAT(name, T, digits) \
  case element_type::name:             \
    return kernel_of<T>(terms, bins);
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return whole_sums<T>();
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      return kernel_of<double>(terms, bins);
  }
}

const exact_kernel& exact_kernel_of_two_types(element_type type, exact_bins bins) {
  if (bins == exact_bins::integers_in_64_kib)
    return type == element_type::f32 ? sums_of_two_types<float, true>() : sums_of_two_types<double, true>();
  return type == element_type::f32 ? sums_of_two_types<float, false>() : sums_of_two_types<double, false>();
}

const void* exact_end_kernel() { return reinterpret_cast<const void*>(&exact_sums::end_of_values_kernel); }

}  // namespace onefold::cuda_backend
