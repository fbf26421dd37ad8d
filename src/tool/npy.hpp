#pragma once
/// @file npy.hpp  The header of NumPy's .npy format, versions 1.0, 2.0 and 3.0. Free of input and output, so that it can be fuzzed.
///
/// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <onefold/types.hpp>

namespace onefold::tool {

/// What a .npy file holds, and where.
struct npy_array {
  element_type type;                 ///< of booleans u8
  std::vector<std::uint64_t> shape;  ///< elements along each axis; empty for a single number (0-d)
  bool fortran_order;                ///< first axis fastest; says nothing about a reduction of all elements
  std::size_t data_offset;           ///< bytes from the start of the file to the first element; any number, aligned or not
  std::uint64_t count;               ///< elements: the product of the shape
};

/// Whether the bytes begin with the magic string of .npy.
[[nodiscard]] bool looks_like_npy(std::span<const std::byte> file) noexcept;

/// Reads the header of a whole .npy file and checks that exactly its elements follow: on return
/// `data_offset + count * size_of(type) == file.size()`.
///
/// @param file  all bytes of the file; only those of the header are read
/// Cost     linear in the length of the header, which is refused above 1 MiB.
/// Errors   input_error: not .npy, unknown format version, a header that is cut off or is no dict of exactly 'descr',
///          'fortran_order' and 'shape', elements of a type that NumPy has and onefold has not, a shape too large for 64 bits, missing or
///          surplus data.
[[nodiscard]] npy_array parse_npy(std::span<const std::byte> file);

/// The bytes of a .npy file, format 1.0, that holds these numbers along one axis, as numpy.save writes them.
[[nodiscard]] std::string npy_file_of(std::span<const std::int64_t> numbers);

}  // namespace onefold::tool
