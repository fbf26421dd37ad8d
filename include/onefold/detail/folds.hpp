#pragma once
/// @file folds.hpp  What each form is made of, for host and device: how an element becomes a value, and how values are combined (docs/order.md). What
/// becomes of the last one says conclusions.hpp; the folds of minima, maxima and where they are stand in places.hpp.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/conclusions.hpp>
#include <onefold/detail/places.hpp>
#include <onefold/detail/rounded.hpp>
#include <onefold/operators.hpp>
#include <onefold/order.hpp>
#include <onefold/results.hpp>
#include <onefold/types.hpp>

// Out of line on the device, where everyone else would wait for its instructions.
#ifdef __CUDACC__
#define ONEFOLD_SELDOM __host__ __device__ __noinline__
#else
#define ONEFOLD_SELDOM
#endif

namespace onefold::detail {

struct square {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    return product_of(converted<A>(x), converted<A>(x));
  }
};

/// x y, of two inputs.
struct product {
  static constexpr int inputs = 2;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x, E y) noexcept {
    return product_of(converted<A>(x), converted<A>(y));
  }
};

/// 1 of what is not zero.
struct nonzero {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
    if constexpr (std::is_same_v<E, float>) return is_same_number(x, 0.0F) ? A(0) : A(1);
#endif
    return x != E(0) ? A(1) : A(0);
  }
};

/// Everything that a tree needs to know: elements of type E become values of type A by Map, and Op combines those.
///
/// A fold has these parts. Those of a plain one, whose lanes are accumulators that take values as any two are combined, are the first six.
///
///   element, accumulator    what the arrays hold; what a node of the tree is (trivially copyable)
///   inputs                  how many arrays
///   value(x, ..)            what becomes of an element, or of one of each array
///   combine(a, b)           (+)
///   neutral()               changes no other: what is absent
///   is_plain                false where a lane keeps something else than an accumulator:
///   lane, first(v)          what it keeps; a lane of one value
///   next(lane, v, row)      with the value of row `row` (1 to 15) below it
///   close(lane, rows, index, lanes)   the node of a lane of so many rows, whose first element has this index and the next ones follow at
///                           a distance of `lanes`
template <class E, class A, class Map, class Op>
struct fold {
  static constexpr bool is_plain = true;
  using element = E;
  using accumulator = A;
  static constexpr int inputs = Map::inputs;
  template <class... X>
  ONEFOLD_HOST_DEVICE static A value(X... x) noexcept {
    return Map::template value<A, E>(x...);
  }
  ONEFOLD_HOST_DEVICE static A combine(A a, A b) noexcept { return Op::template combine<A>(a, b); }
  ONEFOLD_HOST_DEVICE static A neutral() noexcept { return Op::template neutral<A>(); }
};

/// norm2 of doubles: every element is scaled by its class before it is squared.
struct norm2_fold {
  static constexpr bool is_plain = true;
  using element = double;
  using accumulator = squares;
  static constexpr int inputs = 1;
  ONEFOLD_HOST_DEVICE static squares value(double x) noexcept {
    const double size = fabs(x);
    const bool small = size < order::small_below;
    const bool big = size >= order::big_from;
    const double scaled = rounded_multiply(x, small ? order::scale_up : big ? order::scale_down : 1.0);
    const double squared = rounded_multiply(scaled, scaled);
    return {small ? squared : 0.0, small || big ? 0.0 : squared, big ? squared : 0.0};
  }
  ONEFOLD_HOST_DEVICE static squares combine(squares a, squares b) noexcept {
    return {rounded_add(a.small, b.small), rounded_add(a.medium, b.medium), rounded_add(a.big, b.big)};
  }
  // +0 leaves a square, which is never -0, as it is.
  ONEFOLD_HOST_DEVICE static squares neutral() noexcept { return {0.0, 0.0, 0.0}; }
};

/// The four operators on elements as they are, in one read: reduce_together and, of the last two, minmax.
template <class V>
struct four_values {
  typename wrapping_type<V>::type sum, prod;
  V min, max;
};

