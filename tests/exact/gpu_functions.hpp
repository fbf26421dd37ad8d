#pragma once
/// @file gpu_functions.hpp  Exact sums of functions and users' maps on the GPU and on one core, from a unit that nvcc compiles.

#include <cstdint>
#include <string>
#include <vector>

#include "../support/both_sides.hpp"
#include "value_contents.hpp"

namespace onefold_test {

/// Every form with one result over `count` numbers.
std::vector<both_results> exact_forms(value_kind kind, std::uint64_t count);
/// Several results, boxes, users' maps of several arrays, values that may be absent.
std::vector<both_results> exact_maps(value_kind kind, std::uint64_t count);

/// Means, norms and variances of integers of 4 and 8 bytes: all values, some and none of them, several at once; of all sizes, or the outermost in turns.
enum class whole_kind { any, outermost };
std::vector<both_results> exact_integers(whole_kind kind, std::uint64_t count);

/// The sentences of what cuda() refuses.
std::vector<std::string> refused_exact_calls();

/// How often f was called for each index, in sums of numbers that leave the windows again and again.
std::vector<int> calls_for_each_index(std::uint64_t count);

/// The bits of two sums, of one result and of several, on a stream of its own with a workspace: first called, then three times from a captured graph, with calls
/// under the fixed order between.
std::vector<std::vector<unsigned char>> captured_exact_sums(std::uint64_t count);

/// The implementation and the number of launches in the report of a call.
struct exact_run {
  std::string implementation;
  int launches;
};
exact_run report_of_exact_sum(std::uint64_t count);

}  // namespace onefold_test
