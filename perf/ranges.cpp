/// @file ranges.cpp  States of ranges on a GPU, by where they begin, beside the reduction of the same elements as an array: both to the host.

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <cstdint>
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
  std::uint64_t tiles, elements;  // ahead of the range's first element
};
// Of a tile and of all larger subtrees; of a tile alone; within one.
constexpr beginning beginnings[] = {{"aligned", 0, 0}, {"at a tile", 5, 0}, {"anywhere", 5, 77}};

template <class T>
bool same(const T& a, const T& b) {
  return a == b || (a != a && b != b);
}
template <class T>
bool same(const arg_result<T>& a, const arg_result<T>& b) {
  return same(a.value, b.value) && a.index == b.index;
}
template <class T>
bool same(const argminmax_result<T>& a, const argminmax_result<T>& b) {
  return same(a.min, b.min) && same(a.max, b.max);
}
template <class T>
bool same(const minmax_result<T>& a, const minmax_result<T>& b) {
  return same(a.min, b.min) && same(a.max, b.max);
}

// The array's memory as elements of type T: what its numbers are makes no difference to the time.
template <form What, class T, class Reduce>
void add_row(nlohmann::json& record, const study_options& how, const gpu_clock& clock, const void* memory, std::uint64_t count,
             const Reduce& reduce) {
  const executor where = cuda(how.device, static_cast<CUstream_st*>(clock.stream()));
  const int repeats = how.repeats;
  const auto* const x = static_cast<const T*>(memory);
  const auto expected = reduce(where, x, count);
  const samples plain = clock.to_host([&](std::size_t) { static_cast<void>(reduce(where, x, count)); }, repeats);
  const std::string type(name(element_type_of<T>));
  nlohmann::json row{{"form", std::string(name(What))}, {"type", type}, {"count", count}, {"reduction", to_json(plain)}};
  fmt::print("{:>5} {:>10} {:>12} {:10.2f}", type, name(What), count, plain.median() * 1e6);
  for (const beginning& one : beginnings) {
    const std::uint64_t at = one.tiles * 4096 / sizeof(T) + one.elements;
    range_state<What, T> made(at);
    const samples times = clock.to_host(
        [&](std::size_t) {
          range_state<What, T> state(at);
          state.add(where, x, count);
          made = std::move(state);
        },
        repeats);
    if (at == 0 && !same(made.value(), expected)) throw std::runtime_error("a state of a range has another value than the array");
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
  progress("");
  fmt::print("states of ranges on {}, to the host, in us, and as a part of the reduction's time\n{:>16} {:>12} {:>10}", gpu.name,
             "form", "elements", "reduction");
  for (const beginning& one : beginnings) fmt::print(" {:>18}", one.name);
  fmt::print("\n");
  for (const int power : {10, 16, 20, 22, 24, 26, 28}) {
    const std::uint64_t count = std::uint64_t{1} << power;
    if (count > most) break;
    const auto sum_of = [](const executor& where, const auto* x, std::uint64_t n) { return sum(where, x, n); };
    const auto minmax_of = [](const executor& where, const auto* x, std::uint64_t n) { return minmax(where, x, n); };
    add_row<form::sum, float>(record, how, clock, memory, count, sum_of);
    add_row<form::argmax, float>(record, how, clock, memory, count,
                                 [](const executor& where, const float* x, std::uint64_t n) { return argmax(where, x, n); });
    // Those whose leaves the second kernel of batches collects.
    add_row<form::minmax, float>(record, how, clock, memory, count, minmax_of);
    add_row<form::argminmax, float>(record, how, clock, memory, count,
                                    [](const executor& where, const float* x, std::uint64_t n) { return argminmax(where, x, n); });
    add_row<form::sum, std::int32_t>(record, how, clock, memory, count, sum_of);
    add_row<form::sum, float16>(record, how, clock, memory, count, sum_of);
    add_row<form::minmax, std::int8_t>(record, how, clock, memory, count, minmax_of);
  }
  return record;
}

}  // namespace onefold::perf
