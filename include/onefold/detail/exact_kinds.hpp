#pragma once
/// @file exact_kinds.hpp  The kinds of states of guarantee::exact: docs/exact.md, in numbers.

#include <cstddef>
#include <cstdint>

#include <onefold/types.hpp>

namespace onefold {
namespace detail {
namespace exact {

inline constexpr int header_words = 8;
inline constexpr std::int64_t version = 1;
inline constexpr std::int64_t first_word = 0x0f1d0000 + 256 * version;  ///< and the kind's number

/// A kind of states.
struct kind_row {
  int number;    ///< 1 to 8
  int scale[2];  ///< of each sum: its words are an integer, which stands for 2^scale times itself
  int limbs[2];  ///< of each sum; the second has none but in moments

  [[nodiscard]] constexpr std::size_t words() const noexcept {
    return header_words + static_cast<std::size_t>(limbs[0]) + static_cast<std::size_t>(limbs[1]);
  }
};

inline constexpr kind_row kinds[8] = {{1, {-149, 0}, {11, 0}},     {2, {-1074, 0}, {68, 0}},      {3, {-149, 0}, {11, 0}},
                                      {4, {-1074, 0}, {68, 0}},    {5, {-298, 0}, {20, 0}},       {6, {-2148, 0}, {134, 0}},
                                      {7, {-149, -298}, {11, 20}}, {8, {-1074, -2148}, {68, 134}}};

/// Whether a form of elements of this type has an exact state. Others have a result that no order changes, or none that is exact.
constexpr bool has_state(form what, element_type type) noexcept {
  if (is_complex(type)) return false;
  if (!is_float(type)) return what == form::mean || what == form::norm2 || what == form::mean_variance;
  return what == form::sum || what == form::norm1 || what == form::dot || what == form::sum_of_squares || what == form::norm2 ||
         what == form::mean || what == form::mean_variance;
}

/// Whether all elements of a type are numbers of that one of floats.
constexpr bool are_all_in(element_type of, element_type floats) noexcept {
  return is_float(of) ? size_of(of) <= size_of(floats) : 2 * size_of(of) <= size_of(floats);
}
/// Whether a dot of two types has the state of a dot of that type, which its products are of: none of its elements is rounded when it becomes a number of it.
constexpr bool has_state_of_two(element_type x, element_type y, element_type products) noexcept {
  return is_float(products) && are_all_in(x, products) && are_all_in(y, products);
}

/// Whether the exact result of complex numbers has a state of the parts' type for each part: of dot one of all products in it.
constexpr bool has_state_for_each_part(form what) noexcept {
  return what == form::sum || what == form::mean || what == form::dot || what == form::mean_variance;
}
/// Whether the states of the parts make one result together, where of other forms each is rounded by itself.
constexpr bool is_of_both_parts(form what) noexcept { return what == form::mean_variance; }

/// Whether the exact result of complex numbers has states of the parts' type: one for each part, or one for all.
constexpr bool has_state_of_parts(form what) noexcept {
  return has_state_for_each_part(what) || what == form::sum_of_squares || what == form::norm2;
}

/// The kind of a form that has one. That of integers is that of doubles: whole numbers are multiples of 2^scale.
constexpr const kind_row& kind_of(form what, element_type type) noexcept {
  const int of_doubles = type == element_type::f64 || !is_float(type) ? 1 : 0;
  switch (what) {
    case form::norm1:
      return kinds[2 + of_doubles];
    case form::dot:
    case form::sum_of_squares:
    case form::norm2:
      return kinds[4 + of_doubles];
    case form::mean_variance:
      return kinds[6 + of_doubles];
    default:
      return kinds[of_doubles];
  }
}

/// How many states the exact result of a form is made of: 0 where there are none, of complex numbers those of their parts' type, else 1.
constexpr int number_of_states(form what, element_type type) noexcept {
  if (!is_complex(type)) return has_state(what, type) ? 1 : 0;
  if (!has_state_of_parts(what)) return 0;
  return has_state_for_each_part(what) ? 2 : 1;
}

/// The int64 words of these states, which lie side by side, or 0.
constexpr std::size_t words_of(form what, element_type type) noexcept {
  const int states = number_of_states(what, type);
  return states == 0 ? 0 : static_cast<std::size_t>(states) * kind_of(what, part_type(type)).words();
}

/// Whether every order gives the bits that fixed_order gives.
constexpr bool is_free_of_order(form what, element_type type) noexcept {
  if (is_complex(type)) return what == form::norm_inf || asks_for_zero(what);
  switch (what) {
    case form::prod:
    case form::sum:
    case form::dot:
    case form::sum_of_squares:
    case form::norm1:
      return !is_float(type);
    case form::mean:
    case form::norm2:
    case form::mean_variance:
    case form::reduce_together:
      return false;
    default:
      return true;
  }
}

/// Whether that is the exact result too. Of norm_inf of complex numbers the absolute values are rounded.
constexpr bool is_exact_in_any_order(form what, element_type type) noexcept {
  return is_free_of_order(what, type) && !(what == form::norm_inf && is_complex(type));
}

}  // namespace exact
}  // namespace detail
}  // namespace onefold
