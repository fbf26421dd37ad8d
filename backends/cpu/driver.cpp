#include "driver.hpp"

#ifdef ONEFOLD_HAVE_OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <onefold/error.hpp>
#include <onefold/order.hpp>

#include "../float_environment.hpp"
#include "../forest.hpp"
#include "../kokkos/lifetime.hpp"
#include "../threads/process.hpp"
#ifdef ONEFOLD_HAVE_OPENMP
#include "../threads/team.hpp"
#endif

namespace onefold::cpu {

namespace {

// --- runs of groups -------------------------------------------------------------------------------------------------------------------

std::uint64_t groups_of(const cpu_fold& fold, std::uint64_t count) {
  return (count >> std::countr_zero(fold.group_elements)) + ((count & (fold.group_elements - 1)) != 0 ? 1 : 0);
}

struct run_of_groups {
  cpu_fold fold;
  std::uint64_t count;  // elements of all groups

  // States of the groups from `first` up to, but not including, `end`.
  int states(std::uint64_t first, std::uint64_t end, void* to) const {
    const std::uint64_t begin = first * fold.group_elements;
    return fold.groups(fold.context, begin, std::min(count - begin, (end - first) * fold.group_elements), to);
  }

  // The state of the subtree over these groups, which begin where a subtree of as many does.
  int subtree(std::uint64_t first, std::uint64_t end, void* to) const {
    const std::uint64_t at_once = chunk_groups();
    if (end - first > at_once) {
      // A node of each height, and the one that is pushed. The stack is not to pay for 56 of 1 KiB where nobody has them.
      constexpr std::size_t few = 3584, some = 16384, all = detail::forest::memory_bytes(detail::most_state_bytes);
      const std::size_t bytes = (static_cast<std::size_t>(std::bit_width((end - first - 1) / at_once + 1)) + 1) * fold.state_bytes;
      return bytes <= few    ? subtree_of_chunks<few>(first, end, at_once, to)
             : bytes <= some ? subtree_of_chunks<some>(first, end, at_once, to)
                             : subtree_of_chunks<all>(first, end, at_once, to);
    }
    alignas(128) std::byte chunk[chunk_bytes];
    const int failed = one_chunk(first, end, chunk);
    std::memcpy(to, chunk, fold.state_bytes);
    return failed;
  }

 private:
  // A chunk of groups, a power of two: their states stay in the first-level cache.
  static constexpr std::uint64_t chunk_bytes = 8192;
  static_assert(chunk_bytes >= detail::most_state_bytes);
  [[nodiscard]] std::uint64_t chunk_groups() const {
    std::uint64_t at_once = 64;
    while (at_once * fold.state_bytes > chunk_bytes) at_once /= 2;
    return at_once;
  }

  int one_chunk(std::uint64_t first, std::uint64_t end, void* to) const {
    const int failed = states(first, end, to);
    return failed != 0 ? failed : combine_all(fold, to, end - first);
  }

