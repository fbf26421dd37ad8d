#pragma once
/// @file turns.hpp  Competitors on the CPU that are timed in turns, and the arrays that they reduce.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "samples.hpp"

namespace onefold::perf {

/// When repetitions end.
struct turn_limits {
  int repeats = 30;      ///< at most
  double longest_s = 3;  ///< they end when they have taken this long, but not before the fifth
};

/// Arrays of which the first element stands `offset` elements behind the boundary of a cache line: what malloc gives begins now on one
/// and now off it, and loads of 64 bytes are up to 1.3 times as fast on it. Touched first by the threads that will read them.
template <class T>
struct arrays {
  static constexpr std::align_val_t line{64};
  struct free_it {
    void operator()(T* begin) const { operator delete(begin, line); }
  };
  std::uint64_t count;
  std::unique_ptr<T, free_it> memory_x, memory_y;
  T *x, *y;  ///< y is null where one array was asked for

  /// `first(i)` and `second(i)` are the elements of number i.
  template <class First, class Second>
  arrays(std::uint64_t n, bool two, std::uint64_t offset, First first, Second second)
      : count(n),
        memory_x(allocate(n + offset)),
        memory_y(two ? allocate(n + offset) : nullptr),
        x(memory_x.get() + offset),
        y(two ? memory_y.get() + offset : nullptr) {
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < n; ++i) {
      x[i] = first(i);
      if (two) y[i] = second(i);
    }
  }

 private:
  static T* allocate(std::uint64_t n) { return static_cast<T*>(operator new(n * sizeof(T), line)); }
};

/// Times everybody, one sample of each in every round, so that what else the machine does falls on all of them alike. A Competitor has
/// `run()`, and `times`, which are set here. A sample lasts a millisecond at least, or the clock would be a part of it.
template <class Competitor>
void measure_in_turns(std::vector<Competitor>& all, const turn_limits& limits) {
  constexpr double shortest_sample_s = 1e-3;
  constexpr int fewest_repeats = 5;
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); };
  const auto start = clock::now();
  std::vector<int> calls;
  for (auto& one : all) {
    const auto begin = clock::now();
    int count = 0;
    for (; count == 0 || seconds_since(begin) < shortest_sample_s; ++count) static_cast<void>(one.run());
    calls.push_back(count);
    one.times.seconds.clear();
  }
  std::vector<std::size_t> turns(all.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::minstd_rand random;
  for (int k = 0; k < limits.repeats && (k < fewest_repeats || seconds_since(start) < limits.longest_s); ++k) {
    std::shuffle(turns.begin(), turns.end(), random);  // nobody always follows the same neighbour
    for (const std::size_t i : turns) {
      // Not timed: wakes the threads, and takes the caches and the branch predictors over from the competitor before, who may use
      // threads of another library.
      static_cast<void>(all[i].run());
      const auto begin = clock::now();
      for (int c = 0; c < calls[i]; ++c) static_cast<void>(all[i].run());
      all[i].times.seconds.push_back(seconds_since(begin) / calls[i]);
    }
  }
  for (auto& one : all) std::ranges::sort(one.times.seconds);
}

}  // namespace onefold::perf
