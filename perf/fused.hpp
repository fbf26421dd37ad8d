#pragma once
/// @file fused.hpp  The calls of the study `fused`: compiled by nvcc, timed by what is compiled by the host's compiler.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu.hpp"

namespace onefold::perf {

struct fused_call {
  std::string name;
  std::uint64_t bytes;                                          ///< read in one call
  std::function<void(const void* input, void* output)> on_gpu;  ///< enqueues
  std::function<void(void* output)> on_cpu;                     ///< the same bits; null for a peer
  std::size_t result_bytes;
};

/// Calls on the arrays of a bench of f32 or f64, of which `host` has the contents too. What they need lives as long as the bench.
std::vector<fused_call> fused_calls(const gpu_bench& bench, element_type type, const void* host);

/// CUB's sum of a bench of i8, u8, f16 or bf16 into the bench's output, in the type that onefold adds in; empty for other types.
std::function<void(const void* input)> cub_sum(const gpu_bench& bench, element_type type);

}  // namespace onefold::perf
