/// @file calls.cpp  What a call costs where the elements are few: serial() beside a loop in the caller's code, with and without a CUDA driver in the
/// process, and from several threads at once.

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "expectation.hpp"
#include "fold_loops.hpp"
#include "record.hpp"
#include "shared_library.hpp"
#include "studies.hpp"
#include "turns.hpp"

namespace onefold::perf {

namespace {

// --- one call ----------------------------------------------------------------------------------------------------

// A sample's unit: what std::function adds to each is then a hundredth of a nanosecond.
constexpr int calls_at_once = 64;

struct caller {
  std::function<double()> run;  // calls_at_once calls
  samples times = {};           // of one
};

samples of_one_call(samples times) {
  for (double& seconds : times.seconds) seconds /= calls_at_once;
  return times;
}

double onefold_calls(form what, const double* x, const double* y, std::uint64_t count, int calls) {
  double all = 0;
  for (int c = 0; c < calls; ++c) all += what == form::dot ? dot(serial(), x, y, count) : sum(serial(), x, count);
  return all;
}

double loop_calls(form what, const double* x, const double* y, std::uint64_t count, int calls) {
  const call_loops& loops = fold_set_of_this_machine().calls;
  return what == form::dot ? loops.dot(x, y, count, calls) : loops.sum(x, count, calls);
}

arrays<double> elements_of_calls(std::uint64_t count) {
  return {count, true, 0, [](std::uint64_t i) { return element_at<double>(i, false); },
          [](std::uint64_t i) { return element_at<double>(~i, false); }};
}

nlohmann::json one_call(const study_options& how, form what, std::uint64_t count, bool with_driver) {
  const auto data = elements_of_calls(count);
  std::vector<caller> both{{[&] { return onefold_calls(what, data.x, data.y, count, calls_at_once); }},
                           {[&] { return loop_calls(what, data.x, data.y, count, calls_at_once); }}};
  if (both[0].run() != both[1].run()) throw std::runtime_error(fmt::format("{} of {}: the loop is wrong", name(what), count));
  measure_in_turns(both, {.repeats = how.repeats, .longest_s = how.quick ? 0.1 : 0.5});
  for (auto& one : both) one.times = of_one_call(std::move(one.times));
  progress("");
  fmt::print("{:<6} {:>6} {:<14} {:>9.1f} {:>9.1f} {:>8.1f}\n", name(what), count, with_driver ? "with a driver" : "without",
             both[0].times.median() * 1e9, both[1].times.median() * 1e9, (both[0].times.median() - both[1].times.median()) * 1e9);
  return {{"case", "one call"},
          {"form", name(what)},
          {"type", "f64"},
          {"count", count},
          {"driver", with_driver},
          {"onefold", to_json(both[0].times)},
          {"loop", to_json(both[1].times)}};
}

nlohmann::json all_calls(const study_options& how, bool with_driver) {
  nlohmann::json rows = nlohmann::json::array();
  for (const form what : {form::sum, form::dot})
    for (const std::uint64_t count : {16U, 64U, 256U, 1024U}) {
      progress(fmt::format("{} of {}", name(what), count));
      rows.push_back(one_call(how, what, count, with_driver));
    }
  return rows;
}

// Empty where a CUDA driver is in this process now.
std::string why_no_driver() {
  static const shared_library driver({"libcuda.so.1"});
  if (auto why_not = driver.why_not(); !why_not.empty()) return why_not;
  // It need not find a device: a driver that can tell which memory is a device's is asked, and that is what costs.
  if (auto* const start = driver.function<int(unsigned)>("cuInit")) static_cast<void>(start(0));
  return {};
}

// --- from several threads at once --------------------------------------------------------------------------------

constexpr std::uint64_t count_at_once = 1024;

// As many calls from each of `threads` threads, which have elements of their own. Seconds from the first's begin to the last's end, over the
// calls of all.
double seconds_at_once(int threads, int calls, double (*call)(form, const double*, const double*, std::uint64_t, int)) {
  using clock = std::chrono::steady_clock;
  struct alignas(128) span_of_time {
    clock::time_point begin, end;
  };
  std::vector<span_of_time> spans(static_cast<std::size_t>(threads));
  // Not a barrier that sleeps: a thread that is woken may stay behind the one that woke it, on its core, until that one has ended.
  std::atomic<int> not_ready = threads;
  std::atomic<bool> wrong = false;
  const auto work = [&](std::size_t t) {
    const auto data = elements_of_calls(count_at_once);
    const double one = loop_calls(form::sum, data.x, data.y, count_at_once, 1);
    static_cast<void>(call(form::sum, data.x, data.y, count_at_once, calls));
    --not_ready;
    while (not_ready > 0) {
    }
    spans[t].begin = clock::now();
    const double all = call(form::sum, data.x, data.y, count_at_once, calls);
    spans[t].end = clock::now();
    if (all != one * calls) wrong = true;
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < spans.size(); ++t) others.emplace_back(work, t);
    work(0);
  }
  if (wrong) throw std::runtime_error(fmt::format("sum of {} from {} threads at once is wrong", count_at_once, threads));
  const auto begin = std::ranges::min(spans, {}, &span_of_time::begin).begin;
  const auto end = std::ranges::max(spans, {}, &span_of_time::end).end;
  return std::chrono::duration<double>(end - begin).count() / (static_cast<double>(calls) * threads);
}

nlohmann::json calls_of_many(const study_options& how) {
  std::vector<int> teams;
  for (int threads = 1; threads < omp_get_max_threads(); threads *= 2) teams.push_back(threads);
  teams.push_back(omp_get_max_threads());
  // 4 and 40 ms where a call takes 0.1 us: beside that a thread's start is nothing, and that two may begin on one core.
  const int calls = how.quick ? 40'000 : 400'000;
  std::vector<samples> ours(teams.size());
  std::vector<samples> loops(teams.size());
  for (int k = 0; k < how.repeats; ++k)
    for (std::size_t i = 0; i < teams.size(); ++i) {
      progress(fmt::format("{} threads at once", teams[i]));
      ours[i].seconds.push_back(seconds_at_once(teams[i], calls, onefold_calls));
      loops[i].seconds.push_back(seconds_at_once(teams[i], calls, loop_calls));
    }
  progress("");
  fmt::print("\nserial() from several threads at once, sums of {} f64: millions of calls a second, and over those of one thread\n",
             count_at_once);
  fmt::print("{:>7} {:>9} {:>8} {:>9} {:>8}\n", "threads", "onefold", "times", "loop", "times");
  nlohmann::json rows = nlohmann::json::array();
  for (auto* both : {&ours, &loops})
    for (auto& one : *both) std::ranges::sort(one.seconds);
  for (std::size_t i = 0; i < teams.size(); ++i) {
    fmt::print("{:>7} {:>9.2f} {:>8.2f} {:>9.2f} {:>8.2f}\n", teams[i], 1e-6 / ours[i].median(),
               ours[0].median() / ours[i].median(), 1e-6 / loops[i].median(), loops[0].median() / loops[i].median());
    rows.push_back({{"case", "at once"},
                    {"form", name(form::sum)},
                    {"type", "f64"},
                    {"count", count_at_once},
                    {"threads", teams[i]},
                    {"onefold", to_json(ours[i])},
                    {"loop", to_json(loops[i])}});
  }
  return rows;
}

}  // namespace

nlohmann::json calls(const study_options& how) {
  fmt::print("serial() on few f64 beside a loop in the caller's code, compiled for {}: ns\n",
             fold_set_of_this_machine().instruction_set);
  fmt::print("{:<6} {:>6} {:<14} {:>9} {:>9} {:>8}\n", "", "n", "CUDA driver", "onefold", "loop", "more");
  nlohmann::json rows = all_calls(how, false);
  nlohmann::json many = calls_of_many(how);
  const std::string why_not = why_no_driver();
  if (why_not.empty()) {
    fmt::print("\n");
    for (auto& row : all_calls(how, true)) rows.push_back(std::move(row));
  } else {
    fmt::print("\nno CUDA driver can be loaded: {}\n", why_not);
  }
  for (auto& row : many) rows.push_back(std::move(row));
  nlohmann::json record = heading("calls", how, nullptr);
  record["instruction_set"] = fold_set_of_this_machine().instruction_set;
  if (!why_not.empty()) record["no_driver"] = why_not;
  record["rows"] = std::move(rows);
  return record;
}

}  // namespace onefold::perf
