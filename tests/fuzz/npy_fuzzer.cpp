/// @file npy_fuzzer.cpp  Any bytes as a .npy file: parsed to an array that lies within them, or refused with a sentence.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "input_error.hpp"
#include "npy.hpp"

// Called by libFuzzer, which takes a crash, a sanitizer's report, and an exception for a find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onefold::tool;
  const auto file = std::as_bytes(std::span(data, size));
  try {
    const npy_array array = parse_npy(file);
    std::uint64_t count = 1;
    for (const std::uint64_t extent : array.shape) count *= extent;  // wraps for shapes that have no elements, to 0
    const std::uint64_t bytes = array.count * onefold::size_of(array.type);
    if (!looks_like_npy(file) || count != array.count || array.data_offset > size || bytes != size - array.data_offset)
      std::abort();
  } catch (const input_error& refused) {
    if (std::strlen(refused.what()) < 10) std::abort();
  }
  return 0;
}
