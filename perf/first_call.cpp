/// @file first_call.cpp  onefold-perf-first-call: what a process's first calls on a GPU take, in milliseconds, a line for each.
///
/// The driver loads the code of a kernel at its first launch, and unpacks it first where the library was built with
/// ONEFOLD_CUDA_COMPRESS. A process can show that once, so a script starts the programs of two builds in turn.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <onefold/onefold.hpp>

#include "cuda_check.hpp"

namespace {

using onefold::perf::check;

template <class Call>
void time(const char* name, Call&& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("%-28s %9.3f\n", name, took.count());
}

void time_all() {
  constexpr std::size_t n = 1 << 20;
  void* memory = nullptr;
  time("the driver, and memory", [&] {
    check(cudaMalloc(&memory, n * sizeof(double)), "cudaMalloc");
    check(cudaMemset(memory, 0, n * sizeof(double)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
  const auto* floats = static_cast<const float*>(memory);
  const auto* doubles = static_cast<const double*>(memory);
  const auto* bytes = static_cast<const std::int8_t*>(memory);
  const auto where = onefold::cuda();
  time("sum of floats", [&] { (void)onefold::sum(where, floats, n); });
  time("sum of floats, again", [&] { (void)onefold::sum(where, floats, n); });
  time("sum of doubles", [&] { (void)onefold::sum(where, doubles, n); });
  time("dot of doubles", [&] { (void)onefold::dot(where, doubles, doubles, n); });
  time("sum of i8", [&] { (void)onefold::sum(where, bytes, n); });
  time("argmin of floats", [&] { (void)onefold::argmin(where, floats, n); });
  time("mean_variance of doubles", [&] { (void)onefold::mean_variance(where, doubles, n); });
  time("exact sum of floats", [&] { (void)onefold::sum(where, floats, n, {.guarantee = onefold::guarantee::exact}); });
  check(cudaFree(memory), "cudaFree");
}

}  // namespace

int main() {
  try {
    time_all();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "onefold-perf-first-call: %s\n", e.what());
    return 1;
  }
}
