#pragma once
/// @file input_file.hpp  Opens the file that the user names, whatever its format, as an array of one of onefold's element types.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/types.hpp>

#include "aligned_buffer.hpp"
#include "hdf5_child.hpp"
#include "mapped_file.hpp"
#include "piece_source.hpp"

namespace onefold::tool {

/// The elements of a file, aligned, in the order in which they lie there. Owns what `data` points to; moving keeps it valid.
struct input_array {
  std::string name;         ///< as the user gave it
  std::string_view format;  ///< "npy", "raw" or "hdf5"
  element_type type = {};
  std::vector<std::uint64_t> shape;  ///< elements along each axis; empty for a single number
  bool fortran_order = false;        ///< first axis fastest
  std::uint64_t count = 0;           ///< elements
  const std::byte* data = nullptr;   ///< `count` elements; null when there are none, and when they come in pieces
  bool mapped = false;               ///< read from the file on demand

  mapped_file file;
  aligned_buffer copy;
  std::unique_ptr<piece_source> source;

  /// Bytes of all elements; never overflows, because no array is made whose bytes 64 bits cannot count.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return count * size_of(type); }
  /// Whether the elements are too many to be held in memory and are to be had with piece() only.
  [[nodiscard]] bool in_pieces() const noexcept { return data == nullptr && count > 0; }
  /// `length` elements from element `first` on, at most piece_bytes of them where in_pieces(); there until the next call.
  /// Errors: input_error, with the name.
  [[nodiscard]] const std::byte* piece(std::uint64_t first, std::uint64_t length) const;
  /// Behind the last look at the elements. Errors: input_error, with the name, where the file has become shorter.
  void check_whole() const;
};

/// What open_input() may do beside opening the file that it is given.
struct open_options {
  bool follow_external = false;  ///< HDF5: read other files, where the file refers to them
  hdf5_limits limits = {};
};

/// Opens `name`: a .npy file (by its name or its first bytes), FILE:/DATASET in an HDF5 file, or else raw little-endian binary.
///
/// @param name  as the user gave it; a file with exactly this name comes before the reading as FILE:/DATASET
/// @param type  the element type that the user gave: needed for raw binary, compared where the file states its own
/// Cost     maps the file and reads nothing but its header. Elements that cannot be used where they lie, because they are not aligned or an
///          HDF5 dataset is not contiguous, is compressed, or has another byte order, are copied to memory, or come in pieces
///          where they take more than whole_bytes.
/// Errors   input_error "NAME: what is wrong: what to do".
[[nodiscard]] input_array open_input(const std::string& name, std::optional<element_type> type, const open_options& how = {});

/// Whether this build reads HDF5.
[[nodiscard]] bool reads_hdf5() noexcept;

}  // namespace onefold::tool
