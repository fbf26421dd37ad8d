#pragma once
/// @file functions.hpp  Exact sums of functions of very many indices on cuda(), from a unit that nvcc compiles. C++17.

#include <array>
#include <cstdint>
#include <vector>

#include <onefold/types.hpp>

namespace onefold_test {

/// The words of the state of `even` and `odd` in turns, `count` of them.
template <onefold::form What, class T>
std::vector<std::int64_t> words_of_turns(std::uint64_t count, T even, T odd);

/// The sum of all i below `count`, and how many launches it took.
struct sum_of_indices {
  double value;
  int launches;
};
sum_of_indices exact_sum_of_indices(std::uint64_t count);

/// Sums of 1, i and -i, of one function.
std::array<double, 3> exact_sums_of_indices(std::uint64_t count);

/// The sum of huge numbers that cancel, each beside the next, but for those at `place` and behind it, which are `one` and `other`.
double exact_sum_that_cancels(std::uint64_t count, std::uint64_t place, double one, double other);

}  // namespace onefold_test
