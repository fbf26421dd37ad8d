#pragma once
/// @file formulas.hpp  The problem and the arithmetic on single elements, written once for host and device. Bits are the same on both
/// because every operation is one IEEE 754 operation, in the order written here: the build forbids fused multiply-adds
/// (-ffp-contract=off, -fmad=false), and divisions are correctly rounded, which is nvcc's default.

#include <cstdint>

#ifdef __CUDACC__
#define CG_HOST_DEVICE __host__ __device__
#else
#define CG_HOST_DEVICE
#endif

namespace cg {

/// Row `cell` of A p: the 7-point Laplacian of an n x n x n grid, times -h^2. Cells outside are 0 (Dirichlet).
CG_HOST_DEVICE inline double poisson_row(const double* p, int n, int cell) {
  const int x = cell % n;
  const int y = cell / n % n;
  const int z = cell / (n * n);
  double value = 6 * p[cell];
  if (x > 0) value = value - p[cell - 1];
  if (x < n - 1) value = value - p[cell + 1];
  if (y > 0) value = value - p[cell - n];
  if (y < n - 1) value = value - p[cell + n];
  if (z > 0) value = value - p[cell - n * n];
  if (z < n - 1) value = value - p[cell + n * n];
  return value;
}

/// Two roundings each: the product's and the sum's.
CG_HOST_DEVICE inline double plus_product(double y, double a, double x) { return y + a * x; }
CG_HOST_DEVICE inline double minus_product(double y, double a, double x) { return y - a * x; }

/// alpha and beta. When the residual has become exactly 0 so has the direction, and the iteration is to stand still: no NaN.
CG_HOST_DEVICE inline double quotient(double a, double b) { return a == 0 ? 0 : a / b; }

/// A right-hand side in [-1, 1) that looks random and fills the significand, so that sums of products have to be rounded: with small
/// whole numbers every order of addition would give the same bits, and nothing would be shown. SplitMix64 of the cell's number.
inline double right_hand_side(int cell) {
  auto bits = (static_cast<std::uint64_t>(cell) + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits = bits ^ (bits >> 31);
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;  // exact
}

}  // namespace cg
