/// @file tune.cpp  Searches the launch policy of the GPU at hand: one choice after the other, each at the sizes that it decides.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "cpu.hpp"
#include "gpu.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

// What is reduced, and how many tiles there are of it.
struct workload {
  form what;
  element_type type;
  std::uint64_t tiles;

  [[nodiscard]] std::uint64_t count() const { return tiles * 4096 / size_of(type); }
};

std::vector<workload> workloads(const std::vector<std::uint64_t>& tiles) {
  std::vector<workload> all;
  for (const std::uint64_t one : tiles) {
    all.push_back({form::sum, element_type::f32, one});
    all.push_back({form::sum, element_type::f64, one});
    all.push_back({form::dot, element_type::f32, one});
  }
  return all;
}

std::vector<workload> wide_workloads(const std::vector<std::uint64_t>& tiles) {
  std::vector<workload> all;
  for (const std::uint64_t one : tiles) {
    all.push_back({form::norm2, element_type::f32, one});
    all.push_back({form::norm2, element_type::f64, one});
  }
  return all;
}

// One choice of fixed_order: what may be chosen, and where it makes a difference.
struct choice {
  const char* name;
  int fixed_order_policy::*member;
  std::vector<int> candidates;
  std::vector<workload> where;
};

std::vector<choice> choices(int multiprocessors) {
  const auto all = static_cast<std::uint64_t>(multiprocessors);
  const auto large = workloads({1 << 13, 1 << 14, 1 << 16, 1 << 18});
  return {
      {"one_block_tiles", &fixed_order_policy::one_block_tiles, {2, 4, 8, 16}, workloads({3, 6, 12, 16})},
      {"cluster_tiles", &fixed_order_policy::cluster_tiles, {0, 32, 64, 128}, workloads({24, 48, 96, 128})},
      {"short_blocks", &fixed_order_policy::short_blocks, {16, 32, 64, 128}, workloads({160, 256, 384, 512})},
      {"short_units", &fixed_order_policy::short_units, {64, 128, 256, 512, 1024}, workloads({192, 512, 1024, 2048})},
      {"wave_warps", &fixed_order_policy::wave_warps, {0, 4, 8, 16}, workloads({8 * all, 16 * all, 32 * all})},
      {"stream_warps", &fixed_order_policy::stream_warps, {4, 8, 16}, large},
      {"stream_leaves", &fixed_order_policy::stream_leaves, {1024, 2048, 4096, 8192, 16384}, large},
      {"stream_rounds", &fixed_order_policy::stream_rounds, {1, 2, 4, 8}, workloads({1 << 16, 1 << 18})},
      {"single_tiles", &fixed_order_policy::single_tiles, {0, 8, 16, 32}, wide_workloads({8 * all, 12 * all, 16 * all, 24 * all})}};
}

// The library's choices come back, however the search ends.
class policy_guard {
 public:
  explicit policy_guard(executor where) : where_(where), before_(policy_of(where)) {}
  ~policy_guard() {
    try {
      use_policy(where_, before_);
    } catch (const std::exception&) {  // a lost device, which the search has told of
    }
  }
  policy_guard(const policy_guard&) = delete;
  policy_guard& operator=(const policy_guard&) = delete;

 private:
  executor where_;
  launch_policy before_;
};

class search {
 public:
  explicit search(const study_options& how) : how_(how), where_(cuda(how.device)) {}

  // Times of a workload under each of the policies, in turns, with nothing in the cache. All must give the same bits.
  [[nodiscard]] std::vector<samples> times(const workload& load, const std::vector<launch_policy>& under) const {
    const gpu_bench bench(how_.device, load.type, operation::sum, load.count(), 2);
    const auto work = [&](const void* input) {
      detail::run({bench.where(), load.type, load.what, input, load.count(), bench.output(), false, bench.partner(input)}, {});
    };
    std::vector<samples> all(under.size());
    std::uint64_t expected = 0;
    for (int turn = 0; turn < turns(); ++turn)
      for (std::size_t i = 0; i < under.size(); ++i) {
        use_policy(where_, under[i]);
        const samples some = bench.in_stream(work, cache::cold, repeats_of_a_turn);
        all[i].seconds.insert(all[i].seconds.end(), some.seconds.begin(), some.seconds.end());
        const std::uint64_t bits = bench.result_bits(size_of(result_type(load.type, load.what, false)));
        if (turn == 0 && i == 0) expected = bits;
        if (bits != expected) throw std::runtime_error("a launch policy has changed the bits of a fixed result, which must not be");
      }
    for (samples& one : all) std::ranges::sort(one.seconds);
    return all;
  }

