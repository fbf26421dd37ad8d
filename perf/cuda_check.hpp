#pragma once
/// @file cuda_check.hpp  Calls of the CUDA runtime that fail become exceptions.

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace onefold::perf {

/// Throws std::runtime_error with the name of the call and what CUDA says of it.
inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

}  // namespace onefold::perf
