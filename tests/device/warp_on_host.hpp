#pragma once
/// @file warp_on_host.hpp  The device's headers that read tiles, compiled for the host: the threads of a block take turns in one of the host's, and
/// meet wherever they exchange values. So their bits can be tested where no GPU is. To be included ahead of all headers of onefold's.

#if defined(__x86_64__) && defined(__LP64__) && defined(__ELF__)
#define ONEFOLD_TEST_CHANGES_STACKS
#else
#include <ucontext.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

// Address sanitizer wants to be told of each change of the stack; g++ and clang say in different ways that it is there.
#ifdef __SANITIZE_ADDRESS__
#define ONEFOLD_TEST_TELLS_OF_STACKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONEFOLD_TEST_TELLS_OF_STACKS
#endif
#endif
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

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

/// A place where the host's thread can go on: a stack and what was last on it. swapcontext asks the kernel for the signal mask each time,
/// which is most of what it takes, so on x86-64 the registers that a call has to keep are put on the stack by hand.
class place {
 public:
  static constexpr std::size_t stack_bytes = 1 << 18;

  place() = default;
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  /// The next change to this place begins `work`, which must not return, on a stack of its own.
  void begin_with(void (*work)());
  /// Goes on at `next`; returns when somebody goes on here, which after the `last` time nobody does.
  void change_to(place& next, bool last = false);
  /// To be called first by the work that a place begins with: `from` is who has changed to it.
  void arrive([[maybe_unused]] place& from) {
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
    __sanitizer_finish_switch_fiber(nullptr, &from.lowest_, &from.bytes_);
#endif
  }

 private:
  std::unique_ptr<char[]> stack_;
#ifdef ONEFOLD_TEST_CHANGES_STACKS
  void* top_ = nullptr;  // of the stack, where the six registers lie, below the address to go on at
#else
  ucontext_t context_{};  // not to be moved: it points into itself
#endif
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
  void* hidden_frames_ = nullptr;  // the sanitizer's own, of this stack
  const void* lowest_ = nullptr;
  std::size_t bytes_ = 0;
#endif
};

#ifdef ONEFOLD_TEST_CHANGES_STACKS
/// Leaves `from` at the caller's stack and goes on at the stack `to`.
extern "C" void onefold_test_change_stacks(void** from, void* to);
asm(R"(
  .pushsection .text
  .weak onefold_test_change_stacks
  .hidden onefold_test_change_stacks
  .type onefold_test_change_stacks, @function
onefold_test_change_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size onefold_test_change_stacks, .-onefold_test_change_stacks
  .popsection
)");
#endif

inline void place::begin_with(void (*work)()) {
  if (!stack_) stack_ = std::make_unique<char[]>(stack_bytes);
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
  hidden_frames_ = nullptr;
  lowest_ = stack_.get();
  bytes_ = stack_bytes;
  __asan_unpoison_memory_region(stack_.get() + stack_bytes - 4096, 4096);  // frames of work that did not return
#endif
#ifdef ONEFOLD_TEST_CHANGES_STACKS
  // As if `work` had been called from nowhere, with a stack that begins at a multiple of 16 bytes.
  const auto end = reinterpret_cast<std::uintptr_t>(stack_.get() + stack_bytes) / 16 * 16;
  void** const first = reinterpret_cast<void**>(end) - 8;
  std::fill(first, first + 8, nullptr);
  first[6] = reinterpret_cast<void*>(work);
  top_ = first;
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes;
  makecontext(&context_, work, 0);
#endif
}

inline void place::change_to(place& next, [[maybe_unused]] bool last) {
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
  __sanitizer_start_switch_fiber(last ? nullptr : &hidden_frames_, next.lowest_, next.bytes_);
#endif
#ifdef ONEFOLD_TEST_CHANGES_STACKS
  onefold_test_change_stacks(&top_, next.top_);
#else
  swapcontext(&context_, &next.context_);
#endif
#ifdef ONEFOLD_TEST_TELLS_OF_STACKS
  __sanitizer_finish_switch_fiber(hidden_frames_, nullptr, nullptr);
#endif
}

/// Threads that take turns: whoever waits lets the next one go on. 32 threads of the host's own take some hundred times as long to meet.
class turns {
 public:
  /// Calls `work` in each of so many threads, and returns when all have ended.
  void run(unsigned threads, const std::function<void()>& work) {
    while (all_.size() < threads) all_.emplace_back();
    work_ = &work;
    count_ = left_ = threads;
    for (unsigned i = 0; i < threads; ++i) {
      all_[i].ended = false;
      all_[i].at.begin_with(&turns::begin);
    }
    threadIdx.x = 0;
    before_ = &caller_;
    caller_.change_to(all_[0].at);
  }

  /// Lets the next thread that has not ended go on.
  void give() {
    place& mine = all_[threadIdx.x].at;
    before_ = &mine;
    mine.change_to(next());
  }

 private:
  struct thread {
    place at;
    bool ended = false;
  };

  static void begin();

  place& next() {
    do threadIdx.x = (threadIdx.x + 1) % count_;
    while (all_[threadIdx.x].ended);
    return all_[threadIdx.x].at;
  }

  void work_and_end() {
    thread& mine = all_[threadIdx.x];
    mine.at.arrive(*before_);
    (*work_)();
    mine.ended = true;
    before_ = &mine.at;
    mine.at.change_to(--left_ > 0 ? next() : caller_, true);
  }

  std::deque<thread> all_;  // kept from block to block
  place caller_;
  place* before_ = nullptr;  // who had its turn before the one whose turn it is
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
