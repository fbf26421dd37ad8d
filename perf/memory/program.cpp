/// @file program.cpp  The main() of each study's own program: runs it where it can be run, and prints what it found.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../program.hpp"
#include "../record.hpp"
#include "run.hpp"
#ifdef ONEFOLD_HAVE_CUDA
#include "../gpu.hpp"
#endif

namespace onefold::perf::memory {
const study& the_study();
}

namespace {

using namespace onefold;
using namespace onefold::perf;
using memory::the_study;

nlohmann::json run_study(const memory::setting& how, const std::optional<device_info>& gpu) {
  if (!gpu && the_study().on_cpu == nullptr) refuse_without_gpu();
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu) {
    fmt::print("{}\n", gpu->name);
    const gpu_clock clock(gpu->number);
    return memory::run(the_study(), &clock, how);
  }
#endif
  return memory::run(the_study(), nullptr, how);
}

int run(int argc, char** argv) {
  const std::string name(the_study().name);
  CLI::App app(std::string(the_study().title), name);
  memory::setting how;
  int device = 0;
  std::string json_file;
  app.add_flag("--small", how.small, "arrays of a few thousand elements: every check is made, and the figures mean nothing");
  app.add_option("--repeats", how.repeats, "timed calls, at most")->capture_default_str()->check(CLI::Range(1, 1'000'000));
  app.add_option("--device", device, "CUDA device")->capture_default_str()->check(CLI::Range(0, 1023));
  const auto* json =
      app.add_option("--json", json_file, "write every figure, with machine, driver, commit and command, to this file");
  app.footer("\nExit status: 0; 2 with one line on standard error that says what is wrong.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    throw std::runtime_error(fmt::format("{} ({} --help shows what can be asked)", error.what(), name));
  }
  if (json->count() > 0) check_writable(json_file);

  std::vector<std::string> command(argv, argv + argc);
  command.front() = name;
  const auto gpu = usable_gpu(device);
  nlohmann::json record = provenance(command, gpu ? &*gpu : nullptr);
  record["study"] = "memory";
  record["small"] = how.small;
  record["studies"] = nlohmann::json::array({run_study(how, gpu)});
  check_output();
  if (json->count() > 0) write_json(json_file, record);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(the_study().name, [&] { return run(argc, argv); });
}
