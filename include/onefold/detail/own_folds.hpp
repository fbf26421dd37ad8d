#pragma once
/// @file own_folds.hpp  A call with functions of the caller's as a fold object, for code that runs on a device: what callback.hpp and own.hpp are
/// for CPUs. Function objects are copied, so they must be trivially copyable; what they point to must be memory of the device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <onefold/box.hpp>
#include <onefold/detail/any_side.hpp>
#include <onefold/detail/box_indices.hpp>
#include <onefold/detail/folds.hpp>
#include <onefold/maybe.hpp>
#include <onefold/reduce.hpp>

namespace onefold {
namespace detail {

// --- f at the index with number i ---------------------------------------------------------------------------------------------------------

template <class Space, class F>
class device_values;

template <class F>
class device_values<index_line, F> {
 public:
  device_values(const index_line&, const F& f) : f_(f) {}
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE auto operator()(std::uint64_t i) const { return f_(i); }

  using origin_type = std::uint64_t;
  ONEFOLD_HOST_DEVICE origin_type origin(std::uint64_t begin) const { return begin; }
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE auto at(origin_type begin, int offset) const { return f_(begin + static_cast<std::uint64_t>(offset)); }

 private:
  mutable F f_;
};

template <int Rank, class F>
class device_values<index_box<Rank>, F> {
 public:
  device_values(const index_box<Rank>& in, const F& f) : f_(f), box_(in) {}
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE auto operator()(std::uint64_t i) const { return origin(i).in_row().value(f_, 0); }

  using origin_type = place_in_box<Rank>;
  ONEFOLD_HOST_DEVICE origin_type origin(std::uint64_t begin) const { return box_.place(begin); }
  ONEFOLD_ANY_SIDE
  template <class Place>
  ONEFOLD_HOST_DEVICE auto at(const Place& begin, int offset) const {
    return begin.value(f_, offset);
  }

 private:
  mutable F f_;
  box_shape<Rank> box_;
};

// --- where values come from: the index alone, or elements of arrays ---------------------------------------------------------------------------

template <class Space, class F>
struct from_indices {
  static constexpr int inputs = 0;
  using returned = value_at_t<Space, F>;
  device_values<Space, F> values;
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE returned operator()(std::uint64_t i) const { return values(i); }
  using origin_type = typename device_values<Space, F>::origin_type;
  ONEFOLD_HOST_DEVICE origin_type origin(std::uint64_t begin) const { return values.origin(begin); }
  ONEFOLD_ANY_SIDE
  template <class Place>
  ONEFOLD_HOST_DEVICE returned at(const Place& begin, int offset) const {
    return values.at(begin, offset);
  }
};

template <class F, class... T>
struct from_arrays {
  static constexpr int inputs = static_cast<int>(sizeof...(T));
  using returned = std::decay_t<std::invoke_result_t<F&, const T&...>>;
  template <int K>
  using input = std::tuple_element_t<static_cast<std::size_t>(K), std::tuple<T...>>;
  mutable F f;
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE returned operator()(const T&... x) const { return f(x...); }
};

template <class From, int Inputs = From::inputs>
struct inputs_of {  // of a fold whose values come so
  static constexpr int inputs = Inputs;
  template <int K>
  using input = typename From::template input<K>;
};
template <class From>
struct inputs_of<From, 0> {
  static constexpr int inputs = 0;
};

/// The values of a fold: what Fold::mapped() makes of what the caller's function returns.
template <class Fold, class From>
struct mapped_values : inputs_of<From> {
  From from;

  explicit mapped_values(const From& values) : from(values) {}
  ONEFOLD_ANY_SIDE
  template <class... X>
  ONEFOLD_HOST_DEVICE auto value(const X&... x) const {
    return static_cast<const Fold&>(*this).mapped(from(x...));
  }
  template <class F = From>
  ONEFOLD_HOST_DEVICE typename F::origin_type origin(std::uint64_t begin) const {
    return from.origin(begin);
  }
  ONEFOLD_ANY_SIDE
  template <class Origin>
  ONEFOLD_HOST_DEVICE auto value_from(const Origin& begin, int offset) const {
    return static_cast<const Fold&>(*this).mapped(from.at(begin, offset));
  }
};

// --- the folds ------------------------------------------------------------------------------------------------------------------------------

/// What a form's fold keeps of a lane, where that is no accumulator.
template <class Fold, bool Plain = Fold::is_plain>
struct lanes_of_form {
  static constexpr bool is_plain = true;
};
template <class Fold>
struct lanes_of_form<Fold, false> {
  static constexpr bool is_plain = false;
  using lane = typename Fold::lane;
  template <class V>
  ONEFOLD_HOST_DEVICE lane first(const V& v, [[maybe_unused]] int row) const {
    lane begun = Fold::first(v);
    // Where the rows above hold absent values.
    if constexpr (has_row<lane>::value) begun.row = row;
    if constexpr (has_two_rows<lane>::value) begun.min.row = begun.max.row = row;
    return begun;
  }
  template <class V>
  ONEFOLD_HOST_DEVICE lane next(const lane& so_far, const V& v, int row) const {
    return Fold::next(so_far, v, row);
  }
  ONEFOLD_HOST_DEVICE typename Fold::accumulator close(const lane& of, int rows, std::uint64_t index, int lanes) const {
    return Fold::close(of, rows, index, lanes);
  }

