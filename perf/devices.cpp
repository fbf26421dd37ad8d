/// @file devices.cpp  One array on several GPUs, beside the reduction of one part on its GPU: to the host, and to every GPU's memory, for which the host waits, or which
/// is one of many calls in a graph.

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
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

// Calls that store results on all GPUs, one behind the other in a graph, which leaves out what the host does.
class graph_of_calls {
 public:
  static constexpr int calls = 20;

  template <class Call>
  graph_of_calls(const std::vector<cudaStream_t>& streams, const Call& call) : streams_(streams) {
    check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    std::vector<cudaEvent_t> joined(streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      check(cudaSetDevice(static_cast<int>(i)), "cudaSetDevice");
      check(cudaEventCreateWithFlags(&joined[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    check(cudaEventRecord(joined[0], streams[0]), "cudaEventRecord");
    for (std::size_t i = 1; i < streams.size(); ++i) check(cudaStreamWaitEvent(streams[i], joined[0], 0), "cudaStreamWaitEvent");
    for (int k = 0; k < calls; ++k) call();
    for (std::size_t i = 1; i < streams.size(); ++i) {
      check(cudaEventRecord(joined[i], streams[i]), "cudaEventRecord");
      check(cudaStreamWaitEvent(streams[0], joined[i], 0), "cudaStreamWaitEvent");
    }
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(streams[0], &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    for (const cudaEvent_t one : joined) check(cudaEventDestroy(one), "cudaEventDestroy");
  }
  ~graph_of_calls() { cudaGraphExecDestroy(graph_); }
  graph_of_calls(const graph_of_calls&) = delete;
  graph_of_calls& operator=(const graph_of_calls&) = delete;

  // Seconds of a call.
  [[nodiscard]] samples timed(const gpu_clock& clock, int repeats) const {
    samples taken = clock.to_host(
        [this](std::size_t) {
          check(cudaGraphLaunch(graph_, streams_[0]), "cudaGraphLaunch");
          check(cudaStreamSynchronize(streams_[0]), "cudaStreamSynchronize");
        },
        repeats);
    for (std::vector<double>* const all : {&taken.seconds, &taken.medians})
      for (double& one : *all) one /= calls;
    return taken;
  }

 private:
  const std::vector<cudaStream_t>& streams_;
  cudaGraphExec_t graph_ = nullptr;
};

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
  std::vector<cudaStream_t> streams(all.size());
  std::vector<executor> on_streams;
  for (std::size_t i = 0; i < all.size(); ++i) {
    check(cudaSetDevice(all[i].device()), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    on_streams.push_back(cuda(all[i].device(), streams[i]));
  }
  const onefold::devices with_streams(on_streams);
  const gpu_clock clock(how.device);
  progress("");
  record["devices"] = all.size();
  fmt::print("sums of floats on {} of {}, to the host, in us\n{:>12} {:>10} {:>10} {:>8} {:>10} {:>12} {:>12}\n", all.size(),
             gpu.name, "elements of", "one part", "all parts", "more", "scaling", "to all GPUs", "in a graph");
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
    std::this_thread::sleep_for(
        std::chrono::milliseconds(100));  // until the threads of openmp() sleep, which else take cores' time
    const samples one = clock.to_host([&](std::size_t) { static_cast<void>(sum(all[0], list[0].data, count)); }, how.repeats);
    const samples several = clock.to_host([&](std::size_t) { static_cast<void>(sum(all, x)); }, how.repeats);
    const auto to_all_gpus = [&](std::size_t) {
      sum_into(all, x, places);
      for (std::size_t i = 0; i < all.size(); ++i) synchronize(all[i]);
    };
    const samples everywhere = clock.to_host(to_all_gpus, how.repeats);
    sum_into(with_streams, x, places);
    for (std::size_t i = 0; i < all.size(); ++i) {
      synchronize(with_streams[i]);
      float stored = 0;
      check(cudaMemcpy(&stored, places[i], sizeof(stored), cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (stored != expected.value()) throw std::runtime_error("a GPU has stored another sum than the CPU's");
    }
    const samples in_graph = graph_of_calls(streams, [&] { sum_into(with_streams, x, places); }).timed(clock, how.repeats);
    fmt::print("{:>12} {:10.2f} {:10.2f} {:8.2f} {:>10} {:12.2f} {:12.2f}\n", count, one.median() * 1e6, several.median() * 1e6,
               (several.median() - one.median()) * 1e6, ratio_text(one.median(), several.median()), everywhere.median() * 1e6,
               in_graph.median() * 1e6);
    std::fflush(stdout);
    record["rows"].push_back({{"count", count},
                              {"one", to_json(one)},
                              {"all", to_json(several)},
                              {"to_all", to_json(everywhere)},
                              {"in_graph", to_json(in_graph)}});
  }
  for (std::size_t i = 0; i < all.size(); ++i) check(cudaStreamDestroy(streams[i]), "cudaStreamDestroy");
  return record;
}

}  // namespace onefold::perf
