/// @file fake_driver.cpp  Stands for the CUDA driver, under its name: what lies where is for the test to say. Until it says something all is host memory.

#include <cstdint>

extern "C" {

/// The number of the device whose memory it is, or -1.
int (*fake_driver_device_of)(const void* pointer) = nullptr;

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, std::uintptr_t pointer) {
  constexpr int memory_type = 2, device_ordinal = 9;
  constexpr unsigned device_memory = 2;
  const int device = fake_driver_device_of == nullptr ? -1 : fake_driver_device_of(reinterpret_cast<const void*>(pointer));
  if (device < 0) return 0;  // leaves zeros
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == memory_type) *static_cast<unsigned*>(values[i]) = device_memory;
    if (attributes[i] == device_ordinal) *static_cast<int*>(values[i]) = device;
  }
  return 0;
}
}
