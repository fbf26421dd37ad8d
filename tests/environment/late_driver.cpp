/// @file late_driver.cpp  Stands for the CUDA driver, under its name, where a test loads it: `device_pointer` is in device memory, and nothing else.

#include <cstdint>

extern "C" {

const void* device_pointer = nullptr;

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, std::uintptr_t pointer) {
  constexpr int memory_type = 2;
  constexpr unsigned device = 2;
  for (unsigned i = 0; i < count; ++i)
    if (attributes[i] == memory_type)
      *static_cast<unsigned*>(values[i]) = reinterpret_cast<std::uintptr_t>(device_pointer) == pointer ? device : 0;
  return 0;
}
}
