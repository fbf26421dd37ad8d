#pragma once
/// @file expectation.hpp  What a reduction of the timed arrays must give, from whole numbers, and the refusal of what gives something else.

#include <cmath>
#include <cstdint>
#include <string>

#include <onefold/types.hpp>

#include "data.hpp"

namespace onefold::perf {

/// Element i of an array of which one element in 64 is not 0: in it norms too are the same in every order, for the absolute values and
/// the squares of 2^27 such elements add up to less than 2^24, which a float holds.
template <class T>
constexpr T sparse_element_at(std::uint64_t i) {
  return i % 64 == 0 ? element_at<T>(i, false) : T(0);
}

/// Sums over two arrays of whole numbers, exact.
struct whole_sums {
  std::int64_t sum = 0;      ///< of the first
  std::int64_t norm1 = 0;    ///< of the first's absolute values
  std::int64_t squares = 0;  ///< of the first's squares
  std::int64_t dot = 0;      ///< of the products
  std::int64_t max = 0;      ///< the first's largest element
};

/// Of `count` elements first(i) and second(i), which are whole and small. Takes some 2 ns for each on one core, and all cores.
template <class First, class Second>
whole_sums sums_of(std::uint64_t count, First first, Second second) {
  std::int64_t sum = 0;
  std::int64_t norm1 = 0;
  std::int64_t squares = 0;
  std::int64_t dot = 0;
  std::int64_t max = first(0);
#pragma omp parallel for schedule(static) reduction(+ : sum, norm1, squares, dot) reduction(max : max)
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t x = first(i);
    sum += x;
    norm1 += x < 0 ? -x : x;
    squares += x * x;
    dot += x * second(i);
    max = max < x ? x : max;
  }
  return {sum, norm1, squares, dot, max};
}

/// What must come out, and how far from it a result may be.
struct expectation {
  double value = 0;
  double tolerance = 0;  ///< relative; 0: nothing else will do
};

/// Of sum, dot, norm1, norm2 and max. `rounding_steps` is how many roundings, one behind the other, an implementation may make on the
/// way; 0 where the sums are exact in every order. A norm2 may always be some last places off: its root, and the scaling that some do.
/// Throws std::runtime_error for other forms.
expectation expected(form what, element_type type, const whole_sums& sums, double rounding_steps);

/// Empty where `got` is as expected, else what is wrong: "sum of 48 f32 is -21 where -8 is right".
std::string wrong_result(form what, element_type type, std::uint64_t count, double got, const expectation& wanted);

}  // namespace onefold::perf
