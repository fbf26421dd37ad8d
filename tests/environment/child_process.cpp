/// @file child_process.cpp  Situations about the process around the library. See child_main.cpp.

#include "situations.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "../../src/side_by_side.hpp"

#ifdef ONEFOLD_TEST_OPENMP
#include <omp.h>
#endif

namespace {

using clock = std::chrono::steady_clock;

const std::vector<float>& many_rounded() {
  static const std::vector<float> all = [] {
    std::vector<float> some(numbers());
    for (float& x : some) x += 0.1f;
    return some;
  }();
  return all;
}

// A word of /proc/self/status: threads, or KiB.
long status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field + ":", 0) == 0) return std::stol(line.substr(field.size() + 1));
  throw std::runtime_error("/proc/self/status has no " + field);
}

// Runs `work` in a forked process, which must end by itself with status 0.
void in_a_forked_process(const std::function<void()>& work, const std::string& when) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "in a forked process %s: %s\n", when.c_str(), problem.what());
      std::_Exit(1);
    }
    std::exit(0);
  }
  int status = 0;
  for (const auto begin = clock::now(); waitpid(child, &status, WNOHANG) == 0;
       std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (clock::now() - begin > std::chrono::seconds(20)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      throw std::runtime_error("a forked process hangs " + when);
    }
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked process has not ended well " + when);
}

void require_alone(const onefold::executor& where, const std::string& variant) {
  onefold::report ran;
  require(onefold::sum(where, numbers(), {.variant = variant, .report = &ran}) == right_sum(), "the sum is wrong");
  require(ran.threads == 1, "a call used " + std::to_string(ran.threads) + " threads");
}

// --- fork ----------------------------------------------------------------------------------------------------------------------------

void a_forked_process_exits() {
  static_cast<void>(onefold::sum(onefold::serial(), numbers()));
  in_a_forked_process([] {}, "after serial()");
  static_cast<void>(onefold::sum(onefold::serial(), numbers(), reference));
  in_a_forked_process([] {}, "after the reference on serial()");
  require_cpu_works("before the last fork");
  in_a_forked_process([] {}, "after all CPU executors");
}

void a_forked_process_computes() {
  const auto work = [] {
    for (const auto& where : cpu_executors())
      for (const char* const variant : {"fixed_order", "parallel_reduce"}) require_alone(where, variant);
    require(onefold::sum(numbers()) == right_sum(), "the sum is wrong");
  };
  // Before any call of the parent's: the child could not know that there were threads, if only calls told.
#ifdef ONEFOLD_TEST_OPENMP
  std::atomic<int> there{0};
#pragma omp parallel
  ++there;
  require(there > 0, "no thread came");
#endif
  in_a_forked_process(work, "before the first call");
  require_cpu_works("in the parent");
  in_a_forked_process(work, "after calls");
  require_cpu_works("in the parent after forks");
}

// A lock that another thread holds when the process is forked stays locked in the child for ever.
void forked_while_another_thread_computes() {
  require_cpu_works("before");
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    const std::vector<double> x(1 << 20, 1.0);
    while (!stop)
      for (const auto& where : cpu_executors()) static_cast<void>(onefold::sum(where, x));
  });
  std::string wrong;
  try {
    for (int i = 0; i < 20; ++i)
      in_a_forked_process([] { require_cpu_works("beside a call of the parent's"); }, "beside a call of the parent's");
  } catch (const std::exception& problem) {
    wrong = problem.what();
  }
  stop = true;
  busy.join();
  require(wrong.empty(), wrong);
}

// --- exit ----------------------------------------------------------------------------------------------------------------------------

[[maybe_unused]] void exit_inside_a_parallel_region(int thread) {
  require_cpu_works("before");
#ifdef ONEFOLD_TEST_OPENMP
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == thread % omp_get_num_threads()) std::exit(0);
#else
  static_cast<void>(thread);
#endif
}
void exit_by_the_first_thread_of_a_region() { exit_inside_a_parallel_region(0); }
void exit_by_the_second_thread_of_a_region() { exit_inside_a_parallel_region(1); }

