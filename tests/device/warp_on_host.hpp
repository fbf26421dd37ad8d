#pragma once
/// @file warp_on_host.hpp  The device's headers that read tiles, compiled for the host: a warp is 32 threads, which meet wherever they exchange
/// values. So their bits can be tested where no GPU is. To be included ahead of all headers of onefold's.

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// What nvcc knows by itself.
#define __device__
#define __noinline__
struct int4 {
  int x, y, z, w;
};
struct thread_place {
  unsigned x;
};
inline thread_local thread_place threadIdx{0};
inline thread_local thread_place blockDim{32};
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
T __ldg(const T* from) {
  return *from;
}
using std::min;
// Blocks run one after the other, and of a block one thread counts.
inline unsigned atomicAdd(unsigned* at, unsigned more) {
  const unsigned before = *at;
  *at += more;
  return before;
}

namespace onefold_test {

/// What the threads of a warp show each other.
struct warp {
  std::barrier<> meeting{32};
  std::uint64_t shown[32];
};
inline thread_local warp* my_warp = nullptr;
inline thread_local std::barrier<>* my_block = nullptr;

/// Calls `work` on the threads of a block of so many warps together, each of which knows its number.
template <class Work>
void on_a_block(unsigned warps, const Work& work) {
  std::vector<std::unique_ptr<warp>> all;
  for (unsigned i = 0; i < warps; ++i) all.push_back(std::make_unique<warp>());
  std::barrier<> here(32 * static_cast<std::ptrdiff_t>(warps));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 32 * warps; ++i)
    threads.emplace_back([i, warps, &all, &here, &work] {
      threadIdx.x = i;
      blockDim.x = 32 * warps;
      my_warp = all[i / 32].get();
      my_block = &here;
      work();
    });
  for (std::thread& one : threads) one.join();
}

/// The same of one warp.
template <class Work>
void on_a_warp(const Work& work) {
  on_a_block(1, work);
}

}  // namespace onefold_test

inline void __syncwarp() { onefold_test::my_warp->meeting.arrive_and_wait(); }
inline void __syncthreads() { onefold_test::my_block->arrive_and_wait(); }

template <class T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  onefold_test::warp& mine = *onefold_test::my_warp;
  const unsigned lane = threadIdx.x % 32;
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "");
  mine.meeting.arrive_and_wait();  // all have read what was shown before
  std::memcpy(&mine.shown[lane], &value, sizeof(T));
  mine.meeting.arrive_and_wait();
  std::memcpy(&value, &mine.shown[lane ^ static_cast<unsigned>(distance)], sizeof(T));
  return value;
}
