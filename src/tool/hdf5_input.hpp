#pragma once
/// @file hdf5_input.hpp  A dataset of an HDF5 file as an array. Internal to open_input().

#include <string>

#include "input_file.hpp"

namespace onefold::tool {

/// Opens one dataset. It stays in the file, mapped, where it lies there contiguous, uncompressed and little-endian; else the HDF5
/// library reads (and converts) it into memory.
///
/// @param file     the same file, mapped
/// Errors   input_error without the file's name: not HDF5, no such dataset, another element type, damaged data.
[[nodiscard]] input_array open_hdf5(const std::string& path, const std::string& dataset, mapped_file file);

}  // namespace onefold::tool
