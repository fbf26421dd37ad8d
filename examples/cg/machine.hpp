#pragma once
/// @file machine.hpp  What the solver is given: a machine, which keeps vectors and works on them element by element, and reductions,
/// which make one number of a vector.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <onefold/executor.hpp>

namespace cg {

/// A memory and what computes in it. Vectors and scalars lie there alike: the solver passes addresses and never looks at a number, so
/// that a GPU never waits for the host. Element by element there is one order only, so all machines make the same bits, as long as every
/// operation is rounded by itself (formulas.hpp).
class machine {
 public:
  virtual ~machine() = default;

  /// `count` zeros, which live as long as the machine.
  virtual std::span<double> allocate(std::size_t count) = 0;
  virtual void write(std::span<const double> host_values, std::span<double> to) = 0;
  /// Waits for everything before it.
  virtual std::vector<double> read(std::span<const double> from) = 0;

  virtual void apply_poisson(std::span<const double> p, std::span<double> q) = 0;                   ///< q = A p
  virtual void divide(const double* a, const double* b, double* quotient) = 0;                      ///< one number; 0 / 0 = 0
  virtual void axpy(const double* a, std::span<const double> x, std::span<double> y) = 0;           ///< y = y + a x
  virtual void subtract_axpy(const double* a, std::span<const double> x, std::span<double> y) = 0;  ///< y = y - a x
  virtual void xpay(std::span<const double> x, const double* a, std::span<double> y) = 0;           ///< y = x + a y
};

/// Where the order of additions comes in, and with it the bits of the whole solve. `result` lies in the machine's memory.
class reductions {
 public:
  virtual ~reductions() = default;
  virtual void dot(std::span<const double> x, std::span<const double> y, double* result) = 0;
  virtual void norm2(std::span<const double> x, double* result) = 0;
  /// What has run, in a few words.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// This computer's memory and processors, for a grid of n x n x n cells. `threads` of 0 are all.
std::unique_ptr<machine> host_machine(int n, int threads);

/// A GPU, with a stream of its own on which everything is ordered.
class gpu_machine : public machine {
 public:
  [[nodiscard]] virtual CUstream_st* stream() const = 0;
};
std::unique_ptr<gpu_machine> first_gpu(int n);

/// onefold's, on any executor: the same bits on all.
std::unique_ptr<reductions> onefold_reductions(const onefold::executor& where, std::size_t count);

/// For contrast: Kokkos::parallel_reduce with this number of OpenMP threads (0: all), and cuBLAS on the stream of a GPU.
std::unique_ptr<reductions> kokkos_reductions(int threads);
std::unique_ptr<reductions> cublas_reductions(CUstream_st* stream);

}  // namespace cg
