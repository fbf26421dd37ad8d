/// @file main.cpp  onefold-perf: the command line of the performance suite.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>

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

// The chart is a script's work, and a missing matplotlib is no error. A python3 ahead of the system's on the PATH may be without it.
void plot(const std::string& record, const std::string& picture) {
  const std::string script = ONEFOLD_PERF_PLOT_SCRIPT;
  const std::string command =
      "for python in python3 /usr/bin/python3; do \"$python\" -c 'import matplotlib' 2>/dev/null && exec \"$python\" '" + script +
      "' '" + record + "' '" + picture + "'; done; exit 1";
  if (std::system(command.c_str()) != 0) fmt::print(stderr, "no chart: {} needs python3 with matplotlib\n", script);
}

template <class Enum>
void parse_into(Enum& value, const std::string& text, const char* what) {
  const auto known = parse<Enum>(text);
  if (!known) throw std::runtime_error(fmt::format("\"{}\" is no {}", text, what));
  value = *known;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"onefold's performance suite. Figures are medians; checked against the oracle before they are taken."};
  app.require_subcommand(1);
  study_options how;
  how.command.assign(argv, argv + argc);
  how.command.front() = "onefold-perf";
  std::string type = "f32";
  std::string op = "sum";
  std::string json_file;
  std::string plot_file;
  const auto common = [&](CLI::App* study) {
    study->add_option("--type", type, "element type: f32, f64, i32, u32, i64 or u64")->capture_default_str();
    study->add_option("--op", op, "operator: sum, prod, min or max")->capture_default_str();
    study->add_option("--device", how.device, "CUDA device")->capture_default_str();
    study->add_option("--repeats", how.repeats, "timed calls, at most")->capture_default_str()->check(CLI::PositiveNumber);
    study->add_option("--variants", how.variants, "only these variants")->delimiter(',');
    study->add_option("--json", json_file, "write every figure, with machine, driver, commit and command, to this file");
    study->add_option("--block-size", how.block_size, "threads per block, where the variant has a choice");
  };
  CLI::App* ladder =
      app.add_subcommand("ladder", "every variant on one array, as the lectures' table; without a GPU the CPU's ladder");
  common(ladder);
  ladder->add_option("--n", how.count, "elements")->capture_default_str()->check(CLI::PositiveNumber);
  ladder->add_option("--plot", plot_file, "draw a bar chart into this PNG file; needs --json");
  bool on_cpu = false;
  ladder->add_flag("--cpu", on_cpu, "the CPU's ladder, also where there is a GPU");
  CLI::App* sizes = app.add_subcommand("sweep", "the default variant and its peer from small to large n, cold and hot");
  common(sizes);
  sizes->add_option("--from", how.first_power, "smallest n is 2^FROM")->capture_default_str();
  sizes->add_option("--to", how.last_power, "largest n is 2^TO")->capture_default_str();
  CLI::App* of_forms = app.add_subcommand("forms", "every form on one array: dot, norms, means, and what an odd alignment costs");
  common(of_forms);
  of_forms->add_option("--n", how.count, "elements")->check(CLI::PositiveNumber);
  CLI::App* small = app.add_subcommand("latency", "small arrays in stream and to a value on the host");
  common(small);
  CLI::App* cpu =
      app.add_subcommand("cpu", "tree v1 on the CPU from small to large n, against the best loop that promises no order");
  std::string what = "sum";
  cpu->add_option("--type", type, "element type: f32 or f64")->capture_default_str();
  small->add_option("--form", what, "sum, dot, norm2, ...")->capture_default_str();
  cpu->add_option("--form", what, "sum, dot, sum_of_squares, norm1, min or max")->capture_default_str();
  cpu->add_option("--from", how.first_power, "smallest n is 2^FROM")->capture_default_str();
  int cpu_last_power = 27;
  cpu->add_option("--to", cpu_last_power, "largest n is 2^TO")->capture_default_str();
  cpu->add_option("--threads", how.threads, "1 or all; both when left away")->check(CLI::IsMember({"1", "all"}));
  cpu->add_option("--offset", how.offset, "elements from the boundary of a cache line to the arrays' begin")->capture_default_str();
  cpu->add_option("--repeats", how.repeats, "timed rounds, at most")->capture_default_str()->check(CLI::PositiveNumber);
  cpu->add_option("--json", json_file, "write every figure, with machine, commit and command, to this file");
  CLI11_PARSE(app, argc, argv);

  try {
    parse_into(how.type, type, "element type");
    parse_into(how.op, op, "operator");
    parse_into(how.what, what, "form");
    if (cpu->parsed()) {
      how.last_power = cpu_last_power;
      const nlohmann::json record = cpu_sizes(how);
      if (!json_file.empty()) write_json(json_file, record);
      return 0;
    }
    const device_info* gpu = usable_gpu(how.device);
    if (of_forms->parsed() && of_forms->count("--n") == 0) how.count = std::uint64_t{1} << 28;
    gpu_study study = nullptr;
#ifdef ONEFOLD_HAVE_CUDA
    if (gpu != nullptr && !on_cpu)
      study = sizes->parsed() ? sweep : of_forms->parsed() ? forms : small->parsed() ? latency : gpu_ladder;
#endif
    nlohmann::json record;
    if (study != nullptr) {
      record = study(how, *gpu);
    } else if (!ladder->parsed()) {
      throw std::runtime_error("this study needs a GPU, and none can be used here (see: onefold info)");
    } else {
      record = cpu_ladder(how);
      if (gpu == nullptr)
        fmt::print("No GPU can be used here; on one, this ladder has {} CUDA variants.\n", variants(backend::cuda).size());
    }
    if (!json_file.empty()) write_json(json_file, record);
    if (!plot_file.empty() && !json_file.empty()) plot(json_file, plot_file);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "\nonefold-perf: {}\n", problem.what());
    return exit_failure;
  }
}
