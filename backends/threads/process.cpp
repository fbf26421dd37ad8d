#include "process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#ifdef ONEFOLD_HAVE_OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/error.hpp>

#ifdef ONEFOLD_HAVE_OPENMP
#include "team.hpp"
#endif

namespace onefold::threads {

namespace {

constinit std::mutex lock;
static_assert(std::is_trivially_destructible_v<std::mutex>, "calls may come from other objects' destructors at exit");

constinit std::atomic<bool> is_forked{false};

// Registered when the library is loaded, since the first call may come after the fork.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
  is_forked.store(true, std::memory_order_relaxed);
  new (&lock) std::mutex;
});

constinit std::atomic<bool> is_ending{false};
struct at_the_end {
  ~at_the_end() { end_begins(); }
} const then;

constinit thread_local bool is_working = false;

}  // namespace

bool ending() noexcept { return is_ending.load(); }

void end_begins() noexcept { is_ending.store(true); }

not_cancelled::not_cancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
not_cancelled::~not_cancelled() {
  int ignored = 0;
  pthread_setcancelstate(before_, &ignored);
}

at_work::at_work() noexcept : before_(std::exchange(is_working, true)) {}
at_work::~at_work() { is_working = before_; }

bool working() noexcept { return is_working; }

bool alone() noexcept {
  if (forked() || ending() || working()) return true;
#ifdef ONEFOLD_HAVE_OPENMP
  return omp_in_parallel() != 0;
#else
  return false;
#endif
}

bool forked() noexcept { return is_forked.load(std::memory_order_relaxed); }

std::mutex& in_use() noexcept { return lock; }

#ifdef ONEFOLD_HAVE_OPENMP

namespace {

// The host thread whose OpenMP team is in use: the address of its own `claim`, or null.
constinit std::atomic<const void*> home{nullptr};

struct claim {
  bool held = false;
  ~claim() {
    if (held) home.store(nullptr, std::memory_order_release);  // libgomp ends a team together with its host thread
  }
};
thread_local claim mine;

}  // namespace

without_signals::without_signals() noexcept {
  sigset_t all;
  sigfillset(&all);
  // But for those that a thread brings upon itself: blocked, they would end the process past the application's handler.
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}
without_signals::~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int openmp_threads() noexcept { return std::min(omp_get_max_threads(), omp_get_thread_limit()); }

int to_be_had(int threads) {
  const not_cancelled here;
  std::mutex mutex;
  std::condition_variable may_end;
  bool all_there = false;
  std::vector<std::thread> some;
  const auto end_all = [&] {
    {
      const std::lock_guard guard(mutex);
      all_there = true;
    }
    may_end.notify_all();
    for (auto& each : some) each.join();
  };
  try {
    const without_signals then_neither;
    some.reserve(static_cast<std::size_t>(threads));
    for (int i = 1; i < threads; ++i)
      some.emplace_back([&] {
        std::unique_lock guard(mutex);
        may_end.wait(guard, [&] { return all_there; });
      });
  } catch (const std::bad_alloc&) {
    end_all();
    throw;
  } catch (const std::exception&) {  // the system refuses one
  }
  const int had = static_cast<int>(some.size()) + 1;
  end_all();
  return had;
}

void require_threads(int threads) {
  const int had = to_be_had(threads);
  if (had < threads)
    throw error(errc::backend_unavailable, "the system gives this process " + std::to_string(had) + " of the " +
                                               std::to_string(threads) +
                                               " threads that OpenMP would start: raise the limit (ulimit -u, ulimit -v, the "
                                               "container's), set OMP_NUM_THREADS to fewer, or use serial()");
}

bool has_threads_of_others(int threads) noexcept {
  const not_cancelled here;
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 1024> text;
  const ssize_t size = read(file, text.data(), text.size() - 1);
  close(file);
  if (size <= 0) return false;
  text[static_cast<std::size_t>(size)] = 0;
  // Field 20; the second is the program's name in brackets, which may hold anything.
  const char* at = std::strrchr(text.data(), ')');
  for (int field = 2; at != nullptr && field < 20; ++field) at = std::strchr(at + 1, ' ');
  return at != nullptr && std::atoi(at) - 1 - helpers_there() >= threads - 1;
}

bool openmp_team_is_ours(int threads) {
  if (alone()) return false;
  if (mine.held) return true;
  const void* nobody = nullptr;
  if (!home.compare_exchange_strong(nobody, &mine, std::memory_order_acq_rel)) return false;
  try {
    require_threads(threads);
  } catch (...) {
    home.store(nullptr, std::memory_order_release);
    throw;
  }
  mine.held = true;
  return true;
}

#endif

}  // namespace onefold::threads
