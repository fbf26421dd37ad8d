#include "fused_calls.hpp"

#include <onefold/device.cuh>
#include <onefold/onefold.hpp>

#include <array>
#include <cstring>
#include <string>
#include <type_traits>

#include "../support/both_sides.cuh"

namespace onefold_test {

namespace {

namespace op = onefold::op;

/// Filled with numbers of which sums round.
template <class T>
class shared_array : public managed_array<T> {
 public:
  shared_array(std::uint64_t count, std::uint64_t seed) : managed_array<T>(count) {
    T* const data = this->get();
    std::uint64_t bits = seed;
    for (std::uint64_t i = 0; i < count; ++i) {
      bits = bits * 6364136223846793005U + 1442695040888963407U;
      data[i] = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(bits >> 11)) / 4503599627370496.0 - 1.0) *
                (std::is_integral_v<T> ? T(1000) : T(1));
      if (std::is_integral<T>::value) data[i] = static_cast<T>(bits >> 33);
    }
  }
};

/// Commutes and is associative to the bit; 24 bytes. With an argument of the standard library's, whose functions are looked at wherever one is called by its
/// simple name with such a value.
template <class>
struct widest_with {
  double length;
  std::uint64_t index;
  float low;
};
using widest = widest_with<std::true_type>;
struct wider {
  ONEFOLD_HOST_DEVICE widest operator()(const widest& a, const widest& b) const {
    const float low = a.low < b.low ? a.low : b.low;
    if (a.length != b.length) return a.length > b.length ? widest{a.length, a.index, low} : widest{b.length, b.index, low};
    return {a.length, a.index < b.index ? a.index : b.index, low};
  }
};
using onefold_test::bytes_of;
std::vector<unsigned char> bytes_of(const widest& found) {
  auto bytes = bytes_of(found.length);
  for (const auto& more : {bytes_of(found.index), bytes_of(found.low)}) bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

struct longer {  // rounds, and has no identity that anybody told
  ONEFOLD_HOST_DEVICE double operator()(double a, double b) const { return a + b; }
};

template <class T>
struct element_at {
  const T* x;
  ONEFOLD_HOST_DEVICE T operator()(std::uint64_t i) const { return x[i]; }
};

template <class T>
void forms_of(comparison& compare, const std::string& type, const T* x, std::uint64_t n) {
  const element_at<T> f{x};
  const auto each = [&](const std::string& form, const auto& call) {
    compare(form + "(n, f) of " + type, [&](const onefold::executor& where) { return call(where, n, f); });
  };
  each("sum", onefold::sum);
  each("prod", onefold::prod);
  each("min", onefold::min);
  each("max", onefold::max);
  each("sum_of_squares", onefold::sum_of_squares);
  each("norm1", onefold::norm1);
  each("norm_inf", onefold::norm_inf);
  each("norm2", onefold::norm2);
  each("mean", onefold::mean);
  each("min_number", onefold::min_number);
  each("max_number", onefold::max_number);
  each("count", [](const auto&... arguments) { return onefold::count(arguments...); });
  if constexpr (std::is_integral_v<T>) {
    each("bit_and", onefold::bit_and);
    each("bit_or", onefold::bit_or);
    each("bit_xor", onefold::bit_xor);
  }
  each("minmax", onefold::minmax);
  each("mean_variance", onefold::mean_variance);
  if (n > 0) each("argmin", onefold::argmin);
  if (n > 0) each("argmax", onefold::argmax);
}

}  // namespace

