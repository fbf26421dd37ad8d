#pragma once
/// @file folds.hpp  What each form is made of, for host and device: how an element becomes a value, how values are combined, and what
/// becomes of the last one (docs/order.md).

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

/// The identities of min and max as elements.
template <class E>
ONEFOLD_HOST_DEVICE inline E largest_element() noexcept {
  if constexpr (is_half<E>)
    return E(op::min::identity<float>());
  else
    return op::min::identity<E>();
}
template <class E>
ONEFOLD_HOST_DEVICE inline E least_element() noexcept {
  if constexpr (is_half<E>)
    return E(op::max::identity<float>());
  else
    return op::max::identity<E>();
}

/// Elements as they are.
struct as_is {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    return converted<A>(x);
  }
};

/// |x|. Of an integer as an unsigned one, so that the smallest has one too.
struct absolute {
  static constexpr int inputs = 1;
  template <class A, class E>
  ONEFOLD_HOST_DEVICE static A value(E x) noexcept {
    if constexpr (std::is_floating_point_v<A>)
      return without_sign(converted<A>(x));
    else
      return x < 0 ? static_cast<A>(A(0) - static_cast<A>(x)) : static_cast<A>(x);
  }
};

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

/// The type that integers of type E are combined in where signs do not matter, and the type of their magnitudes; floats: E.
template <class E, bool Integer = std::is_integral_v<E>>
struct wrapping_type {
  using type = E;
};
template <class E>
struct wrapping_type<E, true> {
  using type = std::make_unsigned_t<E>;
};

template <class E>
struct keep_type {
  using type = E;
};

/// The three trees of norm2 of doubles, side by side.
struct squares {
  double small, medium, big;
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

/// Of argmin and argmax: a value and where it is. The neutral one is behind every other.
template <class E>
struct arg_state {
  E value;
  std::uint64_t index;
};

/// Whether `a` comes before `b` in the order of min, or of max, and is not the same: NaN ahead of everything, and -0 < +0.
template <class Op, class E>
ONEFOLD_HOST_DEVICE inline bool is_before(E a, E b) noexcept {
  if constexpr (std::is_floating_point_v<E>) {
#ifdef __CUDA_ARCH__
    const bool zero = Op::id == operation::min ? signbit(a) > signbit(b) : signbit(a) < signbit(b);
#ifdef ONEFOLD_DEVICE_MAY_FLUSH
    if constexpr (std::is_same_v<E, float>) {
      const bool less_or_nan = Op::id == operation::min ? !is_at_least(a, b) : !is_at_least(b, a);
      return !is_nan(b) & (less_or_nan | (is_same_number(a, b) & zero));
    }
#endif
    const bool less = Op::id == operation::min ? !(a >= b) : !(a <= b);  // or one of them is NaN
    return !is_nan(b) & (less | ((a == b) & zero));
#else
    if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
#endif
  }
  if constexpr (Op::id == operation::min)
    return first_of_minimum(a, b) && !first_of_minimum(b, a);
  else
    return first_of_maximum(a, b) && !first_of_maximum(b, a);
}

/// The type that elements of type E are compared in, and wide enough for their absolute values: E, or a type of 4 bytes.
template <class E>
using compared = std::conditional_t<
    is_half<E>, float,
    std::conditional_t<(sizeof(E) < 4), std::conditional_t<std::is_signed_v<E>, std::int32_t, std::uint32_t>, E>>;

/// argmin (Op is op::min) and argmax (op::max); of absolute values with Map absolute.
template <class E, class Op, class Map = as_is>
struct arg_fold {
  using element = E;
  using result_value = std::conditional_t<std::is_same_v<Map, as_is>, E, typename wrapping_type<E>::type>;
  using V = typename std::conditional_t<std::is_same_v<Map, as_is>, keep_type<compared<E>>, wrapping_type<compared<E>>>::type;
  using accumulator = arg_state<V>;
  static constexpr int inputs = 1;
  static constexpr bool is_plain = false;
  struct lane {
    V value;
    int row;
  };
  ONEFOLD_HOST_DEVICE static V value(E x) noexcept { return Map::template value<V, E>(x); }
  ONEFOLD_HOST_DEVICE static lane first(V v) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  // whose minimum of floats has one NaN
    // One that next() gives back as it is. Whatever is NaN becomes the same NaN in the end.
    if constexpr (std::is_same_v<V, float>) return {Op::template combine<V>(v, v), 0};
#endif
    return {v, 0};
  }
  ONEFOLD_HOST_DEVICE static lane next(const lane& so_far, V v, int row) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // The extremum has other bits than before exactly if the value came before it: it has one NaN, and tells the zeros apart.
    if constexpr (std::is_same_v<V, float>) {
      const float extremum = Op::template combine<V>(v, so_far.value);
      return {extremum, __float_as_uint(extremum) != __float_as_uint(so_far.value) ? row : so_far.row};
    }
#endif
    return is_before<Op>(v, so_far.value) ? lane{v, row} : so_far;
  }
  ONEFOLD_HOST_DEVICE static accumulator close(const lane& of, int, std::uint64_t index, int lanes) noexcept {
    return {of.value, index + static_cast<std::uint64_t>(of.row) * static_cast<std::uint64_t>(lanes)};
  }
  ONEFOLD_HOST_DEVICE static accumulator combine(const accumulator& a, const accumulator& b) noexcept {
    if (is_before<Op>(a.value, b.value)) return a;
    if (is_before<Op>(b.value, a.value)) return b;
    return a.index < b.index ? a : b;
  }
  ONEFOLD_HOST_DEVICE static accumulator neutral() noexcept { return {Op::template neutral<V>(), ~std::uint64_t{0}}; }
};

