/// @file fault.cu  A kernel that destroys this process's CUDA context, and what onefold says from then on. With the argument "one_of_two": that of one of two GPUs.
/// Exit code 0: as it should be; 77: too few GPUs here. Otherwise standard error says what was not.

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

namespace {

__global__ void write_far_outside(int* nowhere) { nowhere[threadIdx.x] = 1; }
__global__ void write_far_outside_later(int* nowhere) {
  const long long begin = clock64();
  while (clock64() - begin < 300'000'000) continue;  // some tenths of a second
  nowhere[threadIdx.x] = 1;
}

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

template <class Call>
bool is_right_or_refused(Call call, float right) {
  try {
    return call() == right;
  } catch (const onefold::error& problem) {
    return problem.code() == onefold::errc::device_lost;
  }
}

// Two arrays, each on its GPU, of which the second is lost while a sum over both is under way.
void run_on_two() {
  const std::size_t count = 1'000'000;
  const std::vector<float> ones(count, 1.0f);
  float* data[2] = {};
  float* result[2] = {};
  for (int gpu = 0; gpu < 2; ++gpu) {
    require(cudaSetDevice(gpu) == cudaSuccess && cudaMalloc(&data[gpu], count * sizeof(float)) == cudaSuccess &&
                cudaMalloc(&result[gpu], sizeof(float)) == cudaSuccess &&
                cudaMemcpy(data[gpu], ones.data(), count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess,
            "memory of GPU " + std::to_string(gpu));
  }
  const onefold::devices gpus{onefold::cuda(0), onefold::cuda(1)};
  const onefold::parts<float> x{{data[0], count}, {data[1], count}};
  const onefold::parts<float> cut{{data[0], count - 1}, {data[1], count}};
  require(onefold::sum(gpus, x) == 2'000'000 && onefold::sum(gpus, cut) == 1'999'999,
          "the sum is wrong before anything has happened");
  onefold::sum_into(gpus, x, {result[0], result[1]});  // kernels are loaded
  for (int gpu = 0; gpu < 2; ++gpu) {
    require(onefold::sum(gpus[gpu], result[gpu], 1) == 2'000'000, "what is stored is wrong before anything has happened");
    require(cudaSetDevice(gpu) == cudaSuccess && cudaMemset(result[gpu], 0, sizeof(float)) == cudaSuccess, "cudaMemset");
  }

  // While GPU 1 is at work, and about to be lost, the host puts behind it what GPU 0 waits for.
  require(cudaSetDevice(1) == cudaSuccess, "GPU 1");
  write_far_outside_later<<<1, 32>>>(reinterpret_cast<int*>(0x10));
  require(cudaGetLastError() == cudaSuccess, "the faulty kernel could not be launched");
  onefold::sum_into(gpus, x, {result[0], result[1]});
  require(is_right_or_refused(
              [&] {
                onefold::synchronize(gpus[0]);
                return onefold::sum(gpus[0], result[0], 1);
              },
              2'000'000),
          "GPU 0 has stored a sum of which the lost GPU's part is not known");
  require_device_lost([&] { onefold::synchronize(gpus[1]); }, "the lost GPU's stream");
  require_device_lost([&] { static_cast<void>(onefold::sum(gpus, x)); }, "sum while the GPU is lost");
  for (int again = 0; again < 3; ++again) {
    require_device_lost([&] { static_cast<void>(onefold::sum(gpus, x)); }, "sum over both");
    require_device_lost([&] { static_cast<void>(onefold::sum(gpus, cut)); }, "sum over both, cut within a tile");
    require_device_lost([&] { onefold::sum_into(gpus, x, {result[0], result[1]}); }, "sum_into over both");
    require_device_lost([&] { static_cast<void>(onefold::sum(gpus, ones)); }, "sum of host memory over both");
    // CUDA itself may refuse memory of the host that all GPUs can reach.
    require(is_right_or_refused([&] { return onefold::sum(onefold::cuda(0), data[0], count); }, 1'000'000), "the other GPU");
    require(onefold::sum(onefold::openmp(), ones) == 1'000'000, "the CPU no longer works");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_one_of_two = count == 2 && std::string(arguments[1]) == "one_of_two";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < (is_one_of_two ? 2 : 1)) return 77;
  try {
    is_one_of_two ? run_on_two() : run();
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