 private:
  template <class L, class = void>
  struct has_row : std::false_type {};
  template <class L>
  struct has_row<L, std::void_t<decltype(L::row)>> : std::true_type {};
  template <class L, class = void>
  struct has_two_rows : std::false_type {};
  template <class L>
  struct has_two_rows<L, std::void_t<decltype(std::declval<L&>().min.row)>> : std::true_type {};
};

/// A form of values that come from a function.
///
/// Fold   the form's, of elements of type T
/// From   from_indices, or from_arrays
template <form What, class T, bool Wide, class Fold, class From>
struct form_of_function : mapped_values<form_of_function<What, T, Wide, Fold, From>, From>, lanes_of_form<Fold> {
  using value_type = T;
  using accumulator = typename Fold::accumulator;
  static constexpr bool has_neutral = true;
  using result = typename concluded<What, T, Wide>::result;

  std::int64_t ddof;

  form_of_function(const From& values, std::int64_t taken) : mapped_values<form_of_function, From>(values), ddof(taken) {}
  ONEFOLD_HOST_DEVICE auto mapped(const typename From::returned& here) const {
    if constexpr (value_traits<typename From::returned>::can_be_absent) {
      using V = decltype(Fold::value(static_cast<typename Fold::element>(here.value)));
      if constexpr (What == form::all)  // which compares with the number of all
        if (!here.present) return maybe<V>(Fold::value(static_cast<typename Fold::element>(1)));
      return here.present ? maybe<V>(Fold::value(apart_from_its_sign(static_cast<typename Fold::element>(here.value))))
                          : maybe<V>();
    } else {
      return Fold::value(apart_from_its_sign(static_cast<typename Fold::element>(here)));
    }
  }
  ONEFOLD_HOST_DEVICE accumulator combine(const accumulator& a, const accumulator& b) const { return Fold::combine(a, b); }
  ONEFOLD_HOST_DEVICE accumulator neutral() const { return Fold::neutral(); }
  ONEFOLD_HOST_DEVICE void conclude(const accumulator* value, std::uint64_t count, result* to) const {
    *to = value == nullptr ? result_of_nothing<What, T, Wide>() : concluded<What, T, Wide>::of(*value, count, ddof);
  }
};

template <class Sum>
struct sum_and_count {
  Sum sum;
  std::uint64_t count;
};
/// The mean of those values that are present: of a sum and how many there are.
template <class T, bool Wide, class From>
struct mean_of_present : mapped_values<mean_of_present<T, Wide, From>, From> {
  using of_sum = form_fold_t<form::mean, T, Wide>;
  using value_type = T;
  using accumulator = sum_and_count<typename of_sum::accumulator>;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;
  using result = typename concluded<form::mean, T, Wide>::result;

