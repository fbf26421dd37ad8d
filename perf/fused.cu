/// @file fused.cu  Several results, functions of the index and operators of the caller's own on a GPU, and CUB's calls that do the same.

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <array>
#include <complex>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>
#include <stdexcept>

#include "cuda_check.hpp"
#include "fused.hpp"

namespace onefold::perf {

namespace {

/// Memory on the device.
class device_bytes {
 public:
  explicit device_bytes(std::size_t bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~device_bytes() { cudaFree(data_); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  [[nodiscard]] void* get() const { return data_; }

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

template <class T>
struct volume_at {
  const T* x;
  std::int64_t side;
  ONEFOLD_HOST_DEVICE T operator()(std::int64_t k, std::int64_t j, std::int64_t i) const { return x[(k * side + j) * side + i]; }
};

// Enough for each of CUB's calls here.
constexpr std::size_t cub_bytes = std::size_t{16} << 20;
template <class Call>
void with_cub(const device_bytes& memory, const Call& call) {
  std::size_t bytes = cub_bytes;
  check(call(memory.get(), bytes), "cub");
}

template <class T>
class calls_of {
 public:
  calls_of(const gpu_bench& of, const T* contents) : bench(of), host(contents) { add_candidates(); }

  std::vector<fused_call> all;

 private:
  template <class Result, class Gpu, class Cpu>
  void add(std::string what, std::uint64_t bytes, const Gpu& gpu, const Cpu& cpu) {
    all.push_back({std::move(what), bytes,
                   [gpu](const void* input, void* output) { gpu(static_cast<const T*>(input), static_cast<Result*>(output)); },
                   [cpu](void* output) {
                     const Result value = cpu();
                     std::memcpy(output, &value, sizeof(value));
                   },
                   sizeof(Result)});
  }
  template <class Gpu>
  void add_peer(std::string what, std::uint64_t bytes, const Gpu& gpu) {
    all.push_back(
        {std::move(what), bytes, [gpu](const void* input, void* output) { gpu(static_cast<const T*>(input), output); }, {}, 0});
  }

  void add_candidates() {
    const executor gpu = bench.where();
    const std::uint64_t n = bench.count();
    const std::uint64_t bytes = bench.bytes();
    const T* const x = host;
    const gpu_bench* const from = &bench;
    const auto memory_of_cub = std::make_shared<device_bytes>(cub_bytes);
    const auto stream = static_cast<cudaStream_t>(bench.stream());
    // The k-th array behind the one that is taken in turn, of the same contents.
    const auto another = [from](const void* input, std::size_t k) {
      const auto apart = static_cast<const unsigned char*>(from->input(1)) - static_cast<const unsigned char*>(from->input(0));
      const auto number = (static_cast<const unsigned char*>(input) - static_cast<const unsigned char*>(from->input(0))) / apart;
      return static_cast<const T*>(from->input(static_cast<std::size_t>(number) + k));
    };
    using onefold::op::max, onefold::op::min, onefold::op::prod, onefold::op::sum;

    add<T>(
        "sum", bytes, [=](const T* in, T* out) { sum_into(gpu, in, n, out); }, [=] { return onefold::sum(x, n); });
    add<T>(
        "sum_of_squares", bytes, [=](const T* in, T* out) { sum_of_squares_into(gpu, in, n, out); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<T>(
        "sum_of_squares by a function of the elements", bytes,
        [=](const T* in, T* out) { transform_reduce_into(gpu, in, n, out, sum{}, squared<T>{}); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<T>(
        "sum_of_squares by a function of the index", bytes, [=](const T* in, T* out) { sum_into(gpu, n, squared_at<T>{in}, out); },
        [=] { return onefold::sum_of_squares(x, n); });
    add<arg_result<T>>(
        "argmin", bytes, [=](const T* in, arg_result<T>* out) { argmin_into(gpu, in, n, out); },
        [=] { return plain(onefold::argmin(x, n)); });
    add_peer("argmin by CUB", bytes, [=](const T* in, void* out) {
      with_cub(*memory_of_cub, [&](void* memory, std::size_t& size) {
        auto* const at = static_cast<unsigned char*>(out);
        return cub::DeviceReduce::ArgMin(memory, size, in, reinterpret_cast<T*>(at), reinterpret_cast<std::int64_t*>(at + 8),
                                         static_cast<std::int64_t>(n), stream);
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
    add<std::array<T, 8>>(
        "8 dots with one vector in common", 9 * bytes,
        [=](const T* in, std::array<T, 8>* out) {
          const T* const one[] = {in};
          const T* others[8];
          for (std::size_t k = 0; k < 8; ++k) others[k] = another(in, k + 1);
          dots_into(gpu, one, 1, others, 8, n, out->data());
        },
        [=] { return dots_alone<8>(x, n); });
    add<std::array<T, 16>>(
        "4 by 4 dots", 8 * bytes,
        [=](const T* in, std::array<T, 16>* out) {
          const T* rows[4];
          const T* columns[4];
          for (std::size_t k = 0; k < 4; ++k) rows[k] = another(in, k), columns[k] = another(in, k + 4);
          dots_into(gpu, rows, 4, columns, 4, n, out->data());
        },
        [=] { return dots_alone<16>(x, n); });
    using complex = std::complex<T>;
    const auto numbers = [](const T* from) { return reinterpret_cast<const complex*>(from); };
    add<complex>(
        "sum of complex numbers", bytes, [=](const T* in, complex* out) { sum_into(gpu, numbers(in), n / 2, out); },
        [=] { return onefold::sum(numbers(x), n / 2); });
    add<complex>(
        "dot of complex numbers", 2 * bytes,
        [=](const T* in, complex* out) { dot_into(gpu, numbers(in), numbers(another(in, 1)), n / 2, out); },
        [=] { return onefold::dot(numbers(x), numbers(x), n / 2); });
    add<std::uint64_t>(
        "count of complex numbers", bytes, [=](const T* in, std::uint64_t* out) { count_into(gpu, numbers(in), n / 2, out); },
        [=] { return onefold::count(numbers(x), n / 2); });
    add<mean_variance_result<complex>>(
        "mean_variance of complex numbers", bytes,
        [=](const T* in, mean_variance_result<complex>* out) { mean_variance_into(gpu, numbers(in), n / 2, out); },
        [=] { return onefold::mean_variance(numbers(x), n / 2); });
    add<argminmax_result<T>>(
        "argminmax", bytes, [=](const T* in, argminmax_result<T>* out) { argminmax_into(gpu, in, n, out); },
        [=] {
          const auto found = onefold::argminmax(x, n);
          argminmax_result<T> made;
          std::memset(static_cast<void*>(&made), 0, sizeof(made));
          made.min.value = found.min.value, made.min.index = found.min.index;
          made.max.value = found.max.value, made.max.index = found.max.index;
          return made;
        });
    add<T>(
        "f(i) over three arrays", 3 * bytes,
        [=](const T* in, T* out) {
          sum_into(gpu, n, of_three<T>{in, another(in, 1), another(in, 2)}, out);
        },
        [=] {
          return onefold::sum(best(), n, of_three<T>{x, x, x});
        });
    options exactly;
    exactly.guarantee = guarantee::exact;
    add<T>(
        "an exact sum by a function of the index", bytes,
        [=](const T* in, T* out) { sum_into(gpu, n, squared_at<T>{in}, out, exactly); },
        [=] { return onefold::sum(best(), n, squared_at<T>{x}, exactly); });
    add<T>(
        "an exact sum over three arrays", 3 * bytes,
        [=](const T* in, T* out) {
          sum_into(gpu, n, of_three<T>{in, another(in, 1), another(in, 2)}, out, exactly);
        },
        [=] {
          return onefold::sum(best(), n, of_three<T>{x, x, x}, exactly);
        });
    add<std::array<T, 5>>(
        "five exact sums of a function of the index", bytes,
        [=](const T* in, std::array<T, 5>* out) { sum_into(gpu, n, five_at<T>{in}, out->data(), exactly); },
        [=] { return onefold::sum(best(), n, five_at<T>{x}, exactly); });
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
    // Of which no tile lies in one row.
    const auto strip = onefold::box(static_cast<std::int64_t>(n) / 100, 100);
    add<T>(
        "a box with rows of 100", strip.size() * sizeof(T),
        [=](const T* in, T* out) {
          sum_into(gpu, strip, field_at<T>{in, 100}, out);
        },
        [=] {
          return onefold::sum(best(), strip, field_at<T>{x, 100});
        });
    std::int64_t edge = 16;
    while ((edge + 1) * (edge + 1) * (edge + 1) <= static_cast<std::int64_t>(n)) ++edge;
    const auto inside = onefold::box({1, edge - 1}, {1, edge - 1}, {1, edge - 1});
    add<T>(
        "a box of a 3-D array with ghost cells", inside.size() * sizeof(T),
        [=](const T* in, T* out) {
          sum_into(gpu, inside, volume_at<T>{in, edge}, out);
        },
        [=] {
          return onefold::sum(best(), inside, volume_at<T>{x, edge});
        });
    if constexpr (sizeof(T) == 8) {
      const auto as_values = [](const T* from) { return reinterpret_cast<const largest*>(from); };
      add<largest>(
          "an operator of the caller's on 16 bytes", bytes,
          [=](const T* in, largest* out) { reduce_into(gpu, as_values(in), n / 2, out, largest_of_two{}); },
          [=] { return onefold::reduce(best(), as_values(x), n / 2, largest_of_two{}); });
      add_peer("an operator on 16 bytes by CUB", bytes, [=](const T* in, void* out) {
        with_cub(*memory_of_cub, [&](void* memory, std::size_t& size) {
          return cub::DeviceReduce::Reduce(memory, size, as_values(in), static_cast<largest*>(out),
                                           static_cast<std::int64_t>(n / 2), largest_of_two{}, largest{-1, 0}, stream);
        });
      });
    }
  }

  static void dots_into(const executor& gpu, const float* const* rows, int r, const float* const* columns, int c, std::uint64_t n,
                        float* out) {
    if (onefold_multi_dot_f32_into(detail::c_executor(gpu), rows, r, columns, c, n, out, nullptr) != 0)
      throw std::runtime_error(onefold_last_error());
  }
  static void dots_into(const executor& gpu, const double* const* rows, int r, const double* const* columns, int c, std::uint64_t n,
                        double* out) {
    if (onefold_multi_dot_f64_into(detail::c_executor(gpu), rows, r, columns, c, n, out, nullptr) != 0)
      throw std::runtime_error(onefold_last_error());
  }
  // All arrays have the same contents.
  template <std::size_t K>
  static std::array<T, K> dots_alone(const T* x, std::uint64_t n) {
    std::array<T, K> all;
    all.fill(onefold::dot(x, x, n));
    return all;
  }

  // Without what stands between a value of 4 bytes and its index.
  static arg_result<T> plain(const arg_result<T>& from) {
    arg_result<T> made;
    std::memset(static_cast<void*>(&made), 0, sizeof(made));
    made.value = from.value;
    made.index = from.index;
    return made;
  }

  const gpu_bench& bench;
  const T* host;
};

// A sum of small elements in the type that onefold adds in.
template <class T, class A>
std::function<void(const void*)> cub_sum_of(const gpu_bench& bench) {
  const auto memory = std::make_shared<device_bytes>(cub_bytes);
  const auto n = static_cast<std::int64_t>(bench.count());
  const auto stream = static_cast<cudaStream_t>(bench.stream());
  auto* const output = static_cast<A*>(bench.output());
  return [=](const void* input) {
    with_cub(*memory, [&](void* working, std::size_t& size) {
      return cub::DeviceReduce::Reduce(working, size, static_cast<const T*>(input), output, n, cuda::std::plus<A>{}, A(0), stream);
    });
  };
}

}  // namespace

std::function<void(const void*)> cub_sum(const gpu_bench& bench, element_type type) {
  switch (type) {
    case element_type::i8:
      return cub_sum_of<std::int8_t, std::int64_t>(bench);
    case element_type::u8:
      return cub_sum_of<std::uint8_t, std::uint64_t>(bench);
    case element_type::f16:
      return cub_sum_of<__half, float>(bench);
    case element_type::bf16:
      return cub_sum_of<__nv_bfloat16, float>(bench);
    default:
      return {};
  }
}

std::vector<fused_call> fused_calls(const gpu_bench& bench, element_type type, const void* host) {
  if (type == element_type::f64) return calls_of<double>(bench, static_cast<const double*>(host)).all;
  return calls_of<float>(bench, static_cast<const float*>(host)).all;
}

}  // namespace onefold::perf