std::vector<both_results> fused_calls(std::uint64_t n) {
  comparison compare;
  const shared_array<double> doubles(n, 1);
  const shared_array<double> others(n, 2);
  const shared_array<float> floats(n, 3);
  const shared_array<std::int32_t> integers(n, 4);
  const shared_array<std::uint64_t> naturals(n, 5);
  const double* const x = doubles.get();
  const double* const y = others.get();
  const float* const z = floats.get();
  const std::int32_t* const k = integers.get();

  forms_of(compare, "f32", z, n);
  forms_of(compare, "f64", x, n);
  forms_of(compare, "i32", k, n);
  forms_of(compare, "u64", static_cast<const std::uint64_t*>(naturals.get()), n);
  compare("sum(n, f, accumulate_as<double>)", [&](const onefold::executor& where) {
    return onefold::sum(where, n, element_at<float>{z}, onefold::accumulate_as<double>);
  });
  compare("mean_variance(n, f, ddof{1})",
          [&](const onefold::executor& where) { return onefold::mean_variance(where, n, element_at<float>{z}, onefold::ddof{1}); });

  // Signs that ptxas lost.
  const auto opposite = [=] __host__ __device__(std::uint64_t i) { return -k[i]; };
  const auto opposites = [=] __host__ __device__(std::uint64_t i) { return std::array<std::int32_t, 3>{k[i], k[i] / 2, -k[i]}; };
  const auto negated = [] __host__ __device__(std::int32_t of) { return -of; };
  const auto larger = [] __host__ __device__(std::int32_t a, std::int32_t b) { return a > b ? a : b; };
  compare("max of the opposite", [&](const onefold::executor& where) { return onefold::max(where, n, opposite); });
  compare("min of the opposite", [&](const onefold::executor& where) { return onefold::min(where, n, opposite); });
  compare("three extrema of opposites", [&](const onefold::executor& where) { return onefold::max(where, n, opposites); });
  compare("an operator for each of opposites", [&](const onefold::executor& where) {
    return onefold::reduce_together(where, n, opposites, op::sum{}, op::min{}, op::max{});
  });
  compare("max of an array's opposite",
          [&](const onefold::executor& where) { return onefold::transform_reduce(where, k, n, op::max{}, negated); });
  if (n > 0)
    compare("an operator on the opposite",
            [&](const onefold::executor& where) { return onefold::transform_reduce(where, n, larger, opposite); });
  const auto opposite_of_odd = [=] __host__ __device__(std::uint64_t i) {
    return k[i] % 2 != 0 ? onefold::maybe<std::int32_t>(-k[i]) : onefold::maybe<std::int32_t>();
  };
  if (n > 0)
    compare("an operator on the opposites of some",
            [&](const onefold::executor& where) { return onefold::transform_reduce(where, n, larger, opposite_of_odd, -7); });

  // One rounding in each: nothing that a compiler could contract.
  const auto product = [=] __host__ __device__(std::uint64_t i) { return x[i] * y[i]; };
  compare("sum of a lambda", [&](const onefold::executor& where) { return onefold::sum(where, n, product); });
  const auto several = [=] __host__ __device__(std::uint64_t i) { return std::array<double, 3>{x[i], y[i], x[i] * y[i]}; };
  compare("three sums", [&](const onefold::executor& where) { return onefold::sum(where, n, several); });
  if (n > 0) compare("three argmin", [&](const onefold::executor& where) { return onefold::argmin(where, n, several); });
  compare("three mean_variance",
          [&](const onefold::executor& where) { return onefold::mean_variance(where, n, several, onefold::ddof{1}); });
  compare("three operators", [&](const onefold::executor& where) {
    return onefold::reduce_together(where, n, several, op::sum{}, op::min{}, op::max{});
  });
  const auto positive = [=] __host__ __device__(std::uint64_t i) {
    return x[i] > 0 ? onefold::maybe<double>(x[i]) : onefold::maybe<double>();
  };
  compare("a filtered sum", [&](const onefold::executor& where) { return onefold::sum(where, n, positive); });
  compare("a filtered mean", [&](const onefold::executor& where) { return onefold::mean(where, n, positive); });
  compare("a filtered mean_variance",
          [&](const onefold::executor& where) { return onefold::mean_variance(where, n, positive, onefold::ddof{1}); });
  compare("all of those that are there", [&](const onefold::executor& where) { return onefold::all(where, n, positive); });
  compare("any, none and the number of those that are there", [&](const onefold::executor& where) {
    return std::array<std::uint64_t, 3>{onefold::any(where, n, positive) ? 1U : 0U, onefold::none(where, n, positive) ? 1U : 0U,
                                        onefold::count(where, n, positive)};
  });
  const auto truth = [=] __host__ __device__(std::uint64_t i) {
    return x[i] > 0 ? onefold::maybe<bool>(i % 3 != 0) : onefold::maybe<bool>();
  };
  compare("all of the truths that are there", [&](const onefold::executor& where) { return onefold::all(where, n, truth); });
  compare("a filtered norm2", [&](const onefold::executor& where) { return onefold::norm2(where, n, positive); });
  compare("a filtered product", [&](const onefold::executor& where) { return onefold::prod(where, n, positive); });
  compare("a filtered min_number", [&](const onefold::executor& where) { return onefold::min_number(where, n, positive); });
  const auto is_positive = [=] __host__ __device__(double v) { return v > 0; };
  compare("count_if of an array", [&](const onefold::executor& where) { return onefold::count_if(where, x, n, is_positive); });
  const auto at_is_positive = [=] __host__ __device__(std::uint64_t i) { return x[i] > 0; };
  compare("count_if of indices", [&](const onefold::executor& where) { return onefold::count_if(where, n, at_is_positive); });
  compare("a filtered min", [&](const onefold::executor& where) { return onefold::min(where, n, positive); });
  compare("a filtered minmax", [&](const onefold::executor& where) { return onefold::minmax(where, n, positive); });
  if (n > 40)
    compare("a filtered argminmax", [&](const onefold::executor& where) { return onefold::argminmax(where, n, positive); });
  if (n > 40) compare("a filtered argmin", [&](const onefold::executor& where) { return onefold::argmin(where, n, positive); });
  const auto nothing = [=] __host__ __device__(std::uint64_t) { return onefold::maybe<double>(); };
  compare("all of absent values", [&](const onefold::executor& where) { return onefold::all(where, n, nothing); });
  compare("a min_number of absent values", [&](const onefold::executor& where) { return onefold::min_number(where, n, nothing); });
  compare("a mean of absent values", [&](const onefold::executor& where) { return onefold::mean(where, n, nothing); });
  compare("a mean_variance of absent values",
          [&](const onefold::executor& where) { return onefold::mean_variance(where, n, nothing); });
  compare("a sum of absent values", [&](const onefold::executor& where) { return onefold::sum(where, n, nothing); });
  compare("a product of absent values", [&](const onefold::executor& where) { return onefold::prod(where, n, nothing); });

  // best() goes where the array lies, and what is made of a result behind the call is the GPU's too.
  const auto some_of = [=] __host__ __device__(double v) { return v > 0 ? onefold::maybe<double>(v) : onefold::maybe<double>(); };
  const auto on_gpu_or = [](const onefold::executor& where) {
    return where.backend() == onefold::backend::cuda ? onefold::best() : where;
  };
  compare("best() of some elements",
          [&](const onefold::executor& where) { return onefold::transform_reduce(on_gpu_or(where), x, n, op::sum{}, some_of); });
  compare("best() of the largest number of some elements", [&](const onefold::executor& where) {
    return onefold::transform_reduce(on_gpu_or(where), x, n, op::max_number{}, some_of);
  });
  compare("best() with an initial value", [&](const onefold::executor& where) {
    return onefold::transform_reduce(
        on_gpu_or(where), x, n, op::sum{}, [] __host__ __device__(double v) { return v; }, 0.3);
  });
  const auto square = [=] __host__ __device__(double v) { return v * v; };
  compare("transform_reduce of one array",
          [&](const onefold::executor& where) { return onefold::transform_reduce(where, x, n, op::sum{}, square); });
  const auto two = [=] __host__ __device__(double a, float b) { return a * b; };
  compare("transform_reduce of two arrays",
          [&](const onefold::executor& where) { return onefold::transform_reduce(where, x, z, n, op::sum{}, two); });
  const auto three = [=] __host__ __device__(double a, double b, std::int32_t c) { return a < b ? a : static_cast<double>(c); };
  compare("transform_reduce of three arrays",
          [&](const onefold::executor& where) { return onefold::transform_reduce(where, x, y, k, n, op::max{}, three); });
  compare("transform_reduce with an initial value",
          [&](const onefold::executor& where) { return onefold::transform_reduce(where, x, n, op::sum{}, square, 0.3); });
  compare("reduce with an operator and an initial value",
          [&](const onefold::executor& where) { return onefold::reduce(where, x, n, longer{}, 0.3); });
  if (n > 0) {
    compare("reduce with an operator", [&](const onefold::executor& where) { return onefold::reduce(where, x, n, longer{}); });
    const auto wide = [=] __host__ __device__(std::uint64_t i) { return widest{x[i], i, z[i]}; };
    compare("an operator on 24 bytes",
            [&](const onefold::executor& where) { return onefold::transform_reduce(where, n, wider{}, wide); });
    compare("an operator on floats read one off", [&](const onefold::executor& where) {
      return onefold::transform_reduce(
          where, z + 1, n - 1, longer{}, [=] __host__ __device__(float v) { return static_cast<double>(v); }, 0.0);
    });
  }

  // Boxes of an array with ghost layers.
  std::int64_t side = 1;
  while ((side + 1) * (side + 1) <= static_cast<std::int64_t>(n)) ++side;
  const auto plane = [=] __host__ __device__(std::int64_t j, std::int64_t i) { return x[j * side + i]; };
  compare("a box of two coordinates", [&](const onefold::executor& where) {
    return onefold::sum(where, onefold::box({1, side - 1}, {1, side - 1}), plane);
  });
  std::int64_t edge = 1;
  while ((edge + 1) * (edge + 1) * (edge + 1) <= static_cast<std::int64_t>(n)) ++edge;
  const auto cube = [=] __host__ __device__(std::int64_t h, std::int64_t j, std::int64_t i) {
    return x[(h * edge + j) * edge + i];
  };
  compare("a box of three coordinates", [&](const onefold::executor& where) {
    return onefold::sum(where, onefold::box({0, edge}, {1, edge}, {0, edge - 1}), cube);
  });
  // Rows shorter than a warp's and than a tile, and longer, which begin anywhere in one.
  const float* const w = z;
  for (const std::int64_t length : {std::int64_t{3}, std::int64_t{31}, std::int64_t{100}, std::int64_t{513}, std::int64_t{1000},
                                    std::int64_t{1024}, std::int64_t{5000}}) {
    const std::int64_t rows = static_cast<std::int64_t>(n) / length;
    if (rows == 0) continue;
    const std::string of = " of rows of " + std::to_string(length);
    const auto floats = [=] __host__ __device__(std::int64_t j, std::int64_t i) { return w[(j + 2) * length + i - 9]; };
    compare("a box" + of + " floats", [&](const onefold::executor& where) {
      return onefold::sum(where, onefold::box({-2, rows - 2}, {9, length + 9}), floats);
    });
    const auto without_ends = [=] __host__ __device__(std::int64_t j, std::int64_t i) { return x[j * length + i]; };
    compare("an inner box" + of, [&](const onefold::executor& where) {
      return onefold::mean_variance(where, onefold::box({0, rows}, {1, length - 1}), without_ends);
    });
    const auto planes = [=] __host__ __device__(std::int64_t h, std::int64_t j, std::int64_t i) {
      return std::array<float, 2>{w[(h * 4 + j) * length + i], w[i]};
    };
    compare("a box of planes of four" + of, [&](const onefold::executor& where) {
      return onefold::reduce_together(where, onefold::box(rows / 4, 4, length), planes, op::sum{}, op::max{});
    });
  }
  // In a batch, with arrays between them: the same kernels.
  const onefold::index_box<2> inner = onefold::box({1, side - 1}, {1, side - 1});
  compare("functions and operators in a batch", [&](const onefold::executor& where) {
    std::array<double, 19> found{};
    std::array<double, 3> sums{}, three_of{};
    std::uint64_t counted = 0, counted_indices = 0;
    onefold::mean_variance_result<double> moments{};
    onefold::minmax_result<double> range{};
    onefold::batch work(where);
    work.add(onefold::sum, n, product, &found[0])
        .add(onefold::dot, x, y, n, &found[1])
        .add(onefold::sum, n, several, &sums)
        .add(onefold::reduce_together, n, several, &three_of, op::sum{}, op::min{}, op::max{})
        .add(onefold::mean, n, positive, &found[2])
        .add(onefold::mean_variance, n, positive, &moments, onefold::ddof{1})
        .add(onefold::minmax, n, positive, &range)
        .add(onefold::sum, inner, plane, &found[3])
        .add(onefold::sum, n, element_at<float>{z}, &found[4], onefold::accumulate_as<double>)
        .add_count_if(x, n, is_positive, &counted)
        .add_count_if(n, at_is_positive, &counted_indices)
        .add_transform_reduce(x, z, n, op::sum{}, two, &found[5])
        .add_transform_reduce(x, n, op::sum{}, square, 0.3, &found[6])
        .add_reduce(x, n, longer{}, 0.3, &found[7])
        .add(onefold::norm2, x, n, &found[8])
        .run();
    for (std::size_t k = 0; k < 3; ++k) {
      found[9 + k] = sums[k];
      found[12 + k] = three_of[k];
    }
    found[15] = static_cast<double>(counted) + static_cast<double>(counted_indices) / 4294967296.0;
    found[16] = moments.mean;
    found[17] = moments.variance;
    found[18] = range.min == range.max ? range.min : range.max - range.min;
    return found;
  });
  compare("many functions in a batch", [&](const onefold::executor& where) {
    std::array<double, 70> found{};
    onefold::batch work(where);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const std::uint64_t count = n > k ? n - k : 0;
      if (k % 7 == 0)
        work.add(onefold::sum, x, count, &found[k]);
      else
        work.add(onefold::sum, count, element_at<double>{x}, &found[k]);
    }
    work.add(onefold::sum, n, element_at<double>{x}, &found[69]).run();
    return found;
  });
  compare("a function for the host alone", [&](const onefold::executor& where) {
    const auto f = onefold::host_only([&](std::uint64_t i) { return x[i]; });
    return onefold::sum(where.backend() == onefold::backend::cuda ? onefold::openmp() : where, n, f);
  });
  return compare.all;
}

