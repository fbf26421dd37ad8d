/// @file associativity.cu  Addition of floats is not associative: what the order of a sum does to its last digits.
///
/// The lecture: "Try x = 10^30, y = -10^30 and z = 1": (x + y) + z is 1, and x + (y + z) is 0. And: "when you parallelize
/// computations, you potentially change the order of operations; parallel results may not exactly match sequential results; this is
/// [an] inherent part of parallel execution".
///
///   one order of the elements, and how it is cut:   [ share 0 | share 1 |   share 2   ]  partial sums, as they arrive: 2, 0, 1
///
/// Three things are changed here, one at a time, and the different answers counted: the order of the elements; how one order is cut
/// into shares and in which order their sums are added, which is what threads, blocks and atomics change; the backend, the threads
/// and the launch. A running sum depends on the first, a parallel sum on the second and third too. Tree v1 (docs/order.md) depends
/// on the order of the elements, as every sum of floats does, and on nothing else: "inherent" it is not.
///
/// The lecture also warns that a CPU may be more accurate, for its 80-bit registers: a running sum in long double stands beside.
///
/// The elements are chosen so that their exact sum is a 64-bit integer in units of 2^-31. Errors are in units in the last place
/// (ulp) of that exact sum, as a float.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../data.hpp"
#include "study.hpp"

#ifdef __CUDACC__
#include "../gpu.hpp"
#include "device.cuh"
#endif

namespace onefold::perf::memory {

extern const study associativity;

namespace {

/// Random numbers in a row: the same on every machine, which the standard library's distributions are not.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : next_(seed << 40) {}
  /// From 0 to below - 1; `below` is less than 2^32.
  std::uint64_t under(std::uint64_t below) { return (mixed(next_++) >> 32) * below >> 32; }

 private:
  std::uint64_t next_;
};

constexpr int lowest_exponent =
    -8;  // of an element; its last bit is then worth 2^-31, and 2^20 of them stay below 2^60 of these units
constexpr int highest_exponent = 8;
constexpr int unit_exponent = lowest_exponent - 23;

float element(std::uint64_t i) {
  const std::uint64_t bits = mixed(i);
  const auto significand = static_cast<float>((bits & 0x7fffff) | 0x800000);  // 24 bits: exact
  const int exponent = lowest_exponent + static_cast<int>((bits >> 32) % (highest_exponent - lowest_exponent + 1));
  return std::ldexp(bits >> 63 == 0 ? significand : -significand, exponent - 23);
}

/// The elements, and what is known of their sum without rounding.
struct elements {
  explicit elements(const setting& how) : x(how.small ? 1 << 12 : 1 << 20), units(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = element(i);
      units[i] = static_cast<std::int64_t>(std::ldexp(x[i], -unit_exponent));
    }
    exact_units = std::accumulate(units.begin(), units.end(), std::int64_t{0});
    exact = std::ldexp(static_cast<double>(exact_units), unit_exponent);
    ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    double magnitudes = 0;
    for (const float v : x) magnitudes += std::fabs(v);
    // Rounding errors are nearly random, so they grow with the root of n (Higham and Mary 2019): six times that is wrong, not
    // rounded.
    tolerance = 6 * std::sqrt(static_cast<double>(x.size())) * std::ldexp(magnitudes, -24);
  }

  std::vector<float> x;
  std::vector<std::int64_t> units;  ///< the same, as multiples of 2^unit_exponent
  std::int64_t exact_units;
  double exact;  ///< within 2^-53 of the exact sum
  double ulp;    ///< of the exact sum as a float
  double tolerance;
};

