/// @file main.cpp  onefold-perf: the command line of the performance suite.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fold_loops.hpp"
#include "memory/run.hpp"
#include "onefold_commit.hpp"
#include "program.hpp"
#include "record.hpp"
#include "report.hpp"
#include "studies.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "gpu.hpp"
#endif

namespace {

using namespace onefold;
using namespace onefold::perf;

constexpr int quick_repeats = 7;
constexpr int most_repeats = 1'000'000;
constexpr int most_power = 40;
constexpr std::uint64_t most_elements = std::uint64_t{1} << most_power;
constexpr std::uint64_t forms_elements = std::uint64_t{1} << 28;
constexpr std::uint64_t forms_quick_elements = std::uint64_t{1} << 24;

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
  std::string out_folder = "onefold-report";
  std::string picture_file;
  std::vector<std::string> records;
  std::vector<std::string> memory_studies;
  int sweep_last_power = 30;
  int cpu_last_power = 27;
  bool on_cpu = false;
  compare_options comparing;
};

// A subcommand: what it offers, and what it does. A study gives its record.
struct command {
  CLI::App* app;
  std::function<nlohmann::json()> run;
};

std::vector<std::string> names_of(const std::vector<command>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const command& one : all) names.push_back(one.app->get_name());
  return names;
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

// What only a GPU's study looks at.
void refuse_gpu_options(const CLI::App& ladder, bool on_cpu) {
  for (const char* option : {"--variants", "--block-size", "--finishes", "--device"})
    if (ladder.count(option) > 0)
      throw std::runtime_error(
          fmt::format("{} is for the GPU's ladder, and {}: leave it away", option,
                      on_cpu ? "--cpu asks for the CPU's" : "no such GPU can be used here (see: onefold info)"));
}

using gpu_study = nlohmann::json (*)(const study_options&, const device_info&);
struct {
  gpu_study sweep, forms, latency, tune, fused, exact, host_arrays, ranges, devices;
} constexpr gpu_studies =
#ifdef ONEFOLD_HAVE_CUDA
    {sweep, forms, latency, tune, fused, exact, host_arrays, ranges, onefold::perf::devices};
#else
    {};
#endif

nlohmann::json on_gpu([[maybe_unused]] gpu_study study, const study_options& how) {
  check_variants(how.variants);
#ifdef ONEFOLD_HAVE_CUDA
  if (const auto gpu = usable_gpu(how.device)) return study(how, *gpu);
#endif
  refuse_without_gpu();
}

nlohmann::json run_ladder(const CLI::App& app, const arguments& typed, const study_options& how) {
  check_variants(how.variants);
  const auto gpu = usable_gpu(how.device);
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu && !typed.on_cpu) return gpu_ladder(how, *gpu);
#endif
  refuse_gpu_options(app, typed.on_cpu);
  nlohmann::json record = cpu_ladder(how);
  if (!gpu) fmt::print("No GPU can be used here; on one, this ladder has {} CUDA variants.\n", variants(backend::cuda).size());
  return record;
}

nlohmann::json run_memory(const arguments& typed, const study_options& how) {
  const auto gpu = usable_gpu(how.device);
  const gpu_clock* clock = nullptr;
#ifdef ONEFOLD_HAVE_CUDA
  std::optional<gpu_clock> real;
  if (gpu) clock = &real.emplace(how.device);
#endif
  nlohmann::json record = provenance(how.command, gpu ? &*gpu : nullptr);
  record["study"] = "memory";
  record["studies"] = nlohmann::json::array();
  record["left_out"] = nlohmann::json::array();
  for (const memory::study& one : memory::studies()) {
    const bool asked =
        typed.memory_studies.empty() || std::ranges::find(typed.memory_studies, one.name) != typed.memory_studies.end();
    if (!asked) continue;
    if (clock == nullptr && one.on_cpu == nullptr) {
      fmt::print("left out: {} needs a GPU, and none can be used here (see: onefold info)\n", one.name);
      record["left_out"].push_back(one.name);
      continue;
    }
    record["studies"].push_back(memory::run(one, clock, {.repeats = how.repeats, .quick = how.quick}));
  }
  return record;
}

// Adds the options that several subcommands have, in the same words.
class option_maker {
 public:
  option_maker(arguments& typed, study_options& how) : typed_(typed), how_(how) {}

