#pragma once
/// @file side_by_side.hpp  Calls that each wait for something else than this machine's cores, made at the same time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/error.hpp>

namespace onefold::detail {

/// Whether what an executor does is to be asked for by this thread: of cudaStreamPerThread, whose handle has this value, every thread has one of its own.
inline bool is_of_this_thread(const onefold_executor& where) noexcept {
  return where.backend == ONEFOLD_CUDA && where.own_stream != 0 && reinterpret_cast<std::uintptr_t>(where.stream) == 2;
}

/// Whether what an executor does is a wait for a GPU, by whichever thread.
inline bool waits_for_gpu(const onefold_executor& where) noexcept {
  return where.backend == ONEFOLD_CUDA && !is_of_this_thread(where);
}

inline bool is_same(const onefold_executor& a, const onefold_executor& b) noexcept { return std::memcmp(&a, &b, sizeof(a)) == 0; }

/// Of a call with a workspace: throws invalid_argument where it would be that of several of these executors of GPUs, whose work does not follow each other. A launch
/// knows its own values in it by its number alone.
inline void refuse_shared_workspace(const std::vector<onefold_executor>& gpus) {
  for (const onefold_executor& each : gpus)
    if (!is_same(each, gpus.front()))
      throw error(errc::invalid_argument,
                  "a workspace is for one stream, and the parts are reduced on several: leave it away, and each stream has working "
                  "memory of the library's");
}

/// Calls task(0) .. task(count - 1): those of which waits(i) holds each on a thread of its own, and meanwhile the others on the calling one, one behind the other. Where there are no
/// others it calls the first; where no thread can be had, it calls that task itself. Returns when all have returned. Throws what the first of them has thrown, by number.
template <class Waits, class Task>
void side_by_side(std::size_t count, const Waits& waits, const Task& task) {
  std::vector<std::exception_ptr> problems(count);
  const auto run = [&](std::size_t number) {
    try {
      task(number);
    } catch (...) {
      problems[number] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    std::vector<std::size_t> own;
    own.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      if (!waits(i)) own.push_back(i);
    if (own.empty() && count > 0) own.push_back(0);
    for (std::size_t i = 0; i < count; ++i) {
      if (i == own.front() || !waits(i)) continue;
      try {
        threads.emplace_back(run, i);
      } catch (const std::system_error&) {
        run(i);
      }
    }
    for (const std::size_t i : own) run(i);
  }
  for (const std::exception_ptr& problem : problems)
    if (problem != nullptr) std::rethrow_exception(problem);
}

}  // namespace onefold::detail