/// Answers to the same question, and how far they are apart.
class answers {
 public:
  /// Throws std::runtime_error where `sum` is further from the exact sum than rounding can explain.
  answers(std::string name, const elements& of) : name_(std::move(name)), of_(of) {}
  void add(float sum) {
    if (!(std::fabs(sum - of_.exact) <= of_.tolerance))
      throw std::runtime_error(name_ + " is wrong: " + std::to_string(sum) + " where the exact sum is " +
                               std::to_string(of_.exact));
    sums_.push_back(sum);
  }
  [[nodiscard]] std::size_t different() const {
    std::set<std::uint32_t> bits;
    for (const float sum : sums_) bits.insert(std::bit_cast<std::uint32_t>(sum));
    return bits.size();
  }
  [[nodiscard]] row as_row(samples time) const {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    double squares = 0;
    for (const float sum : sums_) {
      const double error = (sum - of_.exact) / of_.ulp;
      least = std::min(least, error);
      greatest = std::max(greatest, error);
      squares += error * error;
    }
    const auto count = static_cast<double>(sums_.size());
    return {name_,
            std::move(time),
            of_.x.size() * sizeof(float),
            of_.x.size(),
            {{"sums", count, ""},
             {"different", static_cast<double>(different()), ""},
             {"least error", least, "ulp"},
             {"greatest error", greatest, "ulp"},
             {"root mean square", std::sqrt(squares / count), "ulp"}}};
  }
  /// As as_row(), of answers that must be one. Throws std::runtime_error where they are not.
  [[nodiscard]] row as_one(samples time) const {
    if (different() != 1)
      throw std::runtime_error(name_ + " gave " + std::to_string(different()) + " answers where one is promised");
    return as_row(std::move(time));
  }

 private:
  std::string name_;
  const elements& of_;
  std::vector<float> sums_;
};

template <class T, class Sum = T>
Sum running_sum(std::span<const T> x) {
  Sum sum = 0;
  for (const T v : x) sum += v;
  return sum;
}

/// The sum of x cut at `cuts` (ascending, without the ends), whose shares' sums are added in the order of `arrival`.
template <class T>
T sum_of_shares(std::span<const T> x, std::span<const std::size_t> cuts, std::span<const std::size_t> arrival) {
  std::vector<T> partial;
  std::size_t begin = 0;
  for (const std::size_t end : cuts) {
    partial.push_back(running_sum(x.subspan(begin, end - begin)));
    begin = end;
  }
  partial.push_back(running_sum(x.subspan(begin)));
  T sum = 0;
  for (const std::size_t share : arrival) sum += partial[share];
  return sum;
}

/// Throws where shares and arrival lose or repeat an element: integers show it, for whose sum no order matters.
void check_shares(const elements& of, std::span<const std::size_t> cuts, std::span<const std::size_t> arrival) {
  if (sum_of_shares(std::span<const std::int64_t>(of.units), cuts, arrival) != of.exact_units)
    throw std::runtime_error("a sum in " + std::to_string(cuts.size() + 1) + " shares is wrong for integers");
}

template <class T>
void shuffle(std::span<T> x, random_numbers& random) {
  for (std::size_t i = 0; i + 1 < x.size(); ++i) std::swap(x[i], x[i + random.under(x.size() - i)]);
}

