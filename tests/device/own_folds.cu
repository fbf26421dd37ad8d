/// @file own_folds.cu  The kernels of the test's folds, compiled as a user compiles theirs: C++17 and C++20, a lambda too.

#include <onefold/device.cuh>

#include "own_folds.hpp"

namespace onefold_test {

template <class Fold>
onefold::detail::device_fold device_fold_of(const Fold& fold, const void* x, const void* y, const void* z) {
  return onefold::detail::make_device_fold(fold, x, y, z);
}

#define ONEFOLD_UNPACKED(...) __VA_ARGS__
#define ONEFOLD_COMPILED(Fold) \
  template onefold::detail::device_fold device_fold_of(const ONEFOLD_UNPACKED Fold&, const void*, const void*, const void*);
ONEFOLD_FOR_EACH_OWN_FOLD(ONEFOLD_COMPILED)

// Only that it compiles: what a device lambda returns is known on the device alone.
onefold::detail::device_fold fold_of_a_lambda(const float* x);
onefold::detail::device_fold fold_of_a_lambda(const float* x) {
  const float factor = 3.0f;
  const auto f = [factor] __host__ __device__(float v) { return factor * v; };
  static const mapped_sum<decltype(f)> fold{f};
  return onefold::detail::make_device_fold(fold, x);
}

}  // namespace onefold_test
