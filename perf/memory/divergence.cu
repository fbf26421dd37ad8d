/// @file divergence.cu  Threads of a warp that take different paths take turns.
///
///     all one path          | work  |
///     between warps         | work  |      warps 0, 2, 4: path 0; warps 1, 3, 5: path 1
///     two inside a warp     | path 0|path 1|      each with half of the lanes switched off
///     32 inside a warp      | 0 | 1 | 2 | ...          | 31 |
///
/// Every thread does the same number of steps whichever path it takes. The paths differ in constants only, which the compiler is kept from
/// seeing: each step is assembly with the constants written into the instruction, so that no select can stand for the branch.
#include "study.hpp"

#include <algorithm>
#include <vector>

#ifdef __CUDACC__
#include "device.cuh"
#endif

namespace onefold::perf::memory {

namespace {

#ifdef __CUDACC__

constexpr unsigned warp = 32;
constexpr unsigned block = 256;
constexpr unsigned most_paths = 32;
constexpr unsigned steps_in_turn = 16;

// Path p: x -> x * multiplier + added, again and again.
constexpr unsigned multiplier(unsigned path) { return 1664525u + 8 * path; }
constexpr unsigned added(unsigned path) { return 1013904223u + 2 * path; }

template <unsigned Path>
__device__ void walk(unsigned& x, unsigned turns) {
  for (unsigned turn = 0; turn < turns; ++turn)
#pragma unroll
    for (unsigned k = 0; k < steps_in_turn; ++k)
      asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "n"(multiplier(Path)), "n"(added(Path)));
}

// Which path a thread takes.
enum class choice {
  one,                  // all path 0
  beyond_2,             // the lecture's threadIdx.x > 2: the first warp of each block diverges
  beyond_2_by_warp,     // the lecture's threadIdx.x / 32 > 2: no warp does
  among_lanes,          // lane mod paths
  among_lanes_in_runs,  // lane / (32 / paths): neighbours together
  among_warps,          // warp mod paths
};

__host__ __device__ inline unsigned path_of(unsigned thread, choice by, unsigned paths) {
  const unsigned lane = thread % warp;
  switch (by) {
    case choice::one:
      return 0;
    case choice::beyond_2:
      return thread > 2 ? 1 : 0;
    case choice::beyond_2_by_warp:
      return thread / warp > 2 ? 1 : 0;
    case choice::among_lanes:
      return lane % paths;
    case choice::among_lanes_in_runs:
      return lane / (warp / paths);
    case choice::among_warps:
      return thread / warp % paths;
  }
  return 0;
}

// A chain of branches: path p is behind p + 1 comparisons at most, which are few beside the walk.
template <unsigned Path>
__device__ void take(unsigned path, unsigned& x, unsigned turns) {
  if constexpr (Path < most_paths) {
    if (path == Path)
      walk<Path>(x, turns);
    else
      take<Path + 1>(path, x, turns);
  }
}

__global__ void __launch_bounds__(block) branch(choice by, unsigned paths, unsigned turns, unsigned* results) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * block + threadIdx.x;
  auto x = static_cast<unsigned>(i);
  take<0>(path_of(threadIdx.x, by, paths), x, turns);
  results[i] = x;
}

// Different paths among the threads of a warp; of the warps of a block the mean.
double paths_in_a_warp(choice by, unsigned paths) {
  double all = 0;
  for (unsigned first = 0; first < block; first += warp) {
    std::vector<unsigned> met;
    for (unsigned lane = 0; lane < warp; ++lane) met.push_back(path_of(first + lane, by, paths));
    std::ranges::sort(met);
    all += static_cast<double>(std::ranges::unique(met).begin() - met.begin());
  }
  return all / (block / warp);
}

// All steps of a path as one: x -> x * multiplier + added.
struct whole_walk {
  unsigned multiplier = 1;
  unsigned added = 0;
};

whole_walk walk_of(unsigned path, unsigned steps) {
  whole_walk all;
  for (unsigned step = 0; step < steps; ++step)
    all = {all.multiplier * multiplier(path), all.added * multiplier(path) + added(path)};
  return all;
}

