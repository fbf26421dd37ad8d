#pragma once
/// @file pointer_kind.hpp  Tells device memory from host memory without starting the CUDA driver.

namespace onefold::detail {

enum class pointer_kind { host, device, managed };

struct pointer_place {
  pointer_kind kind = pointer_kind::host;
  int device = 0;  ///< of device and managed memory
};

/// Whether this process has loaded the CUDA driver: while it has not, all pointers are to host memory. Some 20 ns.
bool may_hold_device_memory() noexcept;

/// Where `pointer` points. Cost: one driver call (about 0.1 us) when this process has loaded the CUDA driver, else that of
/// may_hold_device_memory(). Never throws; what the driver does not know is host memory.
pointer_place locate(const void* pointer) noexcept;

}  // namespace onefold::detail
