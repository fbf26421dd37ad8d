#pragma once
/// @file gpu_status.cuh  What a failed call of CUDA's runtime means to a caller, in the compiled library and in the caller's translation units.

#include <cuda_runtime_api.h>

#include <onefold/error.hpp>

namespace onefold {
namespace detail {

inline errc code_of_gpu_status(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return errc::out_of_memory;
    // The errors that corrupt the context: every later call of this process returns the same.
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return errc::device_lost;
    default:
      return errc::device_error;
  }
}

/// Whether a wait for the work of a stream that has given this tells that none of it goes on: it has ended, or the device is lost.
inline bool tells_of_the_end(cudaError_t waited) noexcept {
  return waited == cudaSuccess || code_of_gpu_status(waited) == errc::device_lost;
}

}  // namespace detail
}  // namespace onefold