  explicit mean_of_present(const From& values) : mapped_values<mean_of_present, From>(values) {}
  ONEFOLD_HOST_DEVICE maybe<accumulator> mapped(const typename From::returned& here) const {
    if (!here.present) return absent;
    return accumulator{of_sum::value(static_cast<typename of_sum::element>(here.value)), 1};
  }
  ONEFOLD_HOST_DEVICE accumulator combine(const accumulator& a, const accumulator& b) const {
    return {of_sum::combine(a.sum, b.sum), a.count + b.count};
  }
  ONEFOLD_HOST_DEVICE accumulator neutral() const { return {of_sum::neutral(), 0}; }
  ONEFOLD_HOST_DEVICE void conclude(const accumulator* value, std::uint64_t, result* to) const {
    *to = value == nullptr ? result_of_nothing<form::mean, T, Wide>()
                           : concluded<form::mean, T, Wide>::of(value->sum, value->count, 0);
  }
};

/// K values side by side.
template <class A, int K>
struct side_by_side {
  A of[std::size_t{K}];
};

/// What a form's fold keeps of a lane for each of K values, where that is no accumulator; and what it makes of K elements.
template <class Fold, int K, bool Plain = Fold::is_plain>
struct lanes_of_values {
  static constexpr bool is_plain = true;
  using item = side_by_side<typename Fold::accumulator, K>;
};
template <class Fold, int K>
struct lanes_of_values<Fold, K, false> {
  static constexpr bool is_plain = false;
  using item = side_by_side<std::decay_t<decltype(Fold::value(std::declval<typename Fold::element>()))>, K>;
  using lane = side_by_side<typename Fold::lane, K>;
  ONEFOLD_HOST_DEVICE lane first(const item& v) const {
    lane begun;
    for (int k = 0; k < K; ++k) begun.of[k] = Fold::first(v.of[k]);
    return begun;
  }
  ONEFOLD_HOST_DEVICE lane next(const lane& so_far, const item& v, int row) const {
    lane made;
    for (int k = 0; k < K; ++k) made.of[k] = Fold::next(so_far.of[k], v.of[k], row);
    return made;
  }
  ONEFOLD_HOST_DEVICE side_by_side<typename Fold::accumulator, K> close(const lane& of, int rows, std::uint64_t index,
                                                                        int lanes) const {
    side_by_side<typename Fold::accumulator, K> made;
    for (int k = 0; k < K; ++k) made.of[k] = Fold::close(of.of[k], rows, index, lanes);
    return made;
  }
};

/// One form of each of K values of a function.
template <form What, class T, bool Wide, class Fold, int K, class From>
struct form_of_values : mapped_values<form_of_values<What, T, Wide, Fold, K, From>, From>, lanes_of_values<Fold, K> {
  using value_type = T;
  using accumulator = side_by_side<typename Fold::accumulator, K>;
  static constexpr bool has_neutral = true;
  using one = typename concluded<What, T, Wide>::result;
  using result = side_by_side<one, K>;

  std::int64_t ddof;

  form_of_values(const From& values, std::int64_t taken) : mapped_values<form_of_values, From>(values), ddof(taken) {}
  ONEFOLD_HOST_DEVICE typename lanes_of_values<Fold, K>::item mapped(const typename From::returned& here) const {
    T of[std::size_t{K}];
    std::memcpy(of, &here, sizeof(of));  // std::array's own functions are the host's
    typename lanes_of_values<Fold, K>::item made;
    for (int k = 0; k < K; ++k) made.of[k] = Fold::value(apart_from_its_sign(static_cast<typename Fold::element>(of[k])));
    return made;
  }
  ONEFOLD_HOST_DEVICE accumulator combine(const accumulator& a, const accumulator& b) const {
    accumulator made;
    for (int k = 0; k < K; ++k) made.of[k] = Fold::combine(a.of[k], b.of[k]);
    return made;
  }
  ONEFOLD_HOST_DEVICE accumulator neutral() const {
    accumulator made;
    for (int k = 0; k < K; ++k) made.of[k] = Fold::neutral();
    return made;
  }
  ONEFOLD_HOST_DEVICE void conclude(const accumulator* value, std::uint64_t count, result* to) const {
    for (int k = 0; k < K; ++k)
      to->of[k] = value == nullptr ? result_of_nothing<What, T, Wide>() : concluded<What, T, Wide>::of(value->of[k], count, ddof);
  }
};

/// reduce_together of a function's values: an operator for each, or all of them for the one that there is.
template <class T, class From, class... Ops>
struct together_of_values : mapped_values<together_of_values<T, From, Ops...>, From> {
  static constexpr int K = static_cast<int>(sizeof...(Ops));
  using value_type = T;
  using accumulator = side_by_side<T, K>;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = true;
  using result = side_by_side<T, K>;

