/// @file intensity.cu  How much arithmetic fits behind the loads, and what may be computed again for that.
///
/// The lecture: "maximize arithmetic intensity (math / bandwidth)", and "sometimes it's better to recompute than to cache: GPU spends
/// its transistors on ALUs, not memory".
///
/// Each float of an array that is in no cache is read once, goes through k multiply-adds, and is added up.
///
///     time   |                     /          the longer of two: what reading takes, and what the multiply-adds take
///            |-------------------*            alone. Left of the bend they cost nothing.
///            |        read      / .
///            +----------------------- k
///
/// Beside each time stands the longer of the two, measured: the array with k = 0, and multiply-adds without any loads.
///
/// Then a sum of x[i] * w[i], whose weights are either read from a table or computed where they are needed, with 4 to 256
/// multiply-adds. The table is as long as the data, or so short that the second or the first level of the caches keeps it.
///
/// Each multiply-add here adds 1, so that every sum is exact and says how many there were. The compiler knows neither factor.
#include "study.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;
constexpr unsigned block = 256;
constexpr unsigned at_a_time = 2;           // loads of 16 bytes on their way for each thread
constexpr unsigned floats = 4 * at_a_time;  // and the chains of multiply-adds behind them
constexpr unsigned unrolled = 16;           // multiply-adds of a chain in a turn of the loop

__device__ void multiply_add(float (&x)[floats], unsigned times, float factor, float added) {
#pragma unroll
  for (unsigned m = 0; m < unrolled; ++m) {
    if (m >= times) break;
#pragma unroll
    for (float& one : x) one = fmaf(one, factor, added);
  }
}

// x through Times multiply-adds, all chains side by side.
template <unsigned Times>
__device__ void work_on(float (&x)[floats], float factor, float added) {
  if constexpr (Times <= unrolled) {
    multiply_add(x, Times, factor, added);
  } else {
    static_assert(Times % unrolled == 0);
#pragma unroll 1
    for (unsigned turn = 0; turn < Times / unrolled; ++turn) multiply_add(x, unrolled, factor, added);
  }
}

// Eighths, so that weights may have them: exact in a float for a thread, and in 64 bits for all. Lane 0 of each warp stores its warp's.
__device__ void store_sum(float sum, unsigned long long* sums) {
  auto eighths = static_cast<unsigned long long>(sum * 8);
  for (unsigned distance = warp / 2; distance > 0; distance /= 2) eighths += __shfl_down_sync(0xffffffffu, eighths, distance);
  if (threadIdx.x % warp == 0) sums[(std::uint64_t{blockIdx.x} * block + threadIdx.x) / warp] = eighths;
}

__device__ void spread(const float4& from, float* to) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
  to[3] = from.w;
}

template <unsigned Times>
__global__ void __launch_bounds__(block)
    read_and_work(const float4* in, std::uint64_t count, float factor, float added, unsigned long long* sums) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block;
  float sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x; i < count; i += at_a_time * threads) {
    const bool both = i + threads < count;
    float x[floats] = {};
    spread(__ldcs(in + i), x);
    if (both) spread(__ldcs(in + i + threads), x + 4);
    work_on<Times>(x, factor, added);
    sum += (x[0] + x[1]) + (x[2] + x[3]);
    if (both) sum += (x[4] + x[5]) + (x[6] + x[7]);
  }
  store_sum(sum, sums);
}

// The same multiply-adds, of numbers that are there already.
__global__ void __launch_bounds__(block) work_alone(unsigned turns, float factor, float added, unsigned long long* sums) {
  float x[floats];
#pragma unroll
  for (unsigned k = 0; k < floats; ++k) x[k] = static_cast<float>((threadIdx.x + k) % 8);
#pragma unroll 1
  for (unsigned turn = 0; turn < turns; ++turn) multiply_add(x, unrolled, factor, added);
  float sum = 0;
#pragma unroll
  for (const float one : x) sum += one;
  store_sum(sum, sums);
}

// The weight of element 4 i + k before any multiply-add: from 1 to 1 and 7 eighths. Cheap, and nothing that stays the same in the loop.
__device__ float weight_of(std::uint64_t i, unsigned k) {
  return __uint_as_float(0x3f800000u | ((static_cast<unsigned>(i) + k) % 8) << 20);
}

// The table is taken from its beginning again behind its end; its length is a power of two, or all.
template <bool FromTable, unsigned Times>
__global__ void __launch_bounds__(block) weigh(const float4* in, std::uint64_t count, const float4* table, std::uint64_t table_mask,
                                               float factor, float added, unsigned long long* sums) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * block;
  float sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x; i < count; i += at_a_time * threads) {
    const bool both = i + threads < count;
    float x[floats] = {};
    float w[floats] = {};
    spread(__ldcs(in + i), x);
    if (both) spread(__ldcs(in + i + threads), x + 4);
    if constexpr (FromTable) {
      spread(__ldg(table + (i & table_mask)), w);
      if (both) spread(__ldg(table + (i + threads & table_mask)), w + 4);
    } else {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        w[k] = weight_of(i, k);
        w[k + 4] = weight_of(i + threads, k);
      }
      work_on<Times>(w, factor, added);
    }
