/// @file exact.cpp  Exact sums on a GPU beside the default's and the bare read, for contents whose exponents are more and more apart.

#include <cuda_runtime_api.h>
#include <fmt/core.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <onefold/exact.hpp>

#include "cpu.hpp"
#include "cuda_check.hpp"
#include "data.hpp"
#include "gpu.hpp"
#include "limit.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

constexpr std::uint64_t pattern = std::uint64_t{1} << 16;  // elements, which the arrays repeat

enum class numbers { of_both_signs, positive, of_one_exponent };
struct contents {
  const char* name;
  int spread;  ///< exponents on either side of 0, all equally often; 0 for those of numbers between -1 and 1
  numbers kind = numbers::of_both_signs;
};
constexpr contents of_floats[] = {{"between -1 and 1", 0},
                                  {"between 0 and 1", 0, numbers::positive},
                                  {"of one exponent", 0, numbers::of_one_exponent},
                                  {"exponents within 60", 60}};
constexpr contents of_doubles[] = {{"between -1 and 1", 0},
                                   {"between 0 and 1", 0, numbers::positive},
                                   {"of one exponent", 0, numbers::of_one_exponent},
                                   {"exponents within 60", 60},
                                   {"exponents within 250", 250},
                                   {"exponents within 1000", 1000}};

template <class T>
std::vector<T> made(const contents& what, std::uint64_t count) {
  std::vector<T> all(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mixed(i);
    double digits = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
    if (what.kind == numbers::positive) digits = std::abs(digits);
    if (what.kind == numbers::of_one_exponent) digits = std::copysign(1 + std::abs(digits) / 2, digits);
    const int exponent =
        what.spread == 0 ? 0 : static_cast<int>(mixed(bits) % static_cast<std::uint64_t>(2 * what.spread + 1)) - what.spread;
    all[i] = static_cast<T>(std::ldexp(digits, exponent));
  }
  return all;
}

// What the arrays repeat: dots are of one with the other, so that the exponents of factors have nothing to do with each other.
template <class T>
struct patterns {
  std::vector<T> x;
  std::vector<T> y;

  patterns(const contents& what, std::uint64_t count) : x(made<T>(what, count)), y(x) {
    std::rotate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(count / 3), y.end());
  }
};

// Whether the GPU has the state that the CPU makes of as many elements.
template <form What, class T>
void check_state(const gpu_bench& bench, const patterns<T>& host) {
  exact_state<What, T> expected;
  exact_state<What, T> found;
  exact_state<What, T> once;
  const auto* const x = static_cast<const T*>(bench.input(0));
  if constexpr (What == form::dot) {
    once.add(serial(), host.x, host.y);
    found.add(bench.where(), x, static_cast<const T*>(bench.partner(x)), bench.count());
  } else {
    once.add(serial(), host.x);
    found.add(bench.where(), x, bench.count());
  }
  for (std::uint64_t i = 0; i < bench.count() / host.x.size(); ++i) expected += once;
  if (std::memcmp(expected.words(), found.words(), sizeof(std::int64_t) * expected.size()) != 0)
    throw std::runtime_error(fmt::format("the exact {} is wrong: not the CPU's state", name(What)));
}

// As long as it lives, exact sums on GPUs have bins of this kind.
class bins_of {
 public:
  // NOLINTBEGIN(concurrency-mt-unsafe): the suite has no other thread that reads the environment
  explicit bins_of(const char* kind) { setenv(variable, kind, 1); }
  ~bins_of() { unsetenv(variable); }
  // NOLINTEND(concurrency-mt-unsafe)
  bins_of(const bins_of&) = delete;
  bins_of& operator=(const bins_of&) = delete;

 private:
  static constexpr const char* variable = "ONEFOLD_CUDA_EXACT";
};

template <class T>
void check_states(const gpu_bench& bench, const patterns<T>& host) {
  check_state<form::sum>(bench, host);
  check_state<form::dot>(bench, host);
  check_state<form::norm2>(bench, host);
}

template <class T>
nlohmann::json exact_row(const study_options& how, std::uint64_t count, const contents& what) {
  constexpr element_type type = element_type_of<T>;
  const gpu_bench bench(how.device, type, operation::sum, count, 4);
  const patterns<T> host(what, std::min(count, pattern));
  std::size_t slots = 1;
  while (bench.input(slots) != bench.input(0)) ++slots;
  for (std::size_t slot = 0; slot < slots; ++slot) {  // partners are half of all slots apart
    auto* const to = static_cast<T*>(const_cast<void*>(bench.input(slot)));
    const std::vector<T>& from = slot < slots / 2 ? host.x : host.y;
    check(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    for (std::uint64_t there = from.size(); there < count; there *= 2)
      check(cudaMemcpy(to + there, to, std::min(there, count - there) * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpy");
  }
  check_states(bench, host);

  const auto timed = [&](const std::function<void(const void*)>& work) { return bench.in_stream(work, cache::cold, how.repeats); };
  const samples read = timed([&](const void* input) { bench.read(input); });
  nlohmann::json row{{"type", name(type)}, {"count", count}, {"contents", what.name}, {"read_limit", to_json(read)}};
  for (const form one : {form::sum, form::dot, form::norm2}) {
    const auto run = [&](guarantee wanted) {
      return timed([&](const void* input) {
        detail::request asked{bench.where(), type,           one,   input,
                              count,         bench.output(), false, one == form::dot ? bench.partner(input) : nullptr};
        detail::run(asked, {.guarantee = wanted});
      });
    };
    const samples exact = run(guarantee::exact);
    const samples fixed = run(guarantee::fixed);
    const double limit = read.median() * (one == form::dot ? 2 : 1);
    fmt::print("{:>10} {:4} {:22} {:6} {:10.2f} us {:>8} {:10.2f} {:10.2f}\n", count, name(type), what.name, name(one),
               exact.median() * 1e6, percent_text(limit, exact.median()), fixed.median() * 1e6, exact.median() / fixed.median());
    std::fflush(stdout);
    row["forms"][std::string(name(one))] = {{"exact", to_json(exact)}, {"fixed", to_json(fixed)}};
    if (!how.both_bins) continue;
    for (const char* const kind : {"doubles", "integers"}) {
      const bins_of these(kind);
      check_states(bench, host);
      const samples times = run(guarantee::exact);
      fmt::print("{:>44} {:10.2f} us {:>8}\n", fmt::format("with {}", kind), times.median() * 1e6,
                 percent_text(limit, times.median()));
      std::fflush(stdout);
      row["forms"][std::string(name(one))][kind] = to_json(times);
    }
  }
  return row;
}

// Small arrays take as long whatever they hold.
bool is_for(const contents& what, int power) { return power >= 24 || (what.spread == 0 && what.kind == numbers::of_both_signs); }

}  // namespace

nlohmann::json exact(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("exact", how, &gpu);
  fmt::print("exact sums on {}, nothing in the cache\n{:>10} {:4} {:22} {:6} {:>13} {:>8} {:>10} {:>10}\n", gpu.name, "n", "type",
             "elements", "form", "exact", "% read", "fixed us", "ratio");
  for (const int power : how.quick ? std::vector{24} : std::vector{10, 16, 20, 22, 24, 28, 29}) {
    const auto count = std::uint64_t{1} << power;
    for (const contents& what : of_floats)
      if (is_for(what, power)) record["rows"].push_back(exact_row<float>(how, count, what));
    for (const contents& what : of_doubles)
      if (is_for(what, power)) record["rows"].push_back(exact_row<double>(how, count, what));
  }
  return record;
}

}  // namespace onefold::perf
