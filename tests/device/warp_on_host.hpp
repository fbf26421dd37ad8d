#pragma once
/// @file warp_on_host.hpp  The device's headers that read tiles, compiled for the host: a warp is 32 threads, which meet wherever they exchange
/// values. So their bits can be tested where no GPU is. To be included ahead of all headers of onefold's.

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstring>
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
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
T __ldg(const T* from) {
  return *from;
}
inline void __syncwarp() {}
using std::min;

namespace onefold_test {

/// What the threads of the warp show each other.
inline std::barrier<>* meeting = nullptr;
inline std::uint64_t shown[32];

/// Calls `work` on 32 threads together, each of which knows its number.
template <class Work>
void on_a_warp(const Work& work) {
  std::barrier<> here(32);
  meeting = &here;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 32; ++i)
    threads.emplace_back([i, &work] {
      threadIdx.x = i;
      work();
    });
  for (std::thread& one : threads) one.join();
  meeting = nullptr;
}

}  // namespace onefold_test

template <class T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  using namespace onefold_test;
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "");
  meeting->arrive_and_wait();  // all have read what was shown before
  std::memcpy(&shown[threadIdx.x], &value, sizeof(T));
  meeting->arrive_and_wait();
  std::memcpy(&value, &shown[threadIdx.x ^ static_cast<unsigned>(distance)], sizeof(T));
  return value;
}