/// Of elements of type E, in V.
template <class E, class V = E>
struct together_fold {
  using W = typename wrapping_type<V>::type;
  using element = E;
  using accumulator = four_values<V>;
  static constexpr int inputs = 1;
  static constexpr bool is_plain = true;
  ONEFOLD_HOST_DEVICE static accumulator value(E x) noexcept {
    const auto v = converted<V>(x);
    return {static_cast<W>(v), static_cast<W>(v), v, v};
  }
  ONEFOLD_HOST_DEVICE static accumulator combine(const accumulator& a, const accumulator& b) noexcept {
    return {op::sum::combine<W>(a.sum, b.sum), op::prod::combine<W>(a.prod, b.prod), op::min::combine<V>(a.min, b.min),
            op::max::combine<V>(a.max, b.max)};
  }
  ONEFOLD_HOST_DEVICE static accumulator neutral() noexcept {
    return {op::sum::neutral<W>(), op::prod::neutral<W>(), op::min::neutral<V>(), op::max::neutral<V>()};
  }
};

/// mean_variance of elements of type E. Every line is one of docs/order.md. `Alike`: states that are combined have equal counts.
template <class E, bool Alike = false>
struct mean_variance_fold {
  using of_whole_tiles = mean_variance_fold<E, true>;  // in which all lanes have as many rows
  using element = E;
  using accumulator = moments;
  static constexpr int inputs = 1;
  static constexpr bool is_plain = false;
  struct lane {
    double shift, sum, squares;
  };
  ONEFOLD_HOST_DEVICE static double value(E x) noexcept { return converted<double>(x); }
  ONEFOLD_HOST_DEVICE static lane first(double v) noexcept {
    const double shift = rounded_subtract(v, v) == 0.0 ? v : 0.0;
    const double d = rounded_subtract(v, shift);
    return {shift, d, rounded_multiply(d, d)};
  }
  ONEFOLD_HOST_DEVICE static lane next(const lane& so_far, double v, int) noexcept {
    const double d = rounded_subtract(v, so_far.shift);
    return {so_far.shift, rounded_add(so_far.sum, d), rounded_add(so_far.squares, rounded_multiply(d, d))};
  }
  ONEFOLD_HOST_DEVICE static accumulator close(const lane& of, int rows, std::uint64_t, int) noexcept {
    // With all rows a product, which is exact where the quotient is and else rounded alike.
    const double e = rows == order::tile_rows ? rounded_multiply(of.sum, 1.0 / order::tile_rows)
                                              : rounded_divide(of.sum, static_cast<double>(rows));
    const double deviation = rounded_subtract(of.squares, rounded_multiply(of.sum, e));
    return {static_cast<std::uint64_t>(rows), rounded_add(of.shift, e), deviation < 0.0 ? 0.0 : deviation};
  }
  ONEFOLD_HOST_DEVICE static accumulator combine(const accumulator& a, const accumulator& b) noexcept {
    if (Alike || a.count == b.count) {
      const double d = rounded_subtract(b.mean, a.mean);
      const double weight = rounded_multiply(static_cast<double>(a.count), 0.5);
      return {a.count + b.count, rounded_add(rounded_multiply(a.mean, 0.5), rounded_multiply(b.mean, 0.5)),
              rounded_add(rounded_add(a.deviation, b.deviation), rounded_multiply(rounded_multiply(d, d), weight))};
    }
    return combine_different(a, b);
  }
  /// The same where the counts differ: with divisions, and seldom.
  ONEFOLD_SELDOM static accumulator combine_different(accumulator a, accumulator b) noexcept {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    // Number by number: a choice between the two would be one between addresses, and a GPU would put them into memory.
    const bool a_is_big = a.count > b.count;
    const double of_big = static_cast<double>(a_is_big ? a.count : b.count);
    const double of_small = static_cast<double>(a_is_big ? b.count : a.count);
    const double big = a_is_big ? a.mean : b.mean;
    const double small = a_is_big ? b.mean : a.mean;
    const std::uint64_t count = a.count + b.count;
    const double d = rounded_subtract(small, big);
    const double part = rounded_divide(of_small, static_cast<double>(count));
    const double mean =
        rounded_subtract(d, d) == 0.0
            ? rounded_add(big, rounded_multiply(d, part))
            : rounded_add(rounded_multiply(big, rounded_divide(of_big, static_cast<double>(count))), rounded_multiply(small, part));
    return {count, mean,
            rounded_add(rounded_add(a.deviation, b.deviation),
                        rounded_multiply(rounded_multiply(d, d), rounded_multiply(of_big, part)))};
  }
  ONEFOLD_HOST_DEVICE static accumulator neutral() noexcept { return {0, 0.0, 0.0}; }
};

