#pragma once
/// @file fold_entry.cuh  Makes an entry of the list of folds: the kernels of one of the library's own, and what the driver needs to know of it.

#include <onefold/detail/device_fold.hpp>
#include <onefold/detail/folds.hpp>
#include <onefold/device/kernel.cuh>

#include "../../float_semantics.hpp"

namespace onefold::cuda_backend {

namespace detail {

/// Whether packs from any alignment can be read for it. The values alone are read for one that finds their place later.
template <class Fold>
constexpr bool can_be_shifted() noexcept {
  if constexpr (device::detail::place_by_value<Fold>::exists)
    return can_be_shifted<typename device::detail::place_by_value<Fold>::fold>();
  else
    return Fold::inputs == 1 && device::lanes_forget_rows<Fold>;
}

}  // namespace detail

/// The row of a fold with these kernels.
template <class Fold>
const onefold::detail::device_fold& row_with(const onefold::detail::device_kernels& kernels, bool prefers_single,
                                             const void* object) {
  using E = typename Fold::element;
  constexpr auto size = static_cast<std::uint32_t>(sizeof(E));
  static const onefold::detail::device_fold row{sizeof(onefold::detail::device_fold),
                                                size,
                                                Fold::inputs,
                                                {size, size, size},
                                                {size, size, size},
                                                static_cast<std::uint32_t>(sizeof(typename Fold::accumulator)),
                                                0,
                                                0,
                                                prefers_single,
                                                &kernels,
                                                {},
                                                object};
  return row;
}

/// The row of `Fold`. Its result depends on the form and is the driver's matter.
template <class Fold>
const onefold::detail::device_fold& row_of_fold() {
  using device::fixed_order_few_kernel;
  using device::fixed_order_kernel;
  using device::reading;
  using onefold::detail::device_kernels;
  const auto symbol = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  constexpr bool large = device::has_large_accumulators<Fold>;
  // A tile by single elements is what folds have that cannot be read in packs from any alignment, and those which prefer it where there are few.
  constexpr bool shifts = detail::can_be_shifted<Fold>();
  constexpr bool singles = !shifts || large;
  static onefold::detail::device_kernels_known known[device_kernels::known_devices];
  static const device_kernels kernels = [&] {
    device_kernels made{};
    made.symbol[0] = symbol(fixed_order_few_kernel<Fold, false>);
    made.symbol[1] = symbol(fixed_order_few_kernel<Fold, true>);
    made.symbol[2] = symbol(fixed_order_kernel<Fold, reading::aligned>);
    if constexpr (shifts) made.symbol[3] = symbol(fixed_order_kernel<Fold, reading::shifted>);
    if constexpr (singles) made.symbol[4] = symbol(fixed_order_kernel<Fold, reading::single>);
    made.known = known;
    made.log_tiles[2] = made.log_tiles[3] = 1;
    return made;
  }();
  static constexpr char nothing = 0;  // folds of the library's own have no data
  return row_with<Fold>(kernels, large, &nothing);
}

}  // namespace onefold::cuda_backend
