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
  /// Errors   input_error without the file's name.
  hdf5_reader(const std::string& path, const std::string& dataset, bool follow_external);
  ~hdf5_reader();

  [[nodiscard]] const hdf5_facts& facts() const noexcept;

  /// Copies `count` elements from element `first` on, counted as they lie in memory, converted to this machine's byte order.
  /// Errors   input_error.
  void read(std::uint64_t first, std::uint64_t count, std::byte* to) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace onefold::tool
