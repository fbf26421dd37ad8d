#pragma once
/// @file places.hpp  The folds of minima and maxima and where they are, for host and device: argmin to minmax. What a fold consists of says folds.hpp.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/rounded.hpp>
#include <onefold/operators.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

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

/// The fold of one of these forms on elements of type T; of others there is none here.
template <form What, class T>
constexpr auto place_fold_on() noexcept {
  using magnitude = std::conditional_t<std::is_unsigned_v<T>, as_is, absolute>;
  if constexpr (What == form::argmin)
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
}
template <form What, class T>
using place_fold_t = decltype(place_fold_on<What, T>());

}  // namespace onefold::detail
