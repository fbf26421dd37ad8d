#pragma once
/// @file memory.hpp  What exact sums need on a GPU beside their input, and what a launch is told. Plain C++.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/device_exact.hpp>
#include <onefold/device/destination.hpp>
#include <onefold/device/plan.hpp>
#include <onefold/types.hpp>

#include "../../exact/rounding.hpp"

namespace onefold::cuda_backend {

/// What the blocks of the launches of a call add to. It lies behind the header of the slots (slots_of).
using exact_memory = onefold::detail::exact_limbs;
inline constexpr std::size_t exact_memory_at = 64;  ///< bytes behind the beginning of the header
static_assert(exact_memory_at + sizeof(onefold::detail::counted_exact_limbs) <= device::slot_header_bytes);

/// Of launches over arrays.
struct exact_memory_of_array : exact_memory {
  unsigned tickets;  ///< that the blocks of this launch have asked for (shared_units)
};
static_assert(sizeof(exact_memory_of_array) <= sizeof(onefold::detail::counted_exact_limbs));

/// Which elements of an array count; `turned`: all, and those of the second array as the imaginary part of a dot takes them; `both`: those of either part of
/// complex numbers by themselves, whose moments are made one result in stream order.
enum class exact_part : int { all, even, odd, turned, both };

/// What a call stores: the rounded number; the state, as exact::bytes_of() has it; or the state's words (docs/exact.md).
enum class exact_outcome : int { number, state, words };

/// One launch, which adds the terms of some elements to one of the sums; the last of a call makes the result.
struct exact_launch {
  const void* x;
  const void* y;        ///< of dot; else null
  std::uint64_t count;  ///< of elements of this launch; with count_at at most so many
  /// Null, or where the number of the call's elements stands, of which result.count are taken at most, and `before` numbers by the launches before this one.
  const std::uint64_t* count_at;
  std::uint64_t before;
  exact_part part;   ///< never `turned`, which another kernel does, nor `both`, which are two launches
  bool absolute;     ///< of sums: |x|
  bool tells_flags;  ///< whether the flags are those of these terms
  bool concludes;    ///< whether it is the call's last one
  bool is_alone;     ///< whether it is the call's only one, of one block
  bool counts;  ///< of a function's values: whether counted_exact_limbs::present is the number of terms, and not `result` has it
  exact_outcome outcome;
  int kind;       ///< its number
  int sum;        ///< which of the two
  int number[2];  ///< of limbs of each
  onefold::detail::exact::rounding result;
  // Of terms that are counted, or of which the number stands in memory:
  std::int64_t ddof;
  std::uint64_t of_none[2];  ///< the result of no terms, as it lies in memory
};

}  // namespace onefold::cuda_backend
