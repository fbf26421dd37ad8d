/// @file kokkos_reductions.cpp  For contrast: the dot product as most codes have it. Its order of additions follows the threads.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <stdexcept>

#include "machine.hpp"

namespace cg {

namespace {

using space = Kokkos::DefaultHostExecutionSpace;

double sum_of_products(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<space>(0, x.size()), KOKKOS_LAMBDA(std::size_t i, double& partial) { partial += x[i] * y[i]; }, sum);
  return sum;
}

class kokkos final : public reductions {
 public:
  explicit kokkos(int threads) {
#if KOKKOS_VERSION >= 30700
    auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
    if (threads > 0) settings.set_num_threads(threads);
#else
    Kokkos::InitArguments settings;
    if (threads > 0) settings.num_threads = threads;
    settings.disable_warnings = true;
#endif
    Kokkos::initialize(settings);
    threads_ = static_cast<int>(space().concurrency());
    if (threads == 0 || threads_ == threads) return;
    Kokkos::finalize();
    throw std::runtime_error("Kokkos runs " + std::to_string(threads_) + " threads where " + std::to_string(threads) +
                             " were asked for");
  }
  ~kokkos() override { Kokkos::finalize(); }
  kokkos(const kokkos&) = delete;
  kokkos& operator=(const kokkos&) = delete;

  void dot(std::span<const double> x, std::span<const double> y, double* result) override { *result = sum_of_products(x, y); }
  void norm2(std::span<const double> x, double* result) override { *result = std::sqrt(sum_of_products(x, x)); }

  [[nodiscard]] std::string description() const override {
    return "Kokkos::parallel_reduce, " + std::to_string(threads_) + (threads_ == 1 ? " thread" : " threads");
  }

 private:
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<reductions> kokkos_reductions(int threads) { return std::make_unique<kokkos>(threads); }

}  // namespace cg
