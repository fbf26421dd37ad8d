#pragma once
/// @file kernels.hpp  The kernels of exact sums, as data.

#include <cstddef>
#include <cstdint>

#include <onefold/types.hpp>

#include "memory.hpp"

namespace onefold::cuda_backend {

/// What is added up.
enum class exact_terms : int { elements, products, squares, turned_products };

struct exact_kernel {
  const void* symbol;
  int threads;
  int blocks;                      ///< of a multiprocessor
  std::size_t shared_bytes;        ///< dynamic, of a block
  std::uint64_t most_of_block;     ///< elements that a block may be given at most
  std::uint64_t elements_of_warp;  ///< at a time
};

const exact_kernel& exact_kernel_of(element_type type, exact_terms terms);

/// Behind a kernel of a function's values: a block for each result, which makes it of its limbs. Its arguments are an exact_launch, the limbs, the number of
/// launches (device::slot_header), and the destination of all results.
inline constexpr int exact_end_threads = 128;
const void* exact_end_kernel();

}  // namespace onefold::cuda_backend
