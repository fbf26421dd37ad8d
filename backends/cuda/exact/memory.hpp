#pragma once
/// @file memory.hpp  What exact sums need on a GPU beside their input, and what a launch is told. Plain C++.

#include <cstddef>
#include <cstdint>

#include <onefold/device/destination.hpp>
#include <onefold/device/plan.hpp>
#include <onefold/types.hpp>

#include "../../exact/rounding.hpp"

namespace onefold::cuda_backend {

/// Sums as integers in limbs: the word i stands for word[i] 2^(32 i) units, and is wide enough for all that the blocks of a launch add to it. It lies
/// behind the header of the slots (slots_of), and holds zeros between calls.
struct exact_memory {
  static constexpr int most_limbs = 136;  ///< of a sum; two more than any kind has, for pieces that reach beyond
  long long limb[2][most_limbs];          ///< of the first and the second sum of the kind
  unsigned flags;                         ///< exact::has_nan and so on
  unsigned arrived;                       ///< blocks of this launch that have added all that they have
};
inline constexpr std::size_t exact_memory_at = 64;  ///< bytes behind the beginning of the header
static_assert(exact_memory_at + sizeof(exact_memory) <= device::slot_header_bytes);

/// Which elements of an array count.
enum class exact_part : int { all, even, odd };

/// One launch, which adds the terms of some elements to one of the sums; the last of a call makes the result.
struct exact_launch {
  const void* x;
  const void* y;        ///< of dot; else null
  std::uint64_t count;  ///< of elements of this launch
  exact_part part;
  bool absolute;     ///< of sums: |x|
  bool tells_flags;  ///< whether the flags are those of these terms
  bool concludes;    ///< whether it is the call's last one
  bool is_alone;     ///< whether it is the call's only one, of one block
  bool as_state;     ///< whether the result is the state, as exact::bytes_of() has it, and not the rounded number
  int sum;           ///< which of the two
  int number[2];     ///< of limbs of each
  onefold::detail::exact::rounding result;
};

}  // namespace onefold::cuda_backend
