#pragma once
/// @file later_calls.hpp  The arguments of a call with an operator that is made later: in a batch, or started over ranks.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include <onefold/reduce.hpp>
#include <onefold/transform.hpp>

namespace onefold {
namespace detail {

/// What the caller has given, of which a function of the index is made.
template <class F>
struct function_given {
  using type = F;
};
template <class F, class... T>
struct function_given<function_of_arrays<F, T...>> : function_given<std::decay_t<F>> {};
template <class P>
struct function_given<one_where<P>> : function_given<P> {};

namespace later {

/// A number of indices, which may be wrong: that is found out where the other ranks learn of it.
template <class S>
constexpr auto space_for(const S& over) {
  if constexpr (std::is_integral_v<S>)
    return index_line{static_cast<std::uint64_t>(over)};
  else
    return over;
}

// Calls with an operator that are made later: their arguments as they stand behind the executor, described by copies of what is called.

template <class Space, class F, class Op, class Init>
constexpr auto result_type_of_call() {
  if constexpr (is_built_in_operator<Op> && std::is_same_v<Init, no_init>)
    return index_result<form_of(Op::id), Space, F>();
  else
    return value_traits<value_at_t<Space, F>>();
}
template <class Space, class F, class Op, class Init>
struct described_call {
  Space space;
  F f;
  std::uint64_t other_count;
  Op op;
  Init init;
  using result = typename decltype(result_type_of_call<Space, F, Op, Init>())::type;
};

template <class A>
using bare = std::remove_cv_t<std::remove_reference_t<A>>;
template <class A>
inline constexpr bool is_array_pointer = std::is_pointer_v<A>&& std::is_object_v<std::remove_pointer_t<A>>;
constexpr std::size_t leading(std::initializer_list<bool> are) noexcept {
  std::size_t count = 0;
  for (const bool is : are) {
    if (!is) break;
    ++count;
  }
  return count;
}
/// How many arguments, of these types or references to them, say what is reduced: ranges, pointers and one count, or an index space.
template <class... A>
struct call_shape {
  static constexpr std::size_t ranges = leading({is_range<bare<A>>...});
  static constexpr std::size_t pointers = leading({is_array_pointer<bare<A>>...});
  static constexpr std::size_t arrays = ranges > 0 ? ranges : pointers;
  static constexpr std::size_t head = ranges > 0 ? ranges : pointers + 1;
  static_assert(arrays <= 3, "a function has at most three arrays");
};
template <std::size_t K, class... A>
constexpr auto&& argument(const std::tuple<A...>& of) noexcept {
  return static_cast<std::tuple_element_t<K, std::tuple<A...>>>(std::get<K>(of));
}

template <class G, class Op, class Init, class... T>
auto describe_arrays(G&& f, Op&& op, const Init& init, std::uint64_t count, std::uint64_t other_count, const T*... x) {
  using function = function_of_arrays<std::decay_t<G>, T...>;
  return described_call<index_line, function, std::decay_t<Op>, Init>{
      {count}, function{std::forward<G>(f), {x...}}, other_count, std::forward<Op>(op), init};
}
template <class... A, std::size_t... K, class G, class Op, class Init>
auto describe_values(const std::tuple<A...>& of, std::index_sequence<K...>, G&& f, Op&& op, const Init& init) {
  using shape = call_shape<A...>;
  static_assert(is_init<Init>, "options are those of the batch's run() or start()");
  if constexpr (shape::ranges > 0) {
    const auto count = static_cast<std::uint64_t>(std::size(std::get<0>(of)));
    return describe_arrays(std::forward<G>(f), std::forward<Op>(op), init, count, other_size(count, std::get<K>(of)...),
                           std::data(std::get<K>(of))...);
  } else if constexpr (shape::pointers > 0) {
    const auto count = static_cast<std::uint64_t>(std::get<shape::pointers>(of));
    return describe_arrays(std::forward<G>(f), std::forward<Op>(op), init, count, count, std::get<K>(of)...);
  } else {
    static_assert(is_index_space<bare<decltype(std::get<0>(of))>>,
                  "what is reduced is said by ranges, by pointers and a count, or by a number of indices or a box");
    const auto space = space_for(std::get<0>(of));
    return described_call<bare<decltype(space)>, std::decay_t<G>, std::decay_t<Op>, Init>{space, std::forward<G>(f), space.size(),
                                                                                          std::forward<Op>(op), init};
  }
}
/// Of the first N arguments, as the next: those behind are not the call's.
template <std::size_t N, class... A>
auto describe_transform_reduce(const std::tuple<A...>& of) {
  constexpr std::size_t head = call_shape<A...>::head;
  constexpr std::make_index_sequence<call_shape<A...>::arrays> arrays;
  static_assert(N == head + 2 || N == head + 3, "transform_reduce takes what is reduced, op, f, and perhaps an initial value");
  if constexpr (N == head + 2)
    return describe_values(of, arrays, argument<head + 1>(of), argument<head>(of), no_init{});
  else
    return describe_values(of, arrays, argument<head + 1>(of), argument<head>(of), argument<head + 2>(of));
}
template <std::size_t N, class... A>
auto describe_reduce(const std::tuple<A...>& of) {
  using shape = call_shape<A...>;
  constexpr std::size_t head = shape::head;
  constexpr std::make_index_sequence<shape::arrays> arrays;
  if constexpr (shape::arrays == 0) {
    static_assert(N == 3, "reduce of a function takes a number of indices or a box, f, and op");
    return describe_values(of, arrays, argument<1>(of), argument<2>(of), no_init{});
  } else {
    static_assert(shape::arrays == 1 && (N == head + 1 || N == head + 2),
                  "reduce takes an array, op, and perhaps an initial value");
    if constexpr (N == head + 1)
      return describe_values(of, arrays, identity_function{}, argument<head>(of), no_init{});
    else
      return describe_values(of, arrays, identity_function{}, argument<head>(of), argument<head + 1>(of));
  }
}
template <std::size_t N, class... A>
auto describe_count_if(const std::tuple<A...>& of) {
  using shape = call_shape<A...>;
  static_assert(shape::arrays <= 1 && N == shape::head + 1, "count_if takes what is looked at, and a predicate");
  using predicate = std::decay_t<decltype(argument<shape::head>(of))>;
  return describe_values(of, std::make_index_sequence<shape::arrays>(), one_where<predicate>{argument<shape::head>(of)}, op::sum{},
                         no_init{});
}

/// reduce() of a batch, its arguments and the result's address: with one of the library's operators, of one array and without an initial value, it is a named
/// form, named(form, array or pointer and count, result), else own(of), whose code is looked at then alone.
template <class... A, class Named, class Own>
decltype(auto) add_reduce(const std::tuple<A...>& of, const Named& named, const Own& own) {
  constexpr std::size_t count = sizeof...(A) - 1;
  using shape = call_shape<A...>;
  using call = decltype(describe_reduce<count>(of));
  using op_type = decltype(std::declval<call&>().op);
  if constexpr (shape::arrays == 1 && count == shape::head + 1 && is_built_in_operator<op_type>) {
    const named_reduction<form_of(op_type::id)> form{};
    if constexpr (shape::ranges == 1)
      return named(form, std::get<0>(of), std::get<count>(of));
    else
      return named(form, std::get<0>(of), static_cast<std::uint64_t>(std::get<1>(of)), std::get<count>(of));
  } else {
    return own(of);
  }
}

}  // namespace later
}  // namespace detail
}  // namespace onefold
