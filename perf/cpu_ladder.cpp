/// @file cpu_ladder.cpp  The ladder of a machine without a GPU.

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "cpu.hpp"
#include "limit.hpp"
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
  const auto read = [&](int threads) { return bench.time([&bench, threads] { bench.read(threads); }, how.repeats); };
  samples limit = read(most_threads);
  samples limit_one = read(1);

  std::vector<samples> times;
  double fastest = std::numeric_limits<double>::infinity();
  double fastest_one = fastest;
  for (const cpu_peer& peer : peers) {
    progress(peer.name);
    const bool exact = peer.run(bench.input(), bench.count()) == expected;
    if (!exact) throw std::runtime_error(peer.name + " is wrong");
    times.push_back(bench.time([&] { peer.run(bench.input(), bench.count()); }, how.repeats));
    double& least = peer.threads == 1 ? fastest_one : fastest;
    least = std::min(least, times.back().median());
  }
  progress("the read limit");
  limit = settled_limit(std::move(limit), fastest, [&] { return read(most_threads); });
  limit_one = settled_limit(std::move(limit_one), fastest_one, [&] { return read(1); });
  progress("");

  nlohmann::json record = heading("cpu_ladder", how, nullptr);
  record["count"] = how.count;
  record["bytes"] = bench.bytes();
  record["read_limit"] = {{"threads", most_threads}, {"all", to_json(limit)}, {"one", to_json(limit_one)}};
  fmt::print("{} of {} {} ({:.1f} MB) on the CPU; read limit {:.3g} GB/s with one thread, {:.3g} with {}\n", name(how.op),
             how.count, name(how.type), static_cast<double>(bench.bytes()) * 1e-6,
             gigabytes_per_second(bench.bytes(), limit_one.median()), gigabytes_per_second(bench.bytes(), limit.median()),
             most_threads);
  fmt::print("{:24} {:>12} {:>9} {:>8} {:>11} {:>7}\n", "", "time us", "GB/s", "step", "cumulative", "% read");
  const double base = times.front().median();
  double before = 0;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const cpu_peer& peer = peers[i];
    const double median = times[i].median();
    fmt::print("{:24} {:12.1f} {:9.2f} {:>8} {:>11} {:>7}\n", peer.name, median * 1e6, gigabytes_per_second(bench.bytes(), median),
               ratio_text(before, median), ratio_text(base, median),
               percent_text((peer.threads == 1 ? limit_one : limit).median(), median));
    record["rows"].push_back({{"name", peer.name}, {"threads", peer.threads}, {"time", to_json(times[i])}});
    before = median;
  }
  warn(record, limit_warning("with one thread", limit_one.median(), fastest_one));
  warn(record, limit_warning(fmt::format("with {} threads", most_threads), limit.median(), fastest));
  return record;
}

}  // namespace onefold::perf