#pragma unroll
    for (unsigned k = 0; k < floats; ++k) sum += x[k] * w[k];  // 0 for what is not there
  }
  store_sum(sum, sums);
}

__global__ void fill(float* data, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    data[i] = static_cast<float>(i % 5);
}

__global__ void fill_table(float* table, std::uint64_t count, unsigned times) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    table[i] = weight_of(i / 4, static_cast<unsigned>(i % 4)) + static_cast<float>(times);
}

// Of `count` floats, in eighths, each with so many multiply-adds: with weights, of the weights.
std::uint64_t sum_expected(std::uint64_t count, unsigned times, bool weights) {
  constexpr std::uint64_t period = 5 * 32;  // of 5 values and 4 * 8 weights
  const auto of = [&](std::uint64_t i) { return weights ? i % 5 * (8 + (i / 4 + i % 4) % 8 + 8 * times) : 8 * (i % 5 + times); };
  std::uint64_t of_period = 0;
  for (std::uint64_t i = 0; i < period; ++i) of_period += of(i);
  std::uint64_t sum = count / period * of_period;
  for (std::uint64_t i = count / period * period; i < count; ++i) sum += of(i);
  return sum;
}

// As many blocks as the multiprocessors hold, and a sum for each of their warps.
class bench {
 public:
  bench(const gpu_clock& clock, const setting& how)
      : clock_(clock),
        how_(how),
        count_(how.small ? (1 << 14) + 4 : (std::uint64_t{1} << 26) + 4),
        in_(clock, count_, std::max<std::uint64_t>(cold_bytes(clock, how) / (count_ * sizeof(float)), 1)),
        sums_(std::uint64_t{static_cast<unsigned>(clock.multiprocessors())} *
              static_cast<unsigned>(attribute(clock, cudaDevAttrMaxThreadsPerMultiProcessor)) / warp) {
    for (std::uint64_t k = 0; k < in_.slots(); ++k) {
      fill<<<static_cast<unsigned>(clock.multiprocessors()) * 4, 512, 0, stream_of(clock)>>>(in_[k], count_);
      check_launch("fill");
    }
  }

  // Reading alone, multiply-adds alone, and both.
  std::vector<row> intensities() {
    std::vector<row> rows{work_without_loads()};
    add_intensities<0, 1, 2, 4, 8, 16, 32, 64, 128, 256>(rows);
    return rows;
  }

  // With a table or without.
  std::vector<row> weights() {
    std::vector<row> rows;
    add_recomputed<4, 16, 64, 256>(rows);
    constexpr unsigned times = 64;  // made with as many as the third of those
    for (const auto& [name, bytes] :
         {std::pair{"as long as the data", count_ * sizeof(float)}, std::pair{"1 MiB", std::uint64_t{1} << (how_.small ? 13 : 20)},
          std::pair{"4 KiB", std::uint64_t{1} << 12}}) {
      const bool whole = bytes == count_ * sizeof(float);
      const rotating_arrays<float> table(clock_, bytes / sizeof(float), whole ? in_.slots() : 1);
      for (std::uint64_t k = 0; k < table.slots(); ++k) {
        fill_table<<<static_cast<unsigned>(clock_.multiprocessors()) * 4, 512, 0, stream_of(clock_)>>>(
            table[k], bytes / sizeof(float), times);
        check_launch("fill_table");
      }
      const std::uint64_t mask = whole ? ~std::uint64_t{0} : bytes / sizeof(float4) - 1;
      rows.push_back(time(std::string("weights: from a table, ") + name, weigh<true, 0>, sum_expected(count_, times, true),
                          [&](auto kernel, unsigned blocks, std::size_t turn) {
                            kernel<<<blocks, block, 0, stream_of(clock_)>>>(reinterpret_cast<const float4*>(in_[turn]), count_ / 4,
                                                                            reinterpret_cast<const float4*>(table[turn]), mask, 1,
                                                                            1, sums_.data());
                          }));
      rows.back().bytes = count_ * sizeof(float) + bytes;
    }
    for (row& line : rows) line.values = {{"times the sum of the data alone", line.time.median() / read_s_, ""}};
    return rows;
  }

