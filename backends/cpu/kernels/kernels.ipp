/// @file kernels.ipp  The kernels of tree v1 on the CPU, compiled once for each instruction set.
///
/// The file that includes this one defines ONEFOLD_VECTOR_BYTES, the length of a register, and ONEFOLD_KERNELS, the name of its table.
/// The table is the only symbol that leaves the object. Everything else is in the unnamed namespace, and nothing of std:: is called:
/// of an inline function that several objects hold the linker keeps one, and if that were the AVX-512 one every machine would run it.
///
///   a row of a tile     |v0 |v1 |v2 |v3 |      K registers hold a row's values, one lane each
///   the row below       |v0 |v1 |v2 |v3 |      added register by register, 15 times
///   halving             (v0 v1) + (v2 v3), v0 + v1: down to one register, plain adds
///   16 tiles together   [t0 low, t1 low] + [t0 high, t1 high], ...: one add halves two tiles, then four, ...;
///                       in the end a register holds a tile's value in each lane, and the same step climbs the tree of tiles
///
/// Integer reductions and min and max give the same bits in any order, and are not held to it.

#include "any_order.ipp"
#include "extremes.ipp"
#include "moments.ipp"
#include "norm2.ipp"
#include "ordered.ipp"

namespace onefold::cpu {

namespace {

template <class E, class A, class Map, class Op>
struct kernel {
  using type = any_order<E, A, Map, Op>;
};
template <class E, class Map, class Op>
requires(is_float<E> && (same<Op, min> || same<Op, max>)) struct kernel<E, E, Map, Op> {
  using type = extreme<E, Map, Op>;
};
template <class E, class Op>
requires(same<Op, min_number> || same<Op, max_number>) struct kernel<E, E, as_is, Op> {
  using type = extreme_number<E, Op>;
};
template <class E>
struct kernel<E, u64, nonzero, sum> {
  using type = counting<E>;
};
template <class E, class A, class Map, class Op>
requires(is_float<A> && (same<Op, sum> || same<Op, prod>)) struct kernel<E, A, Map, Op> {
  using type = ordered<E, A, Map, Op>;
};

template <class Kernel, class E, class A>
void run(const void* first_x, const void* first_y, u64 count, void* first_value) {
  constexpr u64 group = group_tiles * order::tile_elements<E>;
  const E* x = static_cast<const E*>(first_x);
  const E* y = static_cast<const E*>(first_y);
  A* value = static_cast<A*>(first_value);
  for (; count > group; count -= group) {
    *value++ = Kernel::group(x, y, group);
    x += group;
    if (y != nullptr) y += group;
  }
  *value = Kernel::group(x, y, count);
}

}  // namespace

extern const kernel_table ONEFOLD_KERNELS = {
#define ONEFOLD_FOLD(E, A, map, op) run<kernel<E, A, map, op>::type, E, A>,
    ONEFOLD_FIXED_ORDER_FOLDS(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
        run<norm2, f64, squares>,
#define ONEFOLD_FOLD(E) run<min_and_max<E>, E, both<E>>, run<mean_variance<E>, E, moments>,
    ONEFOLD_FIXED_ORDER_TYPES(ONEFOLD_FOLD)
#undef ONEFOLD_FOLD
        first_that<u32, has_bits>,
    first_that<u64, has_bits>,
    first_that<f32, is_no_number>,
    first_that<f64, is_no_number>,
};

}  // namespace onefold::cpu
