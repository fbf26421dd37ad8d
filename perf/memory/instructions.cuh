#pragma once
/// @file instructions.cuh  The operations that the study of instructions times, and how a GPU does: compiled as it is, and
/// once more with -use_fast_math.
///
/// Each thread carries several chains x -> operation(x, n), none of which waits for another:
///
///     chain 0   x -> o -> o -> o -> ..        the loop's body: `steps` times each of the `chains`
///     chain 1   x -> o -> o -> o -> ..
///
/// The compiler would do much of that in its head: it adds 16 n instead of 16 times n, and of two masks it makes one. An empty asm
/// statement behind each operation hides the value from the first half of the compiler, and where the second half (ptxas) still
/// merges operations the body has many chains with one step each.

#include <cmath>
#include <cstdint>
#include <vector>

#include "../data.hpp"
#include "study.hpp"

#ifdef __CUDACC__
#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "device.cuh"
#endif

namespace onefold::perf::memory {

// Without a name, for the two compilations must not be taken for one.
namespace {

struct shape {
  int chains;
  int steps;
  int rounds;  ///< of the body, where it is timed
};
constexpr shape wide{64, 1, 1024};  // where ptxas merges what follows each other
constexpr shape wide_64{32, 1, 2048};
constexpr shape deep{8, 32, 256};
constexpr shape middle{8, 8, 128};
constexpr shape heavy{4, 2, 128};  // where one operation is tens of instructions

/// Quotient and remainder by school division, bit by bit: what the machine's own division is compared with.
template <class T>
constexpr T school_quotient(T a, T b) {
  T quotient = 0;
  T rest = 0;
  for (int bit = static_cast<int>(sizeof(T)) * 8 - 1; bit >= 0; --bit) {
    rest = static_cast<T>(rest << 1 | (a >> bit & 1));
    if (rest >= b) {
      rest -= b;
      quotient |= T(1) << bit;
    }
  }
  return quotient;
}
template <class T>
constexpr T school_remainder(T a, T b) {
  return a - school_quotient(a, b) * b;
}
constexpr std::int32_t school_quotient_signed(std::int32_t a, std::int32_t b) {
  const auto magnitude = [](std::int32_t x) { return x < 0 ? 0u - static_cast<std::uint32_t>(x) : static_cast<std::uint32_t>(x); };
  const auto quotient = static_cast<std::int32_t>(school_quotient(magnitude(a), magnitude(b)));
  return (a < 0) != (b < 0) ? -quotient : quotient;
}
template <class T>
constexpr T school_product(T a, T b) {
  T product = 0;
  for (; b != 0; b >>= 1, a <<= 1)
    if (b % 2 != 0) product += a;
  return product;
}

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;

// An operation: what it is called, on what, with which n (which the compiler does not know), the body's shape, the operation, and
// the same by other means on the host. Functions of the device alone have another macro.
#define ONEFOLD_OPERATION_ON(where, name_, text, type_, n_, shape_, operation, by_other_means) \
  struct name_ {                                                                               \
    using type = type_;                                                                        \
    static constexpr const char* name = text;                                                  \
    static constexpr type argument = n_;                                                       \
    static constexpr shape body = shape_;                                                      \
    where static type apply(type x, [[maybe_unused]] type n) { return operation; }             \
    static type expected(type x) {                                                             \
      [[maybe_unused]] constexpr type n = argument;                                            \
      return static_cast<type>(by_other_means);                                                \
    }                                                                                          \
  };
#define ONEFOLD_OPERATION(name, text, type, n, shape, operation, by_other_means) \
  ONEFOLD_OPERATION_ON(ONEFOLD_PERF_HOST_DEVICE, name, text, type, n, shape, operation, by_other_means)

// clang-format off
ONEFOLD_OPERATION(add,          "x + n",          u32,  0x9e3779b9u,           wide,     x + n,  x - ~n - 1)
ONEFOLD_OPERATION(add_64,       "x + n, 64 bit",  u64,  0x9e3779b97f4a7c15u,   wide_64,  x + n,  x - ~n - 1)
ONEFOLD_OPERATION(multiply,     "x * n",          u32,  1664525u,              deep,     x * n,  school_product(x, n))
ONEFOLD_OPERATION(multiply_64,  "x * n, 64 bit",  u64,  6364136223846793005u,  middle,   x * n,  school_product(x, n))

ONEFOLD_OPERATION(shift,             "x >> 4",          u32,  0,                    wide,   x >> 4,  school_quotient(x, 16u))
ONEFOLD_OPERATION(divide_16,         "x / 16",          u32,  0,                    wide,   x / 16,  school_quotient(x, 16u))
ONEFOLD_OPERATION(divide_signed_16,  "x / 16, signed",  i32,  0,                    wide,   x / 16,  school_quotient_signed(x, 16))
ONEFOLD_OPERATION(divide_10,         "x / 10",          u32,  0,                    deep,   x / 10,  school_quotient(x, 10u))
ONEFOLD_OPERATION(divide_n,          "x / n",           u32,  16,                   heavy,  x / n,   school_quotient(x, n))
ONEFOLD_OPERATION(divide_by_x,       "n / x",           u32,  0xfffffff0u,          heavy,  n / x,   school_quotient(n, x))
ONEFOLD_OPERATION(divide_by_x_64,    "n / x, 64 bit",   u64,  0xfffffffffffffff0u,  heavy,  n / x,   school_quotient(n, x))

ONEFOLD_OPERATION(mask,       "x & (n - 1)",  u32,  16,  wide,   x & (n - 1), school_remainder(x, n))
ONEFOLD_OPERATION(modulo_16,  "x % 16",       u32,  0,   wide,   x % 16,     school_remainder(x, 16u))
ONEFOLD_OPERATION(modulo_n,   "x % n",        u32,  16,  heavy,  x % n,      school_remainder(x, n))
// clang-format on

/// What an operation that is not exact has beside: where its error is looked for, and how large it may be.
template <class Base>
struct approximate;

#define ONEFOLD_APPROXIMATE(operation, low_, high_, exact_, most_ulp_) \
  template <>                                                          \
  struct approximate<operation> {                                      \
    static constexpr double low = low_;                                \
    static constexpr double high = high_;                              \
    static constexpr double most_ulp = most_ulp_;                      \
    static double exact(double x) {                                    \
      [[maybe_unused]] constexpr double n = operation::argument;       \
      return exact_;                                                   \
    }                                                                  \
  };

constexpr double pi = 3.14159265358979323846;
constexpr double documented_nowhere = 1e9;  // an error that is bounded absolutely, and not in ulp

// What the CPU can do too; on the GPU what -use_fast_math changes.
ONEFOLD_OPERATION(sine, "sinf(x)", float, 0, heavy, sinf(x), std::sin(double(x)))
ONEFOLD_APPROXIMATE(sine, -pi, pi, std::sin(x), 2)

#ifdef __CUDACC__

// clang-format off
ONEFOLD_OPERATION(divide_float,  "n / x, float",  float,  3,      heavy,  n / x,       double(n) / x)
ONEFOLD_OPERATION(square_root,   "sqrtf(x)",      float,  0,      heavy,  sqrtf(x),    std::sqrt(double(x)))
ONEFOLD_OPERATION(exponential,   "expf(-x)",      float,  0,      heavy,  expf(-x),    std::exp(-double(x)))
ONEFOLD_OPERATION(power,         "powf(x, n)",    float,  -1.0f,  heavy,  powf(x, n),  std::pow(double(x), double(n)))
ONEFOLD_APPROXIMATE(divide_float,  0.01,  100,  n / x,           0.501)
ONEFOLD_APPROXIMATE(square_root,   0.01,  100,  std::sqrt(x),    0.501)
ONEFOLD_APPROXIMATE(exponential,   -10,   10,   std::exp(-x),    2)
ONEFOLD_APPROXIMATE(power,         0.01,  100,  std::pow(x, n),  8)
// clang-format on

template <class T>
__device__ void hide(T& x) {
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("" : "+f"(x));
  } else if constexpr (std::is_same_v<T, double>) {
    asm volatile("" : "+d"(x));
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(x));
  } else {
    asm volatile("" : "+r"(x));
  }
}

