/// @file blocks.cu  How many blocks, of how many threads.
///
/// The lecture wants more blocks than multiprocessors, more than two for each, more than 100, and 1000 for the GPUs to come; at
/// least 64 threads in a block, and that only if several blocks are held at once, better 192 or 256, a multiple of the warp. Seed 000
/// starts n / log n threads, as Brent's theorem has it, or <<<96, 512>>>, and seed 004 asks for a sensible number of blocks and does
/// not say which.
///
/// One kernel answers all of that: the sum of floats that are in no cache, in a loop whose stride is the grid, as in seed 000. What
/// changes is the grid.
///
///     block      0 1 2 0 1 2 0 1 2 ..           3 blocks: each comes round again and again
///     block      0 1 2 3 4 5 6 7 8 ..           n threads: each has one float, and the next block takes a place that has come free
///
/// "Waves" are the blocks over those that the multiprocessors hold at once: 1 fills them, 1.01 is a second round for nearly none.
///
/// Threads that are no multiple of 32 leave lanes of their last warp empty, which a kernel that waits for memory may not feel. So
/// the same is asked of one with 128 multiply-adds for each float. And a launch may fail: a kernel whose threads need more registers
/// than there are for 1024 of them is started with 1024, and the error is checked. Held to 1024 threads by __launch_bounds__, the
/// same kernel can be started, and puts into memory what the registers do not hold.
#include "study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;
constexpr unsigned most_threads = 1024;
constexpr unsigned of_seed = 512;  // threads of a block, in seed 000
constexpr unsigned at_a_time = 4;  // loads of a thread
constexpr unsigned multiply_adds = 128;

// --- one sum, many shapes ------------------------------------------------------------------------------------------------------------

// The sum of the `lanes` first lanes of a warp, in lane 0. There may be no others.
__device__ unsigned sum_of_lanes(unsigned value, unsigned lanes) {
  const unsigned mask = lanes == warp ? 0xffffffffu : (1u << lanes) - 1;
  const unsigned lane = threadIdx.x % warp;
  for (unsigned distance = warp / 2; distance > 0; distance /= 2) {
    const unsigned other = __shfl_down_sync(mask, value, distance);
    if (lane + distance < lanes) value += other;
  }
  return value;
}

// Small whole numbers: exact in a float for a thread, and in 32 bits for all. A thread's loads are on their way four at a time: the
// compiler does not do that by itself, since it does not know how many there are.
template <unsigned MultiplyAdds>
__global__ void __launch_bounds__(most_threads)
    sum_kernel(const float* in, std::uint64_t count, float factor, float added, unsigned* sums) {
  __shared__ unsigned of_warps[warp];
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  float sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += at_a_time * threads) {
    float x[at_a_time];
#pragma unroll
    for (unsigned k = 0; k < at_a_time; ++k) x[k] = i + k * threads < count ? __ldcs(in + i + k * threads) : 0;
    if constexpr (MultiplyAdds > 0) {
#pragma unroll
      for (unsigned m = 0; m < MultiplyAdds; ++m)
#pragma unroll
        for (unsigned k = 0; k < at_a_time; ++k) x[k] = fmaf(x[k], factor, added);
#pragma unroll
      for (unsigned k = 0; k < at_a_time; ++k) x[k] = i + k * threads < count ? x[k] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < at_a_time; ++k) sum += x[k];
  }
  const unsigned first = threadIdx.x / warp * warp;
  const unsigned of_warp = sum_of_lanes(static_cast<unsigned>(sum), min(warp, blockDim.x - first));
  if (threadIdx.x == first) of_warps[first / warp] = of_warp;
  __syncthreads();
  if (first > 0) return;
  const unsigned warps = (blockDim.x + warp - 1) / warp;
  const unsigned of_block = sum_of_lanes(threadIdx.x < warps ? of_warps[threadIdx.x] : 0, min(warp, blockDim.x));
  if (threadIdx.x == 0) sums[blockIdx.x] = of_block;
}

__global__ void fill(float* data, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    data[i] = static_cast<float>(i % 5);
}

struct shape {
  std::string name;
  unsigned blocks;
  unsigned threads;
};

