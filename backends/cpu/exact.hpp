#pragma once
/// @file exact.hpp  guarantee::exact on the Serial and OpenMP backends: exact sums as a fold of the driver's, whose states are integers.

#include <string>

#include <onefold/detail/request.hpp>

namespace onefold::cpu {

/// Runs a request whose form has an exact state, of arrays, values that a function gives, sets of vectors or parts of complex numbers, on up to
/// `threads` threads; returns how many worked. With what.exact_state the words of the results' states are stored there too, canonical.
int reduce_exactly(const detail::request& what, int threads);

/// "superaccumulator/" and the instruction set.
std::string exact_implementation();

}  // namespace onefold::cpu
