#pragma once
/// @file functions.hpp  Exact sums of functions on a GPU, from a unit that nvcc compiles. C++17.

#include <array>
#include <cstdint>
#include <vector>

#include <onefold/types.hpp>

namespace onefold_test {

/// The words of the state of x[i], of `count` elements in a GPU's memory.
template <onefold::form What, class T>
std::vector<std::int64_t> words_of_function(const T* x, std::uint64_t count);

/// Of floats: the sums of x[i] and of y[i], of one function, and of every third x[i], which are there alone.
template <class T>
std::array<T, 3> sums_of_functions(const T* x, const T* y, std::uint64_t count);

}  // namespace onefold_test
