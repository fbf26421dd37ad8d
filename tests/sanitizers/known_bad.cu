/// @file known_bad.cu  One kernel for each tool of compute-sanitizer, with the defect that the tool is for. A tool that lets its
/// kernel pass is not on, and what it says of onefold's kernels is worth nothing.

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

// synccheck: half of each warp waits at a barrier, the other half leaves. (Had it another barrier to go to, the kernel would hang.)
__global__ void divergent_barrier(int* values) {
  if (threadIdx.x % 2 == 0) {
    values[threadIdx.x] = 1;
    __syncthreads();
    values[threadIdx.x] += values[threadIdx.x + 1];
  }
}

// initcheck: device memory that nobody has written is read.
__global__ void reads_what_nobody_wrote(int* values) { values[threadIdx.x] += 1; }

}  // namespace

int main(int argc, char** argv) {
  const char* tool = argc == 2 ? argv[1] : "";
  void (*kernel)(int*) = std::strcmp(tool, "memcheck") == 0    ? out_of_bounds
                         : std::strcmp(tool, "racecheck") == 0 ? without_a_barrier
                         : std::strcmp(tool, "synccheck") == 0 ? divergent_barrier
                         : std::strcmp(tool, "initcheck") == 0 ? reads_what_nobody_wrote
                                                               : nullptr;
  if (kernel == nullptr) {
    std::fprintf(stderr, "usage: %s memcheck | racecheck | synccheck | initcheck\n", argv[0]);
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
