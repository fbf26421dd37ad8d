/// @file exact_units_test.cpp  The units that warps of a grid take (backends/cuda/exact/units.cuh): each once, whoever is slow, stops or has no room. A thread of the host is
/// a warp here.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// What nvcc knows by itself.
#define __device__
struct place_of_thread {
  unsigned x;
};
inline thread_local place_of_thread threadIdx{0}, blockIdx{0}, gridDim{1};
inline unsigned atomicAdd(unsigned* at, unsigned more) { return std::atomic_ref(*at).fetch_add(more); }
inline unsigned atomicExch(unsigned* at, unsigned other) { return std::atomic_ref(*at).exchange(other); }
inline unsigned __shfl_sync(unsigned /*lanes*/, unsigned value, int /*lane*/) { return value; }
template <class T>
T __shfl_xor_sync(unsigned /*lanes*/, T value, int /*distance*/) {  // named by a header, and not called
  return value;
}

#include <gtest/gtest.h>

#include "../../backends/cuda/exact/units.cuh"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

constexpr int warps_of_block = 3;

struct grid {
  unsigned blocks;
  unsigned units;
  /// In 256 units, how many a warp that is not the first block's is slow at, and how many it stops at for good, as one whose terms are too far apart does.
  unsigned slow = 0;
  unsigned stops = 0;
};

// What the warps of a block do, as the kernels do it: `Most` units fit a warp's bins, and of what it leaves one warp takes all.
template <unsigned Most>
struct run_of {
  using shared = onefold::cuda_backend::exact_sums::shared_units<warps_of_block, Most>;
  static constexpr unsigned spare = 4096;

  const grid& of;
  std::vector<unsigned> taken = std::vector<unsigned>(of.units);
  std::vector<unsigned> by_bins = std::vector<unsigned>(of.blocks * warps_of_block);
  unsigned counter = 0;
  unsigned fixed = 0;

  void take(unsigned unit) { std::atomic_ref(taken[unit]).fetch_add(1); }

  void go() {
    const unsigned seed = static_cast<unsigned>(current_seed());
    std::vector<std::unique_ptr<shared>> blocks;
    std::vector<std::unique_ptr<std::barrier<>>> met;
    std::vector<std::thread> all;
    for (unsigned b = 0; b < of.blocks; ++b) {
      blocks.push_back(std::make_unique<shared>());
      met.push_back(std::make_unique<std::barrier<>>(warps_of_block));
    }
    for (unsigned b = 0; b < of.blocks; ++b)
      for (unsigned w = 0; w < warps_of_block; ++w)
        all.emplace_back([&, b, w] {
          threadIdx.x = 32 * w;
          blockIdx.x = b;
          gridDim.x = of.blocks;
          run_warp(*blocks[b], *met[b], b * warps_of_block + w, seed);
        });
    for (std::thread& one : all) one.join();
  }

  void run_warp(shared& block, std::barrier<>& met, unsigned warp, unsigned seed) {
    random_numbers random(seed + warp);
    if (threadIdx.x == 0) block.clear();
    met.arrive_and_wait();
    const unsigned ahead = block.fix(of.units);
    if (warp == 0) fixed = ahead;
    const unsigned step = of.blocks * warps_of_block;
    unsigned unit = warp, behind = warp;
    while (unit < of.units) {
      behind += step;
      if (behind >= ahead) behind = ahead == of.units ? of.units : block.template ask<true>(ahead, &counter);
      if (warp >= warps_of_block && random.below(256) < of.slow) std::this_thread::sleep_for(std::chrono::microseconds(1));
      if (random.below(256) < of.stops) break;
      take(unit);
      ++by_bins[warp];
      unit = behind;
    }
    left[warp] = {unit, behind};
    met.arrive_and_wait();
    if (threadIdx.x != 0) return;
    for (unsigned w = warp; w < warp + warps_of_block; ++w) {
      const auto [at, next] = left[w];
      for (unsigned u = at; u < ahead; u += step) take(u);
      if (at >= ahead && at < of.units) take(at);
      if (at < of.units && next >= ahead && next < of.units) take(next);
    }
    const bool has_stopped =
        std::any_of(&left[warp], &left[warp] + warps_of_block, [&](const auto& at) { return at.first < of.units; });
    if (has_stopped && ahead < of.units)
      for (unsigned u = block.template ask<false>(ahead, &counter); u < of.units; u = block.template ask<false>(ahead, &counter))
        take(u);
  }

  std::vector<std::pair<unsigned, unsigned>> left = std::vector<std::pair<unsigned, unsigned>>(of.blocks * warps_of_block);
};

template <unsigned Most>
void expect_each_once(const grid& of, const std::string& words) {
  run_of<Most> run{of};
  run.go();
  for (unsigned u = 0; u < of.units; ++u) ASSERT_EQ(run.taken[u], 1U) << "unit " << u << " of " << of.units << ", " << words;
  for (const unsigned turns : run.by_bins) ASSERT_LE(turns, Most) << words;
  const unsigned warps = of.blocks * warps_of_block;
  if (of.blocks > 1 && of.units >= 64 * warps) {
    EXPECT_LT(run.fixed, of.units) << words;
    EXPECT_GE(run.fixed, of.units / 16 * 15 - warps) << words;
  } else {
    EXPECT_EQ(run.fixed, of.units) << words;
  }
}

TEST(exact_units, are_taken_once) {
  for (const unsigned blocks : {1U, 2U, 5U}) {
    const unsigned warps = blocks * warps_of_block;
    for (const unsigned units :
         {0U, 1U, warps, 64 * warps - 1, 64 * warps, 64 * warps + 1, 100 * warps + 2, 700 * warps + warps / 2})
      for (const unsigned slow : {0U, 3U, 60U})
        ASSERT_NO_FATAL_FAILURE(
            expect_each_once<1024>({blocks, units, slow}, std::to_string(blocks) + " blocks, slow at " + std::to_string(slow)));
  }
}

TEST(exact_units, of_warps_that_stop_are_taken_once) {
  const unsigned warps = 4 * warps_of_block;
  for (const unsigned units : {warps - 1, 70 * warps + 5, 500 * warps})
    for (const unsigned stops : {1U, 8U, 256U})
      for (int repeat = 0; repeat < 5; ++repeat)
        ASSERT_NO_FATAL_FAILURE(expect_each_once<1024>({4, units, 1, stops}, "stops at " + std::to_string(stops)));
}

// Bins with room for little more than a warp's share, as the largest launches have: who has none left takes no more, and others take it.
TEST(exact_units, are_no_more_than_bins_have_room_for) {
  const unsigned warps = 4 * warps_of_block;
  for (int repeat = 0; repeat < 3; ++repeat) {
    ASSERT_NO_FATAL_FAILURE(expect_each_once<104>({4, 100 * warps + 3, 256}, "104 turns"));
    ASSERT_NO_FATAL_FAILURE(expect_each_once<104>({4, 100 * warps + 3, 256, 1}, "104 turns, some stop"));
  }
}

}  // namespace
}  // namespace onefold_test
