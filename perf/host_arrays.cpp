/// @file host_arrays.cpp  Sums of arrays in host memory on a GPU, beside a copy of the same bytes and nothing else, which they cannot be faster than.

#include <cuda_runtime_api.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cuda_check.hpp"
#include "data.hpp"
#include "gpu.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

// What cudaMallocHost gives, or what the system maps and CUDA does not know.
class host_memory {
 public:
  host_memory(std::uint64_t bytes, bool pinned) : bytes_(bytes), pinned_(pinned) {
    if (pinned) {
      check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
      return;
    }
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::runtime_error(fmt::format("{} bytes of host memory could not be had", bytes));
  }
  ~host_memory() {
    if (pinned_)
      cudaFreeHost(data_);
    else
      munmap(data_, bytes_);
  }
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_;
  bool pinned_;
};

// Device memory for a plain copy, which goes there in parts if it is larger.
class landing {
 public:
  explicit landing(std::uint64_t bytes) : bytes_(std::min(bytes, std::uint64_t{1} << 30)) {
    check(cudaMalloc(&data_, bytes_), "cudaMalloc");
  }
  ~landing() { cudaFree(data_); }
  landing(const landing&) = delete;
  landing& operator=(const landing&) = delete;

  void take(const float* from, std::uint64_t bytes, cudaStream_t stream) const {
    const auto* next = reinterpret_cast<const std::byte*>(from);
    for (std::uint64_t at = 0; at < bytes; at += bytes_)
      check(cudaMemcpyAsync(data_, next + at, std::min(bytes_, bytes - at), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
  std::uint64_t bytes_;
};

struct row {
  const char* what;
  samples times;
};

void add_rows(nlohmann::json& record, const study_options& how, const host_memory& memory, bool pinned, std::uint64_t bytes) {
  const gpu_clock clock(how.device);
  auto* const stream = static_cast<cudaStream_t>(clock.stream());
  const executor where = cuda(how.device, stream);
  const landing device(bytes);
  const float* const x = memory.data();
  const std::uint64_t count = bytes / sizeof(float);
  const float expected = sum(best(), x, count);
  const auto check_result = [&](float found) {
    if (found != expected)
      throw std::runtime_error(fmt::format("a sum of {} floats gives {}, and the CPU {}", count, found, expected));
  };
  const int repeats = bytes > (std::uint64_t{1} << 30) ? std::min(how.repeats, 5) : how.repeats;
  const auto timed = [&](const auto& work) { return clock.to_host([&](std::size_t) { work(); }, repeats); };

  std::vector<row> rows;
  rows.push_back({"copy", timed([&] { device.take(x, bytes, stream); })});
  rows.push_back({"sum", timed([&] { check_result(sum(where, x, count)); })});
  rows.push_back({"dot", timed([&] { static_cast<void>(dot(where, x, x + count / 2, count / 2)); })});
  rows.push_back({"exact", timed([&] { check_result(sum(where, x, count, {.guarantee = guarantee::exact})); })});
  if (pinned)  // a call that does not wait lets the kernel read across the bus
    rows.push_back({"in place", timed([&] {
                      sum_into(where, x, count, device.data());
                      synchronize(where);
                    })});
  const double limit = rows.front().times.median();
  nlohmann::json made{{"memory", pinned ? "pinned" : "pageable"}, {"bytes", bytes}};
  for (const row& one : rows) {
    fmt::print("{:>12} {:9} {:9} {:12.1f} us {:8.2f} GB/s {:>8}\n", bytes, pinned ? "pinned" : "pageable", one.what,
               one.times.median() * 1e6, gigabytes_per_second(bytes, one.times.median()), ratio_text(limit, one.times.median()));
    made["times"][one.what] = to_json(one.times);
  }
  std::fflush(stdout);
  record["rows"].push_back(std::move(made));
}

}  // namespace

nlohmann::json host_arrays(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("host", how, &gpu);
  fmt::print(
      "floats in host memory on {}; \"copy\" is cudaMemcpyAsync alone, and the last column its time over that of the row\n{:>12} "
      "{:9} {:9} {:>15} {:>13} {:>8}\n",
      gpu.name, "bytes", "memory", "what", "time", "rate", "of copy");
  for (const bool pinned : {true, false}) {
    const std::uint64_t most = std::uint64_t{1} << (how.quick ? 28 : 33);
    progress(fmt::format("{} bytes of {} memory", most, pinned ? "pinned" : "pageable"));
    const host_memory memory(most, pinned);
    constexpr std::uint64_t pattern = std::uint64_t{1} << 20;  // elements, which the array repeats
    float* const x = memory.data();
    for (std::uint64_t i = 0; i < pattern; ++i) x[i] = element_at<float>(i, false);
    for (std::uint64_t there = pattern; there < most / sizeof(float); there += pattern)
      std::memcpy(x + there, x, pattern * sizeof(float));
    progress("");
    for (const int power : {16, 20, 24, 25, 26, 28, 30, 33})
      if (const std::uint64_t bytes = std::uint64_t{1} << power; bytes <= most) add_rows(record, how, memory, pinned, bytes);
  }
  return record;
}

}  // namespace onefold::perf
