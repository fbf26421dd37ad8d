#pragma once
/// @file library_fold.cuh  Folds of the library's own that are made as a caller's are.

#include <onefold/device/fold_maker.cuh>

namespace onefold::cuda_backend {

/// The fold `made` of Maker, a device_fold_maker. Its kernels are registered with the library's own runtime: that is asked about them, through the seam that
/// tests take the place of, and not what a caller's unit would be linked with.
template <class Maker>
onefold::detail::device_fold of_library(onefold::detail::device_fold made) {
  static const onefold::detail::device_kernels kernels = [] {
    onefold::detail::device_kernels own = Maker::kernels();
    own.ask = nullptr;
    return own;
  }();
  made.kernels = &kernels;
  return made;
}

/// The same of any fold object.
template <class Fold>
onefold::detail::device_fold make_library_fold(const Fold& fold, const void* x = nullptr, const void* y = nullptr) {
  return of_library<onefold::detail::device_fold_maker<Fold>>(onefold::detail::make_device_fold(fold, x, y));
}

}  // namespace onefold::cuda_backend
