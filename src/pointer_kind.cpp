#include "pointer_kind.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

namespace onefold::detail {

namespace {

// From the CUDA driver's stable binary interface (cuda.h). Spelled out so that a library built without CUDA, linked into an
// application that uses CUDA, still recognises a device pointer instead of crashing on it.
using get_attribute = int (*)(void* value, int attribute, std::uintptr_t pointer);
constexpr int attribute_memory_type = 2;
constexpr int attribute_is_managed = 8;
constexpr int attribute_device_ordinal = 9;
constexpr unsigned memory_type_device = 2;

// A process can hold device memory only after it has loaded the driver: asking for the library without loading it costs nothing and
// starts nothing. A driver that is loaded later is found by a later call.
get_attribute driver_query() noexcept {
  static std::atomic<get_attribute> found{nullptr};
  if (const auto query = found.load(std::memory_order_acquire)) return query;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return nullptr;
  const auto query = reinterpret_cast<get_attribute>(dlsym(driver, "cuPointerGetAttribute"));
  if (query != nullptr) found.store(query, std::memory_order_release);
  return query;
}

}  // namespace

pointer_place locate(const void* pointer) noexcept {
  const get_attribute query = driver_query();
  if (query == nullptr || pointer == nullptr) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned type = 0;
  if (query(&type, attribute_memory_type, address) != 0 || type != memory_type_device) return {};
  pointer_place place{pointer_kind::device, 0};
  unsigned managed = 0;
  if (query(&managed, attribute_is_managed, address) == 0 && managed != 0) place.kind = pointer_kind::managed;
  int device = 0;
  if (query(&device, attribute_device_ordinal, address) == 0) place.device = device;
  return place;
}

}  // namespace onefold::detail
