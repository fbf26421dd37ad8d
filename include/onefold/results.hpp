#pragma once
/// @file results.hpp  What the forms with several results give: plain structs, for structured bindings.

#include <complex>
#include <cstdint>

#include <onefold/types.hpp>

namespace onefold {

/// Of argmin and argmax: the value, with the bits of min and max, and the first index that has it; of NaNs, the first. Of argmin_magnitude and
/// argmax_magnitude the same of the absolute values.
template <class T>
struct arg_result {
  T value;
  std::uint64_t index;
};

/// Of argminmax.
template <class T>
struct argminmax_result {
  arg_result<T> min;
  arg_result<T> max;
};

/// Of minmax.
template <class T>
struct minmax_result {
  T min;
  T max;
};

/// Of mean_variance.
template <class T>
struct mean_variance_result {
  T mean;
  T variance;
};
/// Of complex numbers the variance is real: the mean of |z - mean|^2, the sum of those of the parts.
template <class T>
struct mean_variance_result<std::complex<T>> {
  std::complex<T> mean;
  T variance;
};

namespace detail {

template <form What, class T, bool Wide>
struct form_result {
  using type = result_t<What, T, Wide>;
};
template <class T, bool Wide>
struct form_result<form::argmin, T, Wide> {
  using type = arg_result<T>;
};
template <class T, bool Wide>
struct form_result<form::argmax, T, Wide> {
  using type = arg_result<T>;
};
template <class T, bool Wide>
struct form_result<form::argmin_magnitude, T, Wide> {
  using type = arg_result<result_t<form::argmin_magnitude, T>>;
};
template <class T, bool Wide>
struct form_result<form::argmax_magnitude, T, Wide> {
  using type = arg_result<result_t<form::argmax_magnitude, T>>;
};
template <class T, bool Wide>
struct form_result<form::argminmax, T, Wide> {
  using type = argminmax_result<T>;
};
template <class T, bool Wide>
struct form_result<form::minmax, T, Wide> {
  using type = minmax_result<T>;
};
template <class T, bool Wide>
struct form_result<form::mean_variance, T, Wide> {
  using type = mean_variance_result<result_t<form::mean_variance, T, Wide>>;
};

/// What a form gives on elements of type T.
template <form What, class T, bool Wide>
using result_of_form = typename form_result<What, T, Wide>::type;

}  // namespace detail

}  // namespace onefold
