/// @file known_bad.cu  Kernels for each tool of compute-sanitizer, with the defect that the tool is for. A tool that lets one of its
/// kernels pass is not on, and what it says of onefold's kernels is worth nothing.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int threads = 64;

// memcheck: one element behind the allocation is written.
__global__ void out_of_bounds(int* values) { values[threadIdx.x + 1] = 1; }

// racecheck: every thread reads its neighbour's element, and nobody has waited for the neighbour to write it.
__global__ void without_a_barrier(int* values) {
  __shared__ int shared[threads];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  values[threadIdx.x] = shared[(threadIdx.x + 33) % threads];
}

// racecheck: segment_halving without its barrier. Beyond the first step, in which a thread reads what it wrote itself, each reads what
// others wrote in the step before.
__global__ void halving_without_a_barrier(int* values) {
  __shared__ int shared[2 * threads];
  int value = static_cast<int>(threadIdx.x);
  shared[threadIdx.x + threads] = value;
  shared[threadIdx.x] = value;
  for (unsigned stride = threads; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) {
      value += shared[threadIdx.x + stride];
      shared[threadIdx.x] = value;
    }
  }
  if (threadIdx.x == 0) *values = value;
}

// synccheck: half of the warp's lanes wait with a mask that leaves themselves out. (Synccheck of CUDA 13.0 says nothing of a
// __syncthreads() that half of the warp's lanes never reach when they have left.)
__global__ void wrong_mask(int* values) {
  values[threadIdx.x] = 1;
  __syncwarp(0xffff0000u);
  values[threadIdx.x] += values[(threadIdx.x + 1) % 32];
}

// initcheck: device memory that nobody has written is read.
__global__ void reads_what_nobody_wrote(int* values) { values[threadIdx.x] += 1; }

}  // namespace

int main(int argc, char** argv) {
  const char* wanted = argc == 2 ? argv[1] : "";
  void (*kernel)(int*) = std::strcmp(wanted, "memcheck") == 0            ? out_of_bounds
                         : std::strcmp(wanted, "racecheck") == 0         ? without_a_barrier
                         : std::strcmp(wanted, "racecheck_halving") == 0 ? halving_without_a_barrier
                         : std::strcmp(wanted, "synccheck") == 0         ? wrong_mask
                         : std::strcmp(wanted, "initcheck") == 0         ? reads_what_nobody_wrote
                                                                         : nullptr;
  if (kernel == nullptr) {
    std::fprintf(stderr, "usage: %s memcheck | racecheck | racecheck_halving | synccheck | initcheck\n", argv[0]);
    return 2;
  }
  int* values = nullptr;
  if (cudaMalloc(&values, threads * sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "no GPU here\n");
    return 77;
  }
  kernel<<<1, threads>>>(values);
  cudaDeviceSynchronize();  // its error, if any, is the tool's to report
  cudaFree(values);
  return 0;
}
