#include "fixed_order.hpp"

#include <algorithm>
#include <cstring>

#include <onefold/order.hpp>

#include "../forest.hpp"
#include "../forms.hpp"

namespace onefold::kokkos_backend {

namespace {

template <class Fold>
typename Fold::accumulator tile_value(const typename Fold::element* x, const typename Fold::element* y, std::uint64_t count) {
  using E = typename Fold::element;
  using A = typename Fold::accumulator;
  constexpr int lanes = order::lanes<E>;
  A lane[lanes];
  std::fill_n(lane, lanes, Fold::neutral());
  for (std::uint64_t i = 0; i < count; ++i) {
    if constexpr (Fold::inputs == 2)
      lane[i % lanes] = Fold::combine(lane[i % lanes], Fold::value(x[i], y[i]));
    else
      lane[i % lanes] = Fold::combine(lane[i % lanes], Fold::value(x[i]));
  }
  for (int h = lanes / 2; h > 0; h /= 2)
    for (int j = 0; j < h; ++j) lane[j] = Fold::combine(lane[j], lane[j + h]);
  return lane[0];
}

}  // namespace

int reduce_fixed_order(const detail::request& what, int) {
  std::uint64_t bits = 0;
  if (what.count == 0) {
    bits = detail::empty_result(what.type, what.form, what.wide);
  } else {
    detail::with_fold(what.type, what.form, what.wide, [&]<class Fold>() {
      using E = typename Fold::element;
      constexpr std::uint64_t tile = order::tile_elements<E>;
      const auto* x = static_cast<const E*>(what.input);
      const auto* y = static_cast<const E*>(what.second);
      detail::forest<Fold> tree;
      for (std::uint64_t k = 0; k < order::tiles<E>(what.count); ++k)
        tree.push(tile_value<Fold>(x + k * tile, Fold::inputs == 2 ? y + k * tile : nullptr, std::min(tile, what.count - k * tile)),
                  0, k);
      bits = detail::conclude(detail::conclusion_of(what.type, what.form, what.wide), tree.root(), what.count);
    });
  }
  std::memcpy(what.output, &bits, size_of(result_type(what.type, what.form, what.wide)));
  return 1;
}

std::string_view fixed_order_implementation() { return "fixed_order/portable"; }

}  // namespace onefold::kokkos_backend
