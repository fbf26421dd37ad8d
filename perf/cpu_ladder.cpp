/// @file cpu_ladder.cpp  The ladder of a machine without a GPU.

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "cpu.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace onefold::perf {

nlohmann::json cpu_ladder(const study_options& how) {
  const cpu_bench bench(how.type, how.op, how.count);
  progress("the oracle");
  const std::uint64_t expected = expected_bits(how.type, how.op, how.count);
  const auto peers = cpu_peers(how.type, how.op);
  const int most_threads = std::ranges::max_element(peers, {}, &cpu_peer::threads)->threads;
  progress("the read limit");
  const samples limit = bench.time([&] { bench.read(most_threads); }, how.repeats);
  const samples limit_one = bench.time([&] { bench.read(1); }, how.repeats);

  nlohmann::json record = heading("cpu_ladder", how, nullptr);
  record["count"] = how.count;
  record["bytes"] = bench.bytes();
  record["read_limit"] = {{"threads", most_threads}, {"all", to_json(limit)}, {"one", to_json(limit_one)}};
  progress("");
  fmt::print("{} of {} {} ({:.1f} MB) on the CPU; read limit {:.1f} GB/s with one thread, {:.1f} with {}\n", name(how.op),
             how.count, name(how.type), static_cast<double>(bench.bytes()) * 1e-6,
             gigabytes_per_second(bench.bytes(), limit_one.median()), gigabytes_per_second(bench.bytes(), limit.median()),
             most_threads);
  fmt::print("{:24} {:>12} {:>9} {:>8} {:>11} {:>7}\n", "", "time us", "GB/s", "step", "cumulative", "% read");
  double before = 0;
  double base = 0;
  for (const cpu_peer& peer : peers) {
    progress(peer.name);
    const bool exact = peer.run(bench.input(), bench.count()) == expected;
    if (!exact) throw std::runtime_error(peer.name + " is wrong");
    const samples times = bench.time([&] { peer.run(bench.input(), bench.count()); }, how.repeats);
    const double median = times.median();
    if (base == 0) base = median;
    progress("");
    fmt::print("{:24} {:12.1f} {:9.2f} {:>8} {:>11} {:7.1f}\n", peer.name, median * 1e6,
               gigabytes_per_second(bench.bytes(), median), ratio_text(before, median), ratio_text(base, median),
               100 * (peer.threads == 1 ? limit_one : limit).median() / median);
    record["rows"].push_back({{"name", peer.name}, {"threads", peer.threads}, {"time", to_json(times)}});
    before = median;
  }
  return record;
}

}  // namespace onefold::perf