  // Apart, because it takes more of the stack.
  template <std::size_t NodeBytes>
  [[gnu::noinline]] int subtree_of_chunks(std::uint64_t first, std::uint64_t end, std::uint64_t at_once, void* to) const {
    alignas(128) std::byte chunk[chunk_bytes];
    alignas(128) std::byte nodes[NodeBytes];
    detail::forest tree(nodes, fold.state_bytes, fold.level, fold.context);
    for (; first < end; first += at_once) {
      if (const int failed = one_chunk(first, std::min(first + at_once, end), chunk); failed != 0) return failed;
      if (const int failed = tree.push(chunk); failed != 0) return failed;
    }
    if (const int failed = tree.close(); failed != 0) return failed;
    std::memcpy(to, nodes, fold.state_bytes);
    return 0;
  }
};

#ifdef ONEFOLD_HAVE_OPENMP
// --- on threads ----------------------------------------------------------------------------------------------------------------------
//
// The groups are cut into portions of equally many groups, a power of two, so that a portion's state is a node of the tree whoever computes it.
// Each thread has a share of neighbouring portions, the same in every call for the same input: what it touched first lies near to it. It takes
// its share in pieces that get smaller, and then what others have left of theirs. Cores are not equally fast, in a virtual machine least of
// all: this takes half to all of the time of shares that are fixed. (decision 0021)
//
// The threads are those of OpenMP's team, of which all come, or helpers of onefold's own, of which any may come late or not at all.
// (decision 0024)

constexpr std::uint64_t most_portions = 64;  // of a share. 32 are as good, and so are 512: the threads end together with all.

// How many of `left` portions are taken at once. Fewer and fewer, because an atomic operation lets no later load start.
constexpr std::uint64_t piece_of(std::uint64_t left) { return std::max<std::uint64_t>(left / 8, 1); }

// Two cache lines, because processors fetch them in pairs.
constexpr std::size_t own_lines = 128;

// Of one share: the number of a call and, in the low bits, how many of the share's portions are taken in it. Whoever comes first in a call finds
// the number of an earlier one. Were it for the starting thread to reset these, it would have to fetch all their lines before it starts.
struct alignas(own_lines) counter {
  std::atomic<std::uint64_t> taken{0};
};
constexpr int taken_bits = 16;
static_assert(most_portions < 1 << taken_bits);

// Memory for whoever holds threads::in_use(). Kept between calls: to allocate and free it takes 0.2 us, of 4 that two threads take for 256 KiB.
// Never freed, since a call may come at any time before the program ends.
struct team_memory {
  counter* counters = nullptr;
  std::byte* states = nullptr;
  std::size_t shares = 0;
  std::size_t bytes = 0;
  std::uint64_t calls = 0;

  // Counters for so many shares, and so many bytes on lines of their own.
  static team_memory& with(std::size_t shares, std::size_t bytes) {
    static team_memory memory;
    if (memory.shares < shares) {
      counter* const more = new counter[shares];
      delete[] std::exchange(memory.counters, more);
      memory.shares = shares;
    }
    if (memory.bytes < bytes) {
      auto* const more = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{own_lines}));
      ::operator delete (std::exchange(memory.states, more), std::align_val_t{own_lines});
      memory.bytes = bytes;
    }
    return memory;
  }
};

// What a worker needs to know, on cache lines of its own as well. In a closure on the stack it would share them with what the starting
// thread goes on to write while the workers read: that costs 3 to 8 % of all that 16 threads do for 4 MiB.
struct alignas(own_lines) team_work {
  run_of_groups all;
  counter* counters;
  std::byte* states;  // of each share, side by side
  std::size_t share_bytes;
  std::uint64_t call;
  std::uint64_t portion;  // groups of a portion
  std::uint64_t shares;
  std::uint64_t length;  // portions of a share
  std::uint64_t longer;  // so many of the first shares have one more
  bool all_come;         // to every share its own thread

  [[nodiscard]] std::uint64_t size(std::uint64_t share) const { return length + (share < longer ? 1 : 0); }
  [[nodiscard]] std::byte* states_of(std::uint64_t share) const { return states + share * share_bytes; }
  // What a share's own thread begins with. Where it is sure to come nobody else may take it, so that it need not wait for the line that tells
  // what is taken: up to 15 % of 1 and 2 MiB with 16 threads.
  [[nodiscard]] std::uint64_t first_piece(std::uint64_t share) const { return all_come ? piece_of(size(share)) : 0; }

  [[nodiscard]] int run(std::uint64_t share, std::uint64_t first, std::uint64_t end) const {
    const std::uint64_t begin = share * length + std::min(share, longer);
    std::byte* to = states_of(share) + first * all.fold.state_bytes;
    if (portion == 1) return all.states(begin + first, begin + end, to);
    const std::uint64_t groups = groups_of(all.fold, all.count);
    for (; first < end; ++first, to += all.fold.state_bytes) {
      const int failed = all.subtree((begin + first) * portion, std::min((begin + first + 1) * portion, groups), to);
      if (failed != 0) return failed;
    }
    return 0;
  }
};

