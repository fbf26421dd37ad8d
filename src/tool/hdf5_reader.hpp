#pragma once
/// @file hdf5_reader.hpp  A dataset of an HDF5 file: the calls of the HDF5 library. Internal to hdf5_child, in whose process it runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hdf5_child.hpp"

namespace onefold::tool {

class hdf5_reader {
 public:
  hdf5_reader() = default;
  hdf5_reader(const hdf5_reader&) = delete;
  hdf5_reader& operator=(const hdf5_reader&) = delete;
  virtual ~hdf5_reader() = default;

  [[nodiscard]] virtual const hdf5_facts& facts() const noexcept = 0;

  /// Copies `count` elements from element `first` on, counted as they lie in memory, converted to this machine's byte order.
  /// Errors   input_error.
  virtual void read(std::uint64_t first, std::uint64_t count, std::byte* to) const = 0;
};

/// hdf5_reader.cpp has it, and hdf5_module.cpp, which loads the former and the HDF5 library with it.
/// Errors   input_error without the file's name.
[[nodiscard]] std::unique_ptr<hdf5_reader> open_hdf5_reader(const std::string& path, const std::string& dataset,
                                                            bool follow_external);

}  // namespace onefold::tool

/// The same from a module that is loaded. It is the caller's to delete.
extern "C" [[gnu::visibility("default")]] onefold::tool::hdf5_reader* onefold_open_hdf5_reader(const std::string& path,
                                                                                               const std::string& dataset,
                                                                                               bool follow_external);
