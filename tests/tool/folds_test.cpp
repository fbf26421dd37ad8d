/// @file folds_test.cpp  The folds of the forms with several results (detail/folds.hpp), run on the host one operation after the other over
/// lanes, halving and tree: they must give the golden bits without any driver.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/folds.hpp>
#include <onefold/order.hpp>

#include "golden.hpp"

namespace onefold::tool::test {
namespace {

template <class T>
std::vector<T> elements_of(const golden_row& row) {
  const auto bits = golden_data(row.type, row.data, row.seed, row.count);
  std::vector<T> x(bits.size());
  for (std::size_t i = 0; i < x.size(); ++i) std::memcpy(static_cast<void*>(&x[i]), &bits[i], sizeof(T));
  return x;
}

// The node of the lane whose first element has this index.
template <class Fold, class T>
typename Fold::accumulator lane_node(const std::vector<T>& x, std::size_t index, std::size_t end) {
  constexpr auto lanes = static_cast<std::size_t>(order::lanes<T>);
  if constexpr (Fold::is_plain) {
    auto node = Fold::value(x[index]);
    for (std::size_t i = index + lanes; i < end; i += lanes) node = Fold::combine(node, Fold::value(x[i]));
    return node;
  } else {
    auto lane = Fold::first(Fold::value(x[index]));
    int rows = 1;
    for (std::size_t i = index + lanes; i < end; i += lanes) lane = Fold::next(lane, Fold::value(x[i]), rows++);
    return Fold::close(lane, rows, index, static_cast<int>(lanes));
  }
}

// What does not exist is neutral, as with the drivers. `swapped` gives every combination its operands exchanged, which must not matter.
template <class Fold, class T>
typename Fold::accumulator tree_value(const std::vector<T>& x, bool swapped) {
  using node = typename Fold::accumulator;
  const auto combine = [&](const node& a, const node& b) { return swapped ? Fold::combine(b, a) : Fold::combine(a, b); };
  constexpr auto lanes = static_cast<std::size_t>(order::lanes<T>);
  std::vector<node> level;
  for (std::size_t start = 0; start < x.size(); start += order::tile_elements<T>) {
    const std::size_t end = std::min(x.size(), start + order::tile_elements<T>);
    std::array<node, lanes> lane;
    for (std::size_t j = 0; j < lanes; ++j) lane[j] = start + j < end ? lane_node<Fold>(x, start + j, end) : Fold::neutral();
    for (std::size_t h = lanes / 2; h >= 1; h /= 2)
      for (std::size_t j = 0; j < h; ++j) lane[j] = combine(lane[j], lane[j + h]);
    level.push_back(lane[0]);
  }
  if (level.empty()) return Fold::neutral();
  while (level.size() > 1) {
    std::vector<node> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(combine(level[i], i + 1 < level.size() ? level[i + 1] : Fold::neutral()));
    level = std::move(next);
  }
  return level[0];
}

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (!detail::is_half<T>) value = detail::canonical(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

// R: of the result's values.
template <class R, class V>
result_bits concluded(const detail::arg_state<V>& node, const golden_row&) {
  return {bits_of(detail::as_element<R>(node.value)), node.index};
}
template <class R, class V>
result_bits concluded(const detail::two_args<V>& node, const golden_row&) {
  return {bits_of(detail::as_element<R>(node.min.value)), node.min.index, bits_of(detail::as_element<R>(node.max.value)),
          node.max.index};
}
template <class R, class V>
result_bits concluded(const detail::two_values<V>& node, const golden_row& row) {
  using limits = std::numeric_limits<R>;
  if constexpr (limits::is_integer)
    if (row.count == 0) return {bits_of(limits::max()), bits_of(limits::min())};
  return {bits_of(detail::as_element<R>(node.min)), bits_of(detail::as_element<R>(node.max))};
}
template <class R>
result_bits concluded(const detail::moments& node, const golden_row& row) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto freedom = static_cast<std::int64_t>(node.count) - row.ddof;
  const double mean = node.count == 0 ? nan : node.mean;
  const double variance = freedom <= 0 || node.count == 0 ? nan : node.deviation / static_cast<double>(freedom);
  return {bits_of(static_cast<R>(mean)), bits_of(static_cast<R>(variance))};
}

template <form What, class T, bool Wide>
result_bits by_fold(const golden_row& row, bool swapped) {
  using result = typename detail::c_type<result_type(element_type_of<T>, What, Wide)>::type;
  return concluded<result>(tree_value<detail::form_fold_t<What, T, Wide>>(elements_of<T>(row), swapped), row);
}

template <class T>
result_bits by_fold(const golden_row& row, bool swapped) {
  switch (row.form) {
    case form::argmin:
      return by_fold<form::argmin, T, false>(row, swapped);
    case form::argmax:
      return by_fold<form::argmax, T, false>(row, swapped);
    case form::argmin_magnitude:
      return by_fold<form::argmin_magnitude, T, false>(row, swapped);
    case form::argmax_magnitude:
      return by_fold<form::argmax_magnitude, T, false>(row, swapped);
    case form::argminmax:
      return by_fold<form::argminmax, T, false>(row, swapped);
    case form::minmax:
      return by_fold<form::minmax, T, false>(row, swapped);
    default:
      if constexpr (can_be_wide(element_type_of<T>, form::mean_variance))
        if (row.wide) return by_fold<form::mean_variance, T, true>(row, swapped);
      return by_fold<form::mean_variance, T, false>(row, swapped);
  }
}

result_bits by_fold(const golden_row& row, bool swapped) {
  switch (row.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return by_fold<T>(row, swapped);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return {};
}

TEST(folds_of_several_results, give_the_golden_bits_with_their_operands_in_either_order) {
  std::map<form, int> rows;
  for (const golden_row& row : golden_table()) {
    if (row.exact || is_complex(row.type)) continue;  // complex numbers have folds of their own
    if (!is_record(row.form)) continue;
    SCOPED_TRACE(std::string(name(row.type)) + " " + std::string(name(row.form)) + (row.wide ? " f64 " : " own ") +
                 std::string(row.data) + " " + std::to_string(row.seed) + " " + std::to_string(row.count));
    ASSERT_EQ(by_fold(row, false), row.bits);
    ASSERT_EQ(by_fold(row, true), row.bits) << "with the operands exchanged";
    ++rows[row.form];
  }
  for (const form what : {form::argmin, form::argmax, form::minmax, form::mean_variance}) EXPECT_GT(rows[what], 100) << name(what);
}

// Of the four operators in one read each has the bits of its own row; where elements are small, as a value of the sum's type.
template <class T>
result_bits one_of_four(const golden_row& row, bool swapped) {
  using V = typename detail::c_type<accumulator_type(element_type_of<T>)>::type;
  const auto four = tree_value<detail::together_fold<T, V>>(elements_of<T>(row), swapped);
  switch (row.form) {
    case form::sum:
      return {bits_of(row.count == 0 ? static_cast<decltype(four.sum)>(0) : four.sum)};  // the neutral one is -0
    case form::prod:
      return {bits_of(four.prod)};
    case form::min:
      return {bits_of(detail::as_element<T>(four.min))};
    default:
      return {bits_of(detail::as_element<T>(four.max))};
  }
}

result_bits one_of_four(const golden_row& row, bool swapped) {
  switch (row.type) {
#define ONEFOLD_TYPE(name, T) \
  case element_type::name:    \
    return one_of_four<T>(row, swapped);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
    default:
      break;
  }
  return {};
}

TEST(four_operators_in_one_read, have_the_golden_bits_of_each) {
  int rows = 0;
  for (const golden_row& row : golden_table()) {
    if (row.exact || is_complex(row.type)) continue;  // complex numbers have no order
    if (!is_plain(row.form) || row.wide) continue;
    if (row.count == 0 && is_small(row.type)) continue;  // what there is of no elements is a value of the larger type
    SCOPED_TRACE(std::string(name(row.type)) + " " + std::string(name(row.form)) + " " + std::to_string(row.seed));
    ASSERT_EQ(one_of_four(row, false), row.bits);
    ASSERT_EQ(one_of_four(row, true), row.bits);
    ++rows;
  }
  EXPECT_GT(rows, 300);
}

}  // namespace
}  // namespace onefold::tool::test