constexpr int lanes = 32;
constexpr int block_threads = 256;

/// Where chain `chain` of lane `lane` begins: another value for each, positive, and none that makes an operation easy.
template <class T>
ONEFOLD_PERF_HOST_DEVICE T begin_of(int lane, int chain) {
  const int number = lane * wide.chains + chain;
  if constexpr (std::is_floating_point_v<T>) {
    return T(1) + T(number) / T(lanes * wide.chains);
  } else if constexpr (sizeof(T) == 8) {
    return (T(1) << 33) + T(number);
  } else {
    const T begin = T(1000) + T(number) * T(1000003);
    return std::is_signed_v<T> && number % 2 != 0 ? -begin : begin;
  }
}

struct block_time {
  unsigned multiprocessor;
  long long begin;  ///< clocks of that multiprocessor
  long long end;
};

/// out[chain * threads + thread] is where each chain ends; null where nobody asks.
template <class Operation>
__global__ void __launch_bounds__(block_threads)
    run_chains(typename Operation::type n, int rounds, typename Operation::type* out, block_time* times) {
  constexpr shape body = Operation::body;
  typename Operation::type x[body.chains];
#pragma unroll
  for (int chain = 0; chain < body.chains; ++chain) {
    x[chain] = begin_of<typename Operation::type>(static_cast<int>(threadIdx.x) % lanes, chain);
    hide(x[chain]);
  }
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < body.steps; ++step) {
#pragma unroll
      for (int chain = 0; chain < body.chains; ++chain) {
        x[chain] = Operation::apply(x[chain], n);
        hide(x[chain]);
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned multiprocessor = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    times[blockIdx.x] = {multiprocessor, begin, clock64()};
  }
  if (out == nullptr) return;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block_threads;
#pragma unroll
  for (int chain = 0; chain < body.chains; ++chain)
    out[static_cast<std::uint64_t>(chain) * threads + std::uint64_t{blockIdx.x} * block_threads + threadIdx.x] = x[chain];
}

