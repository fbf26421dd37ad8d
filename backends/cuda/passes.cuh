#pragma once
/// @file passes.cuh  A variant's kernels as the data that passes.hpp runs.

#include <cstddef>
#include <type_traits>

#include "building_blocks/grid.cuh"
#include "passes.hpp"

namespace onefold::cuda_backend {

namespace detail {

/// Hands the accumulator over and leaves the neutral element in it for the next call.
template <class T, class Op>
__global__ void collect(T* accumulator, T* result) {
  wait_for_previous_kernel();
  *result = canonical(*accumulator);
  *accumulator = Op::template neutral<T>();
}

template <class T, class Op>
void combine_on_host(const void* values, std::int64_t count, void* result) {
  T value = Op::template neutral<T>();
  for (std::int64_t i = 0; i < count; ++i) value = Op::combine(value, static_cast<const T*>(values)[i]);
  *static_cast<T*>(result) = canonical(value);
}

template <class T, class Op>
pass_kernel described(const void* kernel, void* const* extras = nullptr, int extra_count = 0) {
  return {kernel, reinterpret_cast<const void*>(&collect<T, Op>), Op::id, sizeof(T), &combine_on_host<T, Op>, extras, extra_count};
}

static_assert(sizeof(handover<double>) == sizeof(handover<void>) &&
              offsetof(handover<double>, result) == offsetof(handover<void>, result));

}  // namespace detail

/// Block sizes of the kernels that have them as a template parameter; a kernel each, so no more than are useful.
inline constexpr int unrolled_block_sizes[] = {128, 256, 512, 1024};

/// Calls `body.template operator()<BlockSize>()` for one of unrolled_block_sizes.
template <class Body>
void with_block_size(int block_size, Body body) {
  switch (block_size) {
    case 128:
      return body.template operator()<128>();
    case 256:
      return body.template operator()<256>();
    case 512:
      return body.template operator()<512>();
    default:
      return body.template operator()<1024>();
  }
}

/// run_passes() of one type and operator.
///
/// @param shape_of  shape(std::uint64_t count)
template <class T, class Op, class Shape, class... Extras>
void run_passes(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>, Extras...), Shape shape_of,
                std::type_identity_t<Extras>... extras) {
  static_assert(sizeof...(Extras) <= pass_kernel::most_extras);
  void* const addresses[] = {&extras..., nullptr};
  run_passes(now, detail::described<T, Op>(reinterpret_cast<const void*>(kernel), addresses, sizeof...(Extras)),
             shape_source(shape_of));
}

/// run_resident() of one type and operator.
template <class T, class Op>
void run_resident(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>), int per_thread, int per_round) {
  run_resident(now, detail::described<T, Op>(reinterpret_cast<const void*>(kernel)), per_thread, per_round);
}

}  // namespace onefold::cuda_backend
