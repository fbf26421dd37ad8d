#include "gpu_functions.hpp"

#include <onefold/device.cuh>
#include <onefold/nccl.hpp>
#include <onefold/onefold.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "../support/both_sides.cuh"
#include "../support/functions_of_ranks.cuh"

namespace onefold_test {

namespace {

namespace o = onefold;
namespace op = onefold::op;

struct integer_at {
  value_at value;
  ONEFOLD_HOST_DEVICE std::int32_t operator()(std::uint64_t i) const { return static_cast<std::int32_t>(value(i) * 1e3); }
};
struct wide_integer_at {
  value_at value;
  ONEFOLD_HOST_DEVICE std::uint64_t operator()(std::uint64_t i) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value(i) * 1e17));
  }
};
struct is_large_at {
  value_at value;
  ONEFOLD_HOST_DEVICE bool operator()(std::uint64_t i) const { return value(i) > 0.3; }
};
struct eight_at {  // whose images at cut tiles are larger than what a layout has room for
  value_at value;
  ONEFOLD_HOST_DEVICE std::array<double, 8> operator()(std::uint64_t i) const {
    const double x = value(i);
    return {x, x * 2, x * 3, x * 5, x * 7, x * 11, x * 13, x * 17};
  }
};
struct product_of {
  const double* x;
  const float* y;
  ONEFOLD_HOST_DEVICE double operator()(std::uint64_t i) const { return x[i] * static_cast<double>(y[i]); }
};

struct positive_product_of {
  product_of all;
  ONEFOLD_HOST_DEVICE o::maybe<double> operator()(std::uint64_t i) const {
    const double x = all(i);
    return x > 0 ? o::maybe<double>(x) : o::maybe<double>();
  }
};
// Values of 16 bytes, whose operator adds, keeps the larger one and notes a place.
struct tally {
  double sum;
  float largest;
  std::uint32_t first;
};
struct add_tallies {
  ONEFOLD_HOST_DEVICE tally operator()(const tally& a, const tally& b) const {
    return {a.sum + b.sum, a.largest < b.largest ? b.largest : a.largest, a.first < b.first ? a.first : b.first};
  }
};
struct tally_at {
  value_at value;
  ONEFOLD_HOST_DEVICE tally operator()(std::uint64_t i) const {
    const double x = value(i);
    return {x, static_cast<float>(x), static_cast<std::uint32_t>(value.begin + i)};
  }
};
struct some_tally_at {
  value_at value;
  ONEFOLD_HOST_DEVICE o::maybe<tally> operator()(std::uint64_t i) const {
    return value(i) > 0.1 ? o::maybe<tally>(tally_at{value}(i)) : o::maybe<tally>();
  }
};
struct some_floats_at {
  value_at value;
  ONEFOLD_HOST_DEVICE o::maybe<float> operator()(std::uint64_t i) const {
    const double x = value(i);
    return x > 0.2 ? o::maybe<float>(static_cast<float>(x)) : o::maybe<float>();
  }
};
// Zeros, on few ranks or none: their sum is -0 where one is there, and +0 where none is.
struct minus_zero_at {
  value_at value;
  ONEFOLD_HOST_DEVICE o::maybe<double> operator()(std::uint64_t i) const {
    return value(i) > 1.24 ? o::maybe<double>(-0.0) : o::maybe<double>();
  }
};
struct nothing_at {
  value_at value;
  ONEFOLD_HOST_DEVICE o::maybe<float> operator()(std::uint64_t i) const {
    return value(i) > 2 ? o::maybe<float>(1.0F) : o::maybe<float>();
  }
};
// Of 64 bytes.
struct row_of_eight {
  double of[8];
};
struct add_rows {
  ONEFOLD_HOST_DEVICE row_of_eight operator()(const row_of_eight& a, const row_of_eight& b) const {
    row_of_eight made{};
    for (int k = 0; k < 8; ++k) made.of[k] = a.of[k] + b.of[k];
    return made;
  }
};
struct some_rows_at {
  value_at value;
  ONEFOLD_HOST_DEVICE o::maybe<row_of_eight> operator()(std::uint64_t i) const {
    const double x = value(i);
    if (x < -0.7) return {};
    return row_of_eight{{x, x * 2, x * 3, x * 5, x * 7, x * 11, x * 13, x * 17}};
  }
};
struct times {
  ONEFOLD_HOST_DEVICE double operator()(double x, float y) const { return x * static_cast<double>(y); }
};
struct larger_of {
  ONEFOLD_HOST_DEVICE double operator()(double a, double b) const { return a < b ? b : a; }
};
struct is_small {
  ONEFOLD_HOST_DEVICE bool operator()(double x) const { return x < 0.5; }
};