std::vector<std::size_t> numbers_to(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// The lecture's example in T, by `add`, which the compiler cannot see through. Throws where it is not as the lecture says.
template <class T, class Add>
row example(const char* type, Add add) {
  const T x = T(1e30);
  const T y = T(-1e30);
  const T z = 1;
  const T left = add(add(x, y), z);
  const T right = add(x, add(y, z));
  if (left != 1 || right != 0)
    throw std::runtime_error(std::string("the lecture's example in ") + type + " gives " + std::to_string(left) + " and " +
                             std::to_string(right) + " where 1 and 0 are expected");
  return {std::string("x = 1e30, y = -1e30, z = 1 in ") + type, {}, 0, 0, {{"(x + y) + z", left, ""}, {"x + (y + z)", right, ""}}};
}

template <class T>
T add_at_run_time(T a, T b) {
  const volatile T left = a;
  const volatile T right = b;
  return left + right;
}

int trials(const setting& how) { return how.small ? 20 : how.quick ? 100 : 1000; }

/// Running sums and tree v1 over the same random orders of the elements.
void add_orders(std::vector<row>& rows, const elements& of, const setting& how) {
  std::vector<float> x = of.x;
  const auto time_of = [&](auto sum_of) {
    return time_on_cpu(
        [&](std::size_t) {
          volatile float sum = sum_of(std::span<const float>(x));
          static_cast<void>(sum);
        },
        how.repeats);
  };
  const auto in_floats = [](std::span<const float> all) { return running_sum(all); };
  const auto in_long_doubles = [](std::span<const float> all) { return static_cast<float>(running_sum<float, long double>(all)); };
  const samples running_time = time_of(in_floats);
  const samples longer_time = time_of(in_long_doubles);
  answers running("random orders, running sum", of);
  answers longer(
      "random orders, running sum in long double, of " + std::to_string(std::numeric_limits<long double>::digits) + " bits", of);
  answers tree("random orders, tree v1", of);
  random_numbers random(1);
  for (int k = 0; k < trials(how); ++k) {
    shuffle(std::span(x), random);
    running.add(in_floats(x));
    longer.add(in_long_doubles(x));
    tree.add(onefold::sum(onefold::serial(), x));
  }
  // What an order had lost would be lost to all that come after it.
  std::int64_t units = 0;
  for (const float v : x) units += static_cast<std::int64_t>(std::ldexp(v, -unit_exponent));
  if (units != of.exact_units) throw std::runtime_error("a random order of the elements has lost one of them");
  rows.push_back(running.as_row(running_time));
  rows.push_back(longer.as_row(longer_time));
  rows.push_back(tree.as_row({}));
}

/// What parallel sums without a fixed order do to one order of the elements.
void add_shares(std::vector<row>& rows, const elements& of, const setting& how) {
  const std::span<const float> x(of.x);
  answers equal("one order, 1, 2, 3, .. equal shares, added in turn", of);
  answers arrived("one order, random shares, added as they arrive", of);
  random_numbers random(2);
  for (int k = 0; k < trials(how); ++k) {
    std::vector<std::size_t> cuts;
    const auto shares = static_cast<std::size_t>(k) + 1;
    for (std::size_t share = 1; share < shares; ++share) cuts.push_back(x.size() * share / shares);
    std::vector<std::size_t> arrival = numbers_to(shares);
    check_shares(of, cuts, arrival);
    equal.add(sum_of_shares(x, cuts, arrival));

    cuts.resize(random.under(static_cast<std::uint64_t>(trials(how))));
    for (std::size_t& cut : cuts) cut = random.under(x.size() + 1);
    std::sort(cuts.begin(), cuts.end());
    arrival = numbers_to(cuts.size() + 1);
    shuffle(std::span(arrival), random);
    check_shares(of, cuts, arrival);
    arrived.add(sum_of_shares(x, cuts, arrival));
  }
  rows.push_back(equal.as_row({}));
  rows.push_back(arrived.as_row({}));
}

std::vector<row> run_on_cpu(const setting& how) {
  const elements of(how);
  std::vector<row> rows;
  rows.push_back(example<float>("float", add_at_run_time<float>));
  rows.push_back(example<double>("double", add_at_run_time<double>));
  add_orders(rows, of, how);
  add_shares(rows, of, how);

  int threads = 0;
  for (const backend_info& one : onefold::backends())
    if (one.where == backend::openmp && one.usable) threads = one.threads;
  answers tree("one order, tree v1: serial, best, OpenMP with 1 to " + std::to_string(threads) + " threads", of);
  for (int k = 0; k < 10; ++k) {
    tree.add(onefold::sum(onefold::serial(), of.x));
    tree.add(onefold::sum(of.x));
    for (int t = 1; t <= threads; ++t) tree.add(onefold::sum(onefold::openmp(t), of.x));
  }
  rows.push_back(tree.as_one(time_on_cpu(
      [&](std::size_t) {
        volatile float sum = onefold::sum(onefold::serial(), of.x);
        static_cast<void>(sum);
      },
      how.repeats)));
  return rows;
}

#ifdef __CUDACC__

template <class T>
__global__ void add_two(T a, T b, T* out) {
  *out = a + b;
}

template <class T>
T add_on_gpu(T a, T b) {
  const device_array<T> out(1);
  add_two<<<1, 1>>>(a, b, out.data());
  check(cudaGetLastError(), "add_two");
  T sum = 0;
  check(cudaMemcpy(&sum, out.data(), sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return sum;
}

std::vector<row> run_on_gpu(const gpu_clock& clock, const setting& how) {
  const elements of(how);
  std::vector<row> rows;
  rows.push_back(example<float>("float", add_on_gpu<float>));
  rows.push_back(example<double>("double", add_on_gpu<double>));

  const device_array<float> x(of.x.size());
  const device_array<float> result(1);
  check(cudaMemcpy(x.data(), of.x.data(), of.x.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  const auto stream = static_cast<cudaStream_t>(clock.stream());
  const executor gpu = onefold::cuda(clock.device(), stream);
  const std::span<const float> input(x.data(), of.x.size());
  const auto sum = [&](const options& asked) { return onefold::sum(gpu, input, asked); };
  const auto time = [&](const options& asked, int repeats) {
    return clock.in_stream([&](std::size_t) { onefold::sum_into(gpu, input, result.data(), asked); }, repeats);
  };
  const auto add_same_call = [&](const char* variant, int calls, int repeats) {
    answers same_call(std::string("one order, ") + variant + ", the same call again and again", of);
    for (int k = 0; k < calls; ++k) same_call.add(sum({.variant = variant}));
    rows.push_back(same_call.as_row(time({.variant = variant}, repeats)));
  };

  for (const char* variant : {"atomic_global", "atomic_shared", "cub"}) add_same_call(variant, trials(how), how.repeats);
  // Of one thread, which takes its time, and trees, whose errors seed 003 compares with its.
  constexpr int few = 10;
  add_same_call("serial_gpu", few, std::min(few, how.repeats));
  for (const char* variant : {"bottom_up", "top_down", "segment_halving"}) add_same_call(variant, trials(how), how.repeats);

  constexpr std::array block_sizes{64, 128, 256, 512, 1024};
  const int grids = how.small ? 4 : how.quick ? 50 : 200;
  answers shapes("one order, grid_stride, in " + std::to_string(grids * block_sizes.size()) + " launch shapes", of);
  answers tree("one order, tree v1: " + std::to_string(grids) + " launch shapes, and the CPU", of);
  for (int grid = 1; grid <= grids; ++grid) {
    for (const int block_size : block_sizes)
      shapes.add(sum({.variant = "grid_stride", .block_size = block_size, .grid_size = grid}));
    tree.add(sum({.variant = "fixed_order", .grid_size = grid}));
  }
  for (int k = 0; k < trials(how); ++k) tree.add(sum({}));
  tree.add(onefold::sum(onefold::serial(), of.x));
  rows.push_back(shapes.as_row(time({.variant = "grid_stride"}, how.repeats)));
  rows.push_back(tree.as_one(time({}, how.repeats)));
  return rows;
}

#endif

}  // namespace

const study associativity = {
    .name = "associativity",
    .title = "How many answers has one sum of floats?",
    .lecture =
        "x = 1e30, y = -1e30, z = 1: (x + y) + z is 1, x + (y + z) is 0. \"Parallel results may not exactly match sequential "
        "results: this is not specific to GPU or CUDA, [it is an] inherent part of parallel execution.\" CPUs can be more accurate "
        "due to 80-bit extended precision. No figures. Seed 003: a tree is more accurate than a running sum.",
    .lesson =
        "A running sum has hundreds of answers for a thousand orders of its elements. A parallel sum can have them for one and "
        "the same order, where the number of threads decides how it is cut, or chance in which order the partial sums arrive. "
        "Nobody has made a mistake, and still two such runs cannot be compared bit by bit. One that keeps its shape has one "
        "answer, on one kind of machine. Tree v1 fixes who meets whom by the number of elements alone: another order of the "
        "elements is another question with another answer, but the same array has one answer, on any number of threads, on the "
        "GPU, in any launch shape. And a tree's error is far smaller than that of a running sum, for each element goes through "
        "few additions. In 80 bits no addition of these elements rounds, so that the running sum has one answer too: not because "
        "an order was fixed, but because these elements leave room for it.",
#ifdef __CUDACC__
    .on_gpu = run_on_gpu,
#endif
    .on_cpu = run_on_cpu,
};

}  // namespace onefold::perf::memory
