#pragma once
/// @file complex.hpp  Complex numbers, one rounded operation at a time (docs/order.md), for host and device.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/folds.hpp>
#include <onefold/operators.hpp>
#include <onefold/order.hpp>
#include <onefold/results.hpp>

namespace onefold::detail {

/// With the layout of std::complex<T>, whose operators are the host's, and do more than one operation.
template <class T>
struct complex_of {
  T real, imaginary;
};

/// Whether a number is not zero. By its bits, which code that flushes subnormal numbers to zero does not change.
template <class T>
ONEFOLD_HOST_DEVICE inline bool is_nonzero(const complex_of<T>& z) noexcept {
  using bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  bits real, imaginary;
  memcpy(&real, &z.real, sizeof(T));
  memcpy(&imaginary, &z.imaginary, sizeof(T));
  return (real | imaginary) << 1 != 0;  // without the signs
}

/// conj(x) y.
struct conjugated_product {
  template <class T>
  ONEFOLD_HOST_DEVICE complex_of<T> operator()(const complex_of<T>& x, const complex_of<T>& y) const {
    return {rounded_add(rounded_multiply(x.real, y.real), rounded_multiply(x.imaginary, y.imaginary)),
            rounded_subtract(rounded_multiply(x.real, y.imaginary), rounded_multiply(x.imaginary, y.real))};
  }
};

/// |z| of floats, as a double.
struct modulus_in_double {
  ONEFOLD_HOST_DEVICE double operator()(const complex_of<float>& z) const {
    const double a = static_cast<double>(z.real);
    const double b = static_cast<double>(z.imaginary);
    return rounded_root(rounded_add(rounded_multiply(a, a), rounded_multiply(b, b)));
  }
};

/// |z|, which overflows only where it is too large itself.
struct modulus {
  ONEFOLD_HOST_DEVICE float operator()(const complex_of<float>& z) const { return static_cast<float>(modulus_in_double()(z)); }
  ONEFOLD_HOST_DEVICE double operator()(const complex_of<double>& z) const {
    const double size = fabs(z.real);
    const double other = fabs(z.imaginary);
    const bool big = size >= order::big_from || other >= order::big_from;
    const bool small = size < order::small_below && other < order::small_below;
    const double scale = big ? order::scale_down : small ? order::scale_up : 1.0;
    const double back = big ? order::scale_up : small ? order::scale_down : 1.0;
    const double a = rounded_multiply(z.real, scale);
    const double b = rounded_multiply(z.imaginary, scale);
    return rounded_multiply(rounded_root(rounded_add(rounded_multiply(a, a), rounded_multiply(b, b))), back);
  }
};

/// Of floats in doubles, which changes no number.
ONEFOLD_HOST_DEVICE inline complex_of<double> in_double(const complex_of<float>& z) noexcept {
  return {static_cast<double>(z.real), static_cast<double>(z.imaginary)};
}

/// The operators on complex numbers.
struct complex_sum {
  template <class T>
  ONEFOLD_HOST_DEVICE complex_of<T> operator()(const complex_of<T>& a, const complex_of<T>& b) const {
    return {rounded_add(a.real, b.real), rounded_add(a.imaginary, b.imaginary)};
  }
};
struct complex_product {
  template <class T>
  ONEFOLD_HOST_DEVICE complex_of<T> operator()(const complex_of<T>& a, const complex_of<T>& b) const {
    return {rounded_subtract(rounded_multiply(a.real, b.real), rounded_multiply(a.imaginary, b.imaginary)),
            rounded_add(rounded_multiply(a.real, b.imaginary), rounded_multiply(a.imaginary, b.real))};
  }
};

/// One level of a tree whose nodes are of type V, on a host: as cpu_fold::level.
template <class V, class Op>
int level_of(void*, void* states, std::uint64_t count) {
  auto* const all = static_cast<V*>(states);
  Op op;
  for (std::uint64_t i = 0; i < count / 2; ++i) all[i] = op(all[2 * i], all[2 * i + 1]);
  if (count % 2 == 1) all[count / 2] = all[count - 1];
  return 0;
}

/// What becomes of the tree's value. Of a mean: each part divided by the count.
template <bool Mean, class T>
ONEFOLD_HOST_DEVICE complex_of<T> concluded_complex(const complex_of<T>& tree, std::uint64_t count) {
  if constexpr (Mean) {
    const T n = static_cast<T>(count);
    return {canonical(rounded_divide(tree.real, n)), canonical(rounded_divide(tree.imaginary, n))};
  } else {
    return {canonical(tree.real), canonical(tree.imaginary)};
  }
}
template <bool Mean, class T>
ONEFOLD_HOST_DEVICE T concluded_complex(const T& tree, std::uint64_t) {
  return canonical(tree);
}

/// Moments of the real parts and of the imaginary ones, as a state of a range has them.
struct moments_of_parts {
  moments real, imaginary;
};

/// What mean_variance of complex numbers gives, with the layout of mean_variance_result<std::complex<T>>.
template <class T>
struct complex_mean_variance {
  T real, imaginary, variance;
};

/// It, of the means and variances of the parts. On a host, in the default floating-point environment.
template <class T>
ONEFOLD_HOST_DEVICE complex_mean_variance<T> moments_of_complex(const mean_and_variance_of& real,
                                                                const mean_and_variance_of& imaginary) {
  return {canonical(static_cast<T>(real.mean)), canonical(static_cast<T>(imaginary.mean)),
          canonical(static_cast<T>(rounded_add(real.variance, imaginary.variance)))};
}

/// Calls body.template operator()<F, Op, Mean>() with what a form of complex numbers makes of an element and how it combines that: sum, prod, dot,
/// mean, norm1 or norm_inf.
template <class Body>
constexpr decltype(auto) with_complex_fold(form what, const Body& body) {
  switch (what) {
    case form::prod:
      return body.template operator()<identity_function, complex_product, false>();
    case form::dot:
      return body.template operator()<conjugated_product, complex_sum, false>();
    case form::mean:
      return body.template operator()<identity_function, complex_sum, true>();
    case form::norm1:
      return body.template operator()<modulus, operator_function<op::sum>, false>();
    case form::norm_inf:
      return body.template operator()<modulus, operator_function<op::max>, false>();
    default:
      return body.template operator()<identity_function, complex_sum, false>();
  }
}

}  // namespace onefold::detail