std::vector<refused_call> refused_calls() {
  const shared_array<double> x(1, 1);
  const double* const managed = x.get();
  const device_memory on_gpu(16 * sizeof(double));
  const auto* const device = on_gpu.as<const double>();
  const element_at<double> f{managed};
  std::vector<refused_call> all;
  const auto refuse = [&all](const std::string& name, const std::string& expected, const auto& call) {
    all.push_back({name, {}, expected});
    try {
      static_cast<void>(call());
    } catch (const onefold::error& problem) {
      all.back().sentence = problem.what();
    }
  };
  refuse("an own operator on nothing", "give it an initial value",
         [&] { return onefold::reduce(onefold::cuda(), managed, 0, longer{}); });
  refuse("argmin of nothing", "there is no index", [&] { return onefold::argmin(onefold::cuda(), 0, f); });
  const auto nothing = [] __host__ __device__(std::uint64_t) { return onefold::maybe<double>(); };
  refuse("argmin of absent values", "there is no index", [&] { return onefold::argmin(onefold::cuda(), 5000, nothing); });
  refuse("argmax_magnitude of absent values", "there is no index",
         [&] { return onefold::argmax_magnitude(onefold::cuda(), 5000, nothing); });
  refuse("argminmax of absent values", "there is no index", [&] { return onefold::argminmax(onefold::cuda(), 5000, nothing); });
  refuse("argmax of nothing", "there is no index", [&] { return onefold::argmax(onefold::cuda(), 0, f); });
  refuse("absent values in a batch", "there is no index", [&] {
    onefold::arg_result<double> place{};
    double sum = 0;
    onefold::batch(onefold::cuda()).add(onefold::argmin, 5000, nothing, &place).add(onefold::sum, managed, 1, &sum).run();
    return place;
  });
  refuse("an own operator on nothing in a batch", "give it an initial value", [&] {
    double sum = 0, far = 0;
    onefold::batch(onefold::cuda()).add(onefold::sum, managed, 1, &sum).add_reduce(managed, 0, longer{}, &far).run();
    return far;
  });
  refuse("a function of the host's in a batch", "cannot call a function of the host's", [&] {
    double sum = 0, other = 0;
    onefold::batch(onefold::cuda()).add(onefold::sum, managed, 1, &sum).add(onefold::sum, 1, onefold::host_only(f), &other).run();
    return other;
  });
  refuse("serial() on memory of the GPU", "is GPU memory",
         [&] { return onefold::reduce(onefold::serial(), device, 16, longer{}); });
  refuse("openmp() on memory of the GPU", "the second input is GPU memory", [&] {
    return onefold::transform_reduce(onefold::openmp(), managed, device, 1, longer{},
                                     [] __host__ __device__(double a, double b) { return a * b; });
  });
  return all;
}

