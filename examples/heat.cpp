/// @file heat.cpp  The heat equation on a plate: each step's loop makes the new temperatures and three numbers about them. First as it stands in
/// many codes, a loop with OpenMP's reduction clauses, then with onefold: the same loop body in one call, with the same bits for any number of
/// threads.

#include <onefold/onefold.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t rows = 400;
constexpr std::int64_t columns = 700;

/// A field with a layer of ghost cells around it.
class field {
 public:
  double& operator()(std::int64_t j, std::int64_t i) { return cells_[static_cast<std::size_t>(j * (columns + 2) + i)]; }

 private:
  std::vector<double> cells_ = std::vector<double>(static_cast<std::size_t>((rows + 2) * (columns + 2)));
};

field start() {
  field t;
  for (std::int64_t j = 1; j <= rows; ++j)
    for (std::int64_t i = 1; i <= columns; ++i)
      t(j, i) = std::sin(0.011 * static_cast<double>(j)) * std::cos(0.007 * static_cast<double>(i)) + 0.1;
  return t;
}

double next(field& t, std::int64_t j, std::int64_t i) {
  return t(j, i) + 0.2 * ((t(j, i - 1) + t(j, i + 1)) + (t(j - 1, i) + t(j + 1, i)) - 4 * t(j, i));
}

struct step_result {
  double change;   ///< sum of the squared changes
  double energy;   ///< sum of the temperatures
  double hottest;  ///< the highest of them
};

// Before: one pass, three clauses. The two sums depend on the number of threads.
step_result step_with_openmp(field& t, field& to) {
  double change = 0;
  double energy = 0;
  double hottest = -HUGE_VAL;
#pragma omp parallel for reduction(+ : change, energy) reduction(max : hottest)
  for (std::int64_t j = 1; j <= rows; ++j)
    for (std::int64_t i = 1; i <= columns; ++i) {
      const double now = next(t, j, i);
      const double d = now - t(j, i);
      to(j, i) = now;
      change += d * d;
      energy += now;
      hottest = std::max(hottest, now);
    }
  return {change, energy, hottest};
}

// After: one pass over the interior, three operators, and the order of onefold.
step_result step_with_onefold(const onefold::executor& where, field& t, field& to) {
  const auto interior = onefold::box({1, rows + 1}, {1, columns + 1});
  const auto cell = [&](std::int64_t j, std::int64_t i) {
    const double now = next(t, j, i);
    const double d = now - t(j, i);
    to(j, i) = now;
    return std::array<double, 3>{d * d, now, now};
  };
  using namespace onefold::op;
  const auto [change, energy, hottest] = onefold::reduce_together(where, interior, cell, sum{}, sum{}, max{});
  return {change, energy, hottest};
}

template <class Step>
step_result run(const char* name, const Step& step) {
  field t = start();
  field to = start();
  step_result last{};
  for (int n = 0; n < 50; ++n) {
    last = step(t, to);
    std::swap(t, to);
  }
  std::printf("%-12s change %.17g  energy %.17g  hottest %.17g\n", name, last.change, last.energy, last.hottest);
  return last;
}

}  // namespace

int main() {
  try {
    run("OpenMP loop", step_with_openmp);
    const auto with = [](const onefold::executor& where) {
      return [where](field& t, field& to) { return step_with_onefold(where, t, to); };
    };
    const step_result serial = run("serial()", with(onefold::serial()));
    const step_result all = run("best()", with(onefold::best()));
    if (serial.change != all.change || serial.energy != all.energy || serial.hottest != all.hottest) {
      std::puts("the bits differ");
      return 1;
    }
    std::puts("onefold: the same bits on one thread and on all");
  } catch (const onefold::error& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
