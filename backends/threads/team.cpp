#include "team.hpp"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "process.hpp"

namespace onefold::threads {

namespace {

// How long a helper looks for the next call before it sleeps. To wake one takes 5 to 50 us, and a loop of reductions comes back sooner.
constexpr auto patience = std::chrono::microseconds(30);

// The door to the work: helpers inside in the low bits, then whether it is open, then the number of the call.
constexpr std::uint64_t one_inside = 1;
constexpr std::uint64_t inside = most_helpers;
constexpr std::uint64_t open = 0x10000;
constexpr int number_bit = 17;

// Each on cache lines of its own, two of them, because processors fetch them in pairs.
alignas(128) constinit std::atomic<std::uint64_t> door{0};
alignas(128) constinit std::atomic<std::uint32_t> calls{0};  // changes with every call; helpers sleep on it
alignas(128) constinit std::atomic<int> asleep{0};

// Of the call under way: written before the door is opened, read by whoever is inside.
struct job {
  void (*work)(const void*, int);
  const void* context;
  int count;
};
alignas(128) constinit job now{};

// A processor's hint that this thread waits for another.
void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// One step of a wait that has gone on for `steps` steps: gives the core to others, one of which may be whom we wait for.
void yield_step(unsigned steps) noexcept {
  // The kernel may take a yield for a wish; asleep, this thread is surely out of the way.
  if (steps < 50) return std::this_thread::yield();
  const not_cancelled here;  // where others need it
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

// Never destroyed, because a forked process has the objects and not the threads.
std::vector<std::thread>& members() noexcept {
  alignas(std::vector<std::thread>) static std::byte memory[sizeof(std::vector<std::thread>)];
  static auto& all = *new (memory) std::vector<std::thread>;
  return all;
}

// Joins the helpers at exit and before the library is unloaded. Another thread's call may be under way then: it goes on without them.
struct at_the_end {
  ~at_the_end() {
    if (forked()) return;
    end_begins();
    calls.fetch_add(1);
    calls.notify_all();
    std::unique_lock<std::mutex> nobody_starts_one(in_use(), std::defer_lock);
    for (unsigned steps = 0; !nobody_starts_one.try_lock(); yield_step(steps++))
      if (steps > 20'000) return;  // a second: this thread was interrupted in a call, and exits from there
    for (auto& each : members()) each.join();
    members().clear();
  }
};

void wake_one() noexcept {
  if (asleep.load() > 0) calls.notify_one();
}

// Waits until `calls` is no longer `seen`, and returns what it is then.
std::uint32_t next_call(std::uint32_t seen) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned turn = 1;; ++turn) {
    const std::uint32_t found = calls.load(std::memory_order_acquire);
    if (found != seen) return found;
    pause();
    if (turn % 32 == 0 && std::chrono::steady_clock::now() - begin >= patience) break;
  }
  asleep.fetch_add(1);
  calls.wait(seen);
  asleep.fetch_sub(1);
  // Whoever wakes wakes two others: the caller is held up by one of them only.
  wake_one();
  wake_one();
  return calls.load(std::memory_order_acquire);
}

// Whether this helper is inside now. Not twice in one call: `last` is the number of the last that it was inside for.
bool enter(std::uint64_t& last) noexcept {
  std::uint64_t found = door.load(std::memory_order_relaxed);
  while ((found & open) != 0 && found >> number_bit != last) {
    if (!door.compare_exchange_weak(found, found + one_inside, std::memory_order_acquire, std::memory_order_relaxed)) continue;
    last = found >> number_bit;
    return true;
  }
  return false;
}

void leave() noexcept { door.fetch_sub(one_inside, std::memory_order_release); }

void serve(int number, std::uint32_t seen) noexcept {
  for (std::uint64_t last = 0; !ending();) {
    if (enter(last)) {
      if (number <= now.count) now.work(now.context, number);
      leave();
    }
    seen = next_call(seen);
  }
}

// Where a helper may run, found by the thread that starts it.
struct place {
  bool known = false;
  cpu_set_t processors;
};

place place_of(int number) {
  place found;
  CPU_ZERO(&found.processors);
  if (const int places = omp_get_num_places(); places > 0 && omp_get_proc_bind() != omp_proc_bind_false) {
    const int mine = number % places;
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(mine)));
    omp_get_place_proc_ids(mine, processors.data());
    for (const int each : processors)
      if (each >= 0 && each < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(each), &found.processors);
  } else {
    // The caller may be bound to a core of its own, on which helpers would be of no use: then where the main thread may.
    cpu_set_t callers;
    if (sched_getaffinity(0, sizeof(callers), &callers) != 0) return found;
    if (sched_getaffinity(getpid(), sizeof(found.processors), &found.processors) != 0) return found;
    if (CPU_COUNT(&callers) > CPU_COUNT(&found.processors)) found.processors = callers;
  }
  found.known = CPU_COUNT(&found.processors) > 0;
  return found;
}

void start(int number) {
  const place where = place_of(number);
  auto& all = members();
  all.reserve(all.size() + 1);
  const std::uint32_t seen = calls.load();
  all.emplace_back([number, where, seen] {
    pthread_setname_np(pthread_self(), "onefold");
    if (where.known) pthread_setaffinity_np(pthread_self(), sizeof(where.processors), &where.processors);
    serve(number, seen);
  });
}

}  // namespace

int helpers(int wanted, bool* lacks_memory) noexcept {
  if (forked() || ending()) return 0;
  try {
    static const at_the_end joined_then;
    const without_signals here;
    while (static_cast<int>(members().size()) < wanted) start(static_cast<int>(members().size()) + 1);
  } catch (const std::bad_alloc&) {
    if (lacks_memory != nullptr) *lacks_memory = true;
  } catch (const std::exception&) {  // the system gives no more threads
  }
  const int there = helpers_there();
  return there < wanted ? there : wanted;
}

int helpers_there() noexcept { return static_cast<int>(members().size()); }

void summon(int count, void (*work)(const void*, int), const void* context) noexcept {
  now = {work, context, count};
  door.store(((door.load(std::memory_order_relaxed) >> number_bit) + 1) << number_bit | open, std::memory_order_release);
  calls.fetch_add(1);
  wake_one();
}

void dismiss() noexcept {
  door.fetch_and(~open, std::memory_order_acquire);
  constexpr unsigned spins = 500;  // 10 to 20 us with pause(), which is quickest
  for (unsigned steps = 0; (door.load(std::memory_order_acquire) & inside) != 0; ++steps) {
    if (steps < spins)
      pause();
    else
      yield_step(steps - spins);
  }
}

}  // namespace onefold::threads