best_run best_of_device_memory(std::uint64_t n) {
  const shared_array<double> values(n, 9);
  const device_memory copy((n + 1) * sizeof(double));
  copy_to_device(copy.as<double>(), values.get(), n * sizeof(double));
  const auto* const x = copy.as<const double>();
  onefold::report ran;
  onefold::options how;
  how.report = &ran;
  const double best = onefold::reduce(onefold::best(), x, n, longer{}, 1.0, how);
  const double gpu = onefold::reduce(onefold::cuda(), x, n, longer{}, 1.0);
  return {std::string(onefold::name(ran.backend)), std::memcmp(&best, &gpu, sizeof(gpu)) == 0};
}

std::vector<std::uint64_t> captured_sums(std::uint64_t n) {
  const shared_array<float> values(n, 7);
  const shared_array<float> result(1, 1);
  const element_at<float> f{values.get()};
  const stream on;
  const auto where = onefold::cuda(0, on.get());
  onefold::workspace own(where, n);
  onefold::options how;
  how.workspace = &own;
  std::vector<std::uint64_t> bits;
  const auto take = [&] {
    on.synchronize();
    std::uint32_t now = 0;
    std::memcpy(&now, result.get(), sizeof(now));
    bits.push_back(now);
    std::memset(result.get(), 0, sizeof(float));
  };
  onefold::sum_into(where, n, f, result.get(), how);
  take();
  recording graph(on.get());
  onefold::sum_into(where, n, f, result.get(), how);
  graph.end();
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    take();
  }
  return bits;
}

}  // namespace onefold_test