// Arrays of so many floats, which rotate so that none is found in a cache.
class arrays {
 public:
  arrays(const gpu_clock& clock, const setting& how, std::uint64_t count)
      : clock_(clock),
        count_(count),
        in_(clock, count, std::max<std::uint64_t>(cold_bytes(clock, how) / (count * sizeof(float)), 1)) {
    for (std::uint64_t k = 0; k < in_.slots(); ++k) {
      fill<<<static_cast<unsigned>(clock.multiprocessors()) * 4, 512, 0, stream_of(clock)>>>(in_[k], count);
      check_launch("fill");
    }
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

  // Blocks of `threads` that all multiprocessors hold.
  template <unsigned MultiplyAdds>
  [[nodiscard]] unsigned held(unsigned threads) const {
    int of_one = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, sum_kernel<MultiplyAdds>, static_cast<int>(threads), 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (of_one == 0) throw std::runtime_error("no block of " + std::to_string(threads) + " threads fits on a multiprocessor");
    return static_cast<unsigned>(of_one * clock_.multiprocessors());
  }

  template <unsigned MultiplyAdds = 0>
  [[nodiscard]] row time(const setting& how, const shape& of) const {
    const device_array<unsigned> sums(of.blocks);
    const auto work = [&](std::size_t turn) {
      sum_kernel<MultiplyAdds><<<of.blocks, of.threads, 0, stream_of(clock_)>>>(in_[turn], count_, 1, 1, sums.data());
      check_launch("sum_kernel");
    };
    work(0);
    const std::vector<unsigned> of_blocks = copy_out(clock_, sums.data(), of.blocks);
    const std::uint64_t total[] = {std::accumulate(of_blocks.begin(), of_blocks.end(), std::uint64_t{0})};
    // Of five floats in turn the sum is 10; what is left over begins with 0 again. Each multiply-add here adds 1.
    const std::uint64_t left = count_ % 5;
    const std::uint64_t expected = count_ / 5 * 10 + left * (left - 1) / 2 + count_ * MultiplyAdds;
    verify<std::uint64_t>(of.name, total, [&](std::size_t) { return expected; });
    row line{.name = of.name,
             .time = clock_.in_stream(work, how.repeats),
             .bytes = count_ * sizeof(float),
             .operations = 2 * count_ * MultiplyAdds};
    line.values = {{"blocks", static_cast<double>(of.blocks), ""},
                   {"waves", of.blocks / static_cast<double>(held<MultiplyAdds>(of.threads)), ""}};
    return line;
  }

 private:
  const gpu_clock& clock_;
  std::uint64_t count_;
  rotating_arrays<float> in_;
};

void add_relative_speeds(std::vector<row>& rows, std::size_t first, const std::string& to, const std::string& heading) {
  const auto base = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                 [&](const row& one) { return one.name.ends_with(to); });
  if (base == rows.end()) throw std::runtime_error("no row is named " + to);
  const double seconds = base->time.median();
  for (std::size_t i = first; i < rows.size(); ++i) rows[i].values.push_back({heading, seconds / rows[i].time.median() * 100, "%"});
}

// Grids of seed 000's blocks.
void add_grids(std::vector<row>& rows, const gpu_clock& clock, const setting& how, const std::string& size, const arrays& in) {
  const auto multiprocessors = static_cast<unsigned>(clock.multiprocessors());
  const auto count = static_cast<double>(in.count());
  const std::string all_held = "all that are held at once";
  const std::pair<std::string, unsigned> grids[] = {
      {"one block", 1},
      {"a quarter of the multiprocessors", multiprocessors / 4},
      {"half of the multiprocessors", multiprocessors / 2},
      {"one for each multiprocessor", multiprocessors},
      {"one more than that", multiprocessors + 1},
      {"two for each multiprocessor", 2 * multiprocessors},
      {"seed 000's 96", 96},
      {"100", 100},
      {all_held, in.held<0>(of_seed)},
      {"1000", 1000},
      {"n / log n threads", static_cast<unsigned>(count / std::log2(count) / of_seed)},
      {"n threads", blocks_for(in.count(), of_seed)},
  };
  const std::size_t first = rows.size();
  for (const auto& [name, blocks] : grids) rows.push_back(in.time(how, {size + ": " + name, std::max(blocks, 1u), of_seed}));
  add_relative_speeds(rows, first, all_held, "of the speed with all that are held");
}

