/// @file joined_floats.cu  The kernels that put images together: forms with one result, of floats.

#include "joined_kernel.cuh"

namespace onefold::cuda_backend::detail {

template const void* joined_kernel_of<joined_float_sums>() noexcept;
template const void* joined_kernel_of<joined_wide_sums>() noexcept;
template const void* joined_kernel_of<joined_double_sums>() noexcept;
template const void* joined_kernel_of<joined_norms>() noexcept;
template const void* joined_kernel_of<joined_float_extremes>() noexcept;
template const void* joined_kernel_of<joined_double_extremes>() noexcept;

}  // namespace onefold::cuda_backend::detail
