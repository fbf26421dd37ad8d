#pragma once
/// @file table.hpp  What the object files of the instruction sets give to the rest of the library: one table of functions each.

#include <cstdint>

#include <onefold/order.hpp>
#include <onefold/types.hpp>

namespace onefold::cpu {

using order::group_level, order::group_tiles;

/// Where an input comes from; `memory_in_streams`: from memory, on a processor that reads several streams at once faster than one.
enum class input_from : unsigned char { caches, memory, memory_in_streams };

/// Stores the values of the groups that `count` elements fill, the last one perhaps in part, one accumulator each. `x`, and `y` where
/// the form has two inputs, begin at a group; any alignment will do.
using fold_groups = void (*)(const void* x, const void* y, std::uint64_t count, input_from from, void* values);

/// Stores the value of the first `tiles` tiles of a group, 1 to group_tiles of them, whose rows have been added: `lanes` has a row of sums for each.
using fold_lanes = void (*)(const void* lanes, int tiles, void* value);

/// The index of the first of `count` elements, of one size, that has these bits, or whose absolute value has, or that is no number. There must
/// be one.
using find_element = std::uint64_t (*)(const void* x, std::uint64_t count, const void* bits);

/// Stores `count` elements as those of another type: converted as C does, integers to longer ones with their signs. Any alignment of `x` will do, and nothing
/// behind the last element is read or written.
using convert_elements = void (*)(const void* x, std::uint64_t count, input_from from, void* to);
/// Of one type. Conversions are null to itself, to shorter ones, and of signed integers to those without a sign but to u64. Products with floats or doubles are
/// those of `count` whole groups of that type, null where they have no kernel.
struct of_another_type {
  convert_elements to_f32, to_f64, to_i16, to_i32, to_u32, to_u64;
  fold_groups with_f32, with_f64;
};

struct kernel_table {
#define ONEFOLD_FOLD(E, A, map, op) fold_groups E##_##A##_##map##_##op;
#include "folds.def"
  fold_lanes lanes_f32, lanes_f64;
  fold_groups norm2_f64;
  /// Two accumulators for each group, of the real and of the imaginary part; of c64_c128 the numbers are c64, and the accumulators two doubles.
  fold_groups c64_sum, c128_sum, c64_c128_sum, c64_dot, c128_dot, c64_c128_dot;
  fold_groups c64_prod, c128_prod, c64_c128_prod;
  fold_groups c64_c128_norm1;  ///< as below, one double
  /// One accumulator for each group, which has as many numbers as one of parts has parts.
  fold_groups c64_norm1, c128_norm1, c64_norm_inf, c128_norm_inf;
#define ONEFOLD_TYPE(E, T) fold_groups E##_minmax, E##_mean_variance;
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
  find_element bits_of_1, bits_of_2, bits_of_4, bits_of_8;
  find_element magnitude_of_1, magnitude_of_2, magnitude_of_4, magnitude_of_8;  ///< of integers
  find_element size_of_2, size_of_4, size_of_8;                                 ///< of floats, whose signs are left out
#define ONEFOLD_FLOAT(E, T, digits) find_element nan_##E;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>
  of_another_type of[element_type_count];  ///< by element type
};

extern const kernel_table baseline_kernels;  ///< what the compiler may use without being told
#ifdef ONEFOLD_X86_KERNELS
extern const kernel_table avx2_kernels;    ///< with F16C and FMA
extern const kernel_table avx512_kernels;  ///< F, VL, DQ and BW
#endif

}  // namespace onefold::cpu
