#pragma once
/// @file two_types.ipp  Dots of two types: elements of one type stored as those of another, and products with floats or doubles.

#include "rows.ipp"

namespace onefold::cpu {

namespace {

// As many as a register holds of the longer ones.
template <class E, class A>
constexpr int converted_at_once = sizeof(E) > sizeof(A) ? width<E> : width<A>;

template <class E, class A>
ONEFOLD_INLINE void store_converted(const E* x, A* to) {
  if constexpr (sizeof(E) > sizeof(A)) {
    const auto v = __builtin_convertvector((load<E, E>(x)), vec<A, width<E>>);
    __builtin_memcpy(to, &v, sizeof(v));
  } else {
    const auto v = load<E, A>(x);
    __builtin_memcpy(to, &v, sizeof(v));
  }
}

template <class E, class A>
void convert(const void* from, u64 count, input_from where, void* to) {
  constexpr u64 step = converted_at_once<E, A>;
  const E* x = static_cast<const E*>(from);
  A* stored = static_cast<A*>(to);
  const bool far = where != input_from::caches;
  ONEFOLD_UNROLL(4)
  for (; count >= step; count -= step, x += step, stored += step) {
    if (far) ask_ahead<static_cast<int>(step)>(x);
    store_converted(x, stored);
  }
  if (count == 0) return;
  E last[step] = {};
  A made[step];
  __builtin_memcpy(last, x, count * sizeof(E));
  store_converted(last, made);
  __builtin_memcpy(stored, made, count * sizeof(A));
}

// Null where nobody asks for it.
template <class E, class A>
consteval convert_elements conversion() {
  if constexpr (is_float<A>) {
    if constexpr (!same<E, A> && !same<E, f64>) return convert<E, A>;
  } else if constexpr (!is_half<E> && !is_float<E> && sizeof(E) < sizeof(A)) {
    constexpr bool keeps_sign = same<A, u64> || A(-1) < A(0) || E(-1) > E(0);
    if constexpr (keeps_sign) return convert<E, A>;
  }
  return nullptr;
}
// Sums of products with elements of A, of whole groups.
template <class E, class A>
struct products_with {
  using register_type = vec<A, width<A>>;
  static constexpr int lanes = order::lanes<A>, registers = lanes / width<A>;

  template <int P>
  ONEFOLD_INLINE static pack<A, P> row(const E* x, const A* y) {
    if constexpr (P > 1) {
      constexpr int half = P / 2 * width<A>;
      return {row<P / 2>(x, y), row<P / 2>(x + half, y + half)};
    } else {
      return {load<E, A>(x) * load<A, A>(y)};
    }
  }
  static void groups(const void* first_x, const void* first_y, u64 count, input_from from, void* first_value) {
    const E* x = static_cast<const E*>(first_x);
    const A* y = static_cast<const A*>(first_y);
    A* value = static_cast<A*>(first_value);
    const bool far = from != input_from::caches;
    for (; count > 0; --count, ++value) {
      register_type tiles[group_tiles];
      ONEFOLD_UNROLL(1)
      for (register_type& tile : tiles) {
        pack<A, registers> sums;
        ONEFOLD_UNROLL(1)
        for (int r = 0; r < order::tile_rows; ++r, x += lanes, y += lanes) {
          if (far) {
            ask_ahead<lanes>(x);
            ask_ahead<lanes>(y);
          }
          const pack<A, registers> products = row<registers>(x, y);
          sums = r == 0 ? products : combine<sum>(sums, products);
        }
        tile = halve<sum>(sums);
      }
      *value = subtree<sum, A, group_tiles>(tiles);
    }
  }
};

// Where registers hold a row, of which an element is no longer than the other.
template <class E, class A>
consteval fold_groups products() {
  if constexpr (products_with<E, A>::registers <= accumulators && sizeof(E) <= sizeof(A) && !same<E, A>)
    return products_with<E, A>::groups;
  else
    return nullptr;
}

template <class E>
consteval of_another_type of_another_type_for() {
  return {conversion<E, f32>(), conversion<E, f64>(), conversion<E, i16>(), conversion<E, i32>(),
          conversion<E, u32>(), conversion<E, u64>(), products<E, f32>(),   products<E, f64>()};
}

}  // namespace

}  // namespace onefold::cpu