// Of the call under way, for whoever holds threads::in_use(). A static object and no parameter, which workers would have to read from the
// stack of the thread that starts them.
constinit team_work work_now{};

// What the first function of the fold that failed has returned. Looked at before each piece.
struct alignas(own_lines) failure {
  std::atomic<int> code{0};
};
constinit failure first_failure{};

bool has_failed() { return first_failure.code.load(std::memory_order_relaxed) != 0; }

void run_piece(std::uint64_t share, std::uint64_t first, std::uint64_t end) {
  int nothing = 0;
  if (const int failed = work_now.run(share, first, end); failed != 0)
    first_failure.code.compare_exchange_strong(nothing, failed, std::memory_order_relaxed);
}

// Takes what a share has left, piece by piece. Returns whether there was anything.
bool take(std::uint64_t share) {
  const team_work& work = work_now;
  std::atomic<std::uint64_t>& state = work.counters[share].taken;
  const std::uint64_t all = work.size(share);
  bool any = false;
  std::uint64_t now = state.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t first = now >> taken_bits == work.call ? now & ((1U << taken_bits) - 1) : work.first_piece(share);
    if (first >= all || has_failed()) return any;
    const std::uint64_t end = first + piece_of(all - first);
    // Relaxed: inputs were written before the threads started, and states are read when all have ended.
    if (!state.compare_exchange_weak(now, work.call << taken_bits | end, std::memory_order_relaxed)) continue;
    run_piece(share, first, end);
    any = true;
    now = state.load(std::memory_order_relaxed);
  }
}

void own(std::uint64_t share) {
  __builtin_prefetch(&work_now.counters[share], 1);
  if (work_now.all_come && !has_failed()) run_piece(share, 0, work_now.first_piece(share));
  take(share);
}

// From the other shares, as long as one of them has something left. Of short ones only from those 1, 2, 4, 8... further on: where all are
// done, which is the rule there, 16 threads that each read 15 lines that others have just written take 10 % of the time of 8 MiB. The calling
// thread, which is that of share 0, looks at all where others may not come.
void help(std::uint64_t share) {
  const team_work& work = work_now;
  const bool last_resort = !work.all_come && share == 0;
  if (work.length == 1 && !last_resort) return;
  const bool all = work.length >= 16 || last_resort;
  const auto other = [&](std::uint64_t distance) {
    return share + distance < work.shares ? share + distance : share + distance - work.shares;
  };
  const auto next = [&](std::uint64_t distance) { return all ? distance + 1 : 2 * distance; };
  for (std::uint64_t d = 1; d < work.shares; d = next(d)) __builtin_prefetch(&work.counters[other(d)]);
  for (bool any = true; any;) {
    any = false;
    for (std::uint64_t d = 1; d < work.shares; d = next(d)) any |= take(other(d));
  }
}

void work_on(std::int64_t t) {
  // Workers inherit the environment of whoever started them.
  const detail::default_float_environment one_operation_is_one_operation;
  const threads::at_work calls_from_here_are_alone;
  own(static_cast<std::uint64_t>(t));
  help(static_cast<std::uint64_t>(t));
}

void on_openmps_team() {
  if (kokkos_backend::tools_see_kokkos())  // tools see what goes through Kokkos
    return kokkos_backend::parallel_for(static_cast<std::int64_t>(work_now.shares), work_on);
    // As many threads as other regions have: libgomp pays for a team of another size. There may be fewer, if the application wants it so.
#pragma omp parallel num_threads(kokkos_backend::pool_size())
  for (auto t = static_cast<std::uint64_t>(omp_get_thread_num()); t < work_now.shares;
       t += static_cast<std::uint64_t>(omp_get_num_threads()))
    work_on(static_cast<std::int64_t>(t));
}

