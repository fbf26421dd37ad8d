#pragma once
/// @file exact_table.hpp  What the object files of the instruction sets give for exact sums: one table of functions each.

#include <cstdint>

namespace onefold::cpu {

/// What terms were, beside their sum: flags as in ../../exact/state.hpp.
inline constexpr std::uint64_t exact_nan = 1, exact_infinity = 2, exact_minus_infinity = 4, exact_other_than_minus_zero = 8;

/// How many elements a call may have: the bins of one call are exact for so many.
inline constexpr std::uint64_t most_exact_elements = std::uint64_t{1} << 14;

/// Adds elements, or products of those of two arrays, to an integer, and what they were to the flags. `far` says that they come from memory,
/// and not from a cache.
using add_exactly = void (*)(const void* x, const void* y, std::uint64_t count, bool far, std::uint64_t* flags,
                             std::uint64_t* integer);

struct exact_row {
  add_exactly sum, absolute_sum, products;
};

struct exact_table {
#define ONEFOLD_FLOAT(E, T, digits) exact_row E;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
};

extern const exact_table exact_baseline_kernels;
#ifdef ONEFOLD_X86_KERNELS
extern const exact_table exact_avx2_kernels;  ///< with FMA
extern const exact_table exact_avx512_kernels;
#endif

}  // namespace onefold::cpu
