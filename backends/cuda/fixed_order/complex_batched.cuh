#pragma once
/// @file complex_batched.cuh  The blocks of the third kernel of batches: of complex numbers, by the folds that their own kernels have, and norms and squares of
/// their parts.
///
///     mean of c64     the sum, which the conclusion divides         sum_of_squares    of twice as many real numbers, the parts in a row
///     any of c128     how many are not zero                         norm1             |z| as numbers of the parts' type
///
/// c64 that is accumulated in c128 has folds of its own for sums, products, dots and norm1; what else there is has wide nodes already.
///
/// Whole units of arrays whose numbers lie on boundaries of their size are read a number in a load; all else by the way of units that are cut off.

#include <onefold/device/own.cuh>

#include "batched.cuh"
#include "complex_batched.hpp"
#include "complex_folds.cuh"
#include "complex_states.cuh"
#include "plan.hpp"

namespace onefold::cuda_backend {

namespace detail {

using onefold::detail::complex_of;

/// Whether numbers are not zero, as numbers that are added.
template <class T>
struct complex_nonzero {
  static constexpr int inputs = 1;
  using element = complex_of<T>;
  using value_type = std::uint64_t;
  using accumulator = std::uint64_t;
  using result = std::uint64_t;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;
  __device__ std::uint64_t value(const element& z) const { return onefold::detail::is_nonzero(z) ? 1 : 0; }
  __device__ std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
  __device__ std::uint64_t neutral() const { return 0; }
};

static_assert(sizeof(moments_of_parts) <= most_own_state_bytes);
template <class T>
struct moments_of_complex_numbers : moments_of_both<T, false> {
  using of_whole_tiles = moments_of_both<T, true>;
};

template <class T, class F, class Op>
using complex_in_batch = device::own_fold<complex_fold<T, F, Op, false>>;

// In the order of complex_fold_number. What is of parts reads real numbers.
template <class T>
using complex_folds_of =
    fold_list<complex_in_batch<T, onefold::detail::identity_function, onefold::detail::complex_sum>,
              complex_in_batch<T, onefold::detail::identity_function, onefold::detail::complex_product>,
              complex_in_batch<T, onefold::detail::conjugated_product, onefold::detail::complex_sum>,
              complex_in_batch<T, onefold::detail::modulus, onefold::detail::operator_function<op::sum>>,
              complex_in_batch<T, onefold::detail::modulus, onefold::detail::operator_function<op::max>>,
              device::own_fold<complex_nonzero<T>>, device::own_fold<moments_of_complex_numbers<T>>, fold<T, T, square, op::sum>,
              std::conditional_t<std::is_same_v<T, float>, fold<float, double, square, op::sum>, norm2_fold>>;
template <class F, class Op>
using wide_complex_in_batch = device::own_fold<wide_complex_nodes<F, Op>>;
using wide_complex_folds_of_batch =
    fold_list<wide_complex_in_batch<onefold::detail::identity_function, onefold::detail::complex_sum>,
              wide_complex_in_batch<onefold::detail::identity_function, onefold::detail::complex_product>,
              wide_complex_in_batch<onefold::detail::conjugated_product, onefold::detail::complex_sum>,
              wide_complex_in_batch<onefold::detail::modulus_in_double, onefold::detail::operator_function<op::sum>>>;
using complex_batched_folds =
    decltype(both_of(both_of(complex_folds_of<float>{}, complex_folds_of<double>{}), wide_complex_folds_of_batch{}));

/// What combines the nodes of a fold, and T, whose complex numbers they come from.
template <class Fold>
struct complex_combination {
  using part = typename Fold::element;
  using type = device::combination_of<Fold>;
};
template <class T, class F, class Op>
struct complex_combination<complex_in_batch<T, F, Op>> {
  using part = T;
  using type = std::conditional_t<
      std::is_same_v<F, onefold::detail::modulus>,
      fold<T, T, as_is, std::conditional_t<std::is_same_v<Op, onefold::detail::operator_function<op::max>>, op::max, op::sum>>,
      complex_in_batch<T, onefold::detail::identity_function, Op>>;
};
template <class F, class Op>
struct complex_combination<wide_complex_in_batch<F, Op>> {
  using part = double;
  using type = std::conditional_t<std::is_same_v<F, onefold::detail::modulus_in_double>, fold<double, double, as_is, op::sum>,
                                  complex_in_batch<double, onefold::detail::identity_function, Op>>;
};
template <class T>
struct complex_combination<device::own_fold<complex_nonzero<T>>> {
  using part = float;  // which says nothing of the result
  using type = fold<std::uint64_t, std::uint64_t, as_is, op::sum>;
};
template <class T>
struct complex_combination<device::own_fold<moments_of_complex_numbers<T>>> {
  using part = T;
  using type = device::own_fold<moments_of_complex_numbers<T>>;
};

/// A combination of the third kernel, which makes results of what it has been told of an item.
template <class C, class T>
struct of_complex : C {};
template <class Fold>
using complex_combination_of = of_complex<typename complex_combination<Fold>::type, typename complex_combination<Fold>::part>;

template <class C, class T>
inline constexpr std::size_t state_bytes_beside<of_complex<C, T>> = most_complex_state_bytes;

// Results, by what the tree's value is.
template <class T>
__device__ inline void store_complex(const complex_of<T>& value, form what, std::uint64_t count, const device::destination& to) {
  const complex_of<T> result = what == form::mean ? onefold::detail::concluded_complex<true>(value, count)
                                                  : onefold::detail::concluded_complex<false>(value, count);
  device::detail::store_part(to, 0, result.real);
  device::detail::store_part(to, static_cast<int>(sizeof(T)), result.imaginary);
}
template <class T>
__device__ inline void store_complex(const maybe<complex_of<T>>& value, form what, std::uint64_t count,
                                     const device::destination& to) {
  store_complex(value.present ? value.value : complex_of<T>{T(1), T(0)}, what, count, to);
}
template <class T>  // of the result's parts
__device__ inline void store_complex_moments(const moments_of_parts& value, const device::destination& to) {
  const auto ddof = static_cast<std::int64_t>(to.argument);
  const auto result = onefold::detail::moments_of_complex<T>(onefold::detail::mean_and_variance(value.real, ddof),
                                                             onefold::detail::mean_and_variance(value.imaginary, ddof));
  device::detail::store_part(to, 0, result.real);
  device::detail::store_part(to, static_cast<int>(sizeof(T)), result.imaginary);
  device::detail::store_part(to, static_cast<int>(2 * sizeof(T)), result.variance);
}

template <class C, class T>
struct results_in_batch<of_complex<C, T>> {
  using A = typename C::accumulator;
  static __device__ void store(const A& value, std::uint64_t count, device::destination to) {
    const auto what = static_cast<form>(static_cast<unsigned>(to.how) & complex_form_bits);
    const bool wide = std::is_same_v<T, float> && (static_cast<unsigned>(to.how) & complex_is_wide) != 0;
    if constexpr (std::is_same_v<A, moments_of_parts>) {
      if (wide)
        store_complex_moments<double>(value, to);
      else
        store_complex_moments<T>(value, to);
    } else if constexpr (std::is_arithmetic_v<A> || std::is_same_v<A, onefold::detail::squares>) {
      constexpr element_type part = std::is_same_v<T, float> ? element_type::f32 : element_type::f64;
      to.how = static_cast<int>(onefold::detail::conclusion_of(part, what, wide));
      device::detail::store_sized(value, count, to);
    } else {
      store_complex(value, what, count, to);
    }
  }
};

// What the tree gives for no elements, ahead of the conclusion: what makes one zero of a result, and no product.
template <class C>
__device__ inline typename C::accumulator complex_nothing() {
  using A = typename C::accumulator;
  if constexpr (std::is_same_v<A, moments_of_parts> || std::is_same_v<A, onefold::detail::squares>)
    return C{}.neutral();
  else
    return A{};
}

using complex_memory = memory_of_batch<most_complex_state_bytes>;

// The units of a fold of complex numbers, or of their parts.
template <class Fold>
struct complex_units {
  using A = typename Fold::accumulator;
  static constexpr bool is_of_parts = !device::is_own<Fold>;
  static constexpr std::size_t element_bytes = sizeof(typename Fold::element);
  using units = std::conditional_t<is_of_parts, device::detail::units_of<Fold, device::reading::single>,
                                   device::detail::tiles_by_rows<Fold, element_bytes>>;
  device::tree_input in;
  bool is_aligned = false;

