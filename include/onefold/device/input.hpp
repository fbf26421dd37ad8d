#pragma once
/// @file input.hpp  What a reduction on a GPU reads, as data: the host fills it in, the kernels take it.

#include <cstdint>

namespace onefold::device {

/// How a warp reads tiles.
enum class reading : int {
  aligned,  ///< in loads of 16 bytes: all inputs begin on such a boundary
  shifted,  ///< the same of the only input, which begins behind a boundary
  single,   ///< element by element: any
  packed,   ///< in loads of 16 bytes, from any boundary (packed.cuh)
};

/// The inputs of a fold.
struct tree_input {
  const void* x;        ///< null where there is none
  const void* y;        ///< the second input, or null
  std::uint64_t count;  ///< elements, or indices
  int shift;            ///< elements of x behind a 16-byte boundary
  /// Tiles before this one exist as a whole, and so do the packs that hold them, but for the beginning of a shifted array's first.
  std::uint64_t end_packed;
  std::uint64_t end_tile;
  const void* z;  ///< the third input, or null
};

}  // namespace onefold::device
