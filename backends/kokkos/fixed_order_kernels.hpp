#pragma once
/// @file fixed_order_kernels.hpp  What the object files of the instruction sets give to fixed_order.cpp: one table of functions each.

#include <cstdint>

namespace onefold::kokkos_backend {

/// Tiles of a group, the unit of work of a kernel: 64 KiB of an input. A group is a subtree of tree v1, its value a node of this level.
inline constexpr int group_level = 4;
inline constexpr int group_tiles = 1 << group_level;

/// Stores the values of the groups that `count` elements fill, the last one perhaps in part, one accumulator each. `x`, and `y` where
/// the form has two inputs, begin at a group; any alignment will do.
using fold_groups = void (*)(const void* x, const void* y, std::uint64_t count, void* values);

/// FOLD(element, accumulator, map, operator): every fold of forms.hpp but norm2_fold.
#define ONEFOLD_FIXED_ORDER_FOLDS(FOLD)        \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f32)        \
  ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f64)        \
  FOLD(f32, f64, as_is, sum)                   \
  FOLD(f32, f64, as_is, prod)                  \
  FOLD(f32, f64, product, sum)                 \
  FOLD(f32, f64, square, sum)                  \
  FOLD(f32, f64, absolute, sum)                \
  ONEFOLD_FIXED_ORDER_INTEGERS(FOLD, i32, u32) \
  ONEFOLD_FIXED_ORDER_INTEGERS(FOLD, i64, u64)

#define ONEFOLD_FIXED_ORDER_FLOATS(FOLD, f) \
  FOLD(f, f, as_is, sum)                    \
  FOLD(f, f, as_is, prod)                   \
  FOLD(f, f, as_is, min)                    \
  FOLD(f, f, as_is, max)                    \
  FOLD(f, f, product, sum)                  \
  FOLD(f, f, square, sum)                   \
  FOLD(f, f, absolute, sum)                 \
  FOLD(f, f, absolute, max)

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
  FOLD(i, u, absolute, max)                      \
  FOLD(i, f64, as_is, sum)                       \
  FOLD(i, f64, square, sum)                      \
  FOLD(u, f64, as_is, sum)                       \
  FOLD(u, f64, square, sum)

struct kernel_table {
#define ONEFOLD_FOLD(E, A, map, op) fold_groups E##_##A##_##map##_##op;
  ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
  fold_groups norm2_f64;
};

extern const kernel_table baseline_kernels;  ///< what the compiler may use without being told
#ifdef ONEFOLD_X86_KERNELS
extern const kernel_table avx2_kernels;
extern const kernel_table avx512_kernels;  ///< F, VL, DQ and BW
#endif

}  // namespace onefold::kokkos_backend