/// argmin and argmax side by side.
template <class V>
struct two_args {
  arg_state<V> min, max;
};

template <class E>
struct argminmax_fold {
  using of_min = arg_fold<E, op::min>;
  using of_max = arg_fold<E, op::max>;
  using element = E;
  using result_value = E;
  using V = typename of_min::V;
  using accumulator = two_args<V>;
  static constexpr int inputs = 1;
  static constexpr bool is_plain = false;
  struct lane {
    typename of_min::lane min;
    typename of_max::lane max;
  };
  ONEFOLD_HOST_DEVICE static V value(E x) noexcept { return of_min::value(x); }
  ONEFOLD_HOST_DEVICE static lane first(V v) noexcept { return {of_min::first(v), of_max::first(v)}; }
  ONEFOLD_HOST_DEVICE static lane next(const lane& so_far, V v, int row) noexcept {
    return {of_min::next(so_far.min, v, row), of_max::next(so_far.max, v, row)};
  }
  ONEFOLD_HOST_DEVICE static accumulator close(const lane& of, int rows, std::uint64_t index, int lanes) noexcept {
    return {of_min::close(of.min, rows, index, lanes), of_max::close(of.max, rows, index, lanes)};
  }
  ONEFOLD_HOST_DEVICE static accumulator combine(const accumulator& a, const accumulator& b) noexcept {
    return {of_min::combine(a.min, b.min), of_max::combine(a.max, b.max)};
  }
  ONEFOLD_HOST_DEVICE static accumulator neutral() noexcept { return {of_min::neutral(), of_max::neutral()}; }
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

template <class V>
struct two_values {
  V min, max;
};

template <class E>
struct minmax_fold {
  using V = compared<E>;
  using element = E;
  using accumulator = two_values<V>;
  static constexpr int inputs = 1;
  static constexpr bool is_plain = true;
  ONEFOLD_HOST_DEVICE static accumulator value(E x) noexcept {
    const auto v = converted<V>(x);
    return {v, v};
  }
  ONEFOLD_HOST_DEVICE static accumulator combine(const accumulator& a, const accumulator& b) noexcept {
    return {op::min::combine<V>(a.min, b.min), op::max::combine<V>(a.max, b.max)};
  }
  ONEFOLD_HOST_DEVICE static accumulator neutral() noexcept { return {op::min::neutral<V>(), op::max::neutral<V>()}; }
};

/// Of mean_variance: how many, their mean, and the sum of the squared deviations from it. A count of 0 is absent.
struct moments {
  std::uint64_t count;
  double mean, deviation;
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
  else if constexpr (What == form::argmin)
    return arg_fold<T, op::min>{};
  else if constexpr (What == form::argmax)
    return arg_fold<T, op::max>{};
  else if constexpr (What == form::argmin_magnitude)
    return arg_fold<T, op::min, magnitude>{};
  else if constexpr (What == form::argmax_magnitude)
    return arg_fold<T, op::max, magnitude>{};
  else if constexpr (What == form::argminmax)
    return argminmax_fold<T>{};
  else if constexpr (What == form::minmax)
    return minmax_fold<T>{};
  else if constexpr (What == form::mean_variance)
    return mean_variance_fold<T>{};
  else if constexpr (What == form::reduce_together)
    return together_fold<T, typename c_type<accumulator_type(element_type_of<T>)>::type>{};
}
template <form What, class T, bool Wide>
using form_fold_t = decltype(fold_of_form_on<What, T, Wide>());

/// What becomes of the tree's value.
enum class conclusion : int {
  none,              ///< it is the result, or its lowest bytes are
  mean,              ///< it is divided by the count
  root,              ///< its square root is
  root_to_float,     ///< its square root, rounded from double to float, is
  mean_of_signed,    ///< as a signed integer it is converted to double, and divided by the count
  mean_of_unsigned,  ///< the same of an unsigned one
// from float, exactly: to_f16 and its like
#define ONEFOLD_SMALL_FLOAT(name, T, digits) to_##name,
#include <onefold/types.def>
  is_count,  ///< whether it is the count
  is_some,   ///< whether it is not zero
  is_zero,
};

constexpr conclusion conclusion_of(element_type type, form what, bool wide) noexcept {
  switch (what) {
    case form::mean:
      if (is_float(type) || !is_small(type)) return conclusion::mean;
      return is_signed_integer(type) ? conclusion::mean_of_signed : conclusion::mean_of_unsigned;
    case form::norm2:
      return result_type(type, what, wide) == element_type::f32 ? conclusion::root_to_float : conclusion::root;
    case form::all:
      return conclusion::is_count;
    case form::any:
      return conclusion::is_some;
    case form::none:
      return conclusion::is_zero;
    default:
      break;
  }
#define ONEFOLD_SMALL_FLOAT(name, T, digits) \
  if (result_type(type, what, wide) == element_type::name) return conclusion::to_##name;
#include <onefold/types.def>
  return conclusion::none;
}

/// A value that was an element, as one again. A NaN becomes the canonical one.
template <class E, class V>
ONEFOLD_HOST_DEVICE inline E as_element(V value) noexcept {
  if constexpr (is_half<E>)
    return E(canonical(value));
  else
    return static_cast<E>(canonical(value));
}

/// What mean_variance gives for a state, both as f64 and as they come: `ddof` is taken from the count.
struct mean_and_variance_of {
  double mean, variance;
};
ONEFOLD_HOST_DEVICE inline mean_and_variance_of mean_and_variance(const moments& of, std::int64_t ddof) noexcept {
  const double nan = canonical_nan<double>();
  if (of.count == 0) return {nan, nan};
  // Both fit 63 bits, their difference the 64 of an unsigned one.
  const bool has_variance = ddof < 0 || of.count > static_cast<std::uint64_t>(ddof);
  const auto degrees = of.count - static_cast<std::uint64_t>(ddof);
  return {of.mean, has_variance ? rounded_divide(of.deviation, static_cast<double>(degrees)) : nan};
}

ONEFOLD_HOST_DEVICE inline double root_of(double sum) noexcept { return rounded_root(sum); }

ONEFOLD_HOST_DEVICE inline double root_of(const squares& sums) noexcept {
  constexpr double up = order::scale_up;
  constexpr double down = order::scale_down;
  if (sums.big != 0) {
    const double root = rounded_root(rounded_add(sums.big, rounded_multiply(rounded_multiply(sums.medium, down), down)));
    return order::overflow_from <= root && root <= order::brink ? 0x1.fffffffffffffp1023 : rounded_multiply(root, up);
  }
  if (sums.medium != 0) return rounded_root(rounded_add(sums.medium, rounded_multiply(rounded_multiply(sums.small, down), down)));
  return rounded_multiply(rounded_root(sums.small), down);
}

/// Bits of the result made of the tree's value: those of the result type, zero-extended. `Small` says that elements may have been small: code for
/// others alone is shorter without.
template <bool Small = true, class A>
ONEFOLD_HOST_DEVICE inline std::uint64_t conclude(conclusion how, const A& value, std::uint64_t count) noexcept {
  std::uint64_t bits = 0;
  const auto put = [&bits](auto result) {
    result = canonical(result);
    memcpy(&bits, &result, sizeof(result));
  };
  if constexpr (std::is_same_v<A, squares>) {
    put(root_of(value));
  } else if constexpr (std::is_integral_v<A> && !std::is_same_v<A, std::uint64_t>) {
    put(value);  // nothing else is made of them
  } else {
    switch (how) {
      case conclusion::none:
        put(value);
        break;
      case conclusion::mean:
        if constexpr (std::is_floating_point_v<A>) put(rounded_divide(value, static_cast<A>(count)));
        break;
      case conclusion::root:
        if constexpr (std::is_floating_point_v<A>) put(root_of(converted<double>(value)));
        break;
      case conclusion::root_to_float:
        if constexpr (std::is_floating_point_v<A>) put(narrowed(root_of(converted<double>(value))));
        break;
      case conclusion::mean_of_signed:
        if constexpr (Small && std::is_same_v<A, std::uint64_t>)
          put(rounded_divide(static_cast<double>(static_cast<std::int64_t>(value)), static_cast<double>(count)));
        break;
      case conclusion::mean_of_unsigned:
        if constexpr (Small && std::is_same_v<A, std::uint64_t>)
          put(rounded_divide(static_cast<double>(value), static_cast<double>(count)));
        break;
#define ONEFOLD_SMALL_FLOAT(name, T, digits)                                 \
  case conclusion::to_##name:                                                \
    if constexpr (Small && std::is_same_v<A, float>) bits = T(value).bits(); \
    break;
#include <onefold/types.def>
      case conclusion::is_count:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value == count ? 1 : 0;
        break;
      case conclusion::is_some:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value != A(0) ? 1 : 0;
        break;
      case conclusion::is_zero:
        if constexpr (std::is_same_v<A, std::uint64_t>) bits = value == A(0) ? 1 : 0;
        break;
    }
  }
  return bits;
}

/// The result for no elements, or none that is present. An index of nothing is none: such calls are refused where that can be seen ahead.
template <form What, class T, bool Wide>
ONEFOLD_HOST_DEVICE inline result_of_form<What, T, Wide> result_of_nothing() noexcept {
  using R = result_of_form<What, T, Wide>;
  if constexpr (gives_arg<What>)
    return {decltype(R::value)(), ~std::uint64_t{0}};
  else if constexpr (What == form::argminmax)
    return {{T(), ~std::uint64_t{0}}, {T(), ~std::uint64_t{0}}};
  else if constexpr (What == form::minmax)
    return {largest_element<T>(), least_element<T>()};
  else if constexpr (What == form::mean_variance)
    return {canonical_nan<decltype(R::mean)>(), canonical_nan<decltype(R::mean)>()};
  else if constexpr (What == form::mean)
    return canonical_nan<R>();
  else if constexpr (What == form::prod)
    return op::prod::identity<R>();
  else if constexpr (What == form::min || What == form::min_number)
    return largest_element<R>();
  else if constexpr (What == form::max || What == form::max_number)
    return least_element<R>();
  else if constexpr (What == form::bit_and)
    return static_cast<R>(~R(0));
  else if constexpr (What == form::all || What == form::none)
    return true;
  else
    return R(0);
}

/// The result of a form, made of the tree's value.
template <form What, class T, bool Wide>
struct concluded {
  using result = result_of_form<What, T, Wide>;
  static constexpr conclusion how = conclusion_of(element_type_of<T>, What, Wide);
  template <class A>
  ONEFOLD_HOST_DEVICE static result of(const A& value, std::uint64_t count, [[maybe_unused]] std::int64_t ddof) {
    if constexpr (gives_arg<What>) {
      return {canonical(value.value), value.index};
    } else if constexpr (What == form::argminmax) {
      return {{canonical(value.min.value), value.min.index}, {canonical(value.max.value), value.max.index}};
    } else if constexpr (What == form::minmax) {
      return {canonical(value.min), canonical(value.max)};
    } else if constexpr (What == form::mean_variance) {
      using R = decltype(result::mean);
      const auto found = mean_and_variance(value, ddof);
      return {canonical(converted<R>(found.mean)), canonical(converted<R>(found.variance))};
    } else {
      const std::uint64_t bits = conclude(how, value, count);
      result made;
      std::memcpy(&made, &bits, sizeof(made));
      return made;
    }
  }
};

}  // namespace onefold::detail
