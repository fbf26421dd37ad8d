#pragma once
/// @file complex_folds.cuh  What sums, products and norms of complex numbers are made of, as folds of a user's with values of 4, 8 and 16 bytes.

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

}  // namespace onefold::cuda_backend