void on_helpers() {
  threads::summon(
      static_cast<int>(work_now.shares) - 1, [](const void*, int number) { work_on(number); }, nullptr);
  // Also where a function of the caller's ends its thread: what the helpers work on lies on this stack.
  const struct until_they_are_done {
    ~until_they_are_done() { threads::dismiss(); }
  } in_any_case;
  work_on(0);
}

// `openmps`: on OpenMP's team; else on so many threads less one of onefold's own, which must be there.
int with_shares(const cpu_fold& fold, std::uint64_t count, int threads, bool openmps, void* state) {
  const auto shares = static_cast<std::uint64_t>(threads);
  const std::uint64_t groups = groups_of(fold, count);
  std::uint64_t portion = 1;
  while (groups > shares * most_portions * portion) portion *= 2;
  const std::uint64_t portions = (groups - 1) / portion + 1;

  const std::size_t bytes = fold.state_bytes;
  const std::size_t share_bytes = ((portions / shares + 1) * bytes + own_lines - 1) / own_lines * own_lines;
  team_memory& memory = team_memory::with(shares, shares * share_bytes + portions * bytes);
  first_failure.code.store(0, std::memory_order_relaxed);
  work_now = {{fold, count}, memory.counters, memory.states,     share_bytes,       ++memory.calls,
              portion,       shares,          portions / shares, portions % shares, openmps};
  if (openmps)
    on_openmps_team();
  else
    on_helpers();
  if (const int failed = first_failure.code.load(std::memory_order_relaxed); failed != 0) return failed;

  // The states lie in other cores' caches: all are asked for before the first is waited for.
  for (std::uint64_t t = 1; t < shares; ++t)
    for (std::size_t byte = 0; byte < work_now.size(t) * bytes; byte += 64) __builtin_prefetch(work_now.states_of(t) + byte);
  std::byte* const nodes = memory.states + shares * share_bytes;
  std::byte* next = nodes;
  for (std::uint64_t t = 0; t < shares; ++t) {
    std::memcpy(next, work_now.states_of(t), work_now.size(t) * bytes);
    next += work_now.size(t) * bytes;
  }
  const threads::at_work operators_that_call_are_alone;  // as those in the shares: in_use() is held
  const int failed = combine_all(fold, nodes, portions);
  std::memcpy(state, nodes, bytes);
  return failed;
}

// What is known of OpenMP's team at the time of a call. Made and asked while threads::in_use() is held.
//
// Where two of its threads share a core, because other programs have the others, one spins while the other has work: a call of
// microseconds takes until the kernel's next tick. A call that took as long may have found such a machine, and helpers, who sleep when there is
// nothing to do, serve the calls of 20 times that time: so it is lost in one call of many, and a hiccup is soon forgotten.
class openmps_team {
 public:
  using clock = std::chrono::steady_clock;
  explicit openmps_team(std::uint64_t bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_late() const { return begin_ < late_until; }

  // Whether the program runs loops of OpenMP's. Its threads spin for milliseconds after each, on the cores that helpers need: beside such a
  // loop helpers take 12 times as long for 4 MiB as its own threads do.
  [[nodiscard]] bool is_in_use() const {
    if (begin_ >= look_again) {
      seen = threads::has_threads_of_others(kokkos_backend::pool_size());
      look_again = begin_ + std::chrono::milliseconds(100);
    }
    return seen;
  }

  void has_served() const {
    if (!std::exchange(has_started, true)) return;  // that takes its time anywhere
    if (bytes_ == 0) return;
    const auto end = clock::now();
    // A gigabyte in a second is less than any machine reads.
    if (end - begin_ > std::chrono::milliseconds(1) + std::chrono::nanoseconds(bytes_)) late_until = end + 20 * (end - begin_);
  }

 private:
  inline static constinit clock::time_point late_until{};
  inline static constinit clock::time_point look_again{};
  inline static constinit bool seen = false;
  inline static constinit bool has_started = false;
  std::uint64_t bytes_;
  clock::time_point begin_ = clock::now();
};

[[noreturn]] void refuse(int had, int threads) {
  throw error(errc::backend_unavailable,
              "the system gives this process " + std::to_string(had) + " of " + std::to_string(threads) +
                  " threads: raise the limit (ulimit -u, the container's), ask for fewer, or use serial()");
}

// Before so many helpers are started that they may be more than the system gives: those that it gave would stay.
void try_out(int threads) {
  const int there = threads::helpers_there();
  if (there + 1 >= threads || threads::forked() || threads::ending()) return;
  if (const int had = there + threads::to_be_had(threads - there); had < threads) refuse(had, threads);
}

// best() on OpenMP's team: whether it may. The system's refusal is no error to it.
bool may_use_openmps_team() {
  try {
    return threads::openmp_team_is_ours(kokkos_backend::pool_size());
  } catch (const error&) {
    return false;
  }
}
#endif

}  // namespace

