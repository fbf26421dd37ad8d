#pragma once
/// @file device_fold.hpp  A reduction in code for a GPU, as data. The library has a row of this for each of its own folds; onefold/device.cuh
/// makes one of a user's. The driver knows nothing else of either. Needs no CUDA.

#include <atomic>
#include <cstdint>

namespace onefold::detail {

/// The kernels of a fold (onefold/device/kernel.cuh).
enum class device_kernel : int {
  few,          ///< one block with a warp for each unit of at most 16
  few_cluster,  ///< the same with a cluster of eight blocks: compute capability 9.0
  aligned,      ///< of any number, reading::aligned ..
  shifted,      ///< .. reading::shifted
  single,       ///< .. reading::single
};
inline constexpr int device_kernel_count = 5;

/// What the CUDA runtime that a kernel is registered with says of it.
struct device_kernel_info {
  void* function;       ///< the driver's handle on the current device, a cudaFunction_t
  int code_capability;  ///< virtual architecture that it was compiled for, 10 * major + minor
  int resident_blocks;  ///< of the asked number of threads, that a multiprocessor holds at once
};

/// What has been asked once about the kernels of one kind of fold on one device.
struct device_kernels_known {
  std::atomic<void*> function[device_kernel_count];
  std::atomic<int> code_capability;
};

/// The kernels of one kind of fold: one of these for each, static.
struct device_kernels {
  /// Their symbols, by device_kernel; null for one that is not there. `few` is there if states have at most device::most_few_state_bytes.
  const void* symbol[device_kernel_count];
  /// Tiles that a warp takes together, as a power of two, by device_kernel.
  std::uint8_t log_tiles[device_kernel_count];
  /// Asks about one of them on the current device; about resident_blocks only if `block_size` is not 0. Returns a cudaError_t. Null in the
  /// library's own, whose runtime is the library's.
  int (*ask)(int which, int block_size, device_kernel_info* answer);
  /// Of the first known_devices devices.
  device_kernels_known* known;
  static constexpr int known_devices = 16;
};

/// A fold.
struct device_fold {
  std::uint32_t struct_bytes;      ///< sizeof(device_fold), which may grow
  std::uint32_t value_bytes;       ///< of what a row holds: order::lanes_of_bytes
  std::uint32_t inputs;            ///< arrays, at most 3; of none it reduces functions of the index
  std::uint32_t element_bytes[3];  ///< of their elements ..
  std::uint32_t alignment[3];      ///< .. and how these must lie
  std::uint32_t state_bytes;       ///< of a node of the tree, at most most_state_bytes
  std::uint32_t result_bytes;      ///< at most as many
  std::uint32_t result_alignment;
  bool prefers_single;  ///< where a multiprocessor has few tiles (fixed_order_policy::single_tiles)
  const device_kernels* kernels;
  const void* input[3];  ///< the arrays of a user's fold; of the library's own the request has them
  const void* object;    ///< the fold itself, a parameter of its kernels; used during the call alone
};

}  // namespace onefold::detail
