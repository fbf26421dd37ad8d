/// @file solver.cpp  Conjugate gradients (Hestenes and Stiefel 1952), without a preconditioner.

#include "solver.hpp"

#include <utility>

namespace cg {

std::vector<double> conjugate_gradients(machine& on, reductions& of, std::span<const double> b, const limits& until) {
  const auto x = on.allocate(b.size());
  const auto r = on.allocate(b.size());
  const auto p = on.allocate(b.size());
  const auto q = on.allocate(b.size());
  const auto residuals = on.allocate(static_cast<std::size_t>(until.iterations) + 1);
  const auto scalars = on.allocate(5);
  double* const alpha = &scalars[0];
  double* const beta = &scalars[1];
  double* const pq = &scalars[2];
  double* rr = &scalars[3];
  double* next_rr = &scalars[4];

  // The one place where a GPU has to be waited for, so only every tenth iteration asks.
  const auto converged = [&](std::size_t done) {
    if (until.tolerance <= 0 || done % 10 != 0) return false;
    return on.read(residuals.subspan(done, 1))[0] <= until.tolerance * on.read(residuals.first(1))[0];
  };

  on.write(b, r);  // x = 0, so r = b
  on.write(b, p);
  of.dot(r, r, rr);
  of.norm2(r, &residuals[0]);
  std::size_t done = 0;
  while (done + 1 < residuals.size()) {
    on.apply_poisson(p, q);
    of.dot(p, q, pq);
    on.divide(rr, pq, alpha);
    on.axpy(alpha, p, x);
    on.subtract_axpy(alpha, q, r);
    of.dot(r, r, next_rr);
    on.divide(next_rr, rr, beta);
    on.xpay(r, beta, p);
    std::swap(rr, next_rr);
    of.norm2(r, &residuals[++done]);
    if (converged(done)) break;
  }
  return on.read(residuals.first(done + 1));
}

}  // namespace cg
