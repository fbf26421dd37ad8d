#pragma once
/// @file handover.hpp  Where the values of a grid's blocks go: what the host tells every kernel of the lectures'.

namespace onefold::cuda_backend {

/// What a block does with its value.
enum class handing : int {
  result,       ///< it is the result: the only block stores it
  partials,     ///< store it for the next kernel or for the host
  accumulator,  ///< combine it with the accumulator
  last_block,   ///< store it; the block that arrives last combines all
  cooperative,  ///< store it; after the grid's barrier the first block combines all
};

/// Where block values go. Passed to every kernel by value. The bytes are the same for all types: handover<void> is that of any.
template <class T>
struct handover {
  handing how;
  T* partials;  ///< one per block, in the order of the blocks
  T* accumulator;
  unsigned* ticket;  ///< blocks that have arrived; zero before and after
  T* result;
};

}  // namespace onefold::cuda_backend
