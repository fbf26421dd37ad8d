#pragma once
/// @file contiguous.hpp  Which ranges hold their elements side by side in memory: in C++17 and in C++20.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif

#include <onefold/types.hpp>

/// A template parameter that takes part in overload resolution only where the condition holds.
#define ONEFOLD_WHERE(...) std::enable_if_t<(__VA_ARGS__), int> = 0

namespace onefold {
namespace detail {

#if __cplusplus >= 202002L
template <class R>
inline constexpr bool is_contiguous = std::ranges::contiguous_range<R>&& std::ranges::sized_range<R>&& requires(R& range) {
  std::data(range);  // which std::valarray lacks: its begin() and size() are a pointer and a count
  std::size(range);
};
#else
// Having data() and size() is not enough: a row of a column-major matrix has both. C++17 cannot ask an iterator whether its elements lie side by
// side, so only those are taken of which it is known.
template <class R, class = void>
inline constexpr bool is_contiguous = false;
template <class R>
inline constexpr bool is_contiguous<R, std::enable_if_t<std::is_pointer_v<decltype(std::begin(std::declval<R&>()))> &&
                                                        std::is_pointer_v<decltype(std::data(std::declval<R&>()))> &&
                                                        std::is_integral_v<decltype(std::size(std::declval<R&>()))>>> = true;
template <class T, class A>
inline constexpr bool is_contiguous<std::vector<T, A>> = !std::is_same_v<T, bool>;
template <class T, class A>
inline constexpr bool is_contiguous<const std::vector<T, A>> = !std::is_same_v<T, bool>;
#endif

template <class R, bool = is_contiguous<R>>
struct element_of_range {
  using type = void;
};
template <class R>
struct element_of_range<R, true> {
  using type = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>>;
};

/// The type of a range's elements; void where they do not lie side by side.
template <class R>
using element_of = typename element_of_range<R>::type;

/// Whether an argument A&& is a temporary that has elements of its own: what reads them later would find them gone.
template <class R>
inline constexpr bool has_own_elements = false;
template <class T, class A>
inline constexpr bool has_own_elements<std::vector<T, A>> = true;
template <class T, std::size_t N>
inline constexpr bool has_own_elements<std::array<T, N>> = true;
template <class A>
inline constexpr bool is_temporary_array =
    !std::is_lvalue_reference_v<A> && has_own_elements<std::remove_cv_t<std::remove_reference_t<A>>>;
/// Of arguments among which values may be: a std::array may be one.
template <class... A>
inline constexpr bool has_temporary_vector =
    ((is_temporary_array<A> && !std::is_trivially_copyable_v<std::remove_reference_t<A>>) || ...);

/// A range whose elements are of a type that onefold knows.
template <class R>
inline constexpr bool is_range_of_elements = is_element<element_of<R>>;

/// Elements in memory.
template <class T>
struct array_view {
  const T* data;
  std::uint64_t count;
};

template <class R>
array_view<element_of<const R>> view_of(const R& range) {
  return {std::data(range), static_cast<std::uint64_t>(std::size(range))};
}

}  // namespace detail

#if __cplusplus >= 202002L
/// A range whose elements lie side by side in memory and are of a type that onefold knows.
template <class R>
concept contiguous_elements = detail::is_range_of_elements<R>;
#endif

}  // namespace onefold
