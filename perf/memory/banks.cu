/// @file banks.cu  Shared memory is 32 banks: which words of a warp meet in one.
///
///     word     0  1  2  3 ... 31 | 32 33 ...          bank = word mod 32
///     stride 1 every lane a bank of its own           one cycle for the warp
///     stride 2 lanes 0 and 16 meet, 1 and 17, ...     two words in each of 16 banks: two cycles
///     stride s gcd(s, 32) words in each bank that is used: an odd stride never meets
///     same     all lanes read one word                it is read once and handed to all: no conflict
///     permuted lane l reads word 5 l + 3 mod 32       every bank once, in another order
///
/// Words of 8 bytes take two banks each; the warp is served in two halves. "ways" is counted here, lane by lane, from that rule; beside it
/// stands what was measured, with 32 warps that keep the memory busy (throughput), and with one warp in which each load waits for the one
/// before (latency).
#include "study.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;
constexpr unsigned banks_of_memory = 32;
constexpr unsigned bank_bytes = 4;
constexpr unsigned widest_stride = 33;
constexpr unsigned words = warp * widest_stride + 1;
constexpr unsigned busy_threads = 1024;
constexpr unsigned unrolled = 8;  // loads in a turn of the loop, whose own instructions then hide behind them

// Lane l reads word l * stride; stride 0 is the broadcast. 5 is odd, so that 5 l + 3 meets each word of a row once.
constexpr unsigned permuted = widest_stride + 1;
__host__ __device__ inline unsigned word_of(unsigned lane, unsigned stride) {
  return stride == permuted ? (5 * lane + 3) % warp : lane * stride;
}

// Cycles that the banks need for one load of a warp, by the rule above.
template <class Word>
unsigned ways(unsigned stride) {
  constexpr unsigned pieces = sizeof(Word) / bank_bytes;
  constexpr unsigned served_together = warp / pieces;
  unsigned cycles = 0;
  for (unsigned first = 0; first < warp; first += served_together) {
    std::vector<std::set<std::uint64_t>> met(banks_of_memory);
    for (unsigned lane = first; lane < first + served_together; ++lane)
      for (unsigned piece = 0; piece < pieces; ++piece) {
        const std::uint64_t at = std::uint64_t{word_of(lane, stride)} * pieces + piece;
        met[at % banks_of_memory].insert(at);
      }
    cycles += static_cast<unsigned>(std::ranges::max(met, {}, [](const auto& one) { return one.size(); }).size());
  }
  return cycles;
}

// A load that no compiler merges with another: asm volatile keeps one from doing so, ld.volatile the other (ptxas).
__device__ unsigned load(unsigned address, unsigned) {
  unsigned word;
  asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}
__device__ std::uint64_t load(unsigned address, std::uint64_t) {
  std::uint64_t word;
  asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(word) : "r"(address));
  return word;
}

// The block's cycles go to cycles[block], each thread's sum of what it has read to sums.
template <class Word>
__global__ void __launch_bounds__(busy_threads) throughput(unsigned stride, unsigned turns, Word* sums, std::uint64_t* cycles) {
  __shared__ Word memory[words];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) memory[i] = 2 * i + 1;
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(memory + word_of(threadIdx.x % warp, stride)));
  Word sum = 0;
  __syncthreads();
  const long long begin = clock64();
  for (unsigned turn = 0; turn < turns; ++turn) {
    Word seen[unrolled];
#pragma unroll
    for (unsigned k = 0; k < unrolled; ++k) seen[k] = load(address, Word{});
#pragma unroll
    for (unsigned k = 0; k < unrolled; ++k) sum += seen[k];
  }
  __syncthreads();
  const long long end = clock64();
  sums[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
  if (threadIdx.x == 0) cycles[blockIdx.x] = static_cast<std::uint64_t>(end - begin);
}

// One warp; each word holds its own address, so that no load can begin before the one ahead of it has ended.
template <class Word>
__global__ void latency(unsigned stride, unsigned turns, Word* found, std::uint64_t* cycles) {
  __shared__ Word memory[words];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) memory[i] = base + i * static_cast<unsigned>(sizeof(Word));
  auto address = static_cast<unsigned>(base + word_of(threadIdx.x, stride) * sizeof(Word));
  __syncwarp();
  const long long begin = clock64();
  for (unsigned turn = 0; turn < turns; ++turn)