  // Tries the candidates for one choice on top of `policy`, and puts the best in if it is better than what is there beyond doubt.
  void decide(const choice& one, launch_policy& policy, nlohmann::json& record) const {
    std::vector<launch_policy> under;
    std::vector<int> values{policy.fixed_order.*one.member};
    for (const int candidate : one.candidates)
      if (candidate != values.front()) values.push_back(candidate);
    for (const int value : values) {
      under.push_back(policy);
      under.back().fixed_order.*one.member = value;
    }
    std::vector<double> logs(values.size());
    double worst_noise = 0;
    for (const workload& load : one.where) {
      progress(fmt::format("{}: {} of {} tiles", one.name, name(load.what), load.tiles));
      const auto all = times(load, under);
      for (std::size_t i = 0; i < all.size(); ++i) logs[i] += std::log(all[i].median() / all.front().median());
      worst_noise = std::max(worst_noise, all.front().spread());
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
      if (logs[i] < logs[best]) best = i;
    const auto relative = [&](std::size_t i) { return std::exp(logs[i] / static_cast<double>(one.where.size())); };
    if (relative(best) > 1 - std::max(least_gain, worst_noise / 2)) best = 0;
    policy.fixed_order.*one.member = values[best];
    keep(record, "fixed_order", one.name, values, best, relative);
  }

  // The block size of one of the lectures' variants, and how many blocks stay on a multiprocessor where they stay.
  void decide(const variant_info& variant, variant_policy& own, launch_policy& policy, nlohmann::json& record) const {
    const gpu_bench bench(how_.device, element_type::f32, operation::sum, how_.count);
    const std::uint64_t expected = expected_bits(element_type::f32, operation::sum, how_.count);
    const auto time = [&] {
      std::uint64_t bits = 0;
      use_policy(where_, policy);
      const options wanted{.variant = variant.name};
      const detail::request request{bench.where(), element_type::f32, form::sum, bench.input(0), how_.count, &bits, true};
      const samples first = bench.to_host([&](const void*) { detail::run(request, wanted); }, cache::hot, 1);
      if (bits != expected) throw std::runtime_error(std::string(variant.name) + " is wrong");
      const int repeats = std::clamp(static_cast<int>(budget_s / first.median()), 3, how_.quick ? 5 : 15);
      if (variant.default_finish == finish::host)
        return bench.to_host([&](const void*) { detail::run(request, wanted); }, cache::hot, repeats);
      return bench.in_stream(
          [&](const void* input) {
            detail::run({bench.where(), element_type::f32, form::sum, input, how_.count, bench.output(), false}, wanted);
          },
          cache::cold, repeats);
    };
    const auto try_out = [&](const char* what, int variant_policy::*member, const std::vector<int>& candidates) {
      std::vector<int> asked{own.*member};
      for (const int candidate : candidates)
        if (candidate != asked.front()) asked.push_back(candidate);
      std::vector<int> values;
      std::vector<samples> all;
      for (const int value : asked) {
        progress(fmt::format("{}: {} = {}", variant.name, what, value));
        own.*member = value;
        try {
          all.push_back(time());
          values.push_back(value);
        } catch (const error& problem) {  // the GPU lacks shared memory for this, say
          if (problem.code() != errc::unsupported) throw;
          if (value == asked.front()) return;
        }
      }
      std::size_t best = 0;
      for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].median() < all[best].median()) best = i;
      const auto relative = [&](std::size_t i) { return all[i].median() / all.front().median(); };
      if (relative(best) > 1 - std::max(2 * least_gain, all.front().spread())) best = 0;
      own.*member = values[best];
      keep(record, std::string(variant.name), what, values, best, relative);
    };
    try_out("block_size", &variant_policy::block_size, {variant.block_sizes.begin(), variant.block_sizes.end()});
    if (variant.grid_size_free) try_out("blocks_per_multiprocessor", &variant_policy::blocks_per_multiprocessor, {0, 1, 2, 4, 8});
    if (own.host_values != 0) try_out("host_values", &variant_policy::host_values, {256, 1024, 4096, 8192, 16384});
  }

 private:
  [[nodiscard]] int turns() const { return how_.quick ? 2 : 5; }

  template <class Relative>
  static void keep(nlohmann::json& record, const std::string& variant, const char* what, const std::vector<int>& values,
                   std::size_t best, Relative relative) {
    std::string tried;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) tried += fmt::format("{}{} ({:.3f})", i == 1 ? "" : ", ", values[i], relative(i));
      record["search"].push_back({{"variant", variant},
                                  {"choice", what},
                                  {"value", values[i]},
                                  {"relative_time", relative(i)},
                                  {"built_in", i == 0},
                                  {"chosen", i == best}});
    }
    progress("");
    fmt::print("{:20} {:26} {:>8} {:>8}   {}\n", variant, what, values.front(), values[best], tried);
    std::fflush(stdout);
  }

  static constexpr int repeats_of_a_turn = 4;
  static constexpr double least_gain = 0.01;
  static constexpr double budget_s = 0.1;
  const study_options& how_;
  executor where_;
};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written: is the disk full?");
}

}  // namespace

