/// @file joined_records.cu  The kernels that put images together: integers, and forms with several results.

#include "joined_kernel.cuh"

namespace onefold::cuda_backend::detail {

template const void* joined_kernel_of<joined_whole_numbers>() noexcept;
template const void* joined_kernel_of<joined_whole_records>() noexcept;
template const void* joined_kernel_of<joined_float_records>() noexcept;
template const void* joined_kernel_of<joined_double_records>() noexcept;

}  // namespace onefold::cuda_backend::detail
