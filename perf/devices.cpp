/// @file devices.cpp  One array on several GPUs, beside the reduction of one part on its GPU: to the host, and to every GPU's memory, for which the host waits.

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/devices.hpp>

#include "cuda_check.hpp"
#include "data.hpp"
#include "gpu.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

using device_memory = std::unique_ptr<void, decltype(&cudaFree)>;

device_memory copied_to(int device, const std::vector<float>& from) {
  check(cudaSetDevice(device), "cudaSetDevice");
  void* memory = nullptr;
  check(cudaMalloc(&memory, from.size() * sizeof(float)), "cudaMalloc");
  device_memory keeper(memory, cudaFree);
  check(cudaMemcpy(memory, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  return keeper;
}

}  // namespace

nlohmann::json devices(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("devices", how, &gpu);
  const onefold::devices all = onefold::devices::all();
  const std::uint64_t most = std::uint64_t{1} << (how.quick ? 24 : 28);
  progress("the arrays");
  std::vector<float> host(most);
  for (std::uint64_t i = 0; i < most; ++i) host[i] = element_at<float>(i, false);
  std::vector<device_memory> memory;
  std::vector<device_memory> results;
  std::vector<float*> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    memory.push_back(copied_to(all[i].device(), host));
    results.push_back(copied_to(all[i].device(), {0.0f}));
    places.push_back(static_cast<float*>(results.back().get()));
  }
  const gpu_clock clock(how.device);
  progress("");
  record["devices"] = all.size();
  fmt::print("sums of floats on {} of {}, to the host, in us\n{:>12} {:>10} {:>10} {:>8} {:>10} {:>12}\n", all.size(), gpu.name,
             "elements of", "one part", "all parts", "more", "scaling", "to all GPUs");
  for (const int power : {10, 16, 20, 22, 24, 26, 28}) {
    const std::uint64_t count = std::uint64_t{1} << power;
    if (count > most) break;
    std::vector<parts<float>::part> list;
    list.reserve(memory.size());
    for (const device_memory& one : memory) list.emplace_back(static_cast<const float*>(one.get()), count);
    const parts<float> x(list);
    const float expected_of_one = sum(serial(), host.data(), count);
    if (sum(all[0], list[0].data, count) != expected_of_one) throw std::runtime_error("a GPU has another sum than the CPU");
    range_state<form::sum, float> expected;
    for (std::size_t i = 0; i < all.size(); ++i) expected.add(openmp(), host.data(), count);
    if (sum(all, x) != expected.value()) throw std::runtime_error("several GPUs have another sum than the CPU");
    const samples one = clock.to_host([&](std::size_t) { static_cast<void>(sum(all[0], list[0].data, count)); }, how.repeats);
    const samples several = clock.to_host([&](std::size_t) { static_cast<void>(sum(all, x)); }, how.repeats);
    const auto to_all_gpus = [&](std::size_t) {
      sum_into(all, x, places);
      for (std::size_t i = 0; i < all.size(); ++i) synchronize(all[i]);
    };
    const samples everywhere = clock.to_host(to_all_gpus, how.repeats);
    fmt::print("{:>12} {:10.2f} {:10.2f} {:8.2f} {:>10} {:12.2f}\n", count, one.median() * 1e6, several.median() * 1e6,
               (several.median() - one.median()) * 1e6, ratio_text(one.median(), several.median()), everywhere.median() * 1e6);
    std::fflush(stdout);
    record["rows"].push_back({{"count", count}, {"one", to_json(one)}, {"all", to_json(several)}, {"to_all", to_json(everywhere)}});
  }
  return record;
}

}  // namespace onefold::perf