/// The fold of a form on elements of type T. Forms that differ in their conclusion alone share one, and so do signed and unsigned integers where
/// the wrap makes no difference: the fewer folds, the fewer kernels.
template <form What, class T, bool Wide>
constexpr auto fold_of_form_on() noexcept {
  constexpr bool small_integer = std::is_integral_v<T> && sizeof(T) < 4;
  using V = compared<T>;
  using W = typename wrapping_type<T>::type;  // of what wraps, and of magnitudes
  // Of what is added or multiplied: it wraps, or it is rounded.
  using A = typename wrapping_type<typename c_type<accumulator_type(element_type_of<T>, Wide && !small_integer)>::type>::type;
  using E = std::conditional_t<(sizeof(A) > sizeof(T)), T, W>;  // elements whose sign matters where they become larger
  using rounding = std::conditional_t<small_integer, A, std::conditional_t<std::is_integral_v<T>, double, A>>;  // of means
  using magnitude = std::conditional_t<std::is_unsigned_v<T>, as_is, absolute>;
  if constexpr (What == form::sum)
    return fold<E, A, as_is, op::sum>{};
  else if constexpr (What == form::prod)
    return fold<E, A, as_is, op::prod>{};
  else if constexpr (What == form::min)
    return fold<T, V, as_is, op::min>{};
  else if constexpr (What == form::max)
    return fold<T, V, as_is, op::max>{};
  else if constexpr (What == form::dot)
    return fold<E, A, product, op::sum>{};
  else if constexpr (What == form::sum_of_squares)
    return fold<E, A, square, op::sum>{};
  else if constexpr (What == form::norm1)
    return fold<T, A, magnitude, op::sum>{};
  else if constexpr (What == form::norm_inf)
    return fold<T, typename wrapping_type<V>::type, magnitude, op::max>{};
  else if constexpr (What == form::mean)
    return fold<T, rounding, as_is, op::sum>{};
  else if constexpr (What == form::norm2 && std::is_same_v<T, double>)
    return norm2_fold{};
  else if constexpr (What == form::norm2)
    return fold<T, double, square, op::sum>{};
  else if constexpr (What == form::min_number)
    return fold<T, V, as_is, std::conditional_t<std::is_integral_v<T>, op::min, op::min_number>>{};
  else if constexpr (What == form::max_number)
    return fold<T, V, as_is, std::conditional_t<std::is_integral_v<T>, op::max, op::max_number>>{};
  else if constexpr (What == form::bit_and && std::is_integral_v<T>)
    return fold<W, typename wrapping_type<V>::type, as_is, op::bit_and>{};
  else if constexpr (What == form::bit_or && std::is_integral_v<T>)
    return fold<W, typename wrapping_type<V>::type, as_is, op::bit_or>{};
  else if constexpr (What == form::bit_xor && std::is_integral_v<T>)
    return fold<W, typename wrapping_type<V>::type, as_is, op::bit_xor>{};
  else if constexpr (What == form::count || What == form::all || What == form::any || What == form::none)
    return fold<W, std::uint64_t, nonzero, op::sum>{};
  else if constexpr (What == form::mean_variance)
    return mean_variance_fold<T>{};
  else if constexpr (What == form::reduce_together)
    return together_fold<T, typename c_type<accumulator_type(element_type_of<T>)>::type>{};
  else
    return place_fold_on<What, T>();
}
template <form What, class T, bool Wide>
using form_fold_t = decltype(fold_of_form_on<What, T, Wide>());

}  // namespace onefold::detail