#pragma unroll
    for (unsigned k = 0; k < unrolled; ++k) address = static_cast<unsigned>(load(address, Word{}));
  __syncwarp();
  const long long end = clock64();
  found[threadIdx.x] = (address - base) / static_cast<unsigned>(sizeof(Word));
  if (threadIdx.x == 0) *cycles = static_cast<std::uint64_t>(end - begin);
}

template <class Word>
row time_stride(const gpu_clock& clock, const setting& how, unsigned stride) {
  const unsigned turns = how.small ? 16 : 512;
  const auto blocks = static_cast<unsigned>(clock.multiprocessors());  // one each: its 32 warps have the memory for themselves
  const device_array<Word> sums(std::uint64_t{blocks} * busy_threads);
  const device_array<std::uint64_t> cycles(blocks);
  const std::string name = stride == 0          ? "all lanes the same word"
                           : stride == permuted ? "permuted"
                                                : "stride " + std::to_string(stride);
  const std::string of_bytes = std::to_string(sizeof(Word)) + " bytes: " + name;
  const auto work = [&](std::size_t) {
    throughput<Word><<<blocks, busy_threads, 0, stream_of(clock)>>>(stride, turns, sums.data(), cycles.data());
    check_launch("throughput");
  };

  work(0);
  verify<Word>(of_bytes, copy_out(clock, sums.data(), sums.count()), [&](std::size_t i) {
    return Word{unrolled} * turns * (2 * Word{word_of(static_cast<unsigned>(i % warp), stride)} + 1);
  });
  row line{.name = of_bytes, .time = clock.in_stream(work, how.repeats)};
  line.operations = std::uint64_t{blocks} * busy_threads * unrolled * turns;
  std::vector<std::uint64_t> busy = copy_out(clock, cycles.data(), blocks);
  std::ranges::nth_element(busy, busy.begin() + blocks / 2);
  const double loads = static_cast<double>(busy_threads / warp) * unrolled * turns;

  latency<Word><<<1, warp, 0, stream_of(clock)>>>(stride, turns, sums.data(), cycles.data());  // fetches the code
  check_launch("latency");
  latency<Word><<<1, warp, 0, stream_of(clock)>>>(stride, turns, sums.data(), cycles.data());
  check_launch("latency");
  verify<Word>(of_bytes + ", one behind the other", copy_out(clock, sums.data(), warp),
               [&](std::size_t lane) { return word_of(static_cast<unsigned>(lane), stride); });
  const double waited = static_cast<double>(copy_out(clock, cycles.data(), 1).front());

  const double expected = ways<Word>(stride);
  const double measured = static_cast<double>(busy[blocks / 2]) / loads;
  line.values = {{"ways", expected, ""},
                 {"per load of a warp", measured, "cycles"},
                 {"measured / ways", measured / expected, ""},
                 {"latency", waited / (unrolled * turns), "cycles"}};
  return line;
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  std::vector<row> rows;
  for (unsigned stride = 0; stride <= permuted; ++stride) rows.push_back(time_stride<unsigned>(clock, how, stride));
  for (const unsigned stride : {0u, 1u, 2u, 3u, 4u, 8u, 15u, 16u, 17u, 32u, 33u, permuted})
    rows.push_back(time_stride<std::uint64_t>(clock, how, stride));
  return rows;
}

#endif

}  // namespace

extern const study banks;
const study banks{
    .name = "banks",
    .title = "how long does a load from shared memory take, by the stride between the lanes of a warp?",
    .lecture =
        "G80 and GT200: 16 banks for the 16 threads of a half-warp; the cost is the largest number of accesses to one bank; one "
        "address for all "
        "is free; no conflict where the stride is odd.",
    .lesson =
        "The rule has outlived its numbers: 32 banks for the 32 lanes of a warp, and a load takes as many cycles as there are "
        "different words in the fullest bank, gcd(stride, 32). An odd stride is free, and so is a row padded by one word; the "
        "same word for all is one access. Words of 8 bytes are counted as two halves of a warp, so that 2 is their best and their "
        "stride counts double. The column of measured over counted says how far this machine keeps to the rule, or does better. A "
        "chain of dependent loads shows the other side: to a latency of many cycles a conflict of two words adds little, and one "
        "of 32 a lot. What hides a latency is other warps.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
};

}  // namespace onefold::perf::memory
