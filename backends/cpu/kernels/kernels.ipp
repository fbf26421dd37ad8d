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
#include "complex.ipp"
#include "complex_norms.ipp"
#include "complex_products.ipp"
#include "extremes.ipp"
#include "halves.ipp"
#include "moments.ipp"
#include "norm2.ipp"
#include "ordered.ipp"
#include "small.ipp"
#include "two_types.ipp"

namespace onefold::cpu {

namespace {

template <class E, class A, class Map, class Op>
consteval auto kernel_for() {
  constexpr bool extreme_of_numbers = same<Op, min_number> || same<Op, max_number>;
  constexpr bool extreme_of_all = same<Op, min> || same<Op, max>;
  if constexpr (same<Map, nonzero> && sizeof(E) < 4)
    return counting_small<E>{};
  else if constexpr (same<Map, nonzero>)
    return counting<E>{};
  else if constexpr (is_half<E> && extreme_of_all)
    return half_extreme<E, Map, Op>{};
  else if constexpr (is_half<E> && extreme_of_numbers)
    return half_extreme_number<E, Op>{};
  else if constexpr (is_float<E> && extreme_of_all)
    return extreme<E, Map, Op>{};
  else if constexpr (is_float<E> && extreme_of_numbers)
    return extreme_number<E, Op>{};
  else if constexpr (is_small_integer<E> && same<Op, sum>)
    return small_sum<E, A, Map>{};
  else if constexpr (is_small_integer<E> && !same<Op, prod>)
    return narrow<E, A, Map, Op>{};
  else if constexpr (is_float<A>)
    return ordered<E, A, Map, Op>{};
  else
    return any_order<E, A, Map, Op>{};
}
template <class E, class A, class Map, class Op>
using kernel = decltype(kernel_for<E, A, Map, Op>());

template <class Kernel>
concept has_streams = (Kernel::streams > 1);

// A group has as many elements as if they were of type Row.
template <class Kernel, class E, class A, class Row = E>
void run(const void* first_x, const void* first_y, u64 count, input_from from, void* first_value) {
  constexpr u64 group = group_tiles * order::tile_elements<Row>;
  const E* x = static_cast<const E*>(first_x);
  const E* y = static_cast<const E*>(first_y);
  A* value = static_cast<A*>(first_value);
  const bool far = from != input_from::caches;
  if constexpr (has_streams<Kernel>) {
    // Of the groups in a row a quarter for each stream.
    const u64 quarter = from == input_from::memory_in_streams ? count / (Kernel::streams * group) : 0;
    for (u64 i = 0; i < quarter; ++i) {
      Kernel::groups_in_streams(x, y, quarter * group, value++, quarter);
      x += group;
      if (y != nullptr) y += group;
    }
    if (quarter > 0) {
      constexpr u64 others = Kernel::streams - 1;
      x += others * quarter * group;
      if (y != nullptr) y += others * quarter * group;
      value += others * quarter;
      count -= Kernel::streams * quarter * group;
      if (count == 0) return;
    }
  }
  for (; count > group; count -= group) {
    *value++ = Kernel::group(x, y, group, far);
    x += group;
    if (y != nullptr) y += group;
  }
  *value = Kernel::group(x, y, count, far);
}

template <class T>
void sum_of_lanes(const void* lanes, int tiles, void* value) {
  *static_cast<T*>(value) = kernel<T, T, as_is, sum>::group_of_lanes(static_cast<const T*>(lanes), tiles);
}

}  // namespace

extern const kernel_table ONEFOLD_KERNELS = {
#define ONEFOLD_FOLD(E, A, map, op) run<kernel<E, A, map, op>, E, A>,
#include "folds.def"
    sum_of_lanes<f32>,
    sum_of_lanes<f64>,
    run<norm2, f64, squares>,
#define ONEFOLD_FOLD(E, A, map) run<complex_sum<E, A, map>, parts_of_number<E>, parts_of_number<A>>,
    ONEFOLD_FOLD(f32, f32, as_is) ONEFOLD_FOLD(f64, f64, as_is) ONEFOLD_FOLD(f32, f64, as_is) ONEFOLD_FOLD(f32, f32, conjugated)
        ONEFOLD_FOLD(f64, f64, conjugated) ONEFOLD_FOLD(f32, f64, conjugated)
#undef ONEFOLD_FOLD
            run<complex_prod<f32, f32>, parts_of_number<f32>, parts_of_number<f32>>,
    run<complex_prod<f64, f64>, parts_of_number<f64>, parts_of_number<f64>>,
    run<complex_prod<f32, f64>, parts_of_number<f32>, parts_of_number<f64>>,
    run<complex_wide_norm1, parts_of_number<f32>, f64, f32>,
    run<complex_norm1<f32>, parts_of_number<f32>, f32, f32>,
    run<complex_norm1<f64>, parts_of_number<f64>, f64, f64>,
    run<complex_norm_inf<f32>, parts_of_number<f32>, f32, f32>,
    run<complex_norm_inf<f64>, parts_of_number<f64>, f64, f64>,
#define ONEFOLD_TYPE(E, T) run<min_and_max<E>, E, both<compared<E>::type>>, run<mean_variance<E>, E, moments>,
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    first_that<u8, has_bits>,
    first_that<u16, has_bits>,
    first_that<u32, has_bits>,
    first_that<u64, has_bits>,
    first_that<u8, has_magnitude>,
    first_that<u16, has_magnitude>,
    first_that<u32, has_magnitude>,
    first_that<u64, has_magnitude>,
    first_that<u16, has_size<u16, u16{1} << 15>>,
    first_that<u32, has_size<u32, u32{1} << 31>>,
    first_that<u64, has_size<u64, u64{1} << 63>>,
#define ONEFOLD_FLOAT(E, T, digits) first_that<E, is_no_number>,
#define ONEFOLD_SMALL_FLOAT(E, T, digits) first_that<u16, is_beyond<infinity_of<E>>>,
#include <onefold/types.def>
    {
#define ONEFOLD_TYPE(E, T) of_another_type_for<E>(),
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    },
};

}  // namespace onefold::cpu
