#pragma once
/// @file kernels.hpp  The kernels of exact sums, as data.

#include <cstddef>
#include <cstdint>

#include <onefold/types.hpp>

#include "memory.hpp"

namespace onefold::cuda_backend {

/// What is added up.
enum class exact_terms : int {
  elements,
  products,
  squares,
  turned_products,
  moments  ///< elements and squares, which go to the first sum and the second one: of integers
};

/// What the bins are: doubles, or integers, for GPUs that have few FP64 cores (decision 0053). That decides the time alone. Code for compute capability 9.0 and newer has
/// more doubles, where a block has 227 KiB of shared memory, and code for 7.5, where it has 64, fewer integers.
enum class exact_bins : int { doubles, doubles_in_227_kib, integers, integers_in_64_kib };
constexpr bool are_doubles(exact_bins bins) { return bins == exact_bins::doubles || bins == exact_bins::doubles_in_227_kib; }

/// More than a block has of shared memory beside its bins, with the 1 KiB that the driver keeps; that of integers, which has no bins, has more.
inline constexpr std::size_t static_shared_bytes = 2816;

struct exact_kernel {
  const void* symbol;
  int threads;
  int blocks;                      ///< of a multiprocessor whose shared memory has room for as many
  std::size_t shared_bytes;        ///< dynamic, of a block
  std::uint64_t most_of_block;     ///< elements that blocks may be given on average
  std::uint64_t elements_of_warp;  ///< at a time
};

/// Those with bins of integers fit GPUs that lend a block 99 KiB of shared memory, or 64; of those with doubles all but sums of floats and smaller types need 111 KiB, products of doubles 148, or 198.
/// With bins of integers, squares of floats and smaller types are products: both arrays of the launch are the same one. Of integers there is one kernel (decision 0062), which has
/// two arguments more: their type and what is added up.
const exact_kernel& exact_kernel_of(element_type type, exact_terms terms, exact_bins bins);

/// That of dots of two types whose elements are numbers of `type`, f32 or f64. Its bins are integers, whatever `bins` says but for 64 KiB, and its two further arguments
/// both arrays' types.
const exact_kernel& exact_kernel_of_two_types(element_type type, exact_bins bins);

/// Behind a kernel of a function's values: a block for each result, which makes it of its limbs. Its arguments are an exact_launch, the limbs, the number of
/// launches (device::slot_header), and the destination of all results.
inline constexpr int exact_end_threads = 128;
const void* exact_end_kernel();

}  // namespace onefold::cuda_backend
