/// @file cpu_sizes.cpp  Tree v1 on the CPU from small to large n, side by side with loops that promise nothing about the order.

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#ifdef ONEFOLD_HAVE_TBB
#include <execution>
#endif

#include "data.hpp"
#include "order_free.hpp"
#include "record.hpp"
#include "studies.hpp"
#include "turns.hpp"

namespace onefold::perf {

namespace {

template <class T>
struct competitor {
  std::string name;
  bool reference;  // an order-free loop
  std::function<T()> run;
  samples times = {};
};

template <class T>
struct alignas(128) thread_value {
  T value;
};

template <class T>
T joined(form what, T a, T b) {
  return what == form::min ? std::min(a, b) : what == form::max ? std::max(a, b) : a + b;
}
template <class T>
T joined(form what, const std::vector<thread_value<T>>& values) {
  T value = values[0].value;
  for (std::size_t t = 1; t < values.size(); ++t) value = joined(what, value, values[t].value);
  return value;
}

// A share for each thread, then the shares: what a user would write with OpenMP.
template <class T>
T with_threads(const order_free_loop<T>& loop, form what, const T* x, const T* y, std::uint64_t count, int threads) {
  std::vector<thread_value<T>> values(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const auto t = static_cast<std::uint64_t>(omp_get_thread_num());
    const auto parts = static_cast<std::uint64_t>(threads);
    const std::uint64_t begin = count / parts * t;
    const std::uint64_t end = t + 1 == parts ? count : begin + count / parts;
    values[t].value = loop.run(x + begin, y == nullptr ? y : y + begin, end - begin);
  }
  return joined(what, values);
}

// Pieces for whoever is free: what a user would write whose cores are not equally fast.
template <class T>
T with_pieces(const order_free_loop<T>& loop, form what, const T* x, const T* y, std::uint64_t count, int threads) {
  constexpr std::uint64_t piece = std::uint64_t{128} * 1024 / sizeof(T);
  std::vector<thread_value<T>> values(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    T value = what == form::min || what == form::max ? x[0] : T(0);
#pragma omp for schedule(dynamic) nowait
    for (std::uint64_t begin = 0; begin < count; begin += piece)
      value = joined(what, value, loop.run(x + begin, y == nullptr ? y : y + begin, std::min(piece, count - begin)));
    values[static_cast<std::size_t>(omp_get_thread_num())].value = value;
  }
  return joined(what, values);
}

template <class T>
T standard(form what, [[maybe_unused]] bool parallel, const T* x, const T* y, std::uint64_t count) {
  const auto call = [&](auto... policy) -> T {
    switch (what) {
      case form::dot:
        return std::transform_reduce(policy..., x, x + count, y, T(0));
      case form::sum_of_squares:
        return std::transform_reduce(policy..., x, x + count, T(0), std::plus<>{}, [](T v) { return v * v; });
      case form::norm1:
        return std::transform_reduce(policy..., x, x + count, T(0), std::plus<>{}, [](T v) { return std::fabs(v); });
      case form::min:
        return std::reduce(policy..., x, x + count, x[0], [](T a, T b) { return b < a ? b : a; });
      case form::max:
        return std::reduce(policy..., x, x + count, x[0], [](T a, T b) { return a < b ? b : a; });
      default:
        return std::reduce(policy..., x, x + count);
    }
  };
#ifdef ONEFOLD_HAVE_TBB
  if (parallel) return call(std::execution::par_unseq);
#endif
  return call();
}

template <class T>
T through_onefold(form what, const executor& where, const T* x, const T* y, std::uint64_t count, const char* variant = "") {
  T value{};
  detail::run({where, element_type_of<T>, what, x, count, &value, true, y}, {.variant = variant});
  return value;
}

// With a spread of 0 small integers, else positive numbers whose exponents are spread over so many on either side of 0, all equally often.
template <class T>
T spread_element(std::uint64_t i, int spread) {
  if (spread == 0) return element_at<T>(i, false);
  const std::uint64_t bits = mixed(i);
  const int exponent = static_cast<int>(bits % static_cast<std::uint64_t>(2 * spread + 1)) - spread;
  return std::ldexp(T(1) + static_cast<T>(static_cast<double>(bits >> 12) * 0x1p-52), exponent);
}

template <class T>
std::vector<competitor<T>> competitors(form what, const arrays<T>& data, int threads) {
  const T* const x = data.x;
  const T* const y = data.y;
  const std::uint64_t n = data.count;
  const executor where = threads == 1 ? serial() : openmp();
  std::vector<competitor<T>> all;
  all.push_back({"onefold", false, [=] { return through_onefold(what, where, x, y, n); }});
  if (detail::exact::has_state(what, element_type_of<T>))
    all.push_back({"exact", false, [=] { return through_onefold(what, where, x, y, n, "superaccumulator"); }});
  for (const auto& loop : order_free_loops<T>(what)) {
    if (threads == 1) {
      all.push_back({loop.name, true, [=] { return loop.run(x, y, n); }});
    } else {
      all.push_back({loop.name, true, [=] { return with_threads(loop, what, x, y, n, threads); }});
      all.push_back({loop.name + ", pieces", true, [=] { return with_pieces(loop, what, x, y, n, threads); }});
    }
  }
  if (what == form::sum || what == form::min || what == form::max)
    all.push_back({"Kokkos", false, [=] { return through_onefold(what, where, x, y, n, "parallel_reduce"); }});
#ifdef ONEFOLD_HAVE_TBB
  const bool standard_threads = true;
#else
  const bool standard_threads = false;
#endif
  if (threads == 1 || standard_threads) all.push_back({"std", false, [=] { return standard(what, threads != 1, x, y, n); }});
  return all;
}

// Sums of absolute values and of squares grow beyond what a float holds exactly: there the peers' single chains may lose digits.
template <class T>
void check(form what, int spread, const std::vector<competitor<T>>& all) {
  const T expected = all.front().run();
  const bool exact = what != form::sum_of_squares && what != form::norm1 && spread == 0;
  for (const auto& one : all) {
    const T got = one.run();
    if (exact ? got != expected : one.reference && std::fabs(got - expected) > T(1e-3) * std::fabs(expected))
      throw std::runtime_error(one.name + " is wrong");
  }
}

template <class T>
nlohmann::json one_size(const study_options& how, std::uint64_t count, int threads) {
  const arrays<T> data(
      count, how.what == form::dot, how.offset, [&how](std::uint64_t i) { return spread_element<T>(i, how.spread); },
      [&how](std::uint64_t i) { return spread_element<T>(~i, how.spread); });
  auto all = competitors(how.what, data, threads);
  check(how.what, how.spread, all);
  measure_in_turns(all, {.repeats = how.repeats});
  const competitor<T>* best = nullptr;
  for (const auto& one : all)
    if (one.reference && (best == nullptr || one.times.median() < best->times.median())) best = &one;
  const std::uint64_t bytes = count * sizeof(T) * (how.what == form::dot ? 2 : 1);
  progress("");
  fmt::print("{:>12} {:>3} {:>24} {:9.2f}", count, threads, best->name, gigabytes_per_second(bytes, best->times.median()));
  nlohmann::json row{{"count", count}, {"bytes", bytes}, {"threads", threads}, {"best", best->name}};
  for (const auto& one : all) {
    const double ratio = best->times.median() / one.times.median();
    if (!one.reference) fmt::print(" {:>7} {:5.3f} ({:5.3f})", one.name, ratio, best->times.quantile(0) / one.times.quantile(0));
    row["times"][one.name] = to_json(one.times);
    row["ratio"][one.name] = ratio;
  }
  fmt::print("\n");
  std::fflush(stdout);
  return row;
}

}  // namespace

nlohmann::json cpu_sizes(const study_options& how) {
  if (how.type != element_type::f32 && how.type != element_type::f64) throw std::runtime_error("this study takes f32 and f64");
  if (order_free_loops<float>(how.what).empty())
    throw std::runtime_error("this study takes sum, dot, sum_of_squares, norm1, min and max");
  fmt::print("{} of {} on the CPU: speed as a part of the best order-free loop's, by medians (by minima)\n", name(how.what),
             name(how.type));
  fmt::print("{:>12} {:>3} {:>24} {:>9}\n", "n", "thr", "best loop", "GB/s");
  nlohmann::json rows;
  std::vector<int> teams;
  if (how.threads != "all") teams.push_back(1);
  if (how.threads != "1" && omp_get_max_threads() > 1) teams.push_back(omp_get_max_threads());
  for (const int threads : teams)
    for (int power = how.first_power; power <= how.last_power; power += how.quick ? 4 : 1) {
      progress(fmt::format("2^{}", power));
      const std::uint64_t count = std::uint64_t{1} << power;
      rows.push_back(how.type == element_type::f32 ? one_size<float>(how, count, threads) : one_size<double>(how, count, threads));
    }
  // Only now: it asks for the GPUs too, and in a process with a CUDA driver every call on host memory takes 0.15 us longer.
  nlohmann::json record = heading("cpu", how, nullptr);
  record["form"] = name(how.what);
  record["offset"] = how.offset;
  record["spread"] = how.spread;
  record["rows"] = std::move(rows);
  return record;
}

}  // namespace onefold::perf
