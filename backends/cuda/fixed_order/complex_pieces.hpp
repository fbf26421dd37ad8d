#pragma once
/// @file complex_pieces.hpp  Complex numbers that come to a GPU in pieces: what is made of a piece there, and how the host combines that.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <onefold/detail/device_fold.hpp>
#include <onefold/types.hpp>

#include "complex.hpp"

namespace onefold::cuda_backend {

/// A reduction of complex numbers as one of pieces that are subtrees of its tree.
struct complex_pieces {
  static constexpr std::size_t most_state_bytes = 48;  // of mean_variance

  /// Whose result is the node over a piece. Its arrays are still to be said, and where is_told its object, which is of_node.
  onefold::detail::device_fold of_piece;
  bool is_told = false;
  complex_conclusion of_node{}, conclusion{};  ///< the second is what the whole is concluded with
  std::uint32_t state_bytes = 0;               ///< of a node, at most most_state_bytes
  /// As cpu_fold::level, in the default floating-point environment.
  int (*level)(void*, void* states, std::uint64_t count) = nullptr;
  /// Makes the result of `count` elements of the tree's value; likewise.
  void (*conclude)(const complex_conclusion& conclusion, const void* tree, std::uint64_t count, void* result) = nullptr;
};

/// Those of a fold of complex.hpp, with the object that it was made with; nothing of another fold.
std::optional<complex_pieces> pieces_of_complex(const onefold::detail::device_fold& whole);

}  // namespace onefold::cuda_backend