nlohmann::json tune(const study_options& how, const device_info& gpu) {
  const executor where = cuda(how.device);
  const policy_guard back_at_the_end(where);
  use_built_in_policy(where);
  const launch_policy built_in = policy_of(where);
  launch_policy policy = built_in;
  nlohmann::json record;  // the heading comes later: the policy's own figures first
  const search here(how);
  fmt::print("Launch choices on {}; time over the built-in choice's in brackets, geometric mean over the sizes that it decides\n",
             gpu.name);
  fmt::print("{:20} {:26} {:>8} {:>8}   {}\n", "variant", "choice", "built in", "chosen", "tried");
  for (const choice& one : choices(gpu.multiprocessors)) {
    if (one.member == &fixed_order_policy::cluster_tiles && built_in.fixed_order.cluster_tiles == 0) continue;  // none here
    here.decide(one, policy, record);
  }
  for (const auto& variant : variants(backend::cuda)) {
    const auto own = std::ranges::find(policy.variants, variant.name, &variant_policy::variant);
    if (own == policy.variants.end() || why_not(variant, where)) continue;
    here.decide(variant, *own, policy, record);
  }

  fmt::print("\nfixed_order, built in and tuned, us with nothing in the cache\n{:>14} {:>6} {:>6} {:>10} {:>10} {:>8}\n", "n",
             "type", "form", "built in", "tuned", "ratio");
  nlohmann::json rows;
  for (const auto& load : workloads({8, 64, 256, 1024, 4096, 16384, 262144})) {
    const auto both = here.times(load, {built_in, policy});
    progress("");
    fmt::print("{:>14} {:>6} {:>6} {:10.2f} {:10.2f} {:8.3f}\n", load.count(), name(load.type), name(load.what),
               both[0].median() * 1e6, both[1].median() * 1e6, both[1].median() / both[0].median());
    rows.push_back({{"form", name(load.what)},
                    {"type", name(load.type)},
                    {"count", load.count()},
                    {"built_in", to_json(both[0])},
                    {"tuned", to_json(both[1])}});
  }
  nlohmann::json whole = heading("tune", how, &gpu);
  whole["search"] = std::move(record["search"]);
  whole["rows"] = std::move(rows);
  whole["policy"] = policy_text(where, policy);
  write_text(how.save, policy_text(where, policy));
  fmt::print("written: {}; ONEFOLD_CUDA_POLICY={} or onefold::use_policy_file() takes it\n", how.save, how.save);
  return whole;
}

}  // namespace onefold::perf