int reduce_alone(const cpu_fold& fold, std::uint64_t count, void* state) {
  if (count <= fold.group_elements) return fold.groups(fold.context, 0, count, state);
  const run_of_groups all{fold, count};
  return all.subtree(0, groups_of(fold, count), state);
}

int useful_threads(const cpu_fold& fold, std::uint64_t count, std::uint64_t bytes, int threads) {
  // Two threads take 2.2 us for 256 KiB where one takes 2.4, and 3.5 us for 512 KiB where one takes 4.9; starting and joining a team that
  // spins is 0.5 us of that.
  constexpr std::uint64_t bytes_per_thread = std::uint64_t{128} * 1024;
  if (threads == 1) return 1;
  const std::uint64_t most = std::min(bytes / bytes_per_thread, groups_of(fold, count));
  if (most < 2) return 1;
  return static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(threads)));
}

#ifdef ONEFOLD_HAVE_OPENMP
int reduce_on_threads(const cpu_fold& fold, std::uint64_t count, on_threads& how, void* state) {
  // More than OpenMP gives are onefold's own. best() never asks for more.
  const int pool = kokkos_backend::pool_size();
  const bool fits = how.threads <= pool;
  if (!fits) how.threads = std::min(how.threads, threads::most_helpers + 1);
  bool ours = !how.best && fits && threads::openmp_team_is_ours(pool);
  std::unique_lock lock(threads::in_use(), std::defer_lock);
  if (how.best)
    static_cast<void>(lock.try_lock());  // who has all threads needs them longer than this one needs for its work
  else
    lock.lock();
  const openmps_team team(how.bytes);
  if (how.best && lock.owns_lock()) ours = team.is_in_use() && may_use_openmps_team();
  bool openmps = ours && (!team.is_late() || kokkos_backend::tools_see_kokkos());
  if (!openmps) {
    if (!fits) try_out(how.threads);
    bool lacks_memory = false;
    const int had = lock.owns_lock() ? threads::helpers(how.threads - 1, &lacks_memory) + 1 : 1;
    openmps = ours && had < how.threads;  // better late than not at all
    if (!how.best && !openmps && had < how.threads && !threads::ending()) {
      if (lacks_memory) throw std::bad_alloc();
      refuse(had, how.threads);
    }
    if (!openmps) how.threads = had;
  }
  int failed = 0;
  if (how.threads == 1) {
    if (lock.owns_lock()) lock.unlock();  // nothing that is shared is used, and a function of the caller's may call again
    failed = reduce_alone(fold, count, state);
  } else {
    failed = with_shares(fold, count, how.threads, openmps, state);
  }
  if (openmps) team.has_served();
  return failed;
}
#endif

}  // namespace onefold::cpu
