/// @file operators_test.cpp  The operators of onefold against the oracle's own rules, on every pair of telling values.

#include <limits>

#include <onefold/operators.hpp>

#include "../support/form_oracle.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

template <class T>
std::vector<T> telling_values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values{
      T(0), T(1), T(2), T(7), limits::max(), limits::lowest(), limits::min(), static_cast<T>(limits::max() / 2 + 1)};
  if constexpr (std::is_signed_v<T>) values.insert(values.end(), {T(-1), T(-2), T(-7)});
  if constexpr (std::is_floating_point_v<T>)
    values.insert(values.end(), {-T(0), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), -limits::quiet_NaN(),
                                 limits::denorm_min(), -limits::denorm_min(), T(0.1), limits::epsilon(), T(1) + limits::epsilon()});
  return values;
}

// NaN has many bit patterns inside a reduction; only the result is made canonical.
template <class T>
scalar canonical(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (value != value) return scalar_of(std::numeric_limits<T>::quiet_NaN());
  return scalar_of(value);
}

template <class T, class Op>
void expect_combine_agrees() {
  for (const T a : telling_values<T>()) {
    for (const T b : telling_values<T>()) {
      oracle reference(onefold::element_type_of<T>, Op::id);
      reference.take(scalar_of(a));
      reference.take(scalar_of(b));
      const auto expected = reference.exactly().value;
      EXPECT_EQ(canonical(Op::template combine<T>(a, b)), expected)
          << onefold::name(Op::id) << " of " << text(scalar_of(a)) << " and " << text(scalar_of(b)) << " is not " << text(expected);
    }
    // The neutral element leaves every value as it is, down to the sign of zero.
    EXPECT_EQ(canonical(Op::template combine<T>(Op::template neutral<T>(), a)), canonical(a)) << text(scalar_of(a));
    EXPECT_EQ(canonical(Op::template combine<T>(a, Op::template neutral<T>())), canonical(a)) << text(scalar_of(a));
  }
  EXPECT_EQ(scalar_of(Op::template identity<T>()), oracle(onefold::element_type_of<T>, Op::id).exactly().value);
}

// The operators that are forms of their own, against the forms' oracle.
template <class T, class Op>
void expect_form_agrees() {
  const auto oracle_of = [](std::initializer_list<T> values) {
    elements x(onefold::element_type_of<T>, values.size());
    std::size_t i = 0;
    for (const T value : values) x.put(i++, scalar_of(value));
    return form_exactly({Op::id, false, &x, 0, nullptr, 0, x.size()}).value;
  };
  for (const T a : telling_values<T>()) {
    for (const T b : telling_values<T>())
      EXPECT_EQ(canonical(Op::template combine<T>(a, b)), oracle_of({a, b}))
          << onefold::name(Op::id) << " of " << text(scalar_of(a)) << " and " << text(scalar_of(b));
    EXPECT_EQ(canonical(Op::template combine<T>(Op::template neutral<T>(), a)), canonical(a)) << text(scalar_of(a));
    EXPECT_EQ(canonical(Op::template combine<T>(a, Op::template neutral<T>())), canonical(a)) << text(scalar_of(a));
  }
  EXPECT_EQ(scalar_of(Op::template identity<T>()), oracle_of({}));
}

template <class T>
void expect_every_operator_agrees() {
  expect_combine_agrees<T, onefold::op::sum>();
  expect_combine_agrees<T, onefold::op::prod>();
  expect_combine_agrees<T, onefold::op::min>();
  expect_combine_agrees<T, onefold::op::max>();
  if constexpr (std::is_floating_point_v<T>) {
    expect_form_agrees<T, onefold::op::min_number>();
    expect_form_agrees<T, onefold::op::max_number>();
  } else {
    expect_form_agrees<T, onefold::op::bit_and>();
    expect_form_agrees<T, onefold::op::bit_or>();
    expect_form_agrees<T, onefold::op::bit_xor>();
  }
}

TEST(operators, agree_with_the_oracle_on_floats) {
  expect_every_operator_agrees<float>();
  expect_every_operator_agrees<double>();
}

TEST(operators, agree_with_the_oracle_on_integers) {
  expect_every_operator_agrees<std::int32_t>();
  expect_every_operator_agrees<std::uint32_t>();
  expect_every_operator_agrees<std::int64_t>();
  expect_every_operator_agrees<std::uint64_t>();
}

}  // namespace
}  // namespace onefold_test