void exit_while_other_threads_compute() {
  require_cpu_works("before");
  for (int t = 0; t < 3; ++t)
    std::thread([] {
      const std::vector<double> x(1 << 18, 1.0);
      for (;;)
        for (const auto& where : cpu_executors()) static_cast<void>(onefold::sum(where, x));
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::exit(0);
}

// --- the first call ------------------------------------------------------------------------------------------------------------------

void the_first_call_is_inside_a_parallel_region() {
#ifdef ONEFOLD_TEST_OPENMP
  std::vector<std::string> wrong(4);
#pragma omp parallel num_threads(4)
  {
    auto& sentence = wrong[static_cast<std::size_t>(omp_get_thread_num())];
    try {
      for (const auto& where : {onefold::serial(), onefold::openmp(), onefold::best()}) {
        require(onefold::sum(where, numbers()) == right_sum(), "the sum is wrong");
        require(onefold::sum(where, numbers(), reference) == right_sum(), "the reference's sum is wrong");
        if (omp_in_parallel() != 0)
          for (const char* const variant : {"fixed_order", "parallel_reduce"}) require_alone(where, variant);
      }
    } catch (const std::exception& problem) {
      sentence = problem.what();
    }
  }
  for (const auto& sentence : wrong) require(sentence.empty(), "inside a parallel region: " + sentence);
  require_cpu_works("after the parallel region");
#endif
}

// --- what Kokkos reads from the environment --------------------------------------------------------------------------------------------

void kokkos_dislikes_the_environment() {
  const std::string variable = std::getenv("ONEFOLD_TEST_VARIABLE");
  require_works(onefold::serial(), "with " + variable);
  for (const auto& where : cpu_executors())
    require(onefold::sum(where, numbers()) == right_sum(), "the sum is wrong with " + variable);
#ifdef ONEFOLD_TEST_OPENMP
  for (int again = 0; again < 2; ++again) {
    std::string sentence;
    try {
      static_cast<void>(onefold::sum(onefold::openmp(), numbers(), reference));
    } catch (const onefold::error& problem) {
      require(problem.code() == errc::backend_unavailable, "refused with " + std::string(onefold::name(problem.code())));
      sentence = problem.what();
    }
    require(sentence.find(variable) != std::string::npos, "the refusal does not name " + variable + ": " + sentence);
  }
  const auto why = onefold::why_not(*onefold::find_variant("parallel_reduce"), onefold::openmp());
  require(why && why->find(variable) != std::string::npos, "why_not() does not name " + variable);
#endif
}

void kokkos_likes_the_environment() { require_cpu_works("with the environment's settings for Kokkos"); }

// --- threads ---------------------------------------------------------------------------------------------------------------------------

// All are alive at once, and call one after the other.
void host_threads_call_in_turn() {
  constexpr int host_threads = 16;
  const float bits = onefold::sum(onefold::serial(), many_rounded());
  std::mutex mutex;
  std::condition_variable next;
  int turn = 0;
  std::string wrong;
  int fewest = 1 << 20;
  std::vector<std::thread> all;
  for (int me = 0; me < host_threads; ++me)
    all.emplace_back([&, me] {
      std::unique_lock lock(mutex);
      for (int round = 0; round < 2; ++round) {
        next.wait(lock, [&] { return turn % host_threads == me; });
        try {
          onefold::report ran;
          if (onefold::sum(onefold::openmp(), many_rounded(), {.report = &ran}) != bits) wrong = "other bits";
          if (onefold::sum(onefold::best(), many_rounded()) != bits) wrong = "other bits with best()";
          if (onefold::sum(onefold::openmp(), numbers(), reference) != right_sum()) wrong = "a wrong sum of the reference";
          fewest = std::min(fewest, ran.threads);
        } catch (const std::exception& problem) {
          wrong = problem.what();
        }
        ++turn;
        next.notify_all();
      }
    });
  for (auto& each : all) each.join();
  require(wrong.empty(), "calls from host threads in turn: " + wrong);
  require(fewest > 1, "a host thread's call of openmp() had one thread");
}

// The same, and counts threads while all host threads are alive.
void host_threads_share_one_team() {
#ifdef ONEFOLD_TEST_OPENMP
  constexpr int host_threads = 16;
  std::atomic<int> through{0};
  std::atomic<bool> may_end{false};
  std::mutex in_turn;
  std::vector<std::thread> all;
  std::vector<std::string> wrong(host_threads);
  for (auto& sentence : wrong)
    all.emplace_back([&] {
      {
        const std::lock_guard lock(in_turn);
        try {
          require(onefold::sum(onefold::openmp(), numbers()) == right_sum(), "the sum is wrong");
          require(onefold::sum(onefold::openmp(), numbers(), reference) == right_sum(), "the reference's sum is wrong");
        } catch (const std::exception& problem) {
          sentence = problem.what();
        }
      }
      ++through;
      while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  while (through < host_threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const long threads = status_of("Threads");
  may_end = true;
  for (auto& each : all) each.join();
  for (const auto& sentence : wrong) require(sentence.empty(), sentence);
  // The main one, the host threads, OpenMP's team of one of them, that of whoever started Kokkos, and onefold's own.
  const long most = 1 + host_threads + 3 * (omp_get_max_threads() - 1);
  require(threads <= most, std::to_string(threads) + " threads, where " + std::to_string(most) + " will do");
#endif
}

// openmp(k) has k threads, whatever OpenMP has, from each host thread, also where another one has OpenMP's team.
void more_threads_than_openmps() {
#ifdef ONEFOLD_TEST_OPENMP
  require(omp_get_max_threads() == 2, "the test wants OMP_NUM_THREADS=2");
  constexpr int wanted = 24;
  std::thread([] {}).join();
  const long at_first = status_of("Threads");  // a sanitizer has one of its own, from the first thread on
  std::vector<float> x(1 << 22);               // work for all
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f + static_cast<float>(i % 7);
  const float bits = onefold::sum(onefold::serial(), x);
  const auto require_all = [&](const std::string& when) {
    for (const int threads : {wanted, 3, 2, 5, wanted}) {
      onefold::report ran;
      require(onefold::sum(onefold::openmp(threads), x, {.report = &ran}) == bits, "other bits " + when);
      require(ran.threads == threads, std::to_string(ran.threads) + " threads of " + std::to_string(threads) + " " + when);
    }
  };
  require_all("on the main thread");
  require(onefold::sum(onefold::openmp(), x) == bits, "openmp() has other bits");
  std::string wrong;
  std::thread([&] {
    try {
      require_all("on another thread");
    } catch (const std::exception& problem) {
      wrong = problem.what();
    }
  }).join();
  require(wrong.empty(), wrong);
  const long threads = status_of("Threads");
  require(threads <= at_first + wanted, std::to_string(threads) + " threads are left");
#endif
}

// A limit on address space is the one that binds root too: a thread's stack takes 8 MiB of it.
void the_system_refuses_threads() {
#ifdef ONEFOLD_TEST_OPENMP
  require(omp_get_max_threads() == 64, "the test wants OMP_NUM_THREADS=64");
  const std::vector<float> x(1 << 22, 1.0f);  // work for all
  static_cast<void>(onefold::sum(onefold::serial(), x));
  const rlim_t now = static_cast<rlim_t>(status_of("VmSize")) * 1024;
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = now + (rlim_t{96} << 20);
  require(setrlimit(RLIMIT_AS, &limit) == 0, "the limit cannot be set");
  const auto refuses = [&](const char* when) {
    for (const char* const variant : {"fixed_order", "parallel_reduce"})
      require_refused(
          errc::backend_unavailable, [&] { static_cast<void>(onefold::sum(onefold::openmp(), x, {.variant = variant})); },
          std::string(variant) + " " + when);
    require(onefold::sum(onefold::best(), x) == 1 << 22, "best() is wrong");
    require(onefold::sum(onefold::serial(), x) == 1 << 22, "serial() is wrong");
  };
  refuses("on the main thread");
  const long before = status_of("Threads");
  require_refused(
      errc::backend_unavailable, [&] { static_cast<void>(onefold::sum(onefold::openmp(100), x)); }, "more than OpenMP's");
  require(status_of("Threads") == before, "threads are left of a call that was refused");
  // What several devices are asked for on threads of their own is done without them too: there is room for the stacks of twelve.
  std::vector<std::atomic<int>> done(40);
  std::atomic<int> by_caller{0};
  std::atomic<bool> is_last{false};  // the calling thread's own, until which the others stay
  const auto caller = std::this_thread::get_id();
  onefold::detail::side_by_side(
      done.size(), [](std::size_t) { return true; },
      [&](std::size_t i) {
        ++done[i];
        if (std::this_thread::get_id() != caller) {
          while (!is_last) std::this_thread::yield();
          return;
        }
        ++by_caller;
        if (i == 0) is_last = true;
      });
  require(by_caller > 1, "all threads could be had");
  require(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }), "not all tasks were done, once each");
  limit.rlim_cur = limit.rlim_max;
  require(setrlimit(RLIMIT_AS, &limit) == 0, "the limit cannot be lifted");
  require(onefold::sum(onefold::openmp(), x) == 1 << 22, "the sum is wrong when threads can be had again");
  require(onefold::sum(onefold::openmp(), x, reference) == 1 << 22, "the reference's sum is wrong when threads can be had again");
  require(onefold::sum(onefold::openmp(100), x) == 1 << 22, "the sum of 100 threads is wrong when they can be had again");
#endif
}

// Two threads that spin on one core wait for the kernel's next tick. OpenMP's runtime counts its processors when it is loaded, so this looks
// to it as a machine on which other programs leave one.
// Pages that the application provides when they are asked for, whoever asks: onefold's own threads too.
std::atomic<int> pages_asked_for{0};
std::uintptr_t page_bytes = 0;

void memory_comes_when_it_is_read() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction provide {};
  provide.sa_flags = SA_SIGINFO;
  provide.sa_sigaction = [](int, siginfo_t* info, void*) {
    auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(info->si_addr) / page_bytes * page_bytes);
    if (mprotect(page, page_bytes, PROT_READ) != 0) std::_Exit(2);
    ++pages_asked_for;
  };
  require(sigaction(SIGSEGV, &provide, nullptr) == 0, "no handler for SIGSEGV");
  constexpr std::size_t count = 1 << 18;
  for (const auto& where : {onefold::serial(), onefold::openmp(), onefold::openmp(3), onefold::best()}) {
    void* const memory = mmap(nullptr, count * sizeof(double), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(memory != MAP_FAILED, "no memory");
    pages_asked_for = 0;
    require(onefold::sum(where, static_cast<const double*>(memory), count) == 0.0, "a wrong sum");
    require(pages_asked_for.load() >= static_cast<int>(count * sizeof(double) / page_bytes), "the handler was not asked");
    munmap(memory, count * sizeof(double));
  }
}

// A request to end that comes during a call is met behind it.
void a_thread_is_cancelled() {
  struct state {
    std::atomic<bool> works{false};
    std::atomic<int> calls{0};
    onefold::executor where = onefold::serial();
  };
  const std::vector<double> x(1 << 16, 1.0);
  static const std::vector<double>* all = nullptr;
  all = &x;
  for (const auto& where : {onefold::serial(), onefold::openmp(), onefold::openmp(4), onefold::best()})
    for (int again = 0; again < 20; ++again) {
      state shared;
      shared.where = where;
      pthread_t thread{};
      const auto work = [](void* of) -> void* {
        auto& its = *static_cast<state*>(of);
        for (;;) {
          its.works = true;
          if (onefold::sum(its.where, *all) != static_cast<double>(all->size())) std::_Exit(3);
          ++its.calls;
          pthread_testcancel();
        }
      };
      require(pthread_create(&thread, nullptr, work, &shared) == 0, "no thread");
      while (!shared.works) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(37 * again));
      pthread_cancel(thread);
      void* ended = nullptr;
      pthread_join(thread, &ended);
      require(ended == PTHREAD_CANCELED, "the thread was not cancelled");
      require(onefold::sum(where, x) == static_cast<double>(x.size()), "a wrong sum behind a thread that was cancelled");
    }
}

// docs/guarantees.md, "Stacks", of arrays of any length: with room for code of tests that is not optimised.
void a_thread_has_a_small_stack() {
  struct call {
    const std::vector<double>* x;
    onefold::options how;
  };
  const std::vector<double> x(3'000'001, 1.0);
  constexpr std::size_t stack_bytes = 512 * 1024;
  const auto used_by = [&](const onefold::options& how) {
    call of{&x, how};
    std::vector<unsigned char> stack(stack_bytes + 64, 0xa5);
    auto* const begin = stack.data() + 64 - reinterpret_cast<std::uintptr_t>(stack.data()) % 64;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    require(pthread_attr_setstack(&attributes, begin, stack_bytes) == 0, "no stack of our own");
    pthread_t thread{};
    const auto work = [](void* with) -> void* {
      const auto& its = *static_cast<const call*>(with);
      return onefold::sum(onefold::serial(), *its.x, its.how) == static_cast<double>(its.x->size()) ? with : nullptr;
    };
    require(pthread_create(&thread, &attributes, work, &of) == 0, "no thread");
    void* found = nullptr;
    pthread_join(thread, &found);
    require(found == &of, "a wrong sum");
    return stack_bytes -
           static_cast<std::size_t>(std::find_if(begin, begin + stack_bytes, [](unsigned char c) { return c != 0xa5; }) - begin);
  };
  static_cast<void>(used_by({}));  // what the first call does is not counted
  onefold::options exactly;
  exactly.guarantee = onefold::guarantee::exact;
  static_cast<void>(used_by(exactly));
  // Beside what the thread itself takes: its descriptor and the libraries' variables, 20 KiB here.
  const std::size_t most[] = {std::size_t{56} * 1024, std::size_t{96} * 1024};
  for (const bool is_exact : {false, true}) {
    const std::size_t used = used_by(is_exact ? exactly : onefold::options{});
    require(used < most[is_exact ? 1 : 0],
            "a sum took " + std::to_string(used) + " bytes of the stack" + (is_exact ? ", exactly" : ""));
  }
}

void one_core_for_all_threads() {
#ifdef ONEFOLD_TEST_OPENMP
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  require(sched_setaffinity(0, sizeof(one), &one) == 0, "the process cannot be bound to one core");
  const std::vector<double> x(100'000, 1.0);
  const auto median_us = [&](const onefold::executor& where) {
    std::vector<double> times(61);
    for (double& each : times) {
      const auto begin = clock::now();
      require(onefold::sum(where, x) == 100'000, "the sum is wrong");
      each = std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    }
    std::ranges::nth_element(times, times.begin() + 30);
    return times[30];
  };
  const double serial = median_us(onefold::serial()), best = median_us(onefold::best()), openmp = median_us(onefold::openmp());
  const std::string figures = "serial() " + std::to_string(serial) + " us, best() " + std::to_string(best) + " us, openmp() " +
                              std::to_string(openmp) + " us";
  require(best < 20 * serial + 100, "best() loses by orders of magnitude: " + figures);
  require(openmp < 20 * serial + 1000, "openmp() loses by orders of magnitude: " + figures);
#endif
}

}  // namespace

std::map<std::string, void (*)()> process_situations() {
  return {
      {"a_forked_process_exits", a_forked_process_exits},
      {"a_forked_process_computes", a_forked_process_computes},
      {"forked_while_another_thread_computes", forked_while_another_thread_computes},
      {"exit_by_the_first_thread_of_a_region", exit_by_the_first_thread_of_a_region},
      {"exit_by_the_second_thread_of_a_region", exit_by_the_second_thread_of_a_region},
      {"exit_while_other_threads_compute", exit_while_other_threads_compute},
      {"the_first_call_is_inside_a_parallel_region", the_first_call_is_inside_a_parallel_region},
      {"kokkos_dislikes_the_environment", kokkos_dislikes_the_environment},
      {"kokkos_likes_the_environment", kokkos_likes_the_environment},
      {"host_threads_call_in_turn", host_threads_call_in_turn},
      {"host_threads_share_one_team", host_threads_share_one_team},
      {"more_threads_than_openmps", more_threads_than_openmps},
      {"the_system_refuses_threads", the_system_refuses_threads},
      {"one_core_for_all_threads", one_core_for_all_threads},
      {"memory_comes_when_it_is_read", memory_comes_when_it_is_read},
      {"a_thread_is_cancelled", a_thread_is_cancelled},
      {"a_thread_has_a_small_stack", a_thread_has_a_small_stack},
  };
}
