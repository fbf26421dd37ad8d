/// @file instructions.cu  What an operation costs: additions beside divisions, shifts and masks, and functions beside their fast
/// twins.
///
/// The lecture: additions, shifts and float multiplications take 4 clocks per warp (of 8 processors); an integer product takes
/// more, and __mul24 takes 4; division and modulo are "more expensive", and "foo % n == foo & (n - 1) if n is a power of 2"; __sinf
/// is one instruction where sinf is many, and -use_fast_math turns every sinf into __sinf.
///
/// The GPU is full of threads, each with several chains of one operation (instructions.cuh has the kernel), so that only throughput
/// counts. "Clocks per warp" are those of a whole multiprocessor for the 32 operations of a warp: the lecture's 4. They are counted
/// by the multiprocessors themselves, so that the clock rate of the moment does not matter; operations per second depend on it.
///
/// To see: an integer product is as fast as other instructions, and __umul24 and __mul24 no faster than it, since the hardware has
/// lost its 24-bit multiplier. A division by what only the run knows is still many instructions. The fast functions are fast, and
/// the last columns say what they cost in accuracy: the error against double on the host, in units in the last place.

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "instructions.cuh"
#include "study.hpp"

namespace onefold::perf::memory {

extern const study instructions;

namespace {

constexpr int cpu_chains = 8;
constexpr int cpu_rounds = 1024;

/// x, of which the compiler no longer knows where it comes from. By value: an element of an array would stay in memory.
template <class T>
T hidden(T x) {
  if constexpr (std::is_integral_v<T>) asm volatile("" : "+r"(x));  // of a function of the C library it knows too little anyway
  return x;
}

template <class Operation>
void run_chains_on_cpu(std::array<typename Operation::type, cpu_chains>& chains, typename Operation::type n, int rounds) {
  auto x = chains;  // and one expression for each, so that they are kept in registers
  const auto step = [&x, n ]<std::size_t... Chain>(std::index_sequence<Chain...>) {
    ((x[Chain] = hidden(Operation::apply(x[Chain], n))), ...);
  };
  for (int round = 0; round < rounds; ++round) step(std::make_index_sequence<cpu_chains>{});
  chains = x;
}

/// Checks one operation and times it on one core, in eight chains of scalar operations.
template <class Operation>
row time_on_core(const setting& how) {
  using type = typename Operation::type;
  const type n = hidden<type>(Operation::argument);
  const auto begin = [] {
    std::array<type, cpu_chains> x;
    for (int chain = 0; chain < cpu_chains; ++chain)
      x[static_cast<std::size_t>(chain)] =
          std::is_floating_point_v<type> ? type(1) + type(chain) / 16 : type(1000003) * type(1000 + chain);
    return x;
  };
  for (const int rounds : {1, 5}) {
    std::array<type, cpu_chains> found = begin();
    run_chains_on_cpu<Operation>(found, n, rounds);
    std::array<type, cpu_chains> expected = begin();
    for (int chain = 0; chain < cpu_chains; ++chain) {
      type& x = expected[static_cast<std::size_t>(chain)];
      for (int k = 0; k < rounds; ++k) x = Operation::expected(x);
      const type got = found[static_cast<std::size_t>(chain)];
      const bool right = std::is_floating_point_v<type> ? std::fabs(double(got) - double(x)) <= 1e-6 : got == x;
      if (!right)
        throw std::runtime_error(std::string(Operation::name) + " is wrong on the CPU: " + std::to_string(got) + " where " +
                                 std::to_string(x) + " is expected");
    }
  }
  row line{Operation::name, {}, 0, std::uint64_t{cpu_chains} * cpu_rounds, {}};
  std::array<type, cpu_chains> x = begin();
  line.time = time_on_cpu([&](std::size_t) { run_chains_on_cpu<Operation>(x, n, cpu_rounds); }, how.repeats);
  line.values = {{"each", line.time.median() / static_cast<double>(line.operations) * 1e9, "ns"}};
  return line;
}

std::vector<row> run_on_cpu(const setting& how) {
  return {
      time_on_core<add>(how),         time_on_core<multiply>(how),
      time_on_core<multiply_64>(how), time_on_core<shift>(how),
      time_on_core<divide_16>(how),   time_on_core<divide_signed_16>(how),
      time_on_core<divide_10>(how),   time_on_core<divide_n>(how),
      time_on_core<divide_by_x>(how), time_on_core<divide_by_x_64>(how),
      time_on_core<mask>(how),        time_on_core<modulo_16>(how),
      time_on_core<modulo_n>(how),    time_on_core<sine>(how),
  };
}

#ifdef __CUDACC__

// Functions of the device alone.
#define ONEFOLD_DEVICE_OPERATION(name, text, type, n, shape, operation, by_other_means) \
  ONEFOLD_OPERATION_ON(__device__, name, text, type, n, shape, operation, by_other_means)

/// The lowest 24 bits, with their sign.
constexpr i32 low_24(i32 x) {
  const u32 bits = static_cast<u32>(x) & 0xffffff;
  return static_cast<i32>(bits) - (bits < 0x800000 ? 0 : 0x1000000);
}
constexpr i32 school_product_24(i32 a, i32 b) {
  return static_cast<i32>(school_product(static_cast<u32>(low_24(a)), static_cast<u32>(low_24(b))));
}

// clang-format off
ONEFOLD_DEVICE_OPERATION(multiply_24,        "__umul24(x, n)", u32, 1664525u, deep, __umul24(x, n), school_product(x & 0xffffff, n))
ONEFOLD_DEVICE_OPERATION(multiply_24_signed, "__mul24(x, n)",  i32, 1664525,  deep, __mul24(x, n),  school_product_24(x, n))

// One step in a turn of the loop: min(min(x, n), n) is min(x, n).
ONEFOLD_DEVICE_OPERATION(least,          "min(x, n)",    i32,   500'000'003, wide, min(x, n),   x < n ? x : n)
ONEFOLD_DEVICE_OPERATION(greatest,       "max(x, n)",    i32,   500'000'003, wide, max(x, n),   x > n ? x : n)
ONEFOLD_DEVICE_OPERATION(least_float,    "fminf(x, n)",  float, 1.5f,        wide, fminf(x, n), x < n ? x : n)
ONEFOLD_DEVICE_OPERATION(greatest_float, "fmaxf(x, n)",  float, 1.5f,        wide, fmaxf(x, n), x > n ? x : n)

ONEFOLD_DEVICE_OPERATION(add_float,      "x + n, float",         float,  0.5f,       deep, x + n,         double(x) + n)
ONEFOLD_DEVICE_OPERATION(multiply_float, "x * n, float",         float,  1.0000001f, deep, x * n,         double(x) * n)
ONEFOLD_DEVICE_OPERATION(fma_float,      "fmaf(x, n, n)",        float,  0.5f,       deep, fmaf(x, n, n), double(x) * n + n)
ONEFOLD_DEVICE_OPERATION(add_double,     "x + n, double",        double, 0.5,        deep, x + n,         std::fma(1.0, x, n))
ONEFOLD_DEVICE_OPERATION(fma_double,     "fma(x, n, n), double", double, 0.5,        deep, fma(x, n, n),  std::fma(x, n, n))

ONEFOLD_DEVICE_OPERATION(fast_divide,      "__fdividef(n, x)", float, 3,     middle, __fdividef(n, x), double(n) / x)
ONEFOLD_DEVICE_OPERATION(fast_sine,        "__sinf(x)",        float, 0,     middle, __sinf(x),        std::sin(double(x)))
ONEFOLD_DEVICE_OPERATION(fast_exponential, "__expf(-x)",       float, 0,     middle, __expf(-x),       std::exp(-double(x)))
ONEFOLD_DEVICE_OPERATION(fast_power,       "__powf(x, n)",     float, -1.0f, middle, __powf(x, n),     std::pow(double(x), double(n)))
ONEFOLD_APPROXIMATE(fast_divide,       0.01,  100,  n / x,           2)
ONEFOLD_APPROXIMATE(fast_sine,         -pi,   pi,   std::sin(x),     documented_nowhere)
ONEFOLD_APPROXIMATE(fast_exponential,  -10,   10,   std::exp(-x),    2 + 1.173 * 10)
ONEFOLD_APPROXIMATE(fast_power,        0.01,  100,  std::pow(x, n),  documented_nowhere)
// clang-format on

template <class... Operations>
void add_rows(std::vector<row>& rows, const gpu_clock& clock, const setting& how) {
  (rows.push_back(time_operation<Operations>(clock, how)), ...);
}

std::vector<row> run_on_gpu(const gpu_clock& clock, const setting& how) {
  std::vector<row> rows;
  add_rows<add, multiply, multiply_24, multiply_24_signed, add_64, multiply_64>(rows, clock, how);
  add_rows<least, greatest, least_float, greatest_float>(rows, clock, how);
  add_rows<shift, divide_16, divide_signed_16, divide_10, divide_n, divide_by_x, divide_by_x_64>(rows, clock, how);
  add_rows<mask, modulo_16, modulo_n>(rows, clock, how);
  add_rows<add_float, multiply_float, fma_float, add_double, fma_double>(rows, clock, how);
  add_rows<divide_float, fast_divide, square_root, sine, fast_sine, exponential, fast_exponential, power, fast_power>(rows, clock,
                                                                                                                      how);
  for (const row& line : with_fast_math(clock, how)) rows.push_back(line);
  return rows;
}

#endif

}  // namespace

const study instructions = {
    .name = "instructions",
    .title = "What does an operation cost?",
    .lecture =
        "Add, shift, min, max and float mad: 4 clocks per warp on a multiprocessor with 8 processors. A 32-bit integer product "
        "takes several times that, __mul24 takes 4. Division and modulo are \"more expensive\"; foo % n == foo & (n - 1) if n is "
        "a power of 2. __sinf is one instruction, sinf many, within 5 ulp.",
    .lesson =
        "Sums, products, minima, shifts and masks of 32 bits cost an instruction each. The advice to multiply in 24 bits is out "
        "of date: where the hardware has no 24-bit multiplier it buys nothing, and costs a mask, or two shifts with a sign. A "
        "division by a constant is a shift, "
        "or a product and a shift. One by a number that only the run knows is many instructions on the GPU, and several times "
        "that in 64 bits: where it is known to be a power of two, saying so with a mask still pays, on the CPU too. The fast "
        "functions are faster, some little and some several times, and their error is in the table: small in the middle, without "
        "any bound in ulp where the result comes near 0. None of this decides how fast a reduction is, as long as its index "
        "arithmetic has no division: memory does.",
#ifdef __CUDACC__
    .on_gpu = run_on_gpu,
#endif
    .on_cpu = run_on_cpu,
};

}  // namespace onefold::perf::memory
