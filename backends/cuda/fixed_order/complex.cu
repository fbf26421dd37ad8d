/// @file complex.cu  The folds of complex numbers, as folds of a user's with values of 8 and 16 bytes.

#include "complex.hpp"

#include "complex_folds.cuh"
#include "library_fold.cuh"

namespace onefold::cuda_backend {

namespace {

using onefold::detail::device_fold;

template <class T>
device_fold fold_of(form what, const void* x, const void* y) {
  return onefold::detail::with_complex_fold(what, [&]<class F, class Op, bool Mean>() {
    static constexpr complex_fold<T, F, Op, Mean> fold{};
    return make_library_fold(fold, x, y);
  });
}

// To keep the code small, small arrays have no kernels of their own, nor arrays that lie well in products and norms, whose time is that of their operations.
template <class F, class Op, bool Packs>
device_fold wide_fold_of(bool divides, const void* x, const void* y) {
  using fold = wide_complex_fold<F, Op>;
  static constexpr fold folds[] = {fold{{false}}, fold{{true}}};
  using maker = onefold::detail::device_fold_maker<fold, 0, Packs>;
  return of_library<maker>(maker::make(folds[divides ? 1 : 0], x, y, nullptr));
}

}  // namespace

device_fold fold_of_wide_complex(form what, const void* x, const void* y) {
  using onefold::detail::complex_product, onefold::detail::complex_sum, onefold::detail::conjugated_product;
  using onefold::detail::identity_function, onefold::detail::modulus_in_double;
  switch (what) {
    case form::prod:
      return wide_fold_of<identity_function, complex_product, false>(false, x, y);
    case form::dot:
      return wide_fold_of<conjugated_product, complex_sum, true>(false, x, y);
    case form::norm1:
      return wide_fold_of<modulus_in_double, onefold::detail::operator_function<op::sum>, false>(false, x, y);
    default:
      return wide_fold_of<identity_function, complex_sum, true>(what == form::mean, x, y);
  }
}

device_fold fold_of_complex(element_type type, form what, const void* x, const void* y) {
  return type == element_type::c64 ? fold_of<float>(what, x, y) : fold_of<double>(what, x, y);
}

}  // namespace onefold::cuda_backend
