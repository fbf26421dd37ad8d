// One sum on one core, on all cores and on the GPU: the same bits. A plain loop has bits of its own.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <onefold/onefold.hpp>

int main() {  // NOLINT(bugprone-exception-escape): what onefold refuses ends this program with its sentence
  constexpr std::size_t n = 10'000'000;
  float* x = nullptr;
  if (cudaMallocManaged(reinterpret_cast<void**>(&x), n * sizeof(float)) != cudaSuccess) {  // for CPU and GPU
    std::puts("No GPU here");
    return 0;
  }
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0f / static_cast<float>(i + 1);

  const float one_core = onefold::sum(onefold::serial(), x, n);
  const float all_cores = onefold::sum(onefold::openmp(), x, n);
  const float gpu = onefold::sum(onefold::cuda(), x, n);
  float loop = 0;
  for (std::size_t i = 0; i < n; ++i) loop += x[i];

  std::printf("one core   %.9g\nall cores  %.9g\nGPU        %.9g\na loop     %.9g\n", one_core, all_cores, gpu, loop);
  cudaFree(x);
  return one_core == all_cores && one_core == gpu ? 0 : 1;
}
