/// @file complex.cu  The folds of complex numbers, as folds of a user's with values of 8 and 16 bytes.

#include "complex.hpp"

#include <onefold/device.cuh>

#include "complex_folds.cuh"

namespace onefold::cuda_backend {

namespace {

using onefold::detail::device_fold;

template <class T>
device_fold fold_of(form what, const void* x, const void* y) {
  return onefold::detail::with_complex_fold(what, [&]<class F, class Op, bool Mean>() {
    static constexpr complex_fold<T, F, Op, Mean> fold{};
    return onefold::detail::make_device_fold(fold, x, y);
  });
}

}  // namespace

device_fold fold_of_complex(element_type type, form what, const void* x, const void* y) {
  return type == element_type::c64 ? fold_of<float>(what, x, y) : fold_of<double>(what, x, y);
}

}  // namespace onefold::cuda_backend
