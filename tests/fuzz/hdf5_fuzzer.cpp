/// @file hdf5_fuzzer.cpp  Any bytes as an HDF5 file with a dataset "x": its elements, or a sentence, whatever becomes of the HDF5 library in
/// the child that reads it. Finds in that library are not ours: what counts is what they do to the tool.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "input_error.hpp"
#include "input_file.hpp"

namespace {

const std::string& path() {
  static const std::string name = [] {
    const char* const in_memory = "/dev/shm";
    const auto folder =
        std::filesystem::exists(in_memory) ? std::filesystem::path(in_memory) : std::filesystem::temp_directory_path();
    static std::string made = (folder / ("onefold-fuzz-" + std::to_string(::getpid()) + ".h5")).string();
    std::atexit([] { ::unlink(made.c_str()); });
    return made;
  }();
  return name;
}

void write(const std::uint8_t* data, std::size_t size) {
  std::FILE* file = std::fopen(path().c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size || std::fclose(file) != 0) std::abort();
}

// Every byte is looked at: one that is not there would be found.
std::uint64_t sum(const std::byte* data, std::uint64_t bytes) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < bytes; ++i) total += static_cast<std::uint64_t>(data[i]);
  return total;
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "find: %s\n", what);
  std::abort();
}

}  // namespace

// Called by libFuzzer, which takes a crash, a sanitizer's report, an exception and a run of 60 s for a find.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onefold::tool;
  write(data, size);
  const open_options how{.follow_external = false,
                         .limits = {.memory_bytes = std::uint64_t{256} << 20, .open_cpu_seconds = 2, .read_cpu_seconds = 2}};
  try {
    const input_array array = open_input(path() + ":/x", std::nullopt, how);
    const std::uint64_t most = piece_bytes / onefold::size_of(array.type), length = std::min(array.count, most);
    if (length > 0) {
      static_cast<void>(sum(array.piece(0, length), length * onefold::size_of(array.type)));
      static_cast<void>(sum(array.piece(array.count - length, length), length * onefold::size_of(array.type)));
    }
  } catch (const input_error& refused) {
    if (!std::string(refused.what()).starts_with(path() + ":/x: ")) give_up(refused.what());
  }
  return 0;
}
