// device.cu  A user's kernels beside his reductions, in one file that nvcc compiles.

#include <cuda_runtime.h>

#include <onefold/onefold.hpp>

#include "residual.hpp"

namespace {

__global__ void difference(const double* a, const double* b, double* r, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) r[i] = a[i] - b[i];
}

}  // namespace

double residual(const double* a, const double* b, double* r, unsigned n, cudaStream_t stream) {
  difference<<<(n + 255) / 256, 256, 0, stream>>>(a, b, r, n);
  return onefold::norm2(onefold::cuda(0, stream), r, n);
}

void residual_into(const double* r, unsigned n, double* result, cudaStream_t stream, onefold::workspace& memory) {
  onefold::options how;
  how.workspace = &memory;
  onefold::sum_of_squares_into(onefold::cuda(0, stream), r, n, result, how);
}
