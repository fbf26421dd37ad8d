// Sums device memory twice: for a value, and on a stream into pinned memory, for which the host waits when it likes.

#include <cuda_runtime_api.h>

#include <iostream>
#include <onefold/onefold.hpp>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

void sum_on_the_gpu() {
  const std::vector<double> x(1'000'000, 0.5);
  const std::size_t bytes = x.size() * sizeof(double);
  void* device = nullptr;
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaMalloc(&device, bytes));
  check(cudaMallocHost(&pinned, sizeof(double)));
  check(cudaStreamCreate(&stream));
  check(cudaMemcpy(device, x.data(), bytes, cudaMemcpyHostToDevice));

  const auto* dx = static_cast<const double*>(device);
  std::cout << onefold::sum(onefold::cuda(), dx, x.size()) << "\n";  // waits for the value

  auto* result = static_cast<double*>(pinned);
  onefold::sum_into(onefold::cuda(0, stream), dx, x.size(), result);  // ordered on the stream
  check(cudaStreamSynchronize(stream));
  std::cout << *result << "\n";

  check(cudaStreamDestroy(stream));
  check(cudaFreeHost(pinned));
  check(cudaFree(device));
}

}  // namespace

int main() {
  for (const auto& backend : onefold::backends()) {
    if (backend.where != onefold::backend::cuda || backend.usable) continue;
    std::cout << "No GPU here: " << backend.detail << "\n";
    return 0;
  }
  try {
    sum_on_the_gpu();
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
  }
}
