/// @file host_machine.cpp  Vectors in this computer's memory, and plain loops over them.

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>

#include "formulas.hpp"
#include "machine.hpp"

namespace cg {

namespace {

// The number of threads changes who computes an element and not what is computed: unlike a reduction's, these bits need no care.
template <class Body>
void for_each(std::size_t count, [[maybe_unused]] int threads, Body body) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (std::size_t i = 0; i < count; ++i) body(i);
}

int all_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

class host final : public machine {
 public:
  host(int n, int threads) : n_(n), threads_(threads > 0 ? threads : all_threads()) {}

  std::span<double> allocate(std::size_t count) override { return arrays_.emplace_back(count); }
  void write(std::span<const double> host_values, std::span<double> to) override { std::ranges::copy(host_values, to.begin()); }
  std::vector<double> read(std::span<const double> from) override { return {from.begin(), from.end()}; }

  void apply_poisson(std::span<const double> p, std::span<double> q) override {
    for_each(q.size(), threads_, [=, this](std::size_t i) { q[i] = poisson_row(p.data(), n_, static_cast<int>(i)); });
  }
  void divide(const double* a, const double* b, double* result) override { *result = quotient(*a, *b); }
  void axpy(const double* a, std::span<const double> x, std::span<double> y) override {
    for_each(y.size(), threads_, [=, a = *a](std::size_t i) { y[i] = plus_product(y[i], a, x[i]); });
  }
  void subtract_axpy(const double* a, std::span<const double> x, std::span<double> y) override {
    for_each(y.size(), threads_, [=, a = *a](std::size_t i) { y[i] = minus_product(y[i], a, x[i]); });
  }
  void xpay(std::span<const double> x, const double* a, std::span<double> y) override {
    for_each(y.size(), threads_, [=, a = *a](std::size_t i) { y[i] = plus_product(x[i], a, y[i]); });
  }

 private:
  int n_;
  int threads_;
  std::vector<std::vector<double>> arrays_;
};

}  // namespace

std::unique_ptr<machine> host_machine(int n, int threads) { return std::make_unique<host>(n, threads); }

}  // namespace cg
