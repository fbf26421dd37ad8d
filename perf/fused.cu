/// @file fused.cu  Several results, functions of the index and operators of the caller's own on a GPU, against the bare read of the same bytes, the
/// built-in form that does the same, and CUB.

#include <onefold/device.cuh>

#include <cuda_runtime.h>
#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu.hpp"
#include "gpu.hpp"
#include "limit.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// Memory on the device.
class device_bytes {
 public:
  explicit device_bytes(std::size_t bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~device_bytes() { cudaFree(data_); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// A value of 16 bytes: the number of the largest magnitude, and how many there are of it.
struct largest {
  double magnitude;
  std::uint64_t times;
};
struct largest_of_two {
  ONEFOLD_HOST_DEVICE largest operator()(const largest& a, const largest& b) const {
    if (a.magnitude == b.magnitude) return {a.magnitude, a.times + b.times};
    return a.magnitude > b.magnitude ? a : b;
  }
};

// What a user would write as lambdas; nvcc takes those in functions of their own only.
template <class T>
struct squared {
  ONEFOLD_HOST_DEVICE T operator()(T v) const { return v * v; }
};
template <class T>
struct squared_at {
  const T* x;
  ONEFOLD_HOST_DEVICE T operator()(std::uint64_t i) const { return x[i] * x[i]; }
};
template <class T>
struct five_at {
  const T* x;
  ONEFOLD_HOST_DEVICE std::array<T, 5> operator()(std::uint64_t i) const {
    const T v = x[i];
    return {v, v * v, v < 0 ? -v : v, v, v};
  }
};
// Of whole numbers, so that contraction changes nothing.
template <class T>
struct of_three {
  const T* x;
  const T* y;
  const T* z;
  ONEFOLD_HOST_DEVICE T operator()(std::uint64_t i) const { return x[i] * y[i] + z[i]; }
};
template <class T>
struct positive_at {
  const T* x;
  ONEFOLD_HOST_DEVICE maybe<T> operator()(std::uint64_t i) const {
    if (x[i] > 0) return x[i];
    return absent;
  }
};
template <class T>
struct field_at {
  const T* x;
  std::int64_t side;
  ONEFOLD_HOST_DEVICE T operator()(std::int64_t j, std::int64_t i) const { return x[j * side + i]; }
};

struct candidate {
  std::string name;
  std::uint64_t bytes;                                          ///< read in one call
  std::function<void(const void* input, void* output)> on_gpu;  ///< enqueues
  std::function<void(void* output)> on_cpu;                     ///< the same bits; null for a peer
  std::size_t result_bytes;
};

template <class T>
class fused_study {
 public:
  fused_study(const study_options& how, std::uint64_t count)
      : how_(how),
        count_(count),
        bench_(how.device, element_type_of<T>, operation::sum, count, 4),
        host_(host_copy(element_type_of<T>, count)) {}

  nlohmann::json run() {
    add_candidates();
    const auto read = [&](const void* input) { bench_.read(input); };
    const double limit = bench_.in_stream(read, cache::cold, how_.repeats).median();
    nlohmann::json row{{"type", name(element_type_of<T>)}, {"count", count_}, {"bytes", bench_.bytes()}, {"read_limit", limit}};
    fmt::print("{} {}, a read of one array takes {:.2f} us = {:.0f} GB/s\n", count_, name(element_type_of<T>), limit * 1e6,
               gigabytes_per_second(bench_.bytes(), limit));
    for (const candidate& one : candidates_) {
      progress(one.name);
      check_bits(one);
      const samples times =
          bench_.in_stream([&](const void* input) { one.on_gpu(input, output_.as<void>()); }, cache::cold, how_.repeats);
      progress("");
      const double of_limit = limit * static_cast<double>(one.bytes) / static_cast<double>(bench_.bytes());
      fmt::print("  {:46} {:10.2f} us {:8.0f} GB/s {:>8}\n", one.name, times.median() * 1e6,
                 gigabytes_per_second(one.bytes, times.median()), percent_text(of_limit, times.median()));
      std::fflush(stdout);
      nlohmann::json kept = to_json(times);
      kept["bytes"] = one.bytes;
      row["calls"][one.name] = std::move(kept);
    }
    return row;
  }

 private:
  [[nodiscard]] const T* host() const { return reinterpret_cast<const T*>(host_.data()); }
  // Arrays beside the one that is taken in turn, of the same contents.
  [[nodiscard]] const T* second(const void* input) const { return static_cast<const T*>(bench_.partner(input)); }
  [[nodiscard]] const T* third(const void* input) const { return static_cast<const T*>(bench_.input(turn_of(input) + 1)); }
  [[nodiscard]] std::size_t turn_of(const void* input) const {
    for (std::size_t i = 0; i < 4096; ++i)
      if (bench_.input(i) == input) return i;
    return 0;
  }

  template <class Result, class Gpu, class Cpu>
  void add(std::string what, std::uint64_t bytes, const Gpu& gpu, const Cpu& cpu) {
    candidates_.push_back(
        {std::move(what), bytes,
         [gpu](const void* input, void* output) { gpu(static_cast<const T*>(input), static_cast<Result*>(output)); },
         [cpu](void* output) {
           const Result value = cpu();
           std::memcpy(output, &value, sizeof(value));
         },
         sizeof(Result)});
  }
  template <class Gpu>
  void add_peer(std::string what, std::uint64_t bytes, const Gpu& gpu) {
    candidates_.push_back(
        {std::move(what), bytes, [gpu](const void* input, void* output) { gpu(static_cast<const T*>(input), output); }, {}, 0});
  }

  void check_bits(const candidate& one) {
    if (!one.on_cpu) return;
    std::array<unsigned char, 256> expected{};
    std::array<unsigned char, 256> found{};
    one.on_cpu(expected.data());
    one.on_gpu(bench_.input(0), output_.as<void>());
    check(cudaMemcpyAsync(found.data(), output_.as<void>(), one.result_bytes, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream()), one.name.c_str());
    // Results with an index have bytes that nobody writes between the value and the index: their words are compared where they are defined.
    if (std::memcmp(expected.data(), found.data(), one.result_bytes) != 0)
      throw std::runtime_error(one.name + " is wrong: not the CPU's bits");
  }

  [[nodiscard]] cudaStream_t stream() const { return static_cast<cudaStream_t>(bench_.stream()); }

  // Enough for each of CUB's calls here.
  template <class Call>
  void with_cub(const Call& call) {
    std::size_t bytes = cub_bytes;
    check(call(cub_memory_.as<void>(), bytes), "cub");
  }

  void add_candidates() {
    const executor gpu = bench_.where();
    const std::uint64_t n = count_;
    const std::uint64_t bytes = bench_.bytes();
    const T* const x = host();
    using onefold::op::max, onefold::op::min, onefold::op::prod, onefold::op::sum;

    add<T>(
        "sum", bytes, [=](const T* in, T* out) { sum_into(gpu, in, n, out); }, [=] { return onefold::sum(x, n); });
    add<T>(
        "sum_of_squares", bytes, [=](const T* in, T* out) { sum_of_squares_into(gpu, in, n, out); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<T>(
        "the same by a function of the elements", bytes,
        [=](const T* in, T* out) { transform_reduce_into(gpu, in, n, out, sum{}, squared<T>{}); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<T>(
        "the same by a function of the index", bytes, [=](const T* in, T* out) { sum_into(gpu, n, squared_at<T>{in}, out); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<arg_result<T>>(
        "argmin", bytes, [=](const T* in, arg_result<T>* out) { argmin_into(gpu, in, n, out); },
        [=] { return plain(onefold::argmin(x, n)); });
    add_peer("argmin by CUB", bytes, [=, this](const T* in, void* out) {
      with_cub([&](void* memory, std::size_t& size) {
        auto* const at = static_cast<unsigned char*>(out);
        return cub::DeviceReduce::ArgMin(memory, size, in, reinterpret_cast<T*>(at), reinterpret_cast<std::int64_t*>(at + 8),
                                         static_cast<std::int64_t>(n), stream());
      });
    });
    add<minmax_result<T>>(
        "minmax", bytes, [=](const T* in, minmax_result<T>* out) { minmax_into(gpu, in, n, out); },
        [=] { return onefold::minmax(x, n); });
    add<mean_variance_result<T>>(
        "mean_variance", bytes, [=](const T* in, mean_variance_result<T>* out) { mean_variance_into(gpu, in, n, out); },
        [=] { return onefold::mean_variance(x, n); });
    add<std::array<T, 3>>(
        "reduce_together: sum, min, max", bytes,
        [=](const T* in, std::array<T, 3>* out) { reduce_together_into(gpu, in, n, out->data(), sum{}, min{}, max{}); },
        [=] { return reduce_together(best(), x, n, sum{}, min{}, max{}); });
    add<std::array<T, 5>>(
        "five results of a function of the index", bytes,
        [=](const T* in, std::array<T, 5>* out) {
          reduce_together_into(gpu, n, five_at<T>{in}, out->data(), sum{}, sum{}, sum{}, min{}, max{});
        },
        [=] { return reduce_together(best(), n, five_at<T>{x}, sum{}, sum{}, sum{}, min{}, max{}); });
    add<T>(
        "f(i) over three arrays", 3 * bytes,
        [=, this](const T* in, T* out) {
          sum_into(gpu, n, of_three<T>{in, second(in), third(in)}, out);
        },
        [=] {
          return onefold::sum(best(), n, of_three<T>{x, x, x});
        });
    add<T>(
        "a filter: the positive ones", bytes, [=](const T* in, T* out) { sum_into(gpu, n, positive_at<T>{in}, out); },
        [=] { return onefold::sum(best(), n, positive_at<T>{x}); });
    // A field of rows with a layer of ghost cells; whole cache lines are read with them.
    std::int64_t side = 16;
    while (4 * side * side <= static_cast<std::int64_t>(n)) side *= 2;
    const auto interior = onefold::box({1, side - 1}, {1, side - 1});
    add<T>(
        "a box of a 2-D array with ghost cells", interior.size() * sizeof(T),
        [=](const T* in, T* out) {
          sum_into(gpu, interior, field_at<T>{in, side}, out);
        },
        [=] {
          return onefold::sum(best(), interior, field_at<T>{x, side});
        });
    if constexpr (sizeof(T) == 8) {
      const auto as_values = [](const T* from) { return reinterpret_cast<const largest*>(from); };
      add<largest>(
          "an operator of the caller's on 16 bytes", bytes,
          [=](const T* in, largest* out) { reduce_into(gpu, as_values(in), n / 2, out, largest_of_two{}); },
          [=] { return onefold::reduce(best(), as_values(x), n / 2, largest_of_two{}); });
      add_peer("the same by CUB", bytes, [=, this](const T* in, void* out) {
        with_cub([&](void* memory, std::size_t& size) {
          return cub::DeviceReduce::Reduce(memory, size, as_values(in), static_cast<largest*>(out),
                                           static_cast<std::int64_t>(n / 2), largest_of_two{}, largest{-1, 0}, stream());
        });
      });
    }
  }

  // Without what stands between a value of 4 bytes and its index.
  static arg_result<T> plain(const arg_result<T>& from) {
    arg_result<T> made;
    std::memset(static_cast<void*>(&made), 0, sizeof(made));
    made.value = from.value;
    made.index = from.index;
    return made;
  }

  static constexpr std::size_t cub_bytes = std::size_t{16} << 20;
  const study_options& how_;
  std::uint64_t count_;
  gpu_bench bench_;
  std::vector<std::byte> host_;
  device_bytes output_{256};
  device_bytes cub_memory_{cub_bytes};
  std::vector<candidate> candidates_;
};

}  // namespace

nlohmann::json fused(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("fused", how, &gpu);
  fmt::print("on {}, nothing in the cache; percentages of the read limit for as many bytes\n", gpu.name);
  std::vector<std::uint64_t> counts = {std::uint64_t{1} << 20, std::uint64_t{1} << 24, std::uint64_t{1} << 28};
  if (how.quick) counts = {std::uint64_t{1} << 24};
  for (const std::uint64_t count : counts) {
    record["rows"].push_back(fused_study<float>(how, count).run());
    record["rows"].push_back(fused_study<double>(how, count).run());
  }
  return record;
}

}  // namespace onefold::perf
