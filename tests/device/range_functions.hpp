#pragma once
/// @file range_functions.hpp  States of ranges of functions' values on the GPU and on the CPU, from a unit that nvcc compiles.

#include <cstdint>
#include <string>
#include <vector>

#include "../support/both_sides.hpp"

namespace onefold_test {

/// Every kind of state, of `count` values from index `begin` of the whole array on.
std::vector<both_results> states_of_functions(std::uint64_t begin, std::uint64_t count);

/// Results of states that were made on both sides in turn, in so many pieces, and of one core.
std::vector<both_results> results_of_pieces(std::uint64_t count, int pieces);

/// Results of images of parts that begin with these elements, put together by a kernel of the unit that made them, and of one core.
std::vector<both_results> joined_results(const std::vector<std::uint64_t>& borders, std::uint64_t total);

/// Sentences of calls that have to be refused, and what stands in them.
struct refused_state {
  std::string call;
  std::string sentence;
  std::string expected;
};
std::vector<refused_state> refused_states();

/// The code of the error with which a machine without a GPU refuses a state.
std::string code_without_a_gpu();

}  // namespace onefold_test