o::options exactly() {
  o::options how;
  how.guarantee = o::guarantee::exact;
  return how;
}

// One rank's calls, and those of one core.
class rank_of_nccl {
 public:
  rank_of_nccl(ncclComm_t comm, int rank, cudaStream_t stream, const std::vector<std::uint64_t>& cuts)
      : begin(cuts[static_cast<std::size_t>(rank)]),
        count(cuts[static_cast<std::size_t>(rank) + 1] - begin),
        total(cuts.back()),
        rows(comm, rank, stream, count),
        stream_(stream) {}

  const std::uint64_t begin, count, total;
  const o::nccl::layout rows;
  std::vector<both_results> all;

  // into(result) puts the call on the stream, of several results the first; expected() is what it gives.
  template <class Into, class Expected>
  void compare(const char* name, const Into& into, const Expected& expected) {
    both_results now{name, {}, {}, {}};
    try {
      const auto wanted = expected();
      using R = std::decay_t<decltype(wanted)>;
      using one = std::decay_t<decltype(first_of(wanted))>;
      const device_memory result(sizeof(R));
      R got{};
      into(result.template as<one>());
      expect_success(cudaMemcpyAsync(&got, result.template as<one>(), sizeof(R), cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
      expect_success(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
      rows.check();
      now.gpu = bytes_of(got);
      now.cpu = bytes_of(wanted);
    } catch (const std::exception& problem) {
      now.problem = problem.what();
    }
    all.push_back(std::move(now));
  }

 private:
  template <class R>
  static const R& first_of(const R& result) {
    return result;
  }
  template <class R, std::size_t K>
  static const R& first_of(const std::array<R, K>& results) {
    return results[0];
  }
  cudaStream_t stream_;
};

}  // namespace

std::vector<both_results> functions_over_nccl_on_both_sides(ncclComm_t comm, int rank, cudaStream_t stream,
                                                            const std::vector<std::uint64_t>& cuts) {
  rank_of_nccl here(comm, rank, stream, cuts);
  const value_at mine{here.begin}, of_all{0};
  const auto one = o::serial();
  const std::uint64_t n = here.count, N = here.total;
  const auto width = static_cast<std::int64_t>(n), whole_width = static_cast<std::int64_t>(N);
#define ONEFOLD_COMPARE(form, function, ...)                                                                                  \
  here.compare(                                                                                                               \
      #form " of " #function, [&](auto* to) { o::form##_into(here.rows, n, function{mine}, to __VA_OPT__(, ) __VA_ARGS__); }, \
      [&] { return o::form(one, N, o::host_only(function{of_all}) __VA_OPT__(, ) __VA_ARGS__); })
  ONEFOLD_COMPARE(sum, value_at);
  ONEFOLD_COMPARE(sum, float_at);
  ONEFOLD_COMPARE(sum, float_at, o::accumulate_as<double>);
  ONEFOLD_COMPARE(sum, integer_at);
  ONEFOLD_COMPARE(sum, wide_integer_at);
  ONEFOLD_COMPARE(prod, float_at);
  ONEFOLD_COMPARE(mean, value_at);
  ONEFOLD_COMPARE(mean, integer_at);
  ONEFOLD_COMPARE(norm2, value_at);
  ONEFOLD_COMPARE(norm1, float_at);
  ONEFOLD_COMPARE(norm_inf, integer_at);
  ONEFOLD_COMPARE(max, float_at);
  ONEFOLD_COMPARE(min_number, value_at);
  ONEFOLD_COMPARE(bit_xor, wide_integer_at);
  ONEFOLD_COMPARE(mean_variance, value_at);
  ONEFOLD_COMPARE(mean_variance, float_at, o::ddof{1});
  ONEFOLD_COMPARE(minmax, integer_at);
  ONEFOLD_COMPARE(count, is_large_at);
  ONEFOLD_COMPARE(any, is_large_at);
  ONEFOLD_COMPARE(sum_of_squares, some_at);
  ONEFOLD_COMPARE(max, some_at);
  ONEFOLD_COMPARE(sum, two_at);
  ONEFOLD_COMPARE(norm2, two_at);
  ONEFOLD_COMPARE(sum, three_at);
  ONEFOLD_COMPARE(sum, eight_at);
  ONEFOLD_COMPARE(max, eight_at);
  if (N > 0) {
    ONEFOLD_COMPARE(argmin, value_at);
    ONEFOLD_COMPARE(argmax, integer_at);
    ONEFOLD_COMPARE(argmax_magnitude, float_at);
    ONEFOLD_COMPARE(argminmax, value_at);
  }
  ONEFOLD_COMPARE(sum, value_at, exactly());
  ONEFOLD_COMPARE(norm2, float_at, exactly());
  ONEFOLD_COMPARE(mean, value_at, exactly());
  ONEFOLD_COMPARE(mean_variance, value_at, exactly());
  ONEFOLD_COMPARE(sum, some_at, exactly());
  ONEFOLD_COMPARE(sum, some_floats_at, o::accumulate_as<double>, exactly());
  ONEFOLD_COMPARE(sum, minus_zero_at, exactly());
  ONEFOLD_COMPARE(sum, nothing_at, exactly());
  ONEFOLD_COMPARE(norm1, nothing_at, exactly());
  ONEFOLD_COMPARE(norm2, nothing_at, exactly());
  ONEFOLD_COMPARE(mean, nothing_at, exactly());
  ONEFOLD_COMPARE(mean, some_at, exactly());
  ONEFOLD_COMPARE(mean, some_floats_at, o::accumulate_as<double>, exactly());
  ONEFOLD_COMPARE(mean_variance, some_at, o::ddof{1}, exactly());
  ONEFOLD_COMPARE(norm1, some_at, exactly());
  ONEFOLD_COMPARE(norm2, some_floats_at, exactly());
  ONEFOLD_COMPARE(max, value_at, exactly());
  ONEFOLD_COMPARE(sum, two_at, exactly());
  ONEFOLD_COMPARE(norm2, eight_at, exactly());
#undef ONEFOLD_COMPARE
  here.compare(
      "an operator each",
      [&](auto* to) { o::reduce_together_into(here.rows, n, three_at{mine}, to, op::sum{}, op::min{}, op::max{}); },
      [&] { return o::reduce_together(one, N, o::host_only(three_at{of_all}), op::sum{}, op::min{}, op::max{}); });
  here.compare(
      "a sum and a maximum", [&](auto* to) { o::reduce_together_into(here.rows, n, two_at{mine}, to, op::sum{}, op::max{}); },
      [&] { return o::reduce_together(one, N, o::host_only(two_at{of_all}), op::sum{}, op::max{}); });
  here.compare(
      "over a box",
      [&](auto* to) {
        o::sum_into(here.rows, o::box({0, 1}, {0, width}), in_box{mine, width}, to);
      },
      [&] {
        return o::sum(one, o::box({0, 1}, {0, whole_width}), o::host_only(in_box{of_all, whole_width}));
      });

  // Of arrays, this rank's own.
  const managed_array<double> x(n);
  const managed_array<float> y(n);
  std::vector<double> all_x(N);
  std::vector<float> all_y(N);
  for (std::uint64_t i = 0; i < N; ++i) {
    all_x[i] = of_all(i);
    all_y[i] = float_at{of_all}(i) + 2;
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    x.get()[i] = all_x[here.begin + i];
    y.get()[i] = all_y[here.begin + i];
  }
  here.compare(
      "a dot of two types",
      [&](auto* to) {
        o::sum_into(here.rows, n, product_of{x.get(), y.get()}, to);
      },
      [&] { return o::dot(one, all_x, all_y); });

  // Operators of the caller's, initial values, and forms that must know which values are there.
  const tally before{1.5, 0.25F, 12'345'678U};
  const auto own = [&](const char* name, const auto& into, const auto& expected) {
    if (N > 0) here.compare(name, into, expected);
  };
  own(
      "an operator on 16 bytes", [&](auto* to) { o::transform_reduce_into(here.rows, n, to, add_tallies{}, tally_at{mine}); },
      [&] { return o::transform_reduce(one, N, o::host_only(add_tallies{}), o::host_only(tally_at{of_all})); });
  own(
      "the same of some values",
      [&](auto* to) { o::transform_reduce_into(here.rows, n, to, add_tallies{}, some_tally_at{mine}, before); },
      [&] { return o::transform_reduce(one, N, o::host_only(add_tallies{}), o::host_only(some_tally_at{of_all}), before); });
  own(
      "an operator on 64 bytes",
      [&](auto* to) { o::transform_reduce_into(here.rows, n, to, add_rows{}, some_rows_at{mine}, row_of_eight{}); },
      [&] { return o::transform_reduce(one, N, o::host_only(add_rows{}), o::host_only(some_rows_at{of_all}), row_of_eight{}); });
  here.compare(
      "an operator with an initial value",
      [&](auto* to) { o::transform_reduce_into(here.rows, n, to, add_tallies{}, tally_at{mine}, before); },
      [&] { return o::transform_reduce(one, N, o::host_only(add_tallies{}), o::host_only(tally_at{of_all}), before); });
  own(
      "an operator on two arrays",
      [&](auto* to) { o::transform_reduce_into(here.rows, x.get(), y.get(), n, to, larger_of{}, times{}); },
      [&] { return o::transform_reduce(one, all_x, all_y, o::host_only(larger_of{}), o::host_only(times{})); });
  here.compare(
      "a sum of two arrays", [&](auto* to) { o::transform_reduce_into(here.rows, x.get(), y.get(), n, to, op::sum{}, times{}); },
      [&] { return o::transform_reduce(one, all_x, all_y, op::sum{}, o::host_only(times{})); });
  here.compare(
      "the exact one",
      [&](auto* to) { o::transform_reduce_into(here.rows, x.get(), y.get(), n, to, op::sum{}, times{}, exactly()); },
      [&] { return o::transform_reduce(one, all_x, all_y, op::sum{}, o::host_only(times{}), exactly()); });
  here.compare(
      "a sum with an initial value",
      [&](auto* to) { o::transform_reduce_into(here.rows, x.get(), y.get(), n, to, op::sum{}, times{}, 0.1); },
      [&] { return o::transform_reduce(one, all_x, all_y, op::sum{}, o::host_only(times{}), 0.1); });
  own(
      "an operator on an array", [&](auto* to) { o::reduce_into(here.rows, x.get(), n, to, larger_of{}); },
      [&] { return o::reduce(one, all_x, o::host_only(larger_of{})); });
  here.compare(
      "the same with an initial value", [&](auto* to) { o::reduce_into(here.rows, x.get(), n, to, larger_of{}, 0.3); },
      [&] { return o::reduce(one, all_x, o::host_only(larger_of{}), 0.3); });
  here.compare(
      "a product of an array", [&](auto* to) { o::reduce_into(here.rows, y.get(), n, to, op::prod{}); },
      [&] { return o::reduce(one, all_y, op::prod{}); });
  here.compare(
      "how many", [&](auto* to) { o::count_if_into(here.rows, x.get(), n, to, is_small{}); },
      [&] { return o::count_if(one, all_x, o::host_only(is_small{})); });
  here.compare(
      "how many indices", [&](auto* to) { o::count_if_into(here.rows, n, to, is_large_at{mine}); },
      [&] { return o::count_if(one, N, o::host_only(is_large_at{of_all})); });
#define ONEFOLD_COMPARE(form, function, ...)                                                                                  \
  here.compare(                                                                                                               \
      #form " of " #function, [&](auto* to) { o::form##_into(here.rows, n, function{mine}, to __VA_OPT__(, ) __VA_ARGS__); }, \
      [&] { return o::form(one, N, o::host_only(function{of_all}) __VA_OPT__(, ) __VA_ARGS__); })
  ONEFOLD_COMPARE(sum, some_at);
  ONEFOLD_COMPARE(sum, some_floats_at);
  ONEFOLD_COMPARE(sum, some_floats_at, o::accumulate_as<double>);
  ONEFOLD_COMPARE(prod, some_floats_at);
  ONEFOLD_COMPARE(mean, some_at);
  ONEFOLD_COMPARE(mean, some_floats_at);
  ONEFOLD_COMPARE(mean_variance, some_at);
  ONEFOLD_COMPARE(mean_variance, some_floats_at, o::ddof{1});
  ONEFOLD_COMPARE(minmax, some_at);
  bool are_there = false;
  for (std::uint64_t i = 0; i < N && !are_there; ++i) are_there = some_floats_at{of_all}(i).present;
  if (are_there) {
    ONEFOLD_COMPARE(argmin, some_floats_at);
    ONEFOLD_COMPARE(argmax, some_at);
    ONEFOLD_COMPARE(argmax_magnitude, some_floats_at);
    ONEFOLD_COMPARE(argminmax, some_at);
  }
#undef ONEFOLD_COMPARE
  return std::move(here.all);
}

std::vector<both_results> functions_over_nccl_in_a_graph(ncclComm_t comm, int rank, cudaStream_t stream,
                                                         const std::vector<std::uint64_t>& cuts) {
  rank_of_nccl here(comm, rank, stream, cuts);
  const std::uint64_t n = here.count, N = here.total;
  const managed_array<double> x(n);
  const managed_array<float> y(n);
  constexpr std::size_t numbers = 14;
  const device_memory results(numbers * sizeof(double));
  auto* const to = results.as<double>();
  const eight_at eight{value_at{here.begin}};
  const product_of products{x.get(), y.get()};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launched = nullptr;
  expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  o::sum_into(here.rows, n, products, to);
  o::norm2_into(here.rows, n, products, to + 1);
  o::sum_into(here.rows, n, products, to + 2, exactly());
  o::norm_inf_into(here.rows, n, products, to + 3);
  o::transform_reduce_into(here.rows, n, to + 4, larger_of{}, products, -1.0);
  o::mean_into(here.rows, n, positive_product_of{products}, to + 5);
  o::sum_into(here.rows, n, eight, to + 6);  // in memory that the graph allocates
  expect_success(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  expect_success(cudaGraphInstantiate(&launched, graph, 0), "cudaGraphInstantiate");
  std::vector<double> all_x(N);
  std::vector<float> all_y(N);
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    for (std::uint64_t i = 0; i < N; ++i) {
      all_x[i] = value_at{turn * N}(i);
      all_y[i] = float_at{value_at{turn}}(i);
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      x.get()[i] = all_x[here.begin + i];
      y.get()[i] = all_y[here.begin + i];
    }
    const product_of of_all{all_x.data(), all_y.data()};
    const auto one = o::serial();
    here.compare(
        "a graph",
        [&](double* result) {
          expect_success(cudaGraphLaunch(launched, stream), "cudaGraphLaunch");
          expect_success(cudaMemcpyAsync(result, to, numbers * sizeof(double), cudaMemcpyDefault, stream), "cudaMemcpyAsync");
        },
        [&] {
          std::array<double, numbers> all{o::sum(one, N, of_all),
                                          o::norm2(one, N, of_all),
                                          o::sum(one, N, of_all, exactly()),
                                          o::norm_inf(one, N, of_all),
                                          o::transform_reduce(one, N, o::host_only(larger_of{}), o::host_only(of_all), -1.0),
                                          o::mean(one, N, o::host_only(positive_product_of{of_all}))};
          const auto of_eight = o::sum(one, N, o::host_only(eight_at{value_at{0}}));
          std::copy(of_eight.begin(), of_eight.end(), all.begin() + 6);
          return all;
        });
  }
  cudaGraphExecDestroy(launched);
  cudaGraphDestroy(graph);
  return std::move(here.all);
}

}  // namespace onefold_test
