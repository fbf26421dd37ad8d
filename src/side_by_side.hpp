#pragma once
/// @file side_by_side.hpp  Calls that each wait for something else than this machine's cores, made at the same time.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include <onefold/onefold.h>

namespace onefold::detail {

/// Whether what an executor does is to be asked for by this thread: of cudaStreamPerThread, whose handle has this value, every thread has one of its own.
inline bool is_of_this_thread(const onefold_executor& where) noexcept {
  return where.backend == ONEFOLD_CUDA && where.own_stream != 0 && reinterpret_cast<std::uintptr_t>(where.stream) == 2;
}

/// Calls task(0) .. task(count - 1), each on a thread of its own but the first, which is for the calling one; where no thread can be had, one behind
/// the other. Returns when all have returned. Throws what the first of them has thrown, by number.
template <class Task>
void side_by_side(std::size_t count, const Task& task) {
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
    for (std::size_t i = 1; i < count; ++i) {
      try {
        threads.emplace_back(run, i);
      } catch (const std::system_error&) {
        run(i);
      }
    }
    if (count > 0) run(0);
  }
  for (const std::exception_ptr& problem : problems)
    if (problem != nullptr) std::rethrow_exception(problem);
}

}  // namespace onefold::detail
