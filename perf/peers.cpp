/// @file peers.cpp  onefold beside what a user would pick instead of it: the tables and the record.

#include "peers.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "expectation.hpp"
#include "peers_cpu.hpp"
#include "record.hpp"
#include "studies.hpp"
#include "turns.hpp"

namespace onefold::perf {

namespace {

constexpr element_type both_types[] = {element_type::f32, element_type::f64};

// One size of one form: onefold and everybody who can do the same, timed side by side.
struct table_row {
  std::string where;  // cpu or gpu
  int threads;        // of the CPU; 0 on a GPU
  bool to_host;       // on the host's clock, for peers that wait for their result
  form what;
  element_type type;
  std::uint64_t count;
  std::uint64_t bytes;
  samples read_limit, onefold;  // no limit of what is timed to the host
  std::vector<std::pair<std::string, samples>> peers;
  std::vector<missing_peer> refused;  // their results are wrong
};

struct missing_here {
  missing_peer peer;
  std::string where;
  int threads;
  std::optional<form> what = {};  // of what is wrong in one form alone
  std::optional<element_type> type = {};
};

double ratio_of(const table_row& row, const samples& peer) { return row.onefold.median() / peer.median(); }

std::string place(const std::string& where, int threads) {
  if (where == "gpu") return "GPU";
  return threads == 1 ? "CPU, 1 thread" : fmt::format("CPU, {} threads", threads);
}

std::string power_text(std::uint64_t count) { return fmt::format("2^{}", std::bit_width(count) - 1); }

// --- tables ------------------------------------------------------------------------------------------------------

void print_heading(const table_row& row) {
  fmt::print(
      "\n{} of {}, {}{}: us of a read and of onefold; then onefold's time over the peer's, under 1 onefold is faster\n{:>6} {:>11} "
      "{:>11}",
      name(row.what), name(row.type), place(row.where, row.threads),
      row.to_host ? ", to a value on the host (these peers wait for it)" : "", "n", "read", "onefold");
  for (const auto& [peer, times] : row.peers) fmt::print(" {:>18}", peer);
  fmt::print("\n");
}

// Rows of one table have one heading.
bool belong_together(const table_row& a, const table_row& b) {
  const auto same_peer = [](const auto& one, const auto& other) { return one.first == other.first; };
  return a.where == b.where && a.threads == b.threads && a.to_host == b.to_host && a.what == b.what && a.type == b.type &&
         std::ranges::equal(a.peers, b.peers, same_peer);
}

void print(const table_row& row) {
  const auto us = [](const samples& times) {
    return times.seconds.empty() ? std::string("-") : fmt::format("{:.2f}", times.median() * 1e6);
  };
  fmt::print("{:>6} {:>11} {:>11}", power_text(row.count), us(row.read_limit), us(row.onefold));
  for (const auto& [peer, times] : row.peers) fmt::print(" {:>18.3f}", ratio_of(row, times));
  fmt::print("\n");
  std::fflush(stdout);
}

// What has been measured so far.
struct results {
  std::vector<table_row> rows;
  std::vector<missing_here> missing;

