/// @file scaling.cpp  How much faster more threads are: onefold, OpenMP's loop and Kokkos beside a bare read with as many.

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "peers_cpu.hpp"
#include "record.hpp"
#include "studies.hpp"
#include "turns.hpp"

namespace onefold::perf {

namespace {

// 1, 2, 3, 4, 6, 8, 12, 16, ... all; from some dozens of threads on only the powers of two, so that a table stays one.
std::vector<int> team_sizes(int most) {
  constexpr std::size_t longest = 10;
  std::vector<int> all;
  std::vector<int> powers;
  for (int power = 1; power < most; power *= 2) {
    powers.push_back(power);
    all.push_back(power);
    if (power > 1 && power / 2 * 3 < most) all.push_back(power / 2 * 3);
  }
  all.push_back(most);
  powers.push_back(most);
  return all.size() <= longest ? all : powers;
}

struct scaling_case {
  form what;
  element_type type;
  std::uint64_t count;
};

std::vector<scaling_case> cases_of(const study_options& how) {
  constexpr int powers[] = {16, 20, 24, 27};
  std::vector<scaling_case> all;
  for (const form what : {form::sum, form::dot})
    for (const element_type type : {element_type::f32, element_type::f64})
      for (const int power : powers) {
        const bool of_quick = what == form::sum && type == element_type::f32 && (power == 20 || power == 24);
        if (power >= how.first_power && power <= how.last_power && (!how.quick || of_quick))
          all.push_back({what, type, std::uint64_t{1} << power});
      }
  return all;
}

struct team_times {
  int threads;
  samples read_limit, onefold;
  std::vector<std::pair<std::string, samples>> peers;
};

// Everybody with one number of threads before the next number: OpenMP ends and starts threads when that changes, and the turns' first
// calls, which are not timed, take that up.
template <class T>
std::vector<team_times> times_of(const study_options& how, const scaling_case& which, std::span<const int> teams,
                                 const kokkos_threads_answer& kokkos, std::vector<missing_peer>& missing) {
  const auto first = []<class U>(U, std::uint64_t i) { return element_at<U>(i, false); };
  const auto second = []<class U>(U, std::uint64_t i) { return element_at<U>(~i, false); };
  const arrays<T> data(
      which.count, which.what == form::dot, 0, [=](std::uint64_t i) { return first(T{}, i); },
      [=](std::uint64_t i) { return second(T{}, i); });
  const whole_sums sums = sums_of(
      which.count, [=](std::uint64_t i) { return first(0, i); }, [=](std::uint64_t i) { return second(0, i); });
  const cpu_case<T> of{which.what, data.x, data.y, which.count};
  std::vector<team_times> all;
  for (const int threads : teams) {
    progress(fmt::format("{} of {} {}, {} threads", name(which.what), which.count, name(which.type), threads));
    std::vector<cpu_contender<T>> together{bare_read(of, threads), onefold_on(openmp(threads), of), openmp_loop(of, threads)};
    if (threads == kokkos.most || (threads < kokkos.most && (threads == 1 || kokkos.fewer)))
      together.push_back(kokkos_on_cpu(of, threads));
    std::ranges::move(refuse_wrong(together, of, sums), std::back_inserter(missing));
    measure_in_turns(together, turn_limits_of(how));
    all.push_back({threads, together[0].times, together[1].times, {}});
    for (std::size_t i = 2; i < together.size(); ++i) all.back().peers.emplace_back(together[i].name, together[i].times);
  }
  progress("");
  return all;
}

// Speed with these threads over that with one.
std::string speed_up(const samples& one, const samples& times) { return fmt::format("{:.2f}", one.median() / times.median()); }

void print(const scaling_case& which, const std::vector<team_times>& all) {
  const std::uint64_t bytes = which.count * size_of(which.type) * (which.what == form::dot ? 2 : 1);
  fmt::print("\n{} of 2^{} {} ({:.1f} MB) on the CPU: speed-up over one thread; GB/s and % of a read with as many threads\n",
             name(which.what), std::bit_width(which.count) - 1, name(which.type), static_cast<double>(bytes) * 1e-6);
  fmt::print("{:>7} {:>10} {:>8} {:>10} {:>8} {:>8}", "threads", "read GB/s", "speed-up", "onefold", "speed-up", "% read");
  for (const auto& [peer, times] : all.front().peers) fmt::print(" {:>10} {:>8}", peer, "speed-up");
  fmt::print("\n");
  for (const auto& row : all) {
    const auto speed = [&](const samples& times) { return gigabytes_per_second(bytes, times.median()); };
    fmt::print("{:>7} {:>10.2f} {:>8} {:>10.2f} {:>8} {:>8.1f}", row.threads, speed(row.read_limit),
               speed_up(all.front().read_limit, row.read_limit), speed(row.onefold), speed_up(all.front().onefold, row.onefold),
               100 * row.read_limit.median() / row.onefold.median());
    for (const auto& [peer, times] : row.peers) {
      const auto one = std::ranges::find(all.front().peers, peer, [](const auto& each) { return each.first; });
      fmt::print(" {:>10.2f} {:>8}", speed(times), one == all.front().peers.end() ? "-" : speed_up(one->second, times));
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

}  // namespace

nlohmann::json scaling(const study_options& how) {
  const auto cases = cases_of(how);
  if (cases.empty()) throw std::runtime_error("no size of this study lies between --from and --to");
  const auto teams = team_sizes(omp_get_max_threads());
  const auto kokkos = kokkos_threads();
  nlohmann::json rows;
  std::vector<missing_peer> missing;
  for (const auto& which : cases) {
    const auto all = which.type == element_type::f32 ? times_of<float>(how, which, teams, kokkos, missing)
                                                     : times_of<double>(how, which, teams, kokkos, missing);
    print(which, all);
    for (const auto& row : all) {
      rows.push_back({{"threads", row.threads},
                      {"form", name(which.what)},
                      {"type", name(which.type)},
                      {"count", which.count},
                      {"bytes", which.count * size_of(which.type) * (which.what == form::dot ? 2 : 1)},
                      {"read_limit", to_json(row.read_limit)},
                      {"onefold", to_json(row.onefold)},
                      {"peers", nlohmann::json::object()}});
      for (const auto& [peer, times] : row.peers) rows.back()["peers"][peer] = to_json(times);
    }
  }
  std::string why_not = kokkos.why_not;
  if (why_not.empty() && !kokkos.fewer && teams.size() > 2)
    why_not = fmt::format("with other numbers of threads than 1 and {}: this version's calls run on its whole pool", kokkos.most);
  if (!why_not.empty()) missing.push_back({"kokkos", why_not});
  nlohmann::json record =
      heading("scaling", how, nullptr);  // asks for the GPUs, whose driver slows calls on host memory: not before
  record["rows"] = std::move(rows);
  record["missing"] = nlohmann::json::array();
  for (const auto& one : missing) {
    fmt::print("missing: {}: {}\n", one.name, one.why);
    record["missing"].push_back({{"peer", one.name}, {"where", "cpu"}, {"why", one.why}});
  }
  return record;
}

}  // namespace onefold::perf