template <class Operation>
__global__ void evaluate(const float* x, float* y, unsigned count, float n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = Operation::apply(x[i], n);
}

template <class Operation>
concept is_approximate = requires {
  approximate<Operation>::low;
};

/// Throws std::runtime_error where a chain does not end as the host finds by other means.
template <class Operation>
void check_chains(const gpu_clock& clock, const std::string& name, unsigned blocks, int rounds) {
  using type = typename Operation::type;
  constexpr shape body = Operation::body;
  const std::uint64_t threads = std::uint64_t{blocks} * block_threads;
  const device_array<type> out(body.chains * threads);
  const device_array<block_time> times(blocks);
  run_chains<Operation><<<blocks, block_threads, 0, stream_of(clock)>>>(Operation::argument, rounds, out.data(), times.data());
  check_launch("run_chains");
  const std::vector<type> got = copy_out(clock, out.data(), out.count());
  for (int chain = 0; chain < body.chains; ++chain) {
    std::array<type, lanes> expected;
    for (int lane = 0; lane < lanes; ++lane) {
      type& x = expected[static_cast<std::size_t>(lane)];
      x = begin_of<type>(lane, chain);
      for (int k = 0; k < rounds * body.steps; ++k) x = Operation::expected(x);
    }
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
      const type found = got[static_cast<std::uint64_t>(chain) * threads + thread];
      const type wanted = expected[thread % lanes];
      bool right = found == wanted;
      if constexpr (is_approximate<Operation>)  // errors add up over the chain
        right = std::fabs(found - wanted) <= 5e-6f * static_cast<float>(rounds * body.steps) * std::fabs(wanted);
      if (!right)
        throw std::runtime_error(name + " is wrong: chain " + std::to_string(chain) + " of thread " + std::to_string(thread) +
                                 " ends with " + std::to_string(found) + " where " + std::to_string(wanted) + " is expected");
    }
  }
}