  __device__ std::uint64_t begin(std::uint64_t count) {
    in.count = is_of_parts ? 2 * count : count;
    in.end_tile = (in.count + device::tile_elements<Fold> - 1) / device::tile_elements<Fold>;
    is_aligned = ((reinterpret_cast<std::uintptr_t>(in.x) | reinterpret_cast<std::uintptr_t>(in.y)) & (element_bytes - 1)) == 0;
    return (in.end_tile + (std::uint64_t{1} << units::log_tiles) - 1) >> units::log_tiles;
  }
  __device__ A node(std::uint64_t unit) const {
    if (is_aligned && units::is_whole(in, unit)) [[likely]]
      return units::whole_node(Fold{}, in, unit);
    if (units::exists(in, unit)) return device::detail::cut_unit_node<Fold>(in.x, in.y, in.count, unit);
    return Fold{}.neutral();
  }
  __device__ A nothing() const { return complex_nothing<complex_combination_of<Fold>>(); }
  __device__ void note(device::destination&) const {}
};

template <class Fold>
__device__ inline void run_complex_block(const batched_table& table, std::uint32_t number, std::uint32_t block,
                                         const batched_arrays& arrays, complex_memory& shared) {
  using C = complex_combination_of<Fold>;
  using A = typename Fold::accumulator;
  static_assert(sizeof(A) <= most_complex_state_bytes && std::is_same_v<A, typename C::accumulator>);
  device::tree_input in{};
  in.x = arrays.x;
  in.y = arrays.y;
  run_leaf<C>(table, number, block, shared, complex_units<Fold>{in});
}
template <class... Folds>
__device__ inline void run_complex_block(fold_list<Folds...>, unsigned which, const batched_table& table, std::uint32_t number,
                                         std::uint32_t block, const batched_arrays& arrays, complex_memory& shared) {
  device::with_one_of<Folds...>(static_cast<int>(which), [&](auto its) {
    run_complex_block<typename decltype(its)::type>(table, number, block, arrays, shared);
  });
}

}  // namespace detail

/// The work of block number `block` of a launch. By all its threads.
__device__ inline void run_complex_block(const batched_table& table, std::uint32_t block, detail::complex_memory& shared) {
  const std::uint32_t number = detail::item_of_block(table, block);
  const batched_item& item = table.item[number];
  const unsigned which = item.fold & batched_item::fold_number;
  if (which == batched_item::copied) return detail::copy_bytes(item.x, item.output, item.count, item.argument, table.call_number);
  detail::batched_arrays arrays{item.x, item.y};
  if ((item.fold & (batched_item::x_in_memory | batched_item::y_in_memory)) != 0) {
    if (!detail::find_arrays(item, reads_single(which) ? sizeof(float) : sizeof(double), arrays))
      return detail::store_unreadable(table, number, block);
    arrays = {detail::as_global(arrays.x), detail::as_global(arrays.y)};
  }
  detail::run_complex_block(detail::complex_batched_folds{}, which, table, number, block, arrays, shared);
}

}  // namespace onefold::cuda_backend
