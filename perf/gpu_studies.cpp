/// @file gpu_studies.cpp  The ladder and the sweep on a GPU.

#include "studies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include <onefold/onefold.hpp>

#include "cpu.hpp"
#include "fused.hpp"
#include "gpu.hpp"
#include "limit.hpp"
#include "record.hpp"

namespace onefold::perf {

namespace {

constexpr std::string_view first_of_lecture = "atomic_global";  // the lecture's cumulative speed-up counts from here
constexpr std::string_view first_tree = "shared_interleaved";   // and its "speed-up to reduction" from here

// Slow variants take seconds per call: fewer repeats keep the ladder short.
int repeats_for(double seconds_per_call, int wanted) {
  constexpr double budget_s = 1.0;
  return std::clamp(static_cast<int>(budget_s / seconds_per_call), 3, wanted);
}

struct rung {
  std::string name;
  report ran;
  bool waits = false;  // timed on the host's clock, because the host finishes
  bool is_default = true;
  samples cold, hot;
};

// How often the whole is measured: what differs between passes will differ between runs too (samples::noisy).
int passes(const study_options& how) { return how.quick ? 1 : 2; }
int repeats_of_pass(const study_options& how) { return (how.repeats + passes(how) - 1) / passes(how); }

// A variant with one of its widths and finishes, if it has such: the lectures have tables of both.
struct choice {
  const variant_info* variant;
  int width;
  finish last;