  void common(CLI::App* study) const {
    study->add_option("--repeats", how_.repeats, fmt::format("timed calls, at most; {} with --quick", quick_repeats))
        ->capture_default_str()
        ->check(CLI::Range(1, most_repeats));
    study->add_flag("--quick", how_.quick, "fewer sizes and repeats: on a GPU all studies together take a minute");
    study->add_option("--json", typed_.json_file, "write every figure, with machine, driver, commit and command, to this file");
  }
  void type(CLI::App* study, const std::vector<std::string>& allowed) const {
    study->add_option("--type", typed_.type, "element type")->capture_default_str()->check(CLI::IsMember(allowed));
  }
  void device(CLI::App* study) const {
    study->add_option("--device", how_.device, "CUDA device")->capture_default_str()->check(CLI::Range(0, 1023));
  }
  void threads(CLI::App* study) const {
    study->add_option("--threads", how_.threads, "1 or all; both when left away")->check(CLI::IsMember({"1", "all"}));
  }
  void form(CLI::App* study, const std::vector<std::string>& allowed) const {
    study->add_option("--form", typed_.what, "what is reduced")->capture_default_str()->check(CLI::IsMember(allowed));
  }
  void choice_of_variants(CLI::App* study) const {
    study->add_option("--op", typed_.op, "operator")
        ->capture_default_str()
        ->check(CLI::IsMember(names<operation>(operation_count)));
    study->add_option("--variants", how_.variants, "only these variants")->delimiter(',');
    study->add_option("--block-size", how_.block_size, "threads per block, where the variant has a choice")
        ->check(CLI::Range(1, 1024));
  }
  CLI::Option* count(CLI::App* study) const {
    return study->add_option("--n", how_.count, "elements")->check(CLI::Range(std::uint64_t{1}, most_elements));
  }
  void powers(CLI::App* study, int& last) const {
    study->add_option("--from", how_.first_power, "smallest n is 2^FROM")->capture_default_str()->check(CLI::Range(0, most_power));
    study->add_option("--to", last, "largest n is 2^TO")->capture_default_str()->check(CLI::Range(0, most_power));
    study->parse_complete_callback([&how = how_, &last] {
      if (how.first_power > last)
        throw CLI::ValidationError("--from", fmt::format("{} is more than --to, {}", how.first_power, last));
    });
  }

 private:
  arguments& typed_;
  study_options& how_;
};

