#pragma once
/// @file complex_folds.cuh  What sums, products and norms of complex numbers are made of, as folds of a user's with values of 4, 8 and 16 bytes; and those of
/// c64 that are accumulated in c128, whose lanes are those of c64.

#include <cstdint>
#include <type_traits>

#include "../../complex.hpp"

namespace onefold::cuda_backend {

namespace detail {

template <class F, class C, bool Two>
struct value_of_inputs {
  using type = decltype(F()(C()));
};
template <class F, class C>
struct value_of_inputs<F, C, true> {
  using type = decltype(F()(C(), C()));
};

}  // namespace detail

template <class T, class F, class Op, bool Mean>
struct complex_fold {
  static constexpr bool two = std::is_same_v<F, onefold::detail::conjugated_product>;
  static constexpr int inputs = two ? 2 : 1;
  using element = onefold::detail::complex_of<T>;
  using value_type = std::decay_t<typename detail::value_of_inputs<F, element, two>::type>;
  using accumulator = value_type;
  using result = value_type;
  static constexpr bool is_plain = true;
  // What a product is not to be changed by is no number: 0 times an infinity is NaN.
  static constexpr bool has_neutral = !std::is_same_v<Op, onefold::detail::complex_product>;

  template <class... X>
  __device__ value_type value(const X&... x) const {
    return F()(x...);
  }
  __device__ value_type combine(const value_type& a, const value_type& b) const { return Op()(a, b); }
  __device__ value_type neutral() const {
    if constexpr (std::is_same_v<value_type, T>)
      return std::is_same_v<Op, onefold::detail::operator_function<op::max>> ? T(0) : -T(0);
    else
      return {-T(0), -T(0)};
  }
  __device__ void conclude(const value_type* tree, std::uint64_t count, result* to) const {
    *to = onefold::detail::concluded_complex<Mean>(*tree, count);  // of nothing the host knows
  }
};

/// What tells the folds below what to make of the tree's value.
struct wide_complex_conclusion {
  bool divides;  ///< by the count
};

/// Sums, products and dots of c64, or sums of their absolute values, in double. In whole tiles nothing is asked of its object.
template <class F, class Op>
struct wide_complex_nodes {
  static constexpr bool two = std::is_same_v<F, onefold::detail::conjugated_product>;
  static constexpr bool is_real = std::is_same_v<F, onefold::detail::modulus_in_double>;
  static constexpr int inputs = two ? 2 : 1;
  using element = onefold::detail::complex_of<float>;
  using value_type = std::conditional_t<is_real, float, element>;  // as far as lanes are concerned
  using accumulator = std::conditional_t<is_real, double, onefold::detail::complex_of<double>>;
  using result = accumulator;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = !std::is_same_v<Op, onefold::detail::complex_product>;  // as above

  __device__ accumulator value(const element& x) const {
    if constexpr (is_real)
      return F()(x);
    else
      return onefold::detail::in_double(x);
  }
  __device__ accumulator value(const element& x, const element& y) const {
    return F()(onefold::detail::in_double(x), onefold::detail::in_double(y));
  }
  __device__ accumulator combine(const accumulator& a, const accumulator& b) const { return Op()(a, b); }
  __device__ accumulator neutral() const {
    if constexpr (is_real)
      return -0.0;
    else
      return {-0.0, -0.0};
  }
};
template <class F, class Op>
struct wide_complex_fold : wide_complex_conclusion, wide_complex_nodes<F, Op> {
  using of_whole_tiles = wide_complex_nodes<F, Op>;
  using typename wide_complex_nodes<F, Op>::accumulator;
  using typename wide_complex_nodes<F, Op>::result;

  wide_complex_fold() = default;
  constexpr explicit wide_complex_fold(const wide_complex_conclusion& concluding) : wide_complex_conclusion(concluding) {}

  __device__ void conclude(const accumulator* tree, std::uint64_t count, result* to) const {
    *to =
        divides ? onefold::detail::concluded_complex<true>(*tree, count) : onefold::detail::concluded_complex<false>(*tree, count);
  }
};

}  // namespace onefold::cuda_backend