/// Operations per clock of a multiprocessor: the median of all multiprocessors, each from its first block's begin to its last
/// block's end.
inline double per_clock(const std::vector<block_time>& times, double operations_per_block) {
  struct work {
    long long begin;
    long long end;
    double operations;
  };
  std::map<unsigned, work> of;
  for (const block_time& block : times) {
    work& here = of.try_emplace(block.multiprocessor, work{block.begin, block.end, 0}).first->second;
    here.begin = std::min(here.begin, block.begin);
    here.end = std::max(here.end, block.end);
    here.operations += operations_per_block;
  }
  std::vector<double> rates;
  for (const auto& [multiprocessor, here] : of) rates.push_back(here.operations / static_cast<double>(here.end - here.begin));
  std::sort(rates.begin(), rates.end());
  return samples{rates}.median();
}

/// The worst and the mean error in units in the last place of the exact value, of `n` evenly spaced arguments. Throws
/// std::runtime_error where the worst is more than documented, or one that is not documented so is no rounding error at all.
template <class Operation>
std::vector<value> errors(const gpu_clock& clock, const setting& how, const std::string& name, double most_ulp) {
  using about = approximate<Operation>;
  const unsigned count = how.small ? 1u << 12 : 1u << 20;
  std::vector<float> x(count);
  for (unsigned i = 0; i < count; ++i) x[i] = static_cast<float>(about::low + (about::high - about::low) * (i + 0.5) / count);
  const device_array<float> x_there(count);
  const device_array<float> y_there(count);
  copy_in<float>(clock, x_there.data(), x);
  evaluate<Operation><<<blocks_for(count, block_threads), block_threads, 0, stream_of(clock)>>>(x_there.data(), y_there.data(),
                                                                                                count, Operation::argument);
  check_launch("evaluate");
  const std::vector<float> y = copy_out(clock, y_there.data(), count);
  double worst = 0;
  double sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    const double exact = about::exact(static_cast<double>(x[i]));
    const double error = std::fabs(static_cast<double>(y[i]) - exact);
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    if (!(error <= 1e-4 * std::max(1.0, std::fabs(exact))) || error > most_ulp * ulp)
      throw std::runtime_error(name + " is wrong: of " + std::to_string(x[i]) + " it is " + std::to_string(y[i]) + " where " +
                               std::to_string(exact) + " is expected");
    worst = std::max(worst, error / ulp);
    sum += error / ulp;
  }
  return {{"worst error", worst, "ulp"}, {"mean error", sum / count, "ulp"}};
}

/// Checks one operation and times it on the whole GPU.
template <class Operation>
row time_operation(const gpu_clock& clock, const setting& how, const std::string& suffix = "", bool documented = true) {
  constexpr shape body = Operation::body;
  const std::string name = Operation::name + suffix;
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, run_chains<Operation>, block_threads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const auto blocks = static_cast<unsigned>(resident * clock.multiprocessors());
  check_chains<Operation>(clock, name, blocks, 1);  // before x >> 4 has come to 0 for good
  check_chains<Operation>(clock, name, blocks, 5);

  const int rounds = how.small ? 4 : body.rounds;
  const double operations_per_block = double{block_threads} * body.chains * body.steps * rounds;
  const device_array<block_time> times(blocks);
  row line{name, {}, 0, static_cast<std::uint64_t>(operations_per_block) * blocks, {}};
  line.time = clock.in_stream(
      [&](std::size_t) {
        run_chains<Operation><<<blocks, block_threads, 0, stream_of(clock)>>>(Operation::argument, rounds, nullptr, times.data());
        check_launch("run_chains");
      },
      how.repeats);
  const double rate = per_clock(copy_out(clock, times.data(), blocks), operations_per_block);
  line.values = {{"per clock and multiprocessor", rate, ""}, {"clocks per warp", lanes / rate, ""}};
  if constexpr (is_approximate<Operation>)
    for (const value& error :
         errors<Operation>(clock, how, name, documented ? approximate<Operation>::most_ulp : documented_nowhere))
      line.values.push_back(error);
  return line;
}

#endif

}  // namespace

#ifdef __CUDACC__
/// The operations that -use_fast_math changes, compiled with it.
std::vector<row> with_fast_math(const gpu_clock& clock, const setting& how);
#endif

}  // namespace onefold::perf::memory