std::vector<row> on_gpu(const gpu_clock& clock, const setting& how) {
  const unsigned turns = how.small ? 2 : 64;
  const auto blocks = static_cast<unsigned>(clock.multiprocessors()) * (how.small ? 1 : 32);
  const device_array<unsigned> results(std::uint64_t{blocks} * block);
  std::vector<whole_walk> walks;
  for (unsigned path = 0; path < most_paths; ++path) walks.push_back(walk_of(path, turns * steps_in_turn));
  struct question {
    std::string name;
    choice by;
    unsigned paths = 2;
  };
  std::vector<question> questions{{"no branch taken apart", choice::one, 1},
                                  {"threadIdx.x > 2", choice::beyond_2},
                                  {"threadIdx.x / 32 > 2", choice::beyond_2_by_warp}};
  for (const unsigned paths : {2u, 4u, 8u})
    questions.push_back({std::to_string(paths) + " paths, a warp has one", choice::among_warps, paths});
  for (const unsigned paths : {2u, 4u, 8u, 16u, 32u})
    questions.push_back({std::to_string(paths) + " paths in a warp, alternating", choice::among_lanes, paths});
  for (const unsigned paths : {2u, 4u, 8u, 16u})
    questions.push_back({std::to_string(paths) + " paths in a warp, in runs", choice::among_lanes_in_runs, paths});

  std::vector<row> rows;
  for (const question& one : questions) {
    const auto work = [&](std::size_t) {
      branch<<<blocks, block, 0, stream_of(clock)>>>(one.by, one.paths, turns, results.data());
      check_launch("branch");
    };
    work(0);
    verify<unsigned>(one.name, copy_out(clock, results.data(), results.count()), [&](std::size_t i) {
      const whole_walk& walked = walks[path_of(static_cast<unsigned>(i % block), one.by, one.paths)];
      return static_cast<unsigned>(i) * walked.multiplier + walked.added;
    });
    row line{.name = one.name,
             .time = clock.in_stream(work, how.repeats),
             .operations = std::uint64_t{blocks} * block * turns * steps_in_turn};
    const double alone_s = rows.empty() ? line.time.median() : rows.front().time.median();
    line.values = {{"paths in a warp, mean", paths_in_a_warp(one.by, one.paths), ""},
                   {"times one path", line.time.median() / alone_s, ""}};
    rows.push_back(std::move(line));
  }
  return rows;
}

#endif

// A CPU guesses where a branch goes. The same bytes and the same work, once in an order that can be guessed and once in one that cannot.
std::vector<row> on_cpu(const setting& how) {
  const std::size_t count = how.small ? 1 << 12 : 1 << 20;
  constexpr unsigned border = 128;
  std::vector<unsigned char> mixed(count);
  std::uint64_t state = 1;
  for (auto& byte : mixed) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<unsigned char>(state >> 56);
  }
  std::vector<unsigned char> sorted = mixed;
  std::ranges::sort(sorted);
  std::uint64_t expected = 0;
  for (const unsigned char byte : mixed) expected += byte >= border ? byte : 0;

  const auto sum_with_branch = [](const std::vector<unsigned char>& bytes) {
    std::uint64_t sum = 0;
    for (const unsigned char byte : bytes)
      if (byte >= border) {
        asm volatile("" : "+r"(sum));  // neither a select nor a vector can stand for this branch
        sum += byte;
      }
    return sum;
  };
  const auto sum_without = [](const std::vector<unsigned char>& bytes) {
    std::uint64_t sum = 0;
    for (const unsigned char byte : bytes) sum += byte & -static_cast<unsigned>(byte >= border);
    return sum;
  };
  std::vector<row> rows;
  const auto add = [&](const std::string& name, const std::vector<unsigned char>& bytes,
                       std::uint64_t (*sum)(const std::vector<unsigned char>&)) {
    const std::uint64_t found[] = {sum(bytes)};
    verify<std::uint64_t>(name, found, [&](std::size_t) { return expected; });
    volatile std::uint64_t kept = 0;
    row line{.name = name, .time = time_on_cpu([&](std::size_t) { kept = sum(bytes); }, how.repeats), .operations = count};
    line.values = {{"per element", line.time.median() * 1e9 / static_cast<double>(count), "ns"}};
    rows.push_back(std::move(line));
  };
  add("a branch, sorted", sorted, sum_with_branch);
  add("a branch, unsorted", mixed, sum_with_branch);
  add("no branch, unsorted", mixed, sum_without);
  return rows;
}

}  // namespace

extern const study divergence;
const study divergence{
    .name = "divergence",
    .title = "branches inside a warp and between warps, with the same work for every thread",
    .lecture =
        "Different paths inside a warp are serialised. threadIdx.x > 2 diverges; threadIdx.x / WARP_SIZE > 2, whose granularity is "
        "a whole "
        "warp, does not. No figures.",
    .lesson =
        "A warp needs the time of all paths that any of its lanes takes, one after the other: the column of times follows the "
        "column of paths. Whether the lanes of a path are neighbours makes no difference, and a branch between warps is free. The "
        "lecture's first example costs one warp of the block a second path, and the others nothing, so it is cheap in a large "
        "block. A CPU runs one path and guesses which: there it is not how many paths there are that costs, but that they cannot "
        "be foreseen.",
#ifdef __CUDACC__
    .on_gpu = on_gpu,
#endif
    .on_cpu = on_cpu,
};

}  // namespace onefold::perf::memory
