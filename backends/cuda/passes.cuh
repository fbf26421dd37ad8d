#pragma once
/// @file passes.cuh  A variant's kernels as the data that passes.hpp runs.

#include <cstddef>
#include <type_traits>

#include "building_blocks/grid.cuh"
#include "passes.hpp"

namespace onefold::cuda_backend {

static_assert(sizeof(handover<double>) == sizeof(handover<void>) &&
              offsetof(handover<double>, result) == offsetof(handover<void>, result));

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

/// run_passes() of one type and operator, which are those of the call.
template <class T, class Op, class... Extras>
void run_passes(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>, Extras...), shape_rule shape_of,
                std::type_identity_t<Extras>... extras) {
  static_assert(sizeof...(Extras) <= pass_kernel::most_extras);
  void* const addresses[] = {&extras..., nullptr};
  run_passes(now, {reinterpret_cast<const void*>(kernel), Op::id, addresses, sizeof...(Extras)}, shape_of);
}

/// run_resident() of one type and operator, which are those of the call.
template <class T, class Op>
void run_resident(call& now, void (*kernel)(const T*, std::uint64_t, handover<T>), int per_thread, int per_round) {
  run_resident(now, {reinterpret_cast<const void*>(kernel), Op::id}, per_thread, per_round);
}

}  // namespace onefold::cuda_backend
