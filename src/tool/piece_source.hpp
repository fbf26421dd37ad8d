#pragma once
/// @file piece_source.hpp  Elements that are too many to be held in memory, piece by piece.

#include <cstddef>
#include <cstdint>

namespace onefold::tool {

/// Most bytes that are copied to memory as a whole.
inline constexpr std::uint64_t whole_bytes = std::uint64_t{256} << 20;
/// Of every piece but the last: a power of two of tiles (docs/order.md) of elements of any type. Large beside what a call costs.
inline constexpr std::uint64_t piece_tiles = std::uint64_t{1} << 14;
inline constexpr std::uint64_t piece_bytes = piece_tiles * 4096;

class piece_source {
 public:
  virtual ~piece_source() = default;
  /// `count` elements from element `first` on, aligned; there until the next call.
  /// Errors: input_error without the file's name.
  [[nodiscard]] virtual const std::byte* read(std::uint64_t first, std::uint64_t count) = 0;
};

}  // namespace onefold::tool
