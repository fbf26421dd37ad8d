#pragma once
/// @file solver.hpp  Conjugate gradients, written once for every machine and every reduction.

#include <span>
#include <vector>

#include "machine.hpp"

namespace cg {

struct limits {
  int iterations = 60;
  double tolerance = 0;  ///< of the residual, relative to the first; 0 makes all iterations
};

/// Solves A x = b from x = 0. Returns the norms of the residuals: of b first, then one for each iteration.
std::vector<double> conjugate_gradients(machine& on, reductions& of, std::span<const double> b, const limits& until);

}  // namespace cg
