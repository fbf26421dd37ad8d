#include "gpu_functions.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "../support/both_sides.cuh"
#include "gpu_calls.cuh"

namespace onefold_test {

namespace {

namespace op = onefold::op;

/// Filled with numbers of a kind.
template <class T>
class shared_values : public managed_array<T> {
 public:
  shared_values(value_kind kind, std::uint64_t count, std::uint64_t seed) : managed_array<T>(count) {
    const std::vector<T> values = values_of_kind<T>(kind, count, seed);
    if (count != 0) std::memcpy(this->get(), values.data(), count * sizeof(T));
  }
};

template <onefold::form What, class T, class F>
std::array<std::int64_t, onefold::exact_state<What, T>::size()> words_of(const onefold::executor& where, std::uint64_t n,
                                                                         const F& f) {
  onefold::exact_state<What, T> state;
  state.add(where, n / 3, f);
  state.add(where, n - n / 3, [f, n] __host__ __device__(std::uint64_t i) { return f(n / 3 + i); });
  std::array<std::int64_t, onefold::exact_state<What, T>::size()> words;
  std::copy_n(state.words(), words.size(), words.begin());
  return words;
}

// The same, put into memory in stream order.
template <onefold::form What, class T, class F>
std::array<std::int64_t, onefold::exact_state<What, T>::size()> words_put(const onefold::executor& where, std::uint64_t n,
                                                                          const F& f) {
  using state = onefold::exact_state<What, T>;
  using words = std::array<std::int64_t, state::size()>;
  return stored<words>(where, [&](words* to) { state::put_words(where, n, f, reinterpret_cast<std::int64_t*>(to)); });
}

template <class T>
void compare_forms(comparison& compare, value_kind kind, std::uint64_t n, const std::string& type) {
  const shared_values<T> array(kind, n, n + 1);
  const element_of_array<T> f{array.get()};
  const auto exactly = exactly_so();
  compare("sum of " + type, [&](const auto& where) { return onefold::sum(where, n, f, exactly); });
  compare("sum_into of " + type,
          [&](const auto& where) { return stored<T>(where, [&](T* to) { onefold::sum_into(where, n, f, to, exactly); }); });
  compare("norm1 of " + type, [&](const auto& where) { return onefold::norm1(where, n, f, exactly); });
  compare("sum_of_squares of " + type, [&](const auto& where) { return onefold::sum_of_squares(where, n, f, exactly); });
  compare("norm2 of " + type, [&](const auto& where) { return onefold::norm2(where, n, f, exactly); });
  compare("norm2_into of " + type,
          [&](const auto& where) { return stored<T>(where, [&](T* to) { onefold::norm2_into(where, n, f, to, exactly); }); });
  compare("mean of " + type, [&](const auto& where) { return onefold::mean(where, n, f, exactly); });
  compare("mean_variance of " + type, [&](const auto& where) { return onefold::mean_variance(where, n, f, exactly); });
  compare("mean_variance of " + type + ", ddof 1",
          [&](const auto& where) { return onefold::mean_variance(where, n, f, onefold::ddof{1}, exactly); });
  compare("state of sum of " + type, [&](const auto& where) { return words_of<onefold::form::sum, T>(where, n, f); });
  compare("state of norm2 of " + type, [&](const auto& where) { return words_of<onefold::form::norm2, T>(where, n, f); });
  compare("state of mean of " + type, [&](const auto& where) { return words_of<onefold::form::mean, T>(where, n, f); });
  compare("words of sum of " + type, [&](const auto& where) { return words_put<onefold::form::sum, T>(where, n, f); });
  compare("words of mean_variance of " + type,
          [&](const auto& where) { return words_put<onefold::form::mean_variance, T>(where, n, f); });
  using moments = decltype(onefold::mean_variance(onefold::serial(), n, f, exactly));
  compare("mean_variance_into of " + type, [&](const auto& where) {
    return stored<moments>(where, [&](moments* to) { onefold::mean_variance_into(where, n, f, to, exactly); });
  });
}

template <class T>
void compare_maps(comparison& compare, value_kind kind, std::uint64_t n, const std::string& type) {
  const shared_values<T> array(kind, n + 16, n + 2);
  const shared_values<T> other(value_kind::normal, n + 16, n + 3);
  const T* const x = array.get();
  const T* const y = other.get();
  const auto exactly = exactly_so();
  const auto three = [=] __host__ __device__(std::uint64_t i) { return std::array<T, 3>{x[i], y[i], x[i + 7]}; };
  compare("three sums of " + type, [&](const auto& where) { return onefold::sum(where, n, three, exactly); });
  compare("three sums, stored, of " + type, [&](const auto& where) {
    return stored<std::array<T, 3>>(where, [&](std::array<T, 3>* to) { onefold::sum_into(where, n, three, to->data(), exactly); });
  });
  const auto two = [=] __host__ __device__(std::uint64_t i) { return std::array<T, 2>{x[i], y[i]}; };
  compare("two sums of squares of " + type, [&](const auto& where) { return onefold::sum_of_squares(where, n, two, exactly); });
  const auto sixteen = [=] __host__ __device__(std::uint64_t i) {
    const T* const at = x + i;
    return std::array<T, 16>{at[0], at[1], at[2],  at[3],  at[4],  at[5],  at[6],  at[7],
                             at[8], at[9], at[10], at[11], at[12], at[13], at[14], at[15]};
  };
  compare("sixteen sums of " + type, [&](const auto& where) { return onefold::sum(where, n, sixteen, exactly); });
  const std::int64_t width = 37;
  const std::int64_t height = static_cast<std::int64_t>(n) / width;
  const auto in_box = [=] __host__ __device__(std::int64_t j, std::int64_t i) { return x[j * width + i]; };
  compare("sum over a box of " + type, [&](const auto& where) {
    return onefold::sum(where, onefold::box({0, height}, {1, width - 1}), in_box, exactly);
  });
  const auto some = [=] __host__ __device__(std::uint64_t i) {
    return i % 3 == 0 ? onefold::maybe<T>(x[i]) : onefold::maybe<T>(onefold::absent);
  };
  compare("some values of " + type, [&](const auto& where) { return onefold::sum(where, n, some, exactly); });
  const auto none = [] __host__ __device__(std::uint64_t) { return onefold::maybe<T>(onefold::absent); };
  compare("no values of " + type, [&](const auto& where) { return onefold::sum(where, n, none, exactly); });
  const auto means_of = [&](const char* which, const auto& values) {
    const std::string of = std::string(" of ") + which + " of " + type;
    using moments = decltype(onefold::mean_variance(onefold::serial(), n, values, exactly));
    compare("mean" + of, [&](const auto& where) { return onefold::mean(where, n, values, exactly); });
    compare("mean_into" + of,
            [&](const auto& where) { return stored<T>(where, [&](T* to) { onefold::mean_into(where, n, values, to, exactly); }); });
    compare("mean_variance" + of, [&](const auto& where) { return onefold::mean_variance(where, n, values, exactly); });
    compare("mean_variance_into" + of, [&](const auto& where) {
      return stored<moments>(where,
                             [&](moments* to) { onefold::mean_variance_into(where, n, values, to, onefold::ddof{1}, exactly); });
    });
  };
  means_of("some values", some);
  means_of("no values", none);
  const auto third = [] __host__ __device__(T a) { return a / 3; };
  compare("transform_reduce of one array of " + type,
          [&](const auto& where) { return onefold::transform_reduce(where, x, n, op::sum{}, third, exactly); });
  const auto less = [] __host__ __device__(T a, T b) { return a < b ? a : b; };
  compare("transform_reduce of two arrays of " + type,
          [&](const auto& where) { return onefold::transform_reduce(where, x, y, n, op::sum{}, less, exactly); });
}

}  // namespace

std::vector<both_results> exact_forms(value_kind kind, std::uint64_t count) {
  comparison compare;
  compare_forms<float>(compare, kind, count, "floats");
  compare_forms<double>(compare, kind, count, "doubles");
  const shared_values<float> array(kind, count, count + 4);
  const element_of_array<float> f{array.get()};
  compare("sum of floats, rounded to double",
          [&](const auto& where) { return onefold::sum(where, count, f, onefold::accumulate_as<double>, exactly_so()); });
  return compare.all;
}

std::vector<both_results> exact_maps(value_kind kind, std::uint64_t count) {
  comparison compare;
  compare_maps<float>(compare, kind, count, "floats");
  compare_maps<double>(compare, kind, count, "doubles");
  return compare.all;
}

std::vector<std::string> refused_exact_calls() {
  std::vector<std::string> all;
  const auto refused = [&](const auto& call) {
    try {
      call();
      all.emplace_back("nothing was refused");
    } catch (const onefold::error& problem) {
      all.emplace_back(problem.what());
    }
  };
  const auto f = [] __host__ __device__(std::uint64_t i) { return static_cast<double>(i); };
  refused([&] { static_cast<void>(onefold::prod(onefold::cuda(), 10, f, exactly_so())); });
  const std::vector<double> on_host(10, 1.0);
  const auto half = [] __host__ __device__(double x) { return x / 2; };
  refused([&] { static_cast<void>(onefold::transform_reduce(onefold::cuda(), on_host, op::sum{}, half, exactly_so())); });
  return all;
}

std::vector<int> calls_for_each_index(std::uint64_t count) {
  const shared_values<double> array(value_kind::rising, count, 5);
  const shared_values<double> wide(value_kind::everywhere, count, 6);
  int* calls = nullptr;
  expect_success(cudaMallocManaged(&calls, count * sizeof(int)), "cudaMallocManaged");
  std::memset(calls, 0, count * sizeof(int));
  const double* const x = array.get();
  const double* const y = wide.get();
  const auto counted = [=] __host__ __device__(std::uint64_t i) {
    calls[i] += 1;
    return i % 1000 < 500 ? x[i] : y[i];
  };
  static_cast<void>(onefold::sum(onefold::cuda(), count, counted, exactly_so()));
  const auto twice = [=] __host__ __device__(std::uint64_t i) {
    calls[i] += 1;
    return std::array<double, 2>{x[i], y[i]};
  };
  static_cast<void>(onefold::sum_of_squares(onefold::cuda(), count, twice, exactly_so()));
  std::vector<int> all(calls, calls + count);
  cudaFree(calls);
  return all;
}

std::vector<std::vector<unsigned char>> captured_exact_sums(std::uint64_t count) {
  using four = std::array<double, 4>;
  const shared_values<double> array(value_kind::within_60, count, 7);
  const double* const x = array.get();
  const auto one = [=] __host__ __device__(std::uint64_t i) { return x[i]; };
  const auto several = [=] __host__ __device__(std::uint64_t i) { return four{x[i], -x[i], 2 * x[i], 1.0}; };
  struct results {
    double one, fixed;
    four several;
  };
  results* place = nullptr;
  expect_success(cudaMallocManaged(&place, sizeof(results)), "cudaMallocManaged");
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  std::vector<std::vector<unsigned char>> all;
  {
    const auto where = onefold::cuda(0, stream);
    onefold::workspace memory(where, onefold::workspace::bytes(count, 4 * 1092));
    auto exactly = exactly_so();
    exactly.workspace = &memory;
    onefold::options fixed;
    fixed.workspace = &memory;
    const auto calls = [&] {
      onefold::sum_into(where, count, one, &place->one, exactly);
      onefold::sum_into(where, count, several, place->several.data(), exactly);
      onefold::sum_into(where, count, one, &place->fixed, fixed);
    };
    const auto keep = [&] {
      onefold::synchronize(where);
      all.push_back(bytes_of(*place));
      std::memset(static_cast<void*>(place), 0xa5, sizeof(*place));
    };
    calls();
    keep();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    calls();
    expect_success(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    expect_success(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
    for (int k = 0; k < 3; ++k) {
      expect_success(cudaGraphLaunch(made, stream), "cudaGraphLaunch");
      keep();
    }
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
  }
  const results right{onefold::sum(onefold::serial(), count, one, exactly_so()), onefold::sum(onefold::serial(), count, one),
                      onefold::sum(onefold::serial(), count, several, exactly_so())};
  all.insert(all.begin(), bytes_of(right));
  cudaStreamDestroy(stream);
  cudaFree(place);
  return all;
}

exact_run report_of_exact_sum(std::uint64_t count) {
  onefold::report ran;
  auto how = exactly_so();
  how.report = &ran;
  static_cast<void>(onefold::sum(
      onefold::cuda(), count, [] __host__ __device__(std::uint64_t i) { return 1.0 / static_cast<double>(i + 1); }, how));
  return {std::string(ran.implementation), ran.launches};
}

}  // namespace onefold_test
