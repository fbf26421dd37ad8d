/// @file occupancy.cu  How many warps a multiprocessor holds, and what that is worth to a kernel that waits for memory.
///
/// The kernel sums floats that are in no cache. Each thread has some loads of 16 bytes on their way at a time, and as many blocks are started
/// as the multiprocessors hold. What limits them is, in turn, the block's size, its shared memory, its registers.
///
///     bytes on their way = warps held x 32 x loads of each thread x 16      the memory wants enough of these, and does not ask
///                                                                            whether many threads or many loads make them
///
/// "Achieved" is measured by the program in a run of its own, which is not timed: each warp adds up its multiprocessor's cycles from its first
/// instruction to its last; their sum over the cycles from the multiprocessor's first warp to its last is the mean number of warps held.
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

// Of one multiprocessor, on its own clock.
struct presence {
  unsigned long long held;   // cycles of all its warps
  unsigned long long first;  // cycle
  unsigned long long last;   // cycle
};

__device__ unsigned multiprocessor() {
  unsigned number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

// Sums of small whole numbers: exact in a float for a thread, and in the total for all.
template <int Depth, bool Watched>
__device__ void sum_floats(const float4* in, std::uint64_t count, unsigned long long* sums, presence* watched) {
  const auto begin = static_cast<unsigned long long>(clock64());
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  float sum = 0;
  std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (Depth - 1) * threads < count; i += Depth * threads) {
    float4 loaded[Depth];
#pragma unroll
    for (int k = 0; k < Depth; ++k) loaded[k] = __ldcs(in + i + k * threads);
#pragma unroll
    for (int k = 0; k < Depth; ++k) sum += (loaded[k].x + loaded[k].y) + (loaded[k].z + loaded[k].w);
  }
  for (; i < count; i += threads) {
    const float4 one = __ldcs(in + i);
    sum += (one.x + one.y) + (one.z + one.w);
  }
  auto whole = static_cast<unsigned long long>(sum);
  for (unsigned distance = warp / 2; distance > 0; distance /= 2) whole += __shfl_down_sync(0xffffffffu, whole, distance);
  if (threadIdx.x % warp != 0) return;
  sums[(std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp] = whole;
  if constexpr (Watched) {
    presence& mine = watched[multiprocessor()];
    const auto end = static_cast<unsigned long long>(clock64());
    atomicAdd(&mine.held, end - begin);
    atomicMin(&mine.first, begin);
    atomicMax(&mine.last, end);
  }
}

// Blocks of at most MostThreads of which a multiprocessor shall hold Blocks: that bounds the registers.
template <int Depth, int MostThreads, int Blocks, bool Watched>
__global__ void __launch_bounds__(MostThreads, Blocks)
    sum_kernel(const float4* in, std::uint64_t count, unsigned long long* sums, presence* watched) {
  sum_floats<Depth, Watched>(in, count, sums, watched);
}

using kernel = void (*)(const float4*, std::uint64_t, unsigned long long*, presence*);

struct configuration {
  std::string name;
  unsigned block;
  int depth;
  kernel timed;
  kernel watched;
  unsigned shared_bytes = 0;  // asked for and not used: it limits the blocks that a multiprocessor holds
};

template <int Depth, int MostThreads, int Blocks>
configuration configure(std::string name, unsigned block, unsigned shared_bytes = 0) {
  return {
      std::move(name), block, Depth, sum_kernel<Depth, MostThreads, Blocks, false>, sum_kernel<Depth, MostThreads, Blocks, true>,
      shared_bytes};
}

// Multiprocessors are numbered from 0, but on a part of a GPU not without gaps.
constexpr unsigned most_multiprocessors = 1024;

double achieved(const gpu_clock& clock, const configuration& one, unsigned blocks, const float4* in, std::uint64_t count,
                unsigned long long* sums, int most_warps) {
  const device_array<presence> watched(most_multiprocessors);
  const std::vector<presence> nothing(most_multiprocessors, {0, ~0ull, 0});
  presence all{0, 0, 0};
  for (int run = 0; run < 2; ++run) {  // the first fetches the code
    copy_in<presence>(clock, watched.data(), nothing);
    one.watched<<<blocks, one.block, one.shared_bytes, stream_of(clock)>>>(in, count, sums, watched.data());
    check_launch("sum_kernel");
  }
  for (const presence& of : copy_out(clock, watched.data(), watched.count())) {
    if (of.held == 0) continue;
    all.held += of.held;
    all.last += of.last - of.first;
  }
  if (all.last == 0) throw std::runtime_error(one.name + ": no warp was seen");
  return static_cast<double>(all.held) / static_cast<double>(all.last) / most_warps * 100;
}

// Shared memory of a block so that a multiprocessor holds `blocks` of them.
unsigned shared_for(const gpu_clock& clock, int blocks) {
  const int all = attribute(clock, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const int reserved = attribute(clock, cudaDevAttrReservedSharedMemoryPerBlock);
  const int most = attribute(clock, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return static_cast<unsigned>(std::clamp((all / blocks - reserved) / 128 * 128, 0, most));
}

std::vector<configuration> configurations(const gpu_clock& clock, int most_warps) {
  std::vector<configuration> all;
  for (const unsigned block : {32u, 64u, 128u, 192u, 256u, 512u, 768u, 1024u})
    all.push_back(configure<2, 1024, 1>("blocks of " + std::to_string(block), block));
  const int most_blocks = most_warps * static_cast<int>(warp) / 256;
  for (int blocks = 1; blocks <= most_blocks; blocks *= 2)
    all.push_back(
        configure<2, 256, 1>("shared memory for " + std::to_string(blocks) + " blocks of 256", 256, shared_for(clock, blocks)));
  // The same loop, which wants 64 registers for its loads alone: with fewer, loads wait for registers, or values go out to memory.
  all.push_back(configure<16, 256, 1>("registers as it likes, 16 loads", 256));
  all.push_back(configure<16, 256, 3>("registers for 3 blocks of 256, 16 loads", 256));
  all.push_back(configure<16, 256, 4>("registers for 4 blocks of 256, 16 loads", 256));
  all.push_back(configure<16, 256, 8>("registers for 8 blocks of 256, 16 loads", 256));
  const int quarter = std::max(1, most_blocks / 4);
  const unsigned shared_of_quarter = shared_for(clock, quarter);
  all.push_back(configure<1, 256, 1>("a quarter held, 1 load on its way", 256, shared_of_quarter));
  all.push_back(configure<2, 256, 1>("a quarter held, 2 loads on their way", 256, shared_of_quarter));
  all.push_back(configure<4, 256, 1>("a quarter held, 4 loads on their way", 256, shared_of_quarter));
  all.push_back(configure<8, 256, 1>("a quarter held, 8 loads on their way", 256, shared_of_quarter));
  return all;
}

__global__ void fill(float* data, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    data[i] = static_cast<float>(i % 5);
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  const std::uint64_t floats = how.small ? (1 << 16) + 4 : (std::uint64_t{1} << 26) + 4;
  const std::uint64_t count = floats / 4;
  const int most_warps = attribute(clock, cudaDevAttrMaxThreadsPerMultiProcessor) / static_cast<int>(warp);
  const std::uint64_t arrays = std::max<std::uint64_t>(cold_bytes(clock, how) / (floats * sizeof(float)), 1);
  const rotating_arrays<float> in(clock, floats, arrays);
  // One for each warp: adding them up in one place would be a queue as long as some of the sums.
  const device_array<unsigned long long> sums(std::uint64_t{static_cast<unsigned>(clock.multiprocessors())} *
                                              static_cast<unsigned>(most_warps));
  for (std::uint64_t k = 0; k < arrays; ++k) {
    fill<<<static_cast<unsigned>(clock.multiprocessors()) * 4, 512, 0, stream_of(clock)>>>(in[k], floats);
    check_launch("fill");
  }
  // Of five floats in turn the sum is 10; what is left over begins with 0 again.
  const std::uint64_t left = floats % 5;
  const unsigned long long expected = floats / 5 * 10 + left * (left - 1) / 2;

  std::vector<row> rows;
  for (const configuration& one : configurations(clock, most_warps)) {
    for (const kernel variant : {one.timed, one.watched}) {
      check(cudaFuncSetAttribute(variant, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(one.shared_bytes)),
            "cudaFuncSetAttribute");
      if (one.shared_bytes > 0)  // all that can be shared memory is, so that as many blocks fit as is counted below
        check(cudaFuncSetAttribute(variant, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
              "cudaFuncSetAttribute");
    }
    int held = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, one.timed, static_cast<int>(one.block), one.shared_bytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (held == 0) throw std::runtime_error(one.name + ": no block fits on a multiprocessor");
    cudaFuncAttributes code{};
    check(cudaFuncGetAttributes(&code, one.timed), "cudaFuncGetAttributes");
    const unsigned blocks = static_cast<unsigned>(held * clock.multiprocessors());
    const auto work = [&](std::size_t turn) {
      one.timed<<<blocks, one.block, one.shared_bytes, stream_of(clock)>>>(reinterpret_cast<const float4*>(in[turn]), count,
                                                                           sums.data(), nullptr);
      check_launch("sum_kernel");
    };
    work(0);
    const std::vector<unsigned long long> of_warps = copy_out(clock, sums.data(), std::uint64_t{blocks} * one.block / warp);
    const unsigned long long total[] = {std::accumulate(of_warps.begin(), of_warps.end(), 0ull)};
    verify<unsigned long long>(one.name, total, [&](std::size_t) { return expected; });
    row line{.name = one.name, .time = clock.in_stream(work, how.repeats), .bytes = floats * sizeof(float)};
    const double warps = static_cast<double>(held) * one.block / warp;
    line.values = {{"registers", static_cast<double>(code.numRegs), ""},
                   {"theoretical occupancy", warps / most_warps * 100, "%"},
                   {"achieved occupancy",
                    achieved(clock, one, blocks, reinterpret_cast<const float4*>(in[1]), count, sums.data(), most_warps), "%"},
                   {"on their way per multiprocessor", warps * warp * one.depth * sizeof(float4) / 1024, "KiB"}};
    rows.push_back(std::move(line));
  }
  return rows;
}

#endif

}  // namespace

extern const study occupancy;
const study occupancy{
    .name = "occupancy",
    .title = "warps held by a multiprocessor, and the memory speed that they reach",
    .lecture =
        "Occupancy is the number of warps held over the most that can be held, limited by registers and shared memory. At least 64 "
        "threads per "
        "block, 192 or 256 are better; and: occupancy != performance.",
    .lesson =
        "What the memory needs is bytes on their way, and the last column says how many the source asks for. With two loads per "
        "thread that means many warps, so the rows with the fewest are slow, as the lecture says of kernels that wait for memory. "
        "The last four rows hold a quarter of the warps and differ only in the loads that each thread has on its way: a few more "
        "loads do what more warps would. Loads on their way are kept in registers, so that many loads and many warps exclude each "
        "other; the rows with 16 loads say what that costs, if anything. Blocks of one warp have a limit of their own: a "
        "multiprocessor holds only so many blocks.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
