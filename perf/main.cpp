/// @file main.cpp  onefold-perf: the command line of the performance suite.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onefold_commit.hpp"
#include "record.hpp"
#include "studies.hpp"

namespace {

using namespace onefold;
using namespace onefold::perf;

constexpr int exit_failure = 2;

// The GPU to measure on, or null where none can be used.
const device_info* usable_gpu(int device) {
  static const std::vector<backend_info> all = backends();
  for (const auto& known : all)
    if (known.where == backend::cuda && known.usable)
      for (const auto& gpu : known.devices)
        if (gpu.number == device) return &gpu;
  return nullptr;
}

using gpu_study = nlohmann::json (*)(const study_options&, const device_info&);

// Control characters as \x0a, so that a message stays on one line whatever was typed.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    line += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return line;
}

void print_error(std::string_view sentence) {
  progress("");
  const std::string line = fmt::format("onefold-perf: {}\n", one_line(sentence));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// One word for a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// Runs a Python that has matplotlib; one ahead of the system's on the PATH may be without it.
bool run_with_matplotlib(const std::string& arguments) {
  const std::string command =
      "for python in python3 /usr/bin/python3; do \"$python\" -c 'import matplotlib' 2>/dev/null && exec \"$python\" " + arguments +
      "; done; exit 1";
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the threads wait
  return std::system(command.c_str()) == 0;
}

// The chart is a script's work. What it needs is asked for before anything is measured.
void check_plot(const std::string& picture) {
  if (!picture.ends_with(".png")) throw std::runtime_error(picture + ": --plot draws PNG: name a file that ends in .png");
  check_writable(picture);
  if (!run_with_matplotlib("-c ''"))
    throw std::runtime_error("--plot needs a python3 with matplotlib (Debian: python3-matplotlib), and there is none");
}

void plot(const std::string& record, const std::string& picture) {
  if (!run_with_matplotlib(quoted(ONEFOLD_PERF_PLOT_SCRIPT) + " " + quoted(record) + " " + quoted(picture)))
    throw std::runtime_error(picture + ": the chart could not be drawn (see above); the figures are in " + record);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substituted}));
    }
  }
  return row[b.size()];
}

// ": did you mean ladder?" for a name that is near enough, else what `otherwise` says.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names, const std::string& otherwise) {
  const auto distance = [&](const std::string& one) { return edit_distance(typed, one); };
  const auto nearest = std::ranges::min_element(names, {}, distance);
  const bool near = nearest != names.end() && distance(*nearest) <= std::max<std::size_t>(2, typed.size() / 3);
  return near ? ": did you mean " + *nearest + "?" : otherwise;
}

void check_variants(const std::vector<std::string>& asked) {
  const auto listed = variants(backend::cuda);
  std::vector<std::string> known;
  known.reserve(listed.size());
  for (const auto& variant : listed) known.emplace_back(variant.name);
  for (const auto& one : asked)
    if (std::ranges::find(known, one) == known.end())
      throw std::runtime_error(
          fmt::format("--variants: no CUDA variant is named {}{}", one, suggestion(one, known, "; 'onefold variants' lists them")));
}

template <class Enum>
std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.emplace_back(onefold::name(static_cast<Enum>(i)));
  return all;
}

// What is typed, before it is made into the studies' options.
struct arguments {
  std::string type = "f32";
  std::string op = "sum";
  std::string what = "sum";
  std::string json_file;
  std::string plot_file;
  int cpu_last_power = 27;
  bool on_cpu = false;
};

// The studies, as the command line knows them.
struct subcommands {
  CLI::App *ladder, *sweep, *forms, *latency, *cpu;
};

