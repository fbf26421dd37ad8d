#pragma once
/// @file warp_on_host.hpp  The device's headers that read tiles, compiled for the host: the threads of a block take turns in one of the host's, and
/// meet wherever they exchange values. So their bits can be tested where no GPU is. To be included ahead of all headers of onefold's.

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
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
inline thread_place threadIdx{0};  // of whose turn it is
inline thread_place blockDim{32};
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

/// Threads that take turns: whoever waits lets the next one go on. 32 threads of the host's own take some hundred times as long to meet.
class turns {
 public:
  /// Calls `work` in each of so many threads, and returns when all have ended.
  void run(unsigned threads, const std::function<void()>& work) {
    while (all_.size() < threads) all_.emplace_back();
    work_ = &work;
    count_ = left_ = threads;
    for (unsigned i = 0; i < threads; ++i) {
      thread& one = all_[i];
      one.ended = false;
      getcontext(&one.place);
      one.place.uc_stack.ss_sp = one.stack.get();
      one.place.uc_stack.ss_size = stack_bytes;
      one.place.uc_link = &caller_;
      makecontext(&one.place, &turns::begin, 0);
    }
    threadIdx.x = 0;
    swapcontext(&caller_, &all_[0].place);
  }

  /// Lets the next thread that has not ended go on.
  void give() {
    ucontext_t* mine = &all_[threadIdx.x].place;
    swapcontext(mine, next());
  }

 private:
  static constexpr std::size_t stack_bytes = 1 << 18;
  struct thread {
    ucontext_t place{};  // not to be moved: it points into itself
    std::unique_ptr<char[]> stack = std::make_unique<char[]>(stack_bytes);
    bool ended = false;
  };

  static void begin();

  ucontext_t* next() {
    do threadIdx.x = (threadIdx.x + 1) % count_;
    while (all_[threadIdx.x].ended);
    return &all_[threadIdx.x].place;
  }

  void work_and_end() {
    (*work_)();
    all_[threadIdx.x].ended = true;
    if (--left_ > 0) setcontext(next());
  }

  std::deque<thread> all_;  // kept from block to block
  ucontext_t caller_{};
  const std::function<void()>* work_ = nullptr;
  unsigned count_ = 0, left_ = 0;
};
inline turns the_turns;
inline void turns::begin() { the_turns.work_and_end(); }

/// Where so many threads wait for each other.
class meeting {
 public:
  explicit meeting(unsigned of) : of_(of) {}
  void wait() {
    const unsigned mine = held_;
    if (++here_ == of_) {
      here_ = 0;
      ++held_;
    }
    while (held_ == mine) the_turns.give();
  }

 private:
  unsigned of_, here_ = 0, held_ = 0;
};

/// What the threads of a warp show each other.
struct warp {
  meeting together{32};
  std::uint64_t shown[32];
};
inline std::vector<warp>* warps_of_block = nullptr;
inline meeting* all_of_block = nullptr;

/// Calls `work` on the threads of a block of so many warps together, each of which knows its number.
template <class Work>
void on_a_block(unsigned warps, const Work& work) {
  std::vector<warp> all(warps);
  meeting here(32 * warps);
  warps_of_block = &all;
  all_of_block = &here;
  blockDim.x = 32 * warps;
  the_turns.run(32 * warps, work);
}

/// The same of one warp.
template <class Work>
void on_a_warp(const Work& work) {
  on_a_block(1, work);
}

inline warp& my_warp() { return (*warps_of_block)[threadIdx.x / 32]; }

}  // namespace onefold_test

inline void __threadfence_system() {}
inline void __syncwarp() { onefold_test::my_warp().together.wait(); }
inline void __syncthreads() { onefold_test::all_of_block->wait(); }

template <class T>
T __shfl_xor_sync(unsigned, T value, int distance) {
  onefold_test::warp& mine = onefold_test::my_warp();
  const unsigned lane = threadIdx.x % 32;
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "");
  mine.together.wait();  // all have read what was shown before
  std::memcpy(&mine.shown[lane], &value, sizeof(T));
  mine.together.wait();
  std::memcpy(&value, &mine.shown[lane ^ static_cast<unsigned>(distance)], sizeof(T));
  return value;
}
