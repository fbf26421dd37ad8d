#pragma once
/// @file order_free.hpp  Reductions that promise nothing about the order: what tree v1 on the CPU is measured against.

#include <cstdint>
#include <string>
#include <vector>

#include <onefold/types.hpp>

namespace onefold::perf {

/// A hand-written loop: vectors of one length, several accumulators, perhaps with prefetches, perhaps at four places of the array in turn.
template <class T>
struct order_free_loop {
  std::string name;  ///< "64 B x 8, 4 streams": 8 accumulators of 64 bytes, 2 for each quarter of the array
  T (*run)(const T* x, const T* y, std::uint64_t count);
};

/// Every loop that this machine can run, for sum, dot, sum_of_squares, norm1, min and max of f32 and f64; empty for other forms. None is
/// the fastest at all sizes. Products are fused into sums where the machine can, which onefold may not do.
template <class T>
std::vector<order_free_loop<T>> order_free_loops(form what);

}  // namespace onefold::perf
