/// @file complex_states.cu  The folds of complex_states.cuh.

#include "complex_states.cuh"

#include "library_fold.cuh"

namespace onefold::cuda_backend {

namespace {

using onefold::detail::device_fold;

// The fold has nothing but its conclusion, so that this is its object too.
template <class Fold>
device_fold with_object(const complex_conclusion& conclusion, const void* x, std::size_t result_bytes, std::size_t alignment) {
  static_assert(sizeof(Fold) == sizeof(complex_conclusion) && alignof(Fold) == alignof(complex_conclusion));
  device_fold made = make_library_fold(Fold{conclusion}, x);
  made.object = &conclusion;
  made.result_bytes = static_cast<std::uint32_t>(result_bytes);
  made.result_alignment = static_cast<std::uint32_t>(alignment);
  return made;
}

template <class T>
device_fold fold_of(const complex_conclusion& conclusion, const void* x) {
  const bool shows_state = conclusion.shows_state;
  if (conclusion.what == form::mean_variance) {
    const std::size_t number = conclusion.wide ? sizeof(double) : sizeof(T);
    return with_object<complex_moments<T>>(conclusion, x, shows_state ? sizeof(moments_of_parts) : 3 * number,
                                           shows_state ? alignof(moments_of_parts) : number);
  }
  const std::size_t bytes = shows_state || conclusion.what == form::count ? sizeof(std::uint64_t) : 1;
  return with_object<complex_count<T>>(conclusion, x, bytes, bytes);
}

}  // namespace

device_fold fold_of_complex_states(element_type type, const complex_conclusion& conclusion, const void* x) {
  return type == element_type::c64 ? fold_of<float>(conclusion, x) : fold_of<double>(conclusion, x);
}

}  // namespace onefold::cuda_backend
