#pragma once
/// @file process.hpp  Which threads the CPU backends may use in this process, from this host thread, now.

#include <signal.h>

#include <mutex>

namespace onefold::threads {

/// Whether this process was forked from one that had the library loaded. No thread but the forking one lives on in such a process, and an
/// OpenMP runtime that had others would wait for them for ever: all work is done on the calling thread.
bool forked() noexcept;

/// Whether the program's end has begun. Other threads' calls go on, alone: an OpenMP runtime may be gone.
bool ending() noexcept;
void end_begins() noexcept;

/// In its scope the calling thread works for a call that has in_use(): what a function of the caller's calls from there must not wait for that.
class at_work {
 public:
  at_work() noexcept;
  ~at_work();
  at_work(const at_work&) = delete;
  at_work& operator=(const at_work&) = delete;

 private:
  bool before_;
};
bool working() noexcept;

/// For as long as it lives the calling thread is not cancelled (pthread_cancel), where it would end in a function that throws nothing.
class not_cancelled {
 public:
  not_cancelled() noexcept;
  ~not_cancelled();
  not_cancelled(const not_cancelled&) = delete;
  not_cancelled& operator=(const not_cancelled&) = delete;

 private:
  int before_ = 0;
};

/// Whether a call has to do with the calling thread: in a forked process, at the program's end, while it works for another call, and inside an
/// active parallel region of the application, where a nested region of OpenMP's would have one thread too.
bool alone() noexcept;

/// Held while threads work for a call, and while an execution space of Kokkos does: one team, one call at a time. A forked process has a
/// free one, whoever held it in the parent.
std::mutex& in_use() noexcept;

#ifdef ONEFOLD_HAVE_OPENMP
/// Threads that are started in its scope get no signals: the application's handlers are not run on threads that it does not know.
class without_signals {
 public:
  without_signals() noexcept;
  ~without_signals();
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

 private:
  sigset_t before_;
};

/// Threads that OpenMP would give to a region that this host thread starts.
int openmp_threads() noexcept;

/// Whether the calling host thread's OpenMP team is the one that onefold uses. It is that of the first host thread that asks, until that one
/// ends: libgomp keeps a team for every host thread that starts regions, and 16 of them with 16 threads each are 256. False inside a
/// parallel region and in a forked process.
///
/// Before the first time `threads` threads are tried out: where the system refuses them libgomp would print and end the process.
/// Throws backend_unavailable then.
bool openmp_team_is_ours(int threads);

/// Whether the process has so many other threads that OpenMP's team may be among them: somebody uses OpenMP, or a pool of another kind. Asks
/// the system, which takes some 10 us. Requires in_use().
bool has_threads_of_others(int threads) noexcept;

/// Throws backend_unavailable where the system does not give this process so many threads, the calling one included.
void require_threads(int threads);

/// How many of so many threads, the calling one included, the system gives this process: tried out.
int to_be_had(int threads);
#endif

}  // namespace onefold::threads