// The fewest threads of a block that the lecture allows, "only if multiple concurrent blocks".
void add_small_blocks(std::vector<row>& rows, const gpu_clock& clock, const setting& how, const arrays& in) {
  constexpr unsigned threads = 64;
  const auto multiprocessors = static_cast<unsigned>(clock.multiprocessors());
  const unsigned all = in.held<0>(threads);
  const std::size_t first = rows.size();
  for (unsigned each = 1; each * multiprocessors < all; each *= 2)
    rows.push_back(
        in.time(how, {"blocks of 64: " + std::to_string(each) + " for each multiprocessor", each * multiprocessors, threads}));
  rows.push_back(in.time(how, {"blocks of 64: all that are held", all, threads}));
  add_relative_speeds(rows, first, "all that are held", "of the speed with all that are held");
}

// As many blocks as are held, for what waits for memory and for what does not.
template <unsigned MultiplyAdds>
void add_sizes_of_blocks(std::vector<row>& rows, const setting& how, const std::string& kind, const arrays& in) {
  const std::size_t first = rows.size();
  for (const unsigned threads : {32u, 33u, 48u, 64u, 65u, 192u, 200u, 250u, 256u}) {
    const unsigned blocks = in.held<MultiplyAdds>(threads);
    rows.push_back(in.time<MultiplyAdds>(how, {kind + ": blocks of " + std::to_string(threads), blocks, threads}));
    const unsigned lanes = (threads + warp - 1) / warp * warp;
    rows.back().values.push_back({"lanes in use", static_cast<double>(threads) / lanes * 100, "%"});
  }
  add_relative_speeds(rows, first, " 256", "of the speed with 256 threads");
}

// --- more registers than there are ---------------------------------------------------------------------------------------------------------

constexpr unsigned kept = 96;  // numbers that a thread cannot do without

__host__ __device__ inline unsigned begin_of(unsigned lane, unsigned k) { return lane * 40503u + k * k + 1; }

// Each number needs its neighbour in each round: all of them are there at the same time.
__device__ void mix_many(unsigned rounds, unsigned factor, unsigned* out) {
  unsigned x[kept];
#pragma unroll
  for (unsigned k = 0; k < kept; ++k) x[k] = begin_of(threadIdx.x % warp, k);
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    const unsigned before = x[0];
#pragma unroll
    for (unsigned k = 0; k + 1 < kept; ++k) x[k] = x[k] * factor + x[k + 1];
    x[kept - 1] = x[kept - 1] * factor + before;
  }
  unsigned sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kept; ++k) sum += x[k];
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

__global__ void as_many_registers_as_it_likes(unsigned rounds, unsigned factor, unsigned* out) { mix_many(rounds, factor, out); }
__global__ void __launch_bounds__(most_threads) registers_for_1024(unsigned rounds, unsigned factor, unsigned* out) {
  mix_many(rounds, factor, out);
}