std::vector<command> add_studies(CLI::App& app, arguments& typed, study_options& how) {
  const option_maker add(typed, how);
  const auto element_types = names<element_type>(full_type_count);
  const std::vector<std::string> floats = {"f32", "f64"};
  std::vector<command> all;

  CLI::App* ladder =
      app.add_subcommand("ladder", "every variant on one array, as the lectures' table; without a GPU the CPU's ladder");
  add.common(ladder);
  add.type(ladder, element_types);
  add.device(ladder);
  add.choice_of_variants(ladder);
  ladder->add_flag("--finishes", how.finishes, "each variant with every finish that it has, and not only its own");
  add.count(ladder)->capture_default_str();
  ladder->add_option("--plot", typed.plot_file, "draw a bar chart into this PNG or SVG file; needs --json")->needs("--json");
  ladder->add_flag("--cpu", typed.on_cpu, "the CPU's ladder, also where there is a GPU");
  all.push_back({ladder, [&typed, &how, ladder] { return run_ladder(*ladder, typed, how); }});

  CLI::App* sizes = app.add_subcommand("sweep", "the default variant and its peer from small to large n, cold and hot");
  add.common(sizes);
  add.type(sizes, element_types);
  add.device(sizes);
  add.choice_of_variants(sizes);
  add.powers(sizes, typed.sweep_last_power);
  all.push_back({sizes, [&typed, &how] {
                   how.last_power = typed.sweep_last_power;
                   return on_gpu(gpu_studies.sweep, how);
                 }});

  CLI::App* every_form = app.add_subcommand("forms", "every form on one array: dot, norms, means, and what an odd alignment costs");
  add.common(every_form);
  add.type(every_form, names<element_type>(element_type_count));
  add.device(every_form);
  const CLI::Option* count = add.count(every_form);
  all.push_back({every_form, [&how, count] {
                   if (count->count() == 0) how.count = how.quick ? forms_quick_elements : forms_elements;
                   return on_gpu(gpu_studies.forms, how);
                 }});

  CLI::App* small = app.add_subcommand("latency", "small arrays in stream and to a value on the host");
  add.common(small);
  add.type(small, element_types);
  add.device(small);
  add.form(small, names<form>(form_count));
  all.push_back({small, [&how] { return on_gpu(gpu_studies.latency, how); }});

  CLI::App* cpu =
      app.add_subcommand("cpu", "tree v1 on the CPU from small to large n, against the best loop that promises no order");
  add.common(cpu);
  add.type(cpu, floats);
  add.form(cpu, {"sum", "dot", "sum_of_squares", "norm1", "min", "max"});
  add.powers(cpu, typed.cpu_last_power);
  add.threads(cpu);
  cpu->add_option("--offset", how.offset, "elements from the boundary of a cache line to the arrays' begin")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, most_elements));
  cpu->add_option("--spread", how.spread, "exponents on either side of 0 that elements have, equally often; 0: small integers")
      ->capture_default_str()
      ->check(CLI::Range(0, 400));
  all.push_back({cpu, [&typed, &how] {
                   how.last_power = typed.cpu_last_power;
                   return cpu_sizes(how);
                 }});

  CLI::App* threads = app.add_subcommand("scaling", "the CPU's reductions with one thread, two, and so on up to all");
  add.common(threads);
  add.powers(threads, typed.sweep_last_power);
  all.push_back({threads, [&typed, &how] {
                   how.last_power = typed.sweep_last_power;
                   return scaling(how);
                 }});

  CLI::App* new_folds = app.add_subcommand("folds",
                                           "several results, functions of the index, operators of the user's, flags, small types "
                                           "and complex numbers on the CPU, against loops by hand");
  add.common(new_folds);
  add.powers(new_folds, typed.sweep_last_power);
  add.threads(new_folds);
  const std::vector<std::string> case_names(fold_case_names.begin(), fold_case_names.end());
  new_folds->add_option("cases", how.cases, "which; all when left away")->check(CLI::IsMember(case_names));
  all.push_back({new_folds, [&typed, &how] {
                   how.last_power = typed.sweep_last_power;
                   return folds(how);
                 }});

  CLI::App* own_calls = app.add_subcommand(
      "fused", "several results, functions of the index and operators of the user's on a GPU, against the read limit and CUB");
  add.common(own_calls);
  add.device(own_calls);
  all.push_back({own_calls, [&how] { return on_gpu(gpu_studies.fused, how); }});

  CLI::App* exact_sums = app.add_subcommand("exact", "exact sums on a GPU, against the read limit and the default");
  add.common(exact_sums);
  add.device(exact_sums);
  exact_sums->add_flag("--both-bins", how.both_bins,
                       "with bins of doubles and of integers beside each other, whichever this GPU takes");
  all.push_back({exact_sums, [&how] { return on_gpu(gpu_studies.exact, how); }});

  CLI::App* hosts = app.add_subcommand("host", "sums of arrays in host memory on a GPU, against a copy of the same bytes");
  add.common(hosts);
  add.device(hosts);
  all.push_back({hosts, [&how] { return on_gpu(gpu_studies.host_arrays, how); }});

  CLI::App* states =
      app.add_subcommand("ranges", "states of ranges on a GPU, by where they begin, against reductions of as many elements");
  add.common(states);
  add.device(states);
  all.push_back({states, [&how] { return on_gpu(gpu_studies.ranges, how); }});

  CLI::App* several = app.add_subcommand("devices", "one array on all GPUs, against one part on its GPU");
  add.common(several);
  add.device(several);
  all.push_back({several, [&how] { return on_gpu(gpu_studies.devices, how); }});

  CLI::App* small_calls = app.add_subcommand("calls", "what a call of serial() on few elements costs, alone and from many threads");
  add.common(small_calls);
  all.push_back({small_calls, [&how] { return calls(how); }});

  CLI::App* memory = app.add_subcommand("memory", "the studies of memory, occupancy and instructions, by name; all when left away");
  add.common(memory);
  add.device(memory);
  std::vector<std::string> memory_names;
  for (const memory::study& one : memory::studies()) memory_names.emplace_back(one.name);
  memory->add_option("studies", typed.memory_studies, "which")->check(CLI::IsMember(memory_names));
  all.push_back({memory, [&typed, &how] { return run_memory(typed, how); }});

  CLI::App* others = app.add_subcommand("peers", "onefold beside what a user would pick instead, on the GPU and on the CPU");
  add.common(others);
  add.device(others);
  add.powers(others, typed.sweep_last_power);
  add.threads(others);
  all.push_back({others, [&typed, &how] {
                   how.last_power = typed.sweep_last_power;
                   const auto gpu = usable_gpu(how.device);
                   return peers(how, gpu ? &*gpu : nullptr);
                 }});

  CLI::App* tuning = app.add_subcommand("tune", "searches the launch policy of this GPU and saves it (docs/tuning.md)");
  add.common(tuning);
  add.device(tuning);
  add.count(tuning)->capture_default_str();
  tuning->add_option("--save", how.save, "the policy's file")->capture_default_str();
  all.push_back({tuning, [&how] {
                   if (usable_gpu(how.device)) check_writable(how.save);
                   return on_gpu(gpu_studies.tune, how);
                 }});
  return all;
}

