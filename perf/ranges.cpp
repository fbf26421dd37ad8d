/// @file ranges.cpp  States of ranges on a GPU, by where they begin, beside the reduction of the same elements as an array: both to the host.

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/range_state.hpp>

#include "cuda_check.hpp"
#include "data.hpp"
#include "gpu.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

struct beginning {
  const char* name;
  std::uint64_t at;  // the index of the range's first element
};
// Of a tile and of all larger subtrees; of a tile alone; within one.
constexpr beginning beginnings[] = {{"aligned", 0}, {"at a tile", 5'120}, {"anywhere", 5'197}};

bool same(float a, float b) { return a == b; }
bool same(const arg_result<float>& a, const arg_result<float>& b) { return a.value == b.value && a.index == b.index; }

template <form What, class Result>
void add_row(nlohmann::json& record, const study_options& how, const gpu_clock& clock, const float* x, std::uint64_t count,
             const Result& reduce) {
  const executor where = cuda(how.device, static_cast<CUstream_st*>(clock.stream()));
  const int repeats = how.repeats;
  const auto expected = reduce(where);
  const samples plain = clock.to_host([&](std::size_t) { static_cast<void>(reduce(where)); }, repeats);
  nlohmann::json row{{"form", std::string(name(What))}, {"count", count}, {"reduction", to_json(plain)}};
  fmt::print("{:>16} {:>12} {:10.2f}", name(What), count, plain.median() * 1e6);
  for (const beginning& one : beginnings) {
    range_state<What, float> made(one.at);
    const samples times = clock.to_host(
        [&](std::size_t) {
          range_state<What, float> state(one.at);
          state.add(where, x, count);
          made = std::move(state);
        },
        repeats);
    if (one.at == 0 && !same(made.value(), expected))
      throw std::runtime_error("a state of a range has another value than the array");
    fmt::print(" {:10.2f} {:>7}", times.median() * 1e6, ratio_text(times.median(), plain.median()));
    row["states"][one.name] = to_json(times);
  }
  fmt::print("\n");
  std::fflush(stdout);
  record["rows"].push_back(std::move(row));
}

}  // namespace

nlohmann::json ranges(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("ranges", how, &gpu);
  const gpu_clock clock(how.device);
  const std::uint64_t most = std::uint64_t{1} << (how.quick ? 24 : 28);
  progress("the array");
  std::vector<float> host(most);
  for (std::uint64_t i = 0; i < most; ++i) host[i] = element_at<float>(i, false);
  void* memory = nullptr;
  check(cudaMalloc(&memory, most * sizeof(float)), "cudaMalloc");
  const std::unique_ptr<void, decltype(&cudaFree)> keeper(memory, cudaFree);
  check(cudaMemcpy(memory, host.data(), most * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  const auto* const x = static_cast<const float*>(memory);
  progress("");
  fmt::print("states of ranges of floats on {}, to the host, in us, and as a part of the reduction's time\n{:>16} {:>12} {:>10}",
             gpu.name, "form", "elements", "reduction");
  for (const beginning& one : beginnings) fmt::print(" {:>18}", one.name);
  fmt::print("\n");
  for (const int power : {10, 16, 20, 22, 24, 26, 28}) {
    const std::uint64_t count = std::uint64_t{1} << power;
    if (count > most) break;
    add_row<form::sum>(record, how, clock, x, count, [&](const executor& where) { return sum(where, x, count); });
    add_row<form::argmax>(record, how, clock, x, count, [&](const executor& where) { return argmax(where, x, count); });
  }
  return record;
}

}  // namespace onefold::perf
