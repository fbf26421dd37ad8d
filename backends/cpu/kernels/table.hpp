#pragma once
/// @file table.hpp  What the object files of the instruction sets give to the rest of the library: one table of functions each.

#include <cstdint>

#include <onefold/order.hpp>

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

/// FOLD(element, accumulator, map, operator): every plain fold of forms.hpp but norm2_fold.
#define ONEFOLD_FIXED_ORDER_FOLDS(FOLD)               \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f32, f32)          \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f64, f64)          \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f16, f32)          \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, bf16, f32)         \
  ONEFOLD_FIXED_ORDER_SUMS_OF_FLOATS(FOLD, f32, f64)  \
  ONEFOLD_FIXED_ORDER_SUMS_OF_FLOATS(FOLD, f16, f64)  \
  ONEFOLD_FIXED_ORDER_SUMS_OF_FLOATS(FOLD, bf16, f64) \
  ONEFOLD_FIXED_ORDER_INTEGERS(FOLD, i32, u32)        \
  ONEFOLD_FIXED_ORDER_INTEGERS(FOLD, i64, u64)        \
  ONEFOLD_FIXED_ORDER_WIDE_INTEGERS(FOLD, i32, u32)   \
  ONEFOLD_FIXED_ORDER_WIDE_INTEGERS(FOLD, i16, u16)   \
  ONEFOLD_FIXED_ORDER_WIDE_INTEGERS(FOLD, i8, u8)     \
  ONEFOLD_FIXED_ORDER_SMALL_INTEGERS(FOLD, i16, u16)  \
  ONEFOLD_FIXED_ORDER_SMALL_INTEGERS(FOLD, i8, u8)

#define ONEFOLD_FIXED_ORDER_SUMS_OF_FLOATS(FOLD, f, a) \
  FOLD(f, a, as_is, sum)                               \
  FOLD(f, a, as_is, prod)                              \
  FOLD(f, a, product, sum)                             \
  FOLD(f, a, square, sum)                              \
  FOLD(f, a, absolute, sum)

#define ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f, a)   \
  ONEFOLD_FIXED_ORDER_SUMS_OF_FLOATS(FOLD, f, a) \
  FOLD(f, a, as_is, min)                         \
  FOLD(f, a, as_is, max)                         \
  FOLD(f, a, absolute, min)                      \
  FOLD(f, a, absolute, max)                      \
  FOLD(f, a, as_is, min_number)                  \
  FOLD(f, a, as_is, max_number)                  \
  FOLD(f, u64, nonzero, sum)

#define ONEFOLD_FIXED_ORDER_INTEGERS(FOLD, i, u) \
  FOLD(u, u, as_is, sum)                         \
  FOLD(u, u, as_is, prod)                        \
  FOLD(u, u, as_is, min)                         \
  FOLD(u, u, as_is, max)                         \
  FOLD(i, i, as_is, min)                         \
  FOLD(i, i, as_is, max)                         \
  FOLD(u, u, product, sum)                       \
  FOLD(u, u, square, sum)                        \
  FOLD(i, u, absolute, sum)                      \
  FOLD(i, u, absolute, min)                      \
  FOLD(i, u, absolute, max)                      \
  FOLD(i, f64, as_is, sum)                       \
  FOLD(i, f64, square, sum)                      \
  FOLD(u, f64, as_is, sum)                       \
  FOLD(u, f64, square, sum)                      \
  FOLD(u, u, as_is, bit_and)                     \
  FOLD(u, u, as_is, bit_or)                      \
  FOLD(u, u, as_is, bit_xor)                     \
  FOLD(u, u64, nonzero, sum)

// Of elements that are smaller than what they are added or multiplied in.
#define ONEFOLD_FIXED_ORDER_WIDE_INTEGERS(FOLD, i, u) \
  FOLD(i, u64, as_is, sum)                            \
  FOLD(u, u64, as_is, sum)                            \
  FOLD(i, u64, as_is, prod)                           \
  FOLD(u, u64, as_is, prod)                           \
  FOLD(i, u64, product, sum)                          \
  FOLD(u, u64, product, sum)                          \
  FOLD(i, u64, square, sum)                           \
  FOLD(u, u64, square, sum)                           \
  FOLD(i, u64, absolute, sum)

#define ONEFOLD_FIXED_ORDER_SMALL_INTEGERS(FOLD, i, u) \
  FOLD(i, i32, as_is, min)                             \
  FOLD(i, i32, as_is, max)                             \
  FOLD(u, u32, as_is, min)                             \
  FOLD(u, u32, as_is, max)                             \
  FOLD(i, u32, absolute, min)                          \
  FOLD(i, u32, absolute, max)                          \
  FOLD(i, f64, square, sum)                            \
  FOLD(u, f64, square, sum)                            \
  FOLD(u, u32, as_is, bit_and)                         \
  FOLD(u, u32, as_is, bit_or)                          \
  FOLD(u, u32, as_is, bit_xor)                         \
  FOLD(u, u64, nonzero, sum)

#define ONEFOLD_FIXED_ORDER_TYPES(FOLD) \
  FOLD(f32) FOLD(f64) FOLD(i32) FOLD(u32) FOLD(i64) FOLD(u64) FOLD(i8) FOLD(u8) FOLD(i16) FOLD(u16) FOLD(f16) FOLD(bf16)

struct kernel_table {
#define ONEFOLD_FOLD(E, A, map, op) fold_groups E##_##A##_##map##_##op;
  ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
  fold_lanes lanes_f32, lanes_f64;
  fold_groups norm2_f64;
  fold_groups c64_sum, c128_sum, c64_dot, c128_dot;  ///< two accumulators for each group: of the real and of the imaginary part
  fold_groups c64_prod, c128_prod;
  /// One accumulator for each group, which has as many numbers as one of parts has parts.
  fold_groups c64_norm1, c128_norm1, c64_norm_inf, c128_norm_inf;
#define ONEFOLD_FOLD(E) fold_groups E##_minmax, E##_mean_variance;
  ONEFOLD_FIXED_ORDER_TYPES(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
  find_element bits_of_1, bits_of_2, bits_of_4, bits_of_8;
  find_element magnitude_of_1, magnitude_of_2, magnitude_of_4, magnitude_of_8;  ///< of integers
  find_element size_of_2, size_of_4, size_of_8;                                 ///< of floats, whose signs are left out
  find_element nan_f16, nan_bf16, nan_f32, nan_f64;
};

extern const kernel_table baseline_kernels;  ///< what the compiler may use without being told
#ifdef ONEFOLD_X86_KERNELS
extern const kernel_table avx2_kernels;    ///< with F16C and FMA
extern const kernel_table avx512_kernels;  ///< F, VL, DQ and BW
#endif

}  // namespace onefold::cpu