  explicit together_of_values(const From& values) : mapped_values<together_of_values, From>(values) {}
  ONEFOLD_HOST_DEVICE accumulator mapped(const typename From::returned& here) const {
    accumulator made;
    if constexpr (std::is_same_v<typename From::returned, T>) {
      for (int k = 0; k < K; ++k) made.of[k] = here;
    } else {
      std::memcpy(&made, &here, sizeof(made));
    }
    for (int k = 0; k < K; ++k) made.of[k] = apart_from_its_sign(made.of[k]);
    return made;
  }
  ONEFOLD_HOST_DEVICE accumulator combine(const accumulator& a, const accumulator& b) const {
    accumulator made;
    int k = 0;
    ((made.of[k] = Ops::template combine<T>(a.of[k], b.of[k]), ++k), ...);
    return made;
  }
  ONEFOLD_HOST_DEVICE accumulator neutral() const { return {{Ops::template neutral<T>()...}}; }
  ONEFOLD_HOST_DEVICE void conclude(const accumulator* value, std::uint64_t, result* to) const {
    const accumulator made = value == nullptr ? accumulator{{Ops::template identity<T>()...}} : *value;
    for (int k = 0; k < K; ++k) to->of[k] = canonical(made.of[k]);
  }
};

/// The caller's own operator.
///
/// V      the values
/// Init   an initial value, or no_init: the call has been refused then if there is nothing
template <class V, class Op, class Init, class From>
struct own_operator : mapped_values<own_operator<V, Op, Init, From>, From> {
  using value_type = V;
  using accumulator = V;
  static constexpr bool is_plain = true;
  static constexpr bool has_neutral = false;
  using result = V;

  mutable Op op;
  Init init;

  own_operator(const From& values, const Op& combining, const Init& first)
      : mapped_values<own_operator, From>(values), op(combining), init(first) {}
  ONEFOLD_HOST_DEVICE typename From::returned mapped(const typename From::returned& here) const {
    if constexpr (std::is_same_v<typename From::returned, V>)
      return apart_from_its_sign(here);
    else if constexpr (std::is_same_v<typename From::returned, maybe<V>>)
      return here.present ? maybe<V>(apart_from_its_sign(here.value)) : here;
    else
      return here;
  }
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE V combine(const V& a, const V& b) const { return static_cast<V>(op(a, b)); }
  ONEFOLD_ANY_SIDE
  ONEFOLD_HOST_DEVICE void conclude(const V* value, std::uint64_t, V* to) const {
    if constexpr (std::is_same_v<Init, no_init>) {
      *to = value == nullptr ? V() : canonical(*value);  // nothing but absent values: a device cannot refuse
    } else {
      *to = canonical(value == nullptr ? static_cast<V>(init) : static_cast<V>(op(static_cast<V>(init), *value)));
    }
  }
};

// --- from a call to its fold ------------------------------------------------------------------------------------------------------------------

/// Where the values of a function over a space come from.
template <class Space, class F>
struct origin {
  using type = from_indices<Space, std::decay_t<F>>;
  static type of(const Space& space, F& f) { return {device_values<Space, std::decay_t<F>>(space, f)}; }
};
template <class F, class... T>
struct origin<index_line, function_of_arrays<F, T...>> {
  using type = from_arrays<std::decay_t<F>, T...>;
  static type of(const index_line&, function_of_arrays<F, T...>& f) { return {f.f}; }
};

template <form What, class Space, class F, class... M>
auto fold_of_form(const Space& space, F& f, M... modifiers) {
  using from = origin<Space, F>;
  using values = values_of<Space, F>;
  using T = typename values::type;
  constexpr bool wide = (is_wide<M, T>() || ...);
  using Fold = form_fold_t<What, T, wide>;
  request asked{serial(), element_type_of<T>, What, nullptr, 0, nullptr, true};
  (apply<T>(asked, modifiers), ...);
  if constexpr (values::several) {
    return form_of_values<What, T, wide, Fold, values::count, typename from::type>(from::of(space, f), asked.ddof);
  } else if constexpr (What == form::mean && value_traits<value_at_t<Space, F>>::can_be_absent) {
    return mean_of_present<T, wide, typename from::type>(from::of(space, f));
  } else {
    return form_of_function<What, T, wide, Fold, typename from::type>(from::of(space, f), asked.ddof);
  }
}

template <class Space, class F, class... Ops>
auto fold_of_operators(const Space& space, F& f, Ops...) {
  using from = origin<Space, F>;
  return together_of_values<typename values_of<Space, F>::type, typename from::type, Ops...>(from::of(space, f));
}

template <class Space, class F, class Op, class Init>
auto fold_of_own(const Space& space, F& f, Op& op, const Init& init) {
  using from = origin<Space, F>;
  using V = typename value_traits<value_at_t<Space, F>>::type;
  check_operator<V, Op, Init>();
  return own_operator<V, std::decay_t<Op>, Init, typename from::type>(from::of(space, f), op, init);
}

}  // namespace detail
}  // namespace onefold