  [[nodiscard]] bool is_default() const { return width == variant->default_width && last == variant->default_finish; }
  [[nodiscard]] std::string text() const {
    std::string all(variant->name);
    if (width != variant->default_width) all += fmt::format("/{}", width);
    if (last != variant->default_finish) all += fmt::format(", {}", name(last));
    return all;
  }
  [[nodiscard]] bool needs_host() const { return last == finish::host; }
};

std::vector<choice> choices_of(const variant_info& variant, bool all_finishes) {
  std::vector<int> widths(variant.widths.begin(), variant.widths.end());
  if (widths.empty()) widths.push_back(variant.default_width);
  std::vector<finish> finishes{variant.default_finish};
  if (all_finishes)
    for (const finish one : variant.finishes)
      if (one != variant.default_finish) finishes.push_back(one);
  std::vector<choice> all;
  for (const int width : widths)
    for (const finish last : finishes)
      if (width == variant.default_width || last == variant.default_finish) all.push_back({&variant, width, last});
  return all;
}

options options_of(const choice& what, const study_options& how) {
  options all{.variant = what.variant->name, .width = what.width};
  if (what.last != what.variant->default_finish) all.finish = what.last;
  if (std::ranges::find(what.variant->block_sizes, how.block_size) != what.variant->block_sizes.end())
    all.block_size = how.block_size;
  return all;
}

// Whether a GPU can run it. What it cannot, because it has too little shared memory, say, is left out of the table, and why goes to `skipped`.
bool can_run(const gpu_bench& bench, const study_options& how, const choice& what, std::vector<std::string>& skipped) {
  try {
    std::uint64_t bits = 0;
    detail::run({bench.where(), how.type, form_of(how.op), bench.input(0), bench.count(), &bits, true}, options_of(what, how));
    return true;
  } catch (const error& problem) {
    if (problem.code() != errc::unsupported) throw;
    skipped.push_back(fmt::format("{}: {}", what.text(), problem.what()));
    return false;
  }
}

// Measures a variant once more into `result`.
void measure(rung& result, const gpu_bench& bench, const study_options& how, const choice& what, std::uint64_t expected) {
  result.name = what.text();
  result.waits = what.needs_host();
  result.is_default = what.is_default();
  const options wanted = options_of(what, how);
  const auto call = [&](const void* input, bool waits, void* output, report* ran) {
    options with_report = wanted;
    with_report.report = ran;
    detail::run({bench.where(), how.type, form_of(how.op), input, bench.count(), output, waits}, with_report);
  };

  std::uint64_t bits = 0;
  const samples first = bench.to_host([&](const void* input) { call(input, true, &bits, &result.ran); }, cache::hot, 1);
  if (bits != expected)
    throw std::runtime_error(fmt::format("{} is wrong: {:#x} where the oracle has {:#x}", result.name, bits, expected));

  const int repeats = repeats_for(first.median(), repeats_of_pass(how));
  for (const auto state : {cache::cold, cache::hot}) {
    samples& into = state == cache::cold ? result.cold : result.hot;
    if (result.waits)
      into.add(bench.to_host([&](const void* input) { call(input, true, &bits, nullptr); }, state, repeats));
    else
      into.add(bench.in_stream([&](const void* input) { call(input, false, bench.output(), nullptr); }, state, repeats));
  }
  if (!result.waits && bench.result_bits() != expected) throw std::runtime_error(result.name + " is wrong after the timed runs");
}

constexpr const char* the_limit = "of the GPU";

double fastest_of(const std::vector<rung>& rungs, samples rung::*times) {
  double least = std::numeric_limits<double>::infinity();
  for (const rung& one : rungs) least = std::min(least, (one.*times).median());
  return least;
}

double time_of(const std::vector<rung>& rungs, std::string_view name) {
  const auto found = std::ranges::find(rungs, name, &rung::name);
  return found == rungs.end() ? 0 : found->cold.median();
}

}  // namespace

nlohmann::json gpu_ladder(const study_options& how, const device_info& gpu) {
  const gpu_bench bench(how.device, how.type, how.op, how.count);
  progress("the oracle");
  const std::uint64_t expected = expected_bits(how.type, how.op, how.count);
  progress("the read limit");
  const auto read = [&](const void* input) { bench.read(input); };
  samples read_cold;
  samples read_hot;
  std::vector<choice> measured;
  std::vector<std::string> skipped;
  for (const auto& variant : variants(backend::cuda)) {
    if (!how.variants.empty() && std::ranges::find(how.variants, variant.name) == how.variants.end()) continue;
    if (!variant.supports(how.type, how.op))
      skipped.push_back(fmt::format("{} does not take {} of {}: {}", variant.name, name(how.op), name(how.type), variant.limits));
    else if (const auto reason = why_not(variant, cuda(how.device)))
      skipped.push_back(*reason);
    else
      for (const choice& one : choices_of(variant, how.finishes))
        if (can_run(bench, how, one, skipped)) measured.push_back(one);
  }
  std::vector<rung> rungs(measured.size());
  for (int pass = 0; pass < passes(how); ++pass) {
    read_cold.add(bench.in_stream(read, cache::cold, repeats_of_pass(how)));
    read_hot.add(bench.in_stream(read, cache::hot, repeats_of_pass(how)));
    for (std::size_t i = 0; i < measured.size(); ++i) {
      progress(fmt::format("{} ({} of {}, pass {} of {})", measured[i].text(), i + 1, measured.size(), pass + 1, passes(how)));
      measure(rungs[i], bench, how, measured[i], expected);
    }
  }
  progress("the read limit");
  const double fastest = fastest_of(rungs, &rung::cold);
  read_cold = settled_limit(std::move(read_cold), fastest, [&] { return bench.in_stream(read, cache::cold, how.repeats); });
  progress("");

  const double lecture_base = time_of(rungs, first_of_lecture);
  const double tree_base = time_of(rungs, first_tree);
  nlohmann::json record = heading(how.finishes ? "finishes" : "ladder", how, &gpu);
  record["count"] = how.count;
  record["bytes"] = bench.bytes();
  record["read_limit"] = {{"cold", to_json(read_cold)}, {"hot", to_json(read_hot)}};
  fmt::print("{} of {} {} ({:.1f} MB) on {}; read limit {:.2f} us cold = {:.0f} GB/s, {:.2f} us hot\n", name(how.op), how.count,
             name(how.type), static_cast<double>(bench.bytes()) * 1e-6, gpu.name, read_cold.median() * 1e6,
             gigabytes_per_second(bench.bytes(), read_cold.median()), read_hot.median() * 1e6);
  fmt::print("{:20} {:>12} {:>9} {:>8} {:>11} {:>10} {:>7} {:>12}  {}\n", "variant", "time us", "GB/s", "step", "cumulative",
             "over tree", "% read", "hot us", "finish, launch");
  double before = 0;
  for (const rung& row : rungs) {
    const double cold = row.cold.median();
    fmt::print("{:20} {:12.2f} {:9.1f} {:>8} {:>11} {:>10} {:>7} {:12.2f}  {}, {} x {}, {} launch{}{}\n", row.name, cold * 1e6,
               gigabytes_per_second(bench.bytes(), cold), ratio_text(before, cold), ratio_text(lecture_base, cold),
               ratio_text(tree_base, cold), percent_text(read_cold.median(), cold), row.hot.median() * 1e6, name(row.ran.finish),
               row.ran.grid_size, row.ran.block_size, row.ran.launches, row.ran.launches == 1 ? "" : "es",
               row.waits ? ", to the host" : "");
    record["rows"].push_back({{"variant", row.name},
                              {"finish", name(row.ran.finish)},
                              {"grid_size", row.ran.grid_size},
                              {"block_size", row.ran.block_size},
                              {"width", row.ran.width},
                              {"launches", row.ran.launches},
                              {"scratch_bytes", row.ran.scratch_bytes},
                              {"clock", row.waits ? "host" : "events"},
                              {"cold", to_json(row.cold)},
                              {"hot", to_json(row.hot)}});
    if (row.is_default) before = cold;  // what a width or a finish more does is another question than what the next rung does
  }
  fmt::print("step: the variant above / this; cumulative: {} / this; over tree: {} / this; cold: arrays rotate through 1.5 GiB\n",
             first_of_lecture, first_tree);
  for (const auto& line : skipped) fmt::print("left out: {}\n", line);
  record["left_out"] = skipped;
  warn(record, limit_warning(the_limit, read_cold.median(), fastest));
  return record;
}

namespace {

// One size of a sweep.
struct sweep_row {
  int power;
  std::uint64_t expected;
  samples read[2];  // cold and hot
  std::vector<rung> rungs;
};

void measure(sweep_row& row, const study_options& how, const std::vector<const variant_info*>& variants, bool last_pass) {
  const gpu_bench bench(how.device, how.type, how.op, std::uint64_t{1} << row.power);
  const auto read = [&](int state) {
    return bench.in_stream([&](const void* input) { bench.read(input); }, state == 0 ? cache::cold : cache::hot,
                           repeats_of_pass(how));
  };
  for (const int state : {0, 1}) row.read[state].add(read(state));
  for (std::size_t i = 0; i < variants.size(); ++i)
    measure(row.rungs[i], bench, how, {variants[i], variants[i]->default_width, variants[i]->default_finish}, row.expected);
  if (!last_pass) return;
  for (const int state : {0, 1}) {
    const double fastest = fastest_of(row.rungs, state == 0 ? &rung::cold : &rung::hot);
    row.read[state] = settled_limit(std::move(row.read[state]), fastest, [&] { return read(state); });
  }
}

}  // namespace

nlohmann::json sweep(const study_options& how, const device_info& gpu) {
  const std::vector<std::string> names = how.variants.empty() ? std::vector<std::string>{"fixed_order", "cub"} : how.variants;
  std::vector<const variant_info*> chosen;
  for (const auto& variant : names) {
    const variant_info* info = find_variant(variant, backend::cuda);
    if (info == nullptr) throw std::runtime_error("no variant is named " + variant);
    chosen.push_back(info);
  }
  std::vector<sweep_row> rows;
  for (int power = how.first_power; power <= how.last_power; power += how.quick ? 4 : 1)
    rows.push_back({power, expected_bits(how.type, how.op, std::uint64_t{1} << power), {}, std::vector<rung>(names.size())});
  for (int pass = 0; pass < passes(how); ++pass)
    for (sweep_row& row : rows) {
      progress(fmt::format("2^{}, pass {} of {}", row.power, pass + 1, passes(how)));
      measure(row, how, chosen, pass + 1 == passes(how));
    }
  progress("");

  nlohmann::json record = heading("sweep", how, &gpu);
  fmt::print("{} of {} on {}, us in stream; % of the read limit in brackets, ~ where it is noisy\n{:>12}", name(how.op),
             name(how.type), gpu.name, "n");
  for (const char* state : {"cold", "hot"}) {
    fmt::print(" {:>10}", fmt::format("read {}", state));
    for (const auto& variant : names) fmt::print(" {:>20}", variant);
  }
  fmt::print("\n");
  for (const sweep_row& row : rows) {
    const std::uint64_t count = std::uint64_t{1} << row.power;
    nlohmann::json kept{{"count", count}, {"bytes", count * size_of(how.type)}};
    kept["read_limit"] = {{"cold", to_json(row.read[0])}, {"hot", to_json(row.read[1])}};
    fmt::print("{:>12}", fmt::format("2^{}", row.power));
    for (const int state : {0, 1}) {
      const double limit = row.read[state].median();
      fmt::print(" {:10.2f}", limit * 1e6);
      for (const rung& one : row.rungs) {
        const samples& times = state == 0 ? one.cold : one.hot;
        fmt::print(" {:>20}", fmt::format("{:.2f}{} ({})", times.median() * 1e6, times.noisy() ? "~" : "",
                                          percent_text(limit, times.median())));
        kept["variants"][one.name][state == 0 ? "cold" : "hot"] = to_json(times);
      }
    }
    fmt::print("\n");
    // Smaller arrays are a matter of the launch: onefold's kernels begin while the one ahead of them ends, the bare read does not.
    constexpr std::uint64_t least_limited_bytes = std::uint64_t{1} << 20;
    for (const int state : {0, 1})
      if (count * size_of(how.type) >= least_limited_bytes)
        warn(kept,
             limit_warning(the_limit, row.read[state].median(), fastest_of(row.rungs, state == 0 ? &rung::cold : &rung::hot)));
    record["rows"].push_back(std::move(kept));
  }
  return record;
}

namespace {

struct form_row {
  form what;
  bool wide;
};

std::vector<form_row> every_form(element_type type) {
  std::vector<form_row> all;
  for (int i = 0; i < form_count + record_count; ++i)
    for (const bool wide : {false, true}) {
      const form what = static_cast<form>(i);
      if (what == form::reduce_together || !takes_type(what, type) || (wide && !can_be_wide(type, what))) continue;
      all.push_back({what, wide});
    }
  return all;
}

// What a form stores, with whatever stands between a small value and its index taken away.
using stored_bytes = std::array<std::byte, gpu_bench::output_bytes>;
void clear_between(stored_bytes& of, element_type type, form what) {
  for (std::size_t at = 0; has_index(what) && at < result_bytes(type, what); at += 2 * sizeof(std::uint64_t))
    std::fill(of.begin() + static_cast<std::ptrdiff_t>(at + size_of(result_type(type, what))),
              of.begin() + static_cast<std::ptrdiff_t>(at + sizeof(std::uint64_t)), std::byte{0});
}

}  // namespace

nlohmann::json forms(const study_options& how, const device_info& gpu) {
  const std::size_t size = size_of(how.type);
  progress("the arrays");
  const gpu_bench bench(how.device, how.type, operation::sum, how.count, 2);
  const std::vector<std::byte> host = host_copy(how.type, how.count);
  const auto read = [&](const void* input) { bench.read(input); };
  const double limit = bench.in_stream(read, cache::cold, how.repeats).median();
  nlohmann::json record = heading("forms", how, &gpu);
  record["count"] = how.count;
  record["bytes"] = bench.bytes();
  record["read_limit"] = limit;
  fmt::print(
      "{} {} on {}, nothing in the cache; a read of one array takes {:.2f} us = {:.0f} GB/s\n"
      "cut: an element less; one off: from the second element on; apart: only the second input is one off\n",
      how.count, name(how.type), gpu.name, limit * 1e6, gigabytes_per_second(bench.bytes(), limit));
  fmt::print("{:28} {:>10} {:>8} {:>8}   {:>7} {:>9} {:>9}\n", "form", "us", "GB/s", "% read", "cut", "one off", "apart");
  if (const auto peer = cub_sum(bench, how.type)) {
    const samples times = bench.in_stream(peer, cache::cold, how.repeats);
    progress("");
    fmt::print("{:28} {:10.2f} {:8.0f} {:>8}\n", "sum by CUB", times.median() * 1e6,
               gigabytes_per_second(bench.bytes(), times.median()), percent_text(limit, times.median()));
    record["cub_sum"] = to_json(times);
  }
  for (const auto& one : every_form(how.type)) {
    const auto what = one.what;  // names of their own: clang before 16 captures no structured binding
    const bool wide = one.wide;
    const std::string label =
        std::string(name(what)) + (wide ? fmt::format(" accumulated in {}", name(accumulator_type(how.type, true))) : "");
    progress(label);
    const int inputs = what == form::dot ? 2 : 1;
    // All elements but the last `less`; the inputs begin so many elements behind those of the aligned case.
    struct placement {
      std::uint64_t off, off_second, less;
      stored_bytes expected = {};
      samples times = {};
    };
    placement all[] = {{0, 0, 0}, {0, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const std::span<placement> placements(all, inputs == 2 ? 4 : 3);
    const auto from = [&](const void* input, std::uint64_t elements) {
      return static_cast<const std::byte*>(input) + elements * size;
    };
    for (placement& at : placements) {
      detail::run({best(), how.type, what, from(host.data(), at.off), how.count - at.less, at.expected.data(), true,
                   from(host.data(), at.off_second), wide},
                  {});
      clear_between(at.expected, how.type, what);
    }
    for (int pass = 0; pass < passes(how); ++pass)
      for (placement& at : placements) {
        const auto work = [&](const void* input) {
          detail::run({bench.where(), how.type, what, from(input, at.off), how.count - at.less, bench.output(), false,
                       from(bench.partner(input), at.off_second), wide},
                      {});
        };
        at.times.add(bench.in_stream(work, cache::cold, repeats_of_pass(how)));
        stored_bytes found{};
        bench.copy_result(found.data(), result_bytes(how.type, what, wide));
        clear_between(found, how.type, what);
        if (found != at.expected) throw std::runtime_error(label + " is wrong: not the CPU's bits");
      }
    const samples& aligned = all[0].times;
    const samples& cut = all[1].times;      // the last tile lacks an element
    const samples& one_off = all[2].times;  // nor is any load aligned
    const samples& apart = all[3].times;    // the first input is aligned, the second is not
    progress("");
    const auto slower = [&](const samples& times) {
      return times.seconds.empty() ? std::string("-") : fmt::format("{:+.1f}%", 100 * (times.median() / aligned.median() - 1));
    };
    fmt::print("{:28} {:10.2f} {:8.0f} {:>8}   {:>7} {:>9} {:>9}\n", label, aligned.median() * 1e6,
               gigabytes_per_second(static_cast<std::uint64_t>(inputs) * bench.bytes(), aligned.median()),
               percent_text(inputs * limit, aligned.median()), slower(cut), slower(one_off), slower(apart));
    std::fflush(stdout);
    nlohmann::json row{{"form", name(what)},          {"wide", wide},        {"inputs", inputs},
                       {"aligned", to_json(aligned)}, {"cut", to_json(cut)}, {"one_off", to_json(one_off)}};
    if (inputs == 2) row["apart"] = to_json(apart);
    warn(row, limit_warning(the_limit, inputs * limit, aligned.median()));
    record["rows"].push_back(std::move(row));
  }
  return record;
}

namespace {

// Dots of 10 000 doubles, to the host: one, one after the other, and as a batch, with the latter's time over that of one call.
nlohmann::json batch_times(const study_options& how, int repeats) {
  constexpr std::uint64_t count = 10'000;
  constexpr std::size_t most = 64;
  const gpu_bench bench(how.device, element_type::f64, operation::sum, count, 2 * most);
  const auto x = [&](std::size_t k) { return static_cast<const double*>(bench.input(k)); };
  std::array<double, most> results{};
  nlohmann::json record{{"count", count}};
  fmt::print("dots of {} f64 to the host, us: alone, as a batch, and that over one alone\n", count);
  double one = 0;
  for (const std::size_t many : {std::size_t{1}, std::size_t{4}, most}) {
    batch work(bench.where());
    for (std::size_t k = 0; k < many; ++k) work.add(dot, x(k), x(k + 1), count, &results[k]);
    const samples alone = bench.to_host(
        [&](const void*) {
          for (std::size_t k = 0; k < many; ++k) results[k] = dot(bench.where(), x(k), x(k + 1), count);
        },
        cache::hot, repeats);
    const samples together = bench.to_host([&](const void*) { work.run(); }, cache::hot, repeats);
    if (many == 1) one = alone.median();
    fmt::print("{:>8} {:>12.2f} {:>12.2f} {:>8.2f}\n", many, alone.median() * 1e6, together.median() * 1e6,
               together.median() / one);
    record["rows"].push_back({{"reductions", many}, {"alone", to_json(alone)}, {"batch", to_json(together)}});
  }
  return record;
}

}  // namespace

nlohmann::json latency(const study_options& how, const device_info& gpu) {
  nlohmann::json record = heading("latency", how, &gpu);
  fmt::print("{} of {} on {}, us, the array in the cache\n{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", name(how.what),
             name(how.type), gpu.name, "n", "in stream", "cub", "to host", "bare kernel", "cub to host", "to enqueue");
  const int host_repeats = how.quick ? 100 : 300;
  for (int power = 0; power <= 16; power += how.quick ? 4 : 2) {
    const std::uint64_t count = std::uint64_t{1} << power;
    const gpu_bench bench(how.device, how.type, operation::sum, count, 2);
    std::uint64_t value = 0;
    const auto call = [&](const void* input, bool waits, const options& asked) {
      detail::run({bench.where(), how.type, how.what, input, count, waits ? &value : bench.output(), waits, bench.partner(input)},
                  asked);
    };
    const auto to_host = [&](const options& asked) {
      return bench.to_host([&](const void* input) { call(input, true, asked); }, cache::hot, host_repeats);
    };
    const auto in_stream = [&](const options& asked) {
      return bench.in_stream([&](const void* input) { call(input, false, asked); }, cache::hot, how.repeats);
    };
    // Twenty at a time, as many as are always ahead of the GPU.
    const samples enqueue = bench.to_host(
        [&](const void* input) {
          for (int i = 0; i < 20; ++i) call(input, false, {});
        },
        cache::hot, 50);
    synchronize(bench.where());
    const bool has_peer = is_plain(how.what);
    const samples ours = in_stream({});
    const samples peer = has_peer ? in_stream({.variant = "cub"}) : samples{};
    const samples ours_host = to_host({});
    const samples bare = bench.round_trip(host_repeats);
    const samples peer_host = has_peer ? to_host({.variant = "cub"}) : samples{};
    const auto text = [](const samples& times) {
      return times.seconds.empty() ? std::string("-") : fmt::format("{:.2f}", times.median() * 1e6);
    };
    fmt::print("{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12.2f}\n", fmt::format("2^{}", power), text(ours), text(peer),
               text(ours_host), text(bare), text(peer_host), enqueue.median() * 1e6 / 20);
    std::fflush(stdout);
    nlohmann::json row{{"count", count},
                       {"in_stream", to_json(ours)},
                       {"to_host", to_json(ours_host)},
                       {"bare_kernel", to_json(bare)},
                       {"enqueue_20", to_json(enqueue)}};
    if (has_peer) row["cub"] = {{"in_stream", to_json(peer)}, {"to_host", to_json(peer_host)}};
    record["rows"].push_back(std::move(row));
  }
  record["batch"] = batch_times(how, host_repeats);
  return record;
}

}  // namespace onefold::perf
