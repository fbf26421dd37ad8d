#pragma once
/// @file device.hpp  The GPUs: their properties, and those of the code that they run of the library's. Each is asked for once.

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

namespace onefold::cuda_backend {

/// What the launches need to know of a GPU.
struct device_properties {
  int number;
  std::string name;
  int compute_capability;  ///< 10 * major + minor
  int multiprocessors;
  int threads_per_multiprocessor;
  int shared_bytes_per_block;  ///< the opt-in limit
  std::size_t memory_bytes;
  std::size_t l2_bytes;
  bool blocks_start_in_order;  ///< so that a block may wait for one of a lower number that is not known to be resident
  std::size_t shared_bytes_per_multiprocessor;
};

/// An answer for each device that has been asked for once, for those who come without a lock. T{} where it has not.
template <class T>
class remembered {
 public:
  [[nodiscard]] T known(int device) const noexcept {
    return has(device) ? of_[index(device)].load(std::memory_order_acquire) : T{};
  }
  void remember(int device, T answer) noexcept {
    if (has(device)) of_[index(device)].store(answer, std::memory_order_release);
  }

 private:
  static constexpr int most_devices = 64;  // the others are asked every time
  static constexpr bool has(int device) noexcept { return device >= 0 && device < most_devices; }
  static constexpr std::size_t index(int device) noexcept { return static_cast<std::size_t>(device); }
  std::array<std::atomic<T>, most_devices> of_{};
};

/// Whether GPUs of this compute capability (10 * major + minor) have 2 FP64 cores in a multiprocessor, a 32nd or a 64th of those for floats, and not a half: 7.5, 8.6,
/// 8.7, 8.9, 10.3 and 12.x. NVIDIA's whitepapers on the Turing, GA102, Ada and RTX Blackwell architectures have the number, and the CUDA C++ Programming Guide the
/// throughput ("Arithmetic Instructions"); of 10.3 (B300) it is that of the data sheet, 1.2 to 1.3 Tflop/s.
bool has_few_double_units(int compute_capability);

/// Devices that the driver shows. Throws backend_unavailable with the reason where there are none.
int device_count();

/// Properties of a device, asked for once. Throws backend_unavailable when there is no device of this number.
const device_properties& properties_of(int device);

/// The virtual architecture of the kernels that a device runs, 10 * major + minor: less than its compute capability where the library was
/// built for older ones only, and then what newer ones can do is not in the code. Requires the device to be current; asked for once.
int code_capability(int device);

}  // namespace onefold::cuda_backend
