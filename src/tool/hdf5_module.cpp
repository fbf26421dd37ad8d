/// @file hdf5_module.cpp  Loads what reads HDF5 when a file is one: the HDF5 library brings dozens of others, and most files are none.

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "hdf5_reader.hpp"
#include "input_error.hpp"

namespace onefold::tool {

namespace {

// Beside the tool, as in a build tree, or where it is installed: whatever folders a library is looked for in elsewhere.
std::filesystem::path module_path() {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::filesystem::path beside = folder / ONEFOLD_HDF5_MODULE;
  return std::filesystem::exists(beside, ignored) ? beside : folder / ONEFOLD_HDF5_FOLDER / ONEFOLD_HDF5_MODULE;
}

}  // namespace

std::unique_ptr<hdf5_reader> open_hdf5_reader(const std::string& path, const std::string& dataset, bool follow_external) {
  void* const module = ::dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);  // until the process ends
  void* const open = module == nullptr ? nullptr : ::dlsym(module, "onefold_open_hdf5_reader");
  if (open == nullptr)
    throw input_error(fmt::format(
        "cannot be read, because the tool's part for HDF5 cannot be loaded ({}): install onefold again, or export to .npy",
        ::dlerror()));  // NOLINT(concurrency-mt-unsafe): this process has one thread
  return std::unique_ptr<hdf5_reader>(reinterpret_cast<decltype(&onefold_open_hdf5_reader)>(open)(path, dataset, follow_external));
}

}  // namespace onefold::tool
