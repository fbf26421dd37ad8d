#pragma once
/// @file device_exact.hpp  Exact sums of the values of a function, in code for a GPU, as data (decision 0040): what onefold/device.cuh makes of a call, and
/// the library's driver launches. Needs no CUDA.

#include <cstdint>

#include <onefold/detail/device_fold.hpp>

namespace onefold::detail {

namespace exact {

/// What the terms of a sum were, beside the sum: bits of a set.
inline constexpr std::uint64_t has_nan = 1, has_infinity = 2, has_minus_infinity = 4, has_other_than_minus_zero = 8;
/// And whether there was a term at all, where all values of a function may be absent. Only in the memory of a GPU.
inline constexpr std::uint64_t has_term = 16;

}  // namespace exact

/// A sum of integers in limbs, in the memory of a GPU: word i stands for word[i] 2^(32 i) units, and is wide enough for all that the blocks of a launch
/// add to it. It holds zeros between calls.
struct exact_limbs {
  static constexpr int most = 136;  ///< of a sum; two more than any kind has, for pieces that reach beyond
  long long limb[2][most];          ///< of the first and the second sum of the kind
  unsigned flags;                   ///< exact::has_nan and so on
  unsigned arrived;                 ///< blocks of this launch that have added all that they have
};
/// Of the one result of a call whose values may be absent and are counted.
struct counted_exact_limbs : exact_limbs {
  unsigned long long present;  ///< those that are not
};

/// A launch of the kernel below: the terms of `count` indices from `first` on.
struct exact_values {
  const void* input[3];  ///< the arrays of a function of elements
  std::uint64_t first;
  std::uint64_t count;
};

/// The kernel that adds the terms of some indices to limbs, one set of them for each result (onefold/device/exact_values.cuh). One of these for each kind
/// of call, static.
struct device_exact {
  std::uint32_t struct_bytes;     ///< sizeof(device_exact), which may grow
  std::int32_t results;           ///< of the function
  std::int32_t threads;           ///< of a block, at most
  std::int32_t blocks;            ///< of a multiprocessor
  std::uint64_t shared_bytes;     ///< dynamic, of a block of so many threads
  std::uint64_t most_of_block;    ///< indices that it may be given at most
  std::uint64_t indices_of_warp;  ///< at a time
  const void* symbol;
  /// As device_kernels::ask(), of this kernel; lets it have its shared memory too, or all that the device lends. Returns a cudaError_t.
  int (*ask)(device_kernel_info* answer);
  device_kernels_known* known;  ///< of the first device_kernels::known_devices devices; of its `function`s the first
  const device_exact* squares;  ///< of moments: the kernel of the second sum, which is launched behind this one
  bool counts;                  ///< whether the limbs are counted_exact_limbs, by whose `present` which the result is divided
  /// Of shared_bytes those of each warp, so that a block may have fewer warps and bytes; 0: it may not. Translation units that were compiled with an older version's header
  /// have no such number, and say so by struct_bytes.
  std::uint64_t shared_bytes_of_warp;
};

/// A fold that has such a kernel beside its own. Its struct_bytes say that it is one.
struct device_fold_with_exact : device_fold {
  const device_exact* exact;
};
inline const device_exact* exact_of(const device_fold& fold) noexcept {
  return fold.struct_bytes >= sizeof(device_fold_with_exact) ? static_cast<const device_fold_with_exact&>(fold).exact : nullptr;
}

}  // namespace onefold::detail