  // Prints a row and keeps it, where it has peers. A peer that is wrong at several sizes is named once.
  void take(table_row row) {
    for (auto& one : row.refused) {
      const auto same = [&](const missing_here& known) {
        return known.peer.name == one.name && known.where == row.where && known.threads == row.threads && known.what == row.what &&
               known.type == row.type;
      };
      if (std::ranges::none_of(missing, same)) missing.push_back({std::move(one), row.where, row.threads, row.what, row.type});
    }
    if (row.peers.empty()) return;
    if (rows.empty() || !belong_together(rows.back(), row)) print_heading(row);
    print(row);
    rows.push_back(std::move(row));
  }
};

nlohmann::json to_json(const table_row& row) {
  nlohmann::json record{{"where", row.where},     {"clock", row.to_host ? "host" : row.where == "gpu" ? "events" : "host"},
                        {"to_host", row.to_host}, {"form", name(row.what)},
                        {"type", name(row.type)}, {"count", row.count},
                        {"bytes", row.bytes},     {"onefold", to_json(row.onefold)}};
  if (row.threads > 0) record["threads"] = row.threads;
  if (!row.read_limit.seconds.empty()) record["read_limit"] = to_json(row.read_limit);
  record["peers"] = nlohmann::json::object();
  for (const auto& [peer, times] : row.peers) record["peers"][peer] = to_json(times);
  return record;
}

// The point of each peer at which onefold stands worst beside it.
nlohmann::json worst_points(const std::vector<table_row>& rows) {
  struct point {
    const table_row* row;
    double ratio;
  };
  std::map<std::tuple<std::string, int, std::string>, point> worst;
  for (const auto& row : rows)
    for (const auto& [peer, times] : row.peers) {
      const double ratio = ratio_of(row, times);
      const auto [at, is_new] = worst.try_emplace({row.where, row.threads, peer}, point{&row, ratio});
      if (!is_new && at->second.ratio < ratio) at->second = {&row, ratio};
    }
  nlohmann::json record = nlohmann::json::array();
  if (!worst.empty()) fmt::print("\n");
  for (const auto& [key, at] : worst) {
    const auto& [where, threads, peer] = key;
    fmt::print("worst: {:.2f} at {} {} {} against {} ({})\n", at.ratio, power_text(at.row->count), name(at.row->what),
               name(at.row->type), peer, place(where, threads));
    record.push_back({{"peer", peer},
                      {"where", where},
                      {"form", name(at.row->what)},
                      {"type", name(at.row->type)},
                      {"count", at.row->count},
                      {"ratio", at.ratio}});
    if (threads > 0) record.back()["threads"] = threads;
  }
  return record;
}

// Of the sizes that a study has, those between --from and --to.
std::vector<std::uint64_t> counts_of(const study_options& how, std::span<const int> powers) {
  std::vector<std::uint64_t> counts;
  for (const int power : powers)
    if (power >= how.first_power && power <= how.last_power) counts.push_back(std::uint64_t{1} << power);
  return counts;
}

// --- the CPU -----------------------------------------------------------------------------------------------------

// OpenBLAS's threads look for work for 2^26 ticks of the clock before they sleep, and OpenMP's for up to 14 ms (decision 0024).
void wait_for_spinning_threads() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

template <class T>
table_row cpu_row(const study_options& how, form what, std::uint64_t count, int threads) {
  const bool is_norm = what == form::norm1 || what == form::norm2;
  const auto first = [=]<class U>(U, std::uint64_t i) { return is_norm ? sparse_element_at<U>(i) : element_at<U>(i, false); };
  const auto second = []<class U>(U, std::uint64_t i) { return element_at<U>(~i, false); };
  const arrays<T> data(
      count, what == form::dot, 0, [=](std::uint64_t i) { return first(T{}, i); }, [=](std::uint64_t i) { return second(T{}, i); });
  const whole_sums sums = sums_of(
      count, [=](std::uint64_t i) { return first(0, i); }, [=](std::uint64_t i) { return second(0, i); });
  const cpu_case<T> of{what, data.x, data.y, count};

  std::vector<cpu_contender<T>> together{bare_read(of, threads), onefold_on(threads == 1 ? serial() : openmp(), of)};
  std::vector<cpu_contender<T>> apart;
  for (auto& one : cpu_contenders(of, threads)) (one.apart ? apart : together).push_back(std::move(one));
  std::vector<missing_peer> refused = refuse_wrong(together, of, sums);
  measure_in_turns(together, turn_limits_of(how));
  if (!apart.empty()) {
    wait_for_spinning_threads();
    std::ranges::move(refuse_wrong(apart, of, sums), std::back_inserter(refused));
    measure_in_turns(apart, turn_limits_of(how));
    wait_for_spinning_threads();
  }
  table_row row{"cpu", threads,           false, what, element_type_of<T>, count, of.bytes(), together[0].times, together[1].times,
                {},    std::move(refused)};
  for (std::size_t i = 2; i < together.size(); ++i) row.peers.emplace_back(together[i].name, together[i].times);
  for (const auto& one : apart) row.peers.emplace_back(one.name, one.times);
  return row;
}

void peers_on_cpu(const study_options& how, results& into) {
  constexpr int powers[] = {10, 14, 17, 20, 24, 27};
  constexpr int quick_powers[] = {14, 20, 24};
  const auto counts = counts_of(how, how.quick ? std::span<const int>(quick_powers) : powers);
  std::vector<int> teams;
  if (how.threads != "all") teams.push_back(1);
  if (how.threads != "1" && omp_get_max_threads() > 1) teams.push_back(omp_get_max_threads());
  for (const int threads : teams) {
    for (const form what : cpu_peer_forms) {
      if (how.quick && what != form::sum && what != form::dot) continue;
      for (const element_type type : both_types)
        for (const std::uint64_t count : counts) {
          progress(fmt::format("{}, {} of {}, {}", place("cpu", threads), name(what), name(type), power_text(count)));
          table_row row =
              type == element_type::f32 ? cpu_row<float>(how, what, count, threads) : cpu_row<double>(how, what, count, threads);
          progress("");
          into.take(std::move(row));
        }
    }
    for (auto& one : missing_on_cpu(threads)) into.missing.push_back({std::move(one), "cpu", threads});
  }
}

// --- the GPU -----------------------------------------------------------------------------------------------------

#ifdef ONEFOLD_HAVE_CUDA

constexpr form gpu_forms[] = {form::sum, form::max, form::dot, form::norm1, form::norm2};

struct gpu_contender {
  std::string name;
  std::function<void(const void* input)> work;
  samples times = {};
};

double value_of(element_type type, std::uint64_t bits) {
  if (type == element_type::f64) return std::bit_cast<double>(bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

// Everybody in each round, in another order, so that a clock that goes up or down falls on all of them alike.
template <class Measure>
void measure_in_rounds(std::vector<gpu_contender>& all, const gpu_peers& peers, int repeats, Measure measure) {
  constexpr int rounds = 3;
  std::minstd_rand random;
  std::vector<std::size_t> turns(all.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(turns.begin(), turns.end(), random);
    for (const std::size_t i : turns) {
      peers.empty_cache();
      const samples some = measure(all[i].work, std::max(1, (repeats + rounds - 1) / rounds));
      all[i].times.seconds.insert(all[i].times.seconds.end(), some.seconds.begin(), some.seconds.end());
    }
  }
  for (auto& one : all) std::ranges::sort(one.times.seconds);
}

// A thread adds at most so many terms one behind the other, where a GPU has 2^14 threads at work; their values join in a tree.
double rounding_steps_on_gpu(form what, element_type type, std::uint64_t count) {
  const bool exact = what == form::sum || what == form::max || type == element_type::f64;
  return exact ? 0 : static_cast<double>(count >> 14) + 64;
}

struct gpu_rows {
  table_row in_stream;
  table_row to_host;  // without peers where none of them waits
};

gpu_rows measure_on_gpu(const study_options& how, const device_info& gpu, form what, element_type type, std::uint64_t count) {
  const gpu_bench bench(how.device, type, operation::sum, count, 2);
  const gpu_peers peers(bench, what, type, gpu.l2_bytes);
  const auto element = [](std::uint64_t i) { return element_at<int>(i, false); };
  const expectation wanted = expected(what, type, sums_of(count, element, element), rounding_steps_on_gpu(what, type, count));
  std::vector<missing_peer> refused;
  const auto is_right = [&](const std::string& who, double got) {
    std::string wrong = wrong_result(what, type, count, got, wanted);
    if (wrong.empty()) return true;
    if (who == onefold_name) throw std::runtime_error("onefold is wrong on the GPU: " + wrong);
    refused.push_back({who, "it is wrong: " + wrong});
    return false;
  };
  const void* const some_input = bench.input(1);

  double value = 0;  // room for an element of either type
  const auto onefold = [&](const void* input, bool waits) {
    detail::run({bench.where(), type, what, input, count, waits ? &value : bench.output(), waits, bench.partner(input)}, {});
  };
  std::vector<gpu_contender> in_stream;
  in_stream.push_back({bare_read_name, [&](const void* input) {
                         bench.read(input);
                         if (what == form::dot) bench.read(bench.partner(input));
                       }});
  in_stream.push_back({onefold_name, [&](const void* input) { onefold(input, false); }});
  std::vector<gpu_contender> to_host{{onefold_name, [&](const void* input) { onefold(input, true); }}};
  onefold(some_input, false);
  static_cast<void>(is_right(onefold_name, value_of(type, bench.result_bits())));
  for (const auto& peer : peers.all()) {
    if (peer.enqueue) {
      peer.enqueue(some_input);
      if (is_right(peer.name, value_of(type, bench.result_bits()))) in_stream.push_back({peer.name, peer.enqueue});
    } else if (is_right(peer.name, peer.to_host(some_input))) {
      to_host.push_back({peer.name, [&peer](const void* input) { static_cast<void>(peer.to_host(input)); }});
    }
  }

  const int repeats = how.quick ? std::min(how.repeats, 9) : how.repeats;
  measure_in_rounds(in_stream, peers, repeats,
                    [&](const auto& work, int times) { return bench.in_stream(work, cache::cold, times); });
  if (to_host.size() > 1)
    measure_in_rounds(to_host, peers, repeats,
                      [&](const auto& work, int times) { return bench.to_host(work, cache::cold, times); });

  const std::uint64_t bytes = bench.bytes() * (what == form::dot ? 2 : 1);
  gpu_rows rows{{"gpu", 0, false, what, type, count, bytes, in_stream[0].times, in_stream[1].times, {}, std::move(refused)},
                {"gpu", 0, true, what, type, count, bytes, {}, to_host[0].times, {}, {}}};
  for (std::size_t i = 2; i < in_stream.size(); ++i) rows.in_stream.peers.emplace_back(in_stream[i].name, in_stream[i].times);
  for (std::size_t i = 1; i < to_host.size(); ++i) rows.to_host.peers.emplace_back(to_host[i].name, to_host[i].times);
  return rows;
}

void peers_on_gpu(const study_options& how, const device_info& gpu, results& into) {
  constexpr int powers[] = {10, 14, 17, 20, 22, 24, 26, 28};
  constexpr int quick_powers[] = {14, 20, 26};
  const auto counts = counts_of(how, how.quick ? std::span<const int>(quick_powers) : powers);
  for (const form what : gpu_forms) {
    if (how.quick && what != form::sum && what != form::dot) continue;
    for (const element_type type : both_types) {
      std::vector<table_row> with_host;
      for (const std::uint64_t count : counts) {
        progress(fmt::format("GPU, {} of {}, {}", name(what), name(type), power_text(count)));
        auto [in_stream, to_host] = measure_on_gpu(how, gpu, what, type, count);
        progress("");
        into.take(std::move(in_stream));
        with_host.push_back(std::move(to_host));
      }
      for (auto& row : with_host) into.take(std::move(row));
    }
  }
  for (auto& one : missing_on_gpu()) into.missing.push_back({std::move(one), "gpu", 0});
}

#endif

}  // namespace

turn_limits turn_limits_of(const study_options& how) {
  if (how.quick) return {.repeats = std::min(how.repeats, 7), .longest_s = 0.1};
  return {.repeats = how.repeats, .longest_s = 0.25};
}

nlohmann::json peers(const study_options& how, const device_info* gpu) {
  results all;
  // The CPU first. Where the caller has already looked for GPUs, the driver is loaded, and every call on host memory takes 0.15 us
  // longer: as in a program that uses both.
  peers_on_cpu(how, all);
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu != nullptr) peers_on_gpu(how, *gpu, all);
  const char* const why_no_gpu = gpu == nullptr ? "no GPU can be used here" : nullptr;
#else
  const char* const why_no_gpu = "onefold-perf was built without CUDA";
#endif
  if (why_no_gpu != nullptr)
    for (const char* peer : {"cub", "thrust", "cublas", "kokkos"}) all.missing.push_back({{peer, why_no_gpu}, "gpu", 0});
  if (all.rows.empty()) throw std::runtime_error("no size of this study lies between --from and --to");

  nlohmann::json record = heading("peers", how, gpu);
  record["rows"] = nlohmann::json::array();
  for (const auto& row : all.rows) record["rows"].push_back(to_json(row));
  record["worst"] = worst_points(all.rows);
  record["notes"] = nlohmann::json::array(
      {"norm2 of onefold overflows only where the norm does. OpenMP simd, std, Eigen and Kokkos square and add here, which is less "
       "work and "
       "overflows for elements beyond the root of the largest number; BLAS libraries take care as onefold does.",
       "Below some thousand elements a call of onefold on the CPU is mostly what looks at the request, where the CUDA driver is "
       "loaded also what "
       "asks it where the memory is; Eigen, std and OpenMP simd are compiled into their caller."});
  record["missing"] = nlohmann::json::array();
  for (const auto& one : all.missing) {
    fmt::print("missing: {} ({}): {}\n", one.peer.name, place(one.where, one.threads), one.peer.why);
    record["missing"].push_back({{"peer", one.peer.name}, {"where", one.where}, {"why", one.peer.why}});
    if (one.threads > 0) record["missing"].back()["threads"] = one.threads;
  }
  auto versions = cpu_peer_versions();
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu != nullptr)
    for (auto& one : gpu_peer_versions()) versions.push_back(std::move(one));
#endif
  for (const auto& [peer, version] : versions) {
    fmt::print("{}: {}\n", peer, version);
    record["versions"][peer] = version;
  }
  return record;
}

}  // namespace onefold::perf