 private:
  template <class Kernel, class Launch>
  row time(const std::string& name, Kernel kernel, std::uint64_t expected, const Launch& launch) {
    int held = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, kernel, static_cast<int>(block), 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const auto blocks = static_cast<unsigned>(held * clock_.multiprocessors());
    const auto work = [&](std::size_t turn) {
      launch(kernel, blocks, turn);
      check_launch(name.c_str());
    };
    work(0);
    const std::vector<unsigned long long> of_warps = copy_out(clock_, sums_.data(), std::uint64_t{blocks} * block / warp);
    const std::uint64_t total[] = {std::accumulate(of_warps.begin(), of_warps.end(), std::uint64_t{0})};
    verify<std::uint64_t>(name, total, [&](std::size_t) { return expected; });
    return {.name = name, .time = clock_.in_stream(work, how_.repeats)};
  }

  row work_without_loads() {
    const unsigned turns = how_.small ? 4 : 1 << 12;
    int held = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, work_alone, static_cast<int>(block), 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    const auto threads = static_cast<std::uint64_t>(held * clock_.multiprocessors()) * block;
    // The numbers of a thread are 0 to 7, in some order.
    row line = time("multiply-adds: without loads", work_alone, threads * 8 * (28 + std::uint64_t{floats} * turns * unrolled),
                    [&](auto kernel, unsigned blocks, std::size_t) {
                      kernel<<<blocks, block, 0, stream_of(clock_)>>>(turns, 1, 1, sums_.data());
                    });
    line.operations = 2 * threads * floats * turns * unrolled;
    multiply_adds_per_s_ = static_cast<double>(line.operations) / 2 / line.time.median();
    return line;
  }

  template <unsigned... Times>
  void add_intensities(std::vector<row>& rows) {
    (rows.push_back(intensity<Times>()), ...);
  }

  template <unsigned Times>
  row intensity() {
    row line = time("multiply-adds: " + std::to_string(Times) + " for each float", read_and_work<Times>,
                    sum_expected(count_, Times, false), [&](auto kernel, unsigned blocks, std::size_t turn) {
                      kernel<<<blocks, block, 0, stream_of(clock_)>>>(reinterpret_cast<const float4*>(in_[turn]), count_ / 4, 1, 1,
                                                                      sums_.data());
                    });
    line.bytes = count_ * sizeof(float);
    line.operations = 2 * count_ * Times;
    const double seconds = line.time.median();
    if (Times == 0) read_s_ = seconds;
    const double arithmetic_s = static_cast<double>(count_) * Times / multiply_adds_per_s_;
    line.values = {{"operations per byte", 2 * Times / static_cast<double>(sizeof(float)), ""},
                   {"of the speed of reading alone", read_s_ / seconds * 100, "%"},
                   {"of the speed without loads", arithmetic_s / seconds * 100, "%"},
                   {"times the longer of the two", seconds / std::max(read_s_, arithmetic_s), ""}};
    return line;
  }

  template <unsigned... Times>
  void add_recomputed(std::vector<row>& rows) {
    (rows.push_back(recomputed<Times>()), ...);
  }

  template <unsigned Times>
  row recomputed() {
    row line = time("weights: computed, " + std::to_string(Times) + " multiply-adds", weigh<false, Times>,
                    sum_expected(count_, Times, true), [&](auto kernel, unsigned blocks, std::size_t turn) {
                      kernel<<<blocks, block, 0, stream_of(clock_)>>>(reinterpret_cast<const float4*>(in_[turn]), count_ / 4,
                                                                      nullptr, std::uint64_t{0}, 1, 1, sums_.data());
                    });
    line.bytes = count_ * sizeof(float);
    return line;
  }

  const gpu_clock& clock_;
  setting how_;
  std::uint64_t count_;
  rotating_arrays<float> in_;
  device_array<unsigned long long> sums_;
  double multiply_adds_per_s_ = 1;
  double read_s_ = 1;
};

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  bench one(clock, how);
  std::vector<row> rows = one.intensities();
  for (row& line : one.weights()) rows.push_back(std::move(line));
  return rows;
}

#endif

}  // namespace

extern const study intensity;
const study intensity{
    .name = "intensity",
    .title = "how much arithmetic fits behind the loads, and is it better to compute a value again or to read it from a table?",
    .lecture =
        "Maximize arithmetic intensity (math / bandwidth). Sometimes it's better to recompute than to cache: the GPU spends "
        "its transistors on ALUs, not memory. No figures.",
    .lesson =
        "The time is little more than the longer of the two, reading and arithmetic, where there are warps enough to do the "
        "one while others wait for the other. A sum has a quarter of an operation for each byte that it reads, and a GPU of "
        "today can do tens of them in that time: what is done to an element on its way into a reduction costs next to nothing "
        "until it is many operations, and the sum itself is as fast as the memory. The same room is what computing again has. "
        "A table as long as the data doubles what is read, and what can be computed in some tens of operations is cheaper "
        "than that; a table that a cache keeps costs no more than computing.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