// What works on records. They leave the process's status, where it is not 0, in `status`.
std::vector<command> add_readers(CLI::App& app, arguments& typed, int& status) {
  std::vector<command> all;
  CLI::App* page =
      app.add_subcommand("report", "one page (HTML) and a summary (Markdown) of records that were written with --json");
  page->add_option("records", typed.records, "records of one machine or of several")->required()->check(CLI::ExistingFile);
  page->add_option("--out", typed.out_folder, "the folder of index.html and summary.md")->capture_default_str();
  page->add_option("--picture", typed.picture_file, "and one picture (SVG): sums over their size");
  all.push_back({page, [&typed] {
                   make_report(typed.records, typed.out_folder, typed.picture_file);
                   return nlohmann::json();
                 }});

  CLI::App* comparison = app.add_subcommand("compare", "two records of one study: what is faster, slower, or too noisy to tell");
  comparison->add_option("records", typed.records, "before, and after")->required()->expected(2)->check(CLI::ExistingFile);
  comparison->add_option("--limit", typed.comparing.limit, "the least relative change that counts")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0));
  comparison->add_flag("--ratios", typed.comparing.ratios,
                       "ratios to the peers and limits in each record, not times: for two machines");
  comparison->add_option("--json", typed.json_file, "write the comparison to this file");
  comparison->footer("\nExit status: 0 where nothing is slower; 1 where something is; 2 with one line that says what is wrong.");
  all.push_back({comparison, [&typed, &status] {
                   nlohmann::json verdict = compare(read_record(typed.records[0]), read_record(typed.records[1]), typed.comparing);
                   print_comparison(verdict);
                   status = comparison_status(verdict);
                   return verdict;
                 }});
  return all;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

int run(int argc, char** argv) {
  CLI::App app("onefold's performance suite. Figures are medians; results are checked before anything is timed.", "onefold-perf");
  app.set_version_flag("--version", "onefold-perf " ONEFOLD_VERSION_STRING ", commit " ONEFOLD_COMMIT);
  app.require_subcommand(0, 1);  // none is refused below: CLI11 would say the same of a misspelt one
  app.footer("\nExit status: 0; 2 with one line on standard error that says what is wrong.");
  study_options how;
  how.command.assign(argv, argv + argc);
  how.command.front() = "onefold-perf";
  arguments typed;
  int status = 0;
  std::vector<command> commands = add_studies(app, typed, how);
  for (command& reader : add_readers(app, typed, status)) commands.push_back(std::move(reader));
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A command: " + listed(names_of(commands)));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    const auto left = app.remaining();
    const bool no_study = app.get_subcommands().empty() && !left.empty() && !left.front().starts_with("-");
    const std::string hint = no_study ? suggestion(left.front(), names_of(commands), "") : "";
    throw std::runtime_error(fmt::format("{}{} (onefold-perf --help shows what can be asked)", error.what(), hint));
  }
  how.type = *parse<element_type>(typed.type);
  how.op = *parse<operation>(typed.op);
  how.what = *parse<form>(typed.what);
  CLI::App* const chosen = app.get_subcommands().front();
  if (how.quick && chosen->count("--repeats") == 0) how.repeats = quick_repeats;
  if (const auto* json = chosen->get_option_no_throw("--json"); json != nullptr && json->count() > 0)
    check_writable(typed.json_file);
  if (!typed.plot_file.empty()) check_plot(typed.plot_file);

  const nlohmann::json record = std::ranges::find(commands, chosen, &command::app)->run();
  check_output();
  if (!typed.json_file.empty()) write_json(typed.json_file, record);
  if (!typed.plot_file.empty()) plot(typed.json_file, typed.plot_file);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("onefold-perf", [&] { return run(argc, argv); });
}
