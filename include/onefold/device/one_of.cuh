#pragma once
/// @file one_of.cuh  One of several types, by a number that is known when a kernel runs.

#include <onefold/detail/folds.hpp>

namespace onefold::device {

namespace detail {

template <int Number, class First, class... Others>
struct nth_type : nth_type<Number - 1, Others...> {};
template <class First, class... Others>
struct nth_type<0, First, Others...> {
  using type = First;
};

// Of the types with the numbers from `From` up to, not including, `To`.
template <int From, int To, class... Types, class With>
__device__ inline void with_one_between(int number, const With& with) {
  if constexpr (To - From == 1) {
    with(onefold::detail::keep_type<typename nth_type<From, Types...>::type>{});
  } else {
    constexpr int middle = (From + To) / 2;
    if (number < middle)
      with_one_between<From, middle, Types...>(number, with);
    else
      with_one_between<middle, To, Types...>(number, with);
  }
}

}  // namespace detail

/// Calls `with` with keep_type<T>, T being type number `number` of several, counted from 0, or the last if there are fewer. By halving: where one was compared with
/// after the other, each comparison stood behind the code of a type, which a warp had to fetch (decision 0068).
template <class... Types, class With>
__device__ inline void with_one_of(int number, const With& with) {
  detail::with_one_between<0, static_cast<int>(sizeof...(Types)), Types...>(number, with);
}

}  // namespace onefold::device