subcommands add_subcommands(CLI::App& app, arguments& typed, study_options& how) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;
  constexpr int most_power = 40;
  constexpr int most_repeats = 1'000'000;
  const auto element_types = names<element_type>(element_type_count);
  const auto add_common = [&](CLI::App* study) {
    study->add_option("--repeats", how.repeats, "timed calls, at most")->capture_default_str()->check(CLI::Range(1, most_repeats));
    study->add_option("--json", typed.json_file, "write every figure, with machine, driver, commit and command, to this file");
  };
  const auto add_gpu = [&](CLI::App* study) {
    add_common(study);
    study->add_option("--type", typed.type, "element type")->capture_default_str()->check(CLI::IsMember(element_types));
    study->add_option("--device", how.device, "CUDA device")->capture_default_str()->check(CLI::Range(0, 1023));
  };
  const auto add_variants = [&](CLI::App* study) {
    study->add_option("--op", typed.op, "operator")->capture_default_str()->check(CLI::IsMember(names<operation>(operation_count)));
    study->add_option("--variants", how.variants, "only these variants")->delimiter(',');
    study->add_option("--block-size", how.block_size, "threads per block, where the variant has a choice")
        ->check(CLI::Range(1, 1024));
  };
  const auto add_count = [&](CLI::App* study) {
    return study->add_option("--n", how.count, "elements")->check(CLI::Range(std::uint64_t{1}, most_elements));
  };
  const auto add_powers = [&](CLI::App* study, int& last) {
    study->add_option("--from", how.first_power, "smallest n is 2^FROM")->capture_default_str()->check(CLI::Range(0, most_power));
    study->add_option("--to", last, "largest n is 2^TO")->capture_default_str()->check(CLI::Range(0, most_power));
    study->parse_complete_callback([&how, &last] {
      if (how.first_power > last)
        throw CLI::ValidationError("--from", fmt::format("{} is more than --to, {}", how.first_power, last));
    });
  };

  subcommands all{};
  all.ladder = app.add_subcommand("ladder", "every variant on one array, as the lectures' table; without a GPU the CPU's ladder");
  add_gpu(all.ladder);
  add_variants(all.ladder);
  add_count(all.ladder)->capture_default_str();
  all.ladder->add_option("--plot", typed.plot_file, "draw a bar chart into this PNG file; needs --json")->needs("--json");
  all.ladder->add_flag("--cpu", typed.on_cpu, "the CPU's ladder, also where there is a GPU");

  all.sweep = app.add_subcommand("sweep", "the default variant and its peer from small to large n, cold and hot");
  add_gpu(all.sweep);
  add_variants(all.sweep);
  add_powers(all.sweep, how.last_power);

  all.forms = app.add_subcommand("forms", "every form on one array: dot, norms, means, and what an odd alignment costs");
  add_gpu(all.forms);
  add_count(all.forms);

  all.latency = app.add_subcommand("latency", "small arrays in stream and to a value on the host");
  add_gpu(all.latency);
  all.latency->add_option("--form", typed.what, "what is reduced")
      ->capture_default_str()
      ->check(CLI::IsMember(names<form>(form_count)));

  all.cpu = app.add_subcommand("cpu", "tree v1 on the CPU from small to large n, against the best loop that promises no order");
  add_common(all.cpu);
  all.cpu->add_option("--type", typed.type, "element type")->capture_default_str()->check(CLI::IsMember({"f32", "f64"}));
  all.cpu->add_option("--form", typed.what, "what is reduced")
      ->capture_default_str()
      ->check(CLI::IsMember({"sum", "dot", "sum_of_squares", "norm1", "min", "max"}));
  add_powers(all.cpu, typed.cpu_last_power);
  all.cpu->add_option("--threads", how.threads, "1 or all; both when left away")->check(CLI::IsMember({"1", "all"}));
  all.cpu->add_option("--offset", how.offset, "elements from the boundary of a cache line to the arrays' begin")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, most_elements));
  return all;
}

// What only a GPU's study looks at.
void refuse_gpu_options(const CLI::App& ladder, bool on_cpu) {
  for (const char* option : {"--variants", "--block-size", "--device"})
    if (ladder.count(option) > 0)
      throw std::runtime_error(
          fmt::format("{} is for the GPU's ladder, and {}: leave it away", option,
                      on_cpu ? "--cpu asks for the CPU's" : "no such GPU can be used here (see: onefold info)"));
}

nlohmann::json run_study(const subcommands& of, const arguments& typed, study_options& how) {
  if (of.cpu->parsed()) {
    how.last_power = typed.cpu_last_power;
    return cpu_sizes(how);
  }
  check_variants(how.variants);
  const device_info* gpu = usable_gpu(how.device);
  if (of.forms->parsed() && of.forms->count("--n") == 0) how.count = std::uint64_t{1} << 28;
  gpu_study study = nullptr;
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu != nullptr && !typed.on_cpu)
    study = of.sweep->parsed() ? sweep : of.forms->parsed() ? forms : of.latency->parsed() ? latency : gpu_ladder;
#endif
  if (study != nullptr) return study(how, *gpu);
  if (!of.ladder->parsed()) throw std::runtime_error("this study needs a GPU, and none can be used here (see: onefold info)");
  refuse_gpu_options(*of.ladder, typed.on_cpu);
  nlohmann::json record = cpu_ladder(how);
  if (gpu == nullptr)
    fmt::print("No GPU can be used here; on one, this ladder has {} CUDA variants.\n", variants(backend::cuda).size());
  return record;
}

int run(int argc, char** argv) {
  CLI::App app("onefold's performance suite. Figures are medians; checked against the oracle before they are taken.",
               "onefold-perf");
  app.set_version_flag("--version", "onefold-perf " ONEFOLD_VERSION_STRING ", commit " ONEFOLD_COMMIT);
  app.require_subcommand(0, 1);  // none is refused below: CLI11 would say the same of a misspelt one
  app.footer("\nExit status: 0; 2 with one line on standard error that says what is wrong.");
  study_options how;
  how.command.assign(argv, argv + argc);
  how.command.front() = "onefold-perf";
  arguments typed;
  const subcommands studies = add_subcommands(app, typed, how);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A study: ladder, sweep, forms, latency or cpu");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    const auto left = app.remaining();
    const bool no_study = app.get_subcommands().empty() && !left.empty() && !left.front().starts_with("-");
    const std::string hint = no_study ? suggestion(left.front(), {"ladder", "sweep", "forms", "latency", "cpu"}, "") : "";
    print_error(fmt::format("{}{} (onefold-perf --help shows what can be asked)", error.what(), hint));
    return exit_failure;
  }
  how.type = *parse<element_type>(typed.type);
  how.op = *parse<operation>(typed.op);
  how.what = *parse<form>(typed.what);
  if (app.get_subcommands().front()->count("--json") > 0) check_writable(typed.json_file);
  if (studies.ladder->count("--plot") > 0) check_plot(typed.plot_file);

  const nlohmann::json record = run_study(studies, typed, how);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("the output could not be written: is the disk full?");
  if (!typed.json_file.empty()) write_json(typed.json_file, record);
  if (!typed.plot_file.empty()) plot(typed.json_file, typed.plot_file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("there is not enough memory: use fewer elements or a machine with more");
  } catch (const std::exception& problem) {
    print_error(problem.what());
  }
  return exit_failure;
}
