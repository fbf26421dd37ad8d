#pragma once
/// @file pointer_kind.hpp  Tells device memory from host memory without starting the CUDA driver.

#include <cstdint>

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

/// For as long as one lives this thread asks the driver for no pointer: all are to host memory. For what runs where no call of CUDA's may be made.
class all_is_host_memory {
 public:
  all_is_host_memory() noexcept;
  ~all_is_host_memory();
  all_is_host_memory(const all_is_host_memory&) = delete;
  all_is_host_memory& operator=(const all_is_host_memory&) = delete;
};

/// What `pointer` is to, asked often of what a CPU may read: some 10 ns where the same 64 KiB were host memory, or managed, a moment ago. Should they
/// have been given back and have become something else since then, which is some ms, the answer is wrong.
pointer_kind kind_asked_often(const void* pointer) noexcept;
/// Whether that is device memory: for refusals only.
bool is_on_device(const void* pointer) noexcept;

/// Whether it points to this thread's stack, close by, as a caller's own variable does. Asked ahead of the above: it takes no time.
inline bool is_on_this_stack(const void* pointer) noexcept {
  const char here = 0;
  return reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(&here) < (std::uintptr_t{1} << 16);
}

}  // namespace onefold::detail
