#pragma once
/// @file input_file.hpp  Opens the file that the user names, whatever its format, as an array of one of onefold's element types.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/types.hpp>

#include "aligned_buffer.hpp"
#include "mapped_file.hpp"

namespace onefold::tool {

/// The elements of a file, aligned, in the order in which they lie there. Owns what `data` points to; moving keeps it valid.
struct input_array {
  std::string_view format;  ///< "npy", "raw" or "hdf5"
  element_type type = {};
  std::vector<std::uint64_t> shape;  ///< elements along each axis; empty for a single number
  bool fortran_order = false;        ///< first axis fastest
  std::uint64_t count = 0;           ///< elements
  const std::byte* data = nullptr;   ///< `count` elements; null when there are none
  bool mapped = false;               ///< read from the file on demand; false: `data` lies in `copy`

  mapped_file file;
  aligned_buffer copy;

  /// Bytes of all elements; never overflows, because no array is made whose bytes 64 bits cannot count.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return count * size_of(type); }
};

/// Opens `name`: a .npy file (by its name or its first bytes), FILE:/DATASET in an HDF5 file, or else raw little-endian binary.
///
/// @param name  as the user gave it; a file with exactly this name comes before the reading as FILE:/DATASET
/// @param type  the element type that the user gave: needed for raw binary, compared where the file states its own
/// Cost     maps the file and reads nothing but its header; a copy in memory where the elements are not aligned or an HDF5 dataset
///          is not contiguous, is compressed, or has another byte order.
/// Errors   input_error "NAME: what is wrong: what to do".
[[nodiscard]] input_array open_input(const std::string& name, std::optional<element_type> type);

/// Whether this build reads HDF5.
[[nodiscard]] bool reads_hdf5() noexcept;

}  // namespace onefold::tool
