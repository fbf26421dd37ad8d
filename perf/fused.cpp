/// @file fused.cpp  Several results, functions of the index and operators of the caller's own on a GPU, against the bare read of the same bytes, the
/// built-in form that does the same, and CUB.

#include "fused.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cpu.hpp"
#include "cuda_check.hpp"
#include "limit.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

constexpr std::size_t output_bytes = 256;

void check_bits(const fused_call& one, const gpu_bench& bench, void* output) {
  if (!one.on_cpu) return;
  const auto stream = static_cast<cudaStream_t>(bench.stream());
  std::array<unsigned char, output_bytes> expected{};
  std::array<unsigned char, output_bytes> found{};
  one.on_cpu(expected.data());
  check(cudaMemsetAsync(output, 0, output_bytes, stream), "cudaMemsetAsync");
  one.on_gpu(bench.input(0), output);
  check(cudaMemcpyAsync(found.data(), output, one.result_bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), one.name.c_str());
  if (std::memcmp(expected.data(), found.data(), one.result_bytes) != 0)
    throw std::runtime_error(one.name + " is wrong: not the CPU's bits");
}

nlohmann::json fused_row(const study_options& how, element_type type, std::uint64_t count) {
  progress("the arrays");
  const gpu_bench bench(how.device, type, operation::sum, count, 9);
  const std::vector<std::byte> host = host_copy(type, count);
  void* output = nullptr;
  check(cudaMalloc(&output, output_bytes), "cudaMalloc");
  const std::unique_ptr<void, cudaError_t (*)(void*)> holder(output, cudaFree);
  const auto read = [&](const void* input) { bench.read(input); };
  const double limit = bench.in_stream(read, cache::cold, how.repeats).median();
  progress("");
  nlohmann::json row{{"type", name(type)}, {"count", count}, {"bytes", bench.bytes()}, {"read_limit", limit}};
  fmt::print("{} {}, a read of one array takes {:.2f} us = {:.0f} GB/s\n", count, name(type), limit * 1e6,
             gigabytes_per_second(bench.bytes(), limit));
  for (const fused_call& one : fused_calls(bench, type, host.data())) {
    progress(one.name);
    check_bits(one, bench, output);
    const samples times = bench.in_stream([&](const void* input) { one.on_gpu(input, output); }, cache::cold, how.repeats);
    progress("");
    const double of_limit = limit * static_cast<double>(one.bytes) / static_cast<double>(bench.bytes());
    fmt::print("  {:48} {:10.2f} us {:8.0f} GB/s {:>8}\n", one.name, times.median() * 1e6,
               gigabytes_per_second(one.bytes, times.median()), percent_text(of_limit, times.median()));
    std::fflush(stdout);
    nlohmann::json kept = to_json(times);
    kept["bytes"] = one.bytes;
    row["calls"][one.name] = std::move(kept);
  }
  return row;
}

// `any` of 2^31 bytes, of which none is set, or the first, or one in the middle; and count, which reads them all.
nlohmann::json early_end_times(const study_options& how) {
  constexpr std::uint64_t count = std::uint64_t{1} << 31;
  const gpu_clock clock(how.device);
  void* memory = nullptr;
  check(cudaMalloc(&memory, count), "cudaMalloc");
  const std::unique_ptr<void, cudaError_t (*)(void*)> holder(memory, cudaFree);
  auto* const flags = static_cast<std::uint8_t*>(memory);
  const auto where = cuda(how.device, static_cast<CUstream_st*>(clock.stream()));
  nlohmann::json record{{"type", "u8"}, {"count", count}};
  fmt::print("{} u8, of which any is set\n", count);
  struct placement {
    const char* name;
    std::int64_t set;  // index, or -1
    form what;
  };
  for (const placement& at :
       {placement{"count of none", -1, form::count}, placement{"any of none", -1, form::any},
        placement{"any, the last", static_cast<std::int64_t>(count) - 1, form::any},
        placement{"any, the middle", static_cast<std::int64_t>(count) / 2, form::any}, placement{"any, the first", 0, form::any}}) {
    check(cudaMemset(memory, 0, count), "cudaMemset");
    if (at.set >= 0) check(cudaMemset(flags + at.set, 1, 1), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::uint64_t found = 0;
    detail::run({where, element_type::u8, at.what, flags, count, &found, true}, {});
    if ((found & 0xff) != (at.set >= 0 ? 1U : 0U)) throw std::runtime_error(std::string(at.name) + " is wrong");
    const samples times = clock.to_host(
        [&](std::size_t) {
          detail::run({where, element_type::u8, at.what, flags, count, &found, true}, {});
        },
        how.repeats);
    fmt::print("  {:48} {:10.2f} us to the host\n", at.name, times.median() * 1e6);
    record["calls"][at.name] = to_json(times);
  }
  return record;
}

}  // namespace

nlohmann::json fused(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("fused", how, &gpu);
  fmt::print("on {}, nothing in the cache; percentages of the read limit for as many bytes\n", gpu.name);
  std::vector<std::uint64_t> counts = {std::uint64_t{1} << 20, std::uint64_t{1} << 24, std::uint64_t{1} << 28};
  if (how.quick) counts = {std::uint64_t{1} << 24};
  for (const std::uint64_t count : counts)
    for (const element_type type : {element_type::f32, element_type::f64}) record["rows"].push_back(fused_row(how, type, count));
  record["early_end"] = early_end_times(how);
  return record;
}

}  // namespace onefold::perf