void add_registers(std::vector<row>& rows, const gpu_clock& clock, const setting& how) {
  constexpr unsigned factor = 1664525u;
  const unsigned rounds = how.small ? 2 : 256;
  const auto blocks = static_cast<unsigned>(clock.multiprocessors());
  const device_array<unsigned> out(std::uint64_t{blocks} * most_threads);
  std::array<unsigned, warp> expected{};
  for (unsigned lane = 0; lane < warp; ++lane) {
    std::array<unsigned, kept> x{};
    for (unsigned k = 0; k < kept; ++k) x[k] = begin_of(lane, k);
    for (unsigned round = 0; round < rounds; ++round) {
      const std::array<unsigned, kept> before = x;
      for (unsigned k = 0; k < kept; ++k) x[k] = before[k] * factor + before[(k + 1) % kept];
    }
    expected[lane] = std::accumulate(x.begin(), x.end(), 0u);
  }
  using kernel = void (*)(unsigned, unsigned, unsigned*);
  const auto code_of = [](kernel one) {
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, one), "cudaFuncGetAttributes");
    return code;
  };
  const auto add = [&](const std::string& name, kernel one, unsigned threads) {
    const auto work = [&](std::size_t) {
      one<<<blocks, threads, 0, stream_of(clock)>>>(rounds, factor, out.data());
      check_launch(name.c_str());
    };
    work(0);
    verify<unsigned>(name, copy_out(clock, out.data(), std::uint64_t{blocks} * threads),
                     [&](std::size_t i) { return expected[i % threads % warp]; });
    rows.push_back({.name = name,
                    .time = clock.in_stream(work, how.repeats),
                    .operations = std::uint64_t{2} * kept * rounds * blocks * threads,
                    .values = {{"registers", static_cast<double>(code_of(one).numRegs), ""},
                               {"threads of a block", static_cast<double>(threads), ""},
                               {"in memory, of a thread", static_cast<double>(code_of(one).localSizeBytes), "bytes"}}});
  };

  const cudaFuncAttributes greedy = code_of(as_many_registers_as_it_likes);
  const auto fitting = static_cast<unsigned>(greedy.maxThreadsPerBlock) / warp * warp;
  const std::string asked = "registers: as many as it likes, 1024 threads, which is refused";
  if (fitting >= most_threads)
    throw std::runtime_error(asked + ": the kernel has only " + std::to_string(greedy.numRegs) + " registers for each thread");
  as_many_registers_as_it_likes<<<blocks, most_threads, 0, stream_of(clock)>>>(rounds, factor, out.data());
  if (const cudaError_t status = cudaGetLastError(); status != cudaErrorLaunchOutOfResources)  // and that clears it
    throw std::runtime_error(asked + ": CUDA says \"" + cudaGetErrorString(status) + "\"");
  check(cudaGetLastError(), "a launch that has failed before");
  wait_for(clock);
  rows.push_back({.name = asked,
                  .time = {},
                  .values = {{"registers", static_cast<double>(greedy.numRegs), ""},
                             {"threads of a block", static_cast<double>(most_threads), ""}}});
  add("registers: as many as it likes, and the threads that fit", as_many_registers_as_it_likes, fitting);
  add("registers: what 1024 threads have, by __launch_bounds__", registers_for_1024, most_threads);
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  std::vector<row> rows;
  {
    const arrays of_seed_000(clock, how, std::uint64_t{3} << (how.small ? 10 : 22));
    add_grids(rows, clock, how, "12M floats", of_seed_000);
    add_sizes_of_blocks<multiply_adds>(rows, how, "128 multiply-adds each", of_seed_000);
  }
  const arrays many(clock, how, std::uint64_t{1} << (how.small ? 14 : 26));
  add_grids(rows, clock, how, "64M floats", many);
  add_small_blocks(rows, clock, how, many);
  add_sizes_of_blocks<0>(rows, how, "memory alone", many);
  add_registers(rows, clock, how);
  return rows;
}

#endif

}  // namespace

extern const study blocks;
const study blocks{
    .name = "blocks",
    .title = "how many blocks, and of how many threads?",
    .lecture =
        "More blocks than multiprocessors, more than 2 for each of them, more than 100 to scale to future devices; 1000 will "
        "scale across several generations. Threads: a multiple of the warp; at least 64, and that only with several blocks at "
        "once; 192 or 256 are better. Kernel invocations can fail if too many registers are used. Seed 000: n / log n threads, "
        "or 96 blocks of 512, for 3 * 2^22 floats. No figures.",
    .lesson =
        "A multiprocessor without a block does nothing, so that with fewer blocks than multiprocessors the speed goes with the "
        "number of blocks. From there on more blocks are more loads on their way, until the memory has enough. The lecture's "
        "100 were many for the GPUs of its time and are fewer than the multiprocessors of a large one today: a number that is "
        "written into a program grows old, and one that is asked for (multiprocessors times the blocks that each holds) does "
        "not. With a thread for each float nobody needs to know the GPU, at the price of many blocks that come and go for "
        "little work. Threads that are no multiple of 32 cost the empty lanes where arithmetic counts, and less where memory "
        "does. A launch with too many registers is refused, and not slow: who does not ask for the error takes a kernel that "
        "has not run for one that has.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
