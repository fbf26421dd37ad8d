/// @file fault.cu  A kernel that destroys this process's CUDA context, and what onefold says from then on.
/// Exit code 0: as it should be; 77: no GPU here. Otherwise standard error says what was not.

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

namespace {

__global__ void write_far_outside(int* nowhere) { nowhere[threadIdx.x] = 1; }

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::runtime_error(sentence);
}

template <class Call>
void require_device_lost(Call call, const std::string& what) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    call();
  } catch (const onefold::error& problem) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    require(problem.code() == onefold::errc::device_lost,
            what + ": " + std::string(onefold::name(problem.code())) + ": " + problem.what());
    require(took.count() < 1, what + " took " + std::to_string(took.count()) + " s to say so");
    return;
  }
  throw std::runtime_error(what + " was not refused");
}

void run() {
  const std::size_t count = 10'000;
  const std::vector<float> ones(count, 1.0f);
  float* data = nullptr;
  float* result = nullptr;
  require(cudaMalloc(&data, count * sizeof(float)) == cudaSuccess && cudaMalloc(&result, sizeof(float)) == cudaSuccess,
          "cudaMalloc");
  require(cudaMemcpy(data, ones.data(), count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  require(onefold::sum(onefold::cuda(), data, count) == 10'000, "the sum is wrong before anything has happened");

  write_far_outside<<<1, 32>>>(reinterpret_cast<int*>(0x10));
  require(cudaDeviceSynchronize() != cudaSuccess, "the faulty kernel has not failed");

  for (int again = 0; again < 3; ++again) {
    require_device_lost([&] { static_cast<void>(onefold::sum(onefold::cuda(), data, count)); }, "sum on cuda()");
    require_device_lost([&] { onefold::sum_into(onefold::cuda(), data, count, result); }, "sum_into on cuda()");
    require_device_lost([&] { onefold::synchronize(onefold::cuda()); }, "synchronize");
    for (const auto& variant : onefold::variants(onefold::backend::cuda))
      require_device_lost([&] { static_cast<void>(onefold::sum(onefold::cuda(), data, count, {.variant = variant.name})); },
                          std::string(variant.name));
    static_cast<void>(onefold::backends());
    for (const auto& variant : onefold::variants()) static_cast<void>(onefold::why_not(variant, onefold::cuda()));
    for (const auto& info : onefold::backends()) {
      if (info.where == onefold::backend::cuda || !info.usable) continue;
      const auto where = info.where == onefold::backend::serial ? onefold::serial() : onefold::openmp();
      require(onefold::sum(where, ones) == 10'000, "the CPU no longer works");
    }
    require(onefold::sum(ones) == 10'000, "best() no longer works on host data");
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  try {
    run();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
