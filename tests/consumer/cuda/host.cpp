#include <onefold/onefold.hpp>

#include "residual.hpp"

double total(const double* a, const double* b, double* r, unsigned n) { return residual(a, b, r, n, nullptr) + onefold::sum(r, n); }
