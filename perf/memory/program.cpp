/// @file program.cpp  The main() of each study's own program: runs it where it can be run, and prints what it found.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../record.hpp"
#include "study.hpp"
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

constexpr int exit_failure = 2;

const device_info* usable_gpu(const std::vector<backend_info>& all, int device) {
  for (const auto& known : all)
    if (known.where == backend::cuda && known.usable)
      for (const auto& gpu : known.devices)
        if (gpu.number == device) return &gpu;
  return nullptr;
}

nlohmann::json run_study(const memory::setting& how, const device_info* gpu) {
  if (gpu == nullptr && the_study().on_cpu == nullptr)
    throw std::runtime_error("this study needs a GPU, and none can be used here (see: onefold info)");
#ifdef ONEFOLD_HAVE_CUDA
  if (gpu != nullptr) {
    fmt::print("{}\n", gpu->name);
    const gpu_clock clock(gpu->number);
    return memory::run(the_study(), &clock, how);
  }
#endif
  return memory::run(the_study(), nullptr, how);
}

void run(int argc, char** argv) {
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
    if (error.get_exit_code() == 0) {  // --help
      app.exit(error);
      return;
    }
    throw std::runtime_error(fmt::format("{} ({} --help shows what can be asked)", error.what(), name));
  }
  if (json->count() > 0) check_writable(json_file);

  std::vector<std::string> command(argv, argv + argc);
  command.front() = name;
  const std::vector<backend_info> all = backends();
  const device_info* gpu = usable_gpu(all, device);
  nlohmann::json record = provenance(command, gpu);
  record["study"] = "memory";
  record["small"] = how.small;
  record["studies"] = nlohmann::json::array({run_study(how, gpu)});
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("the output could not be written: is the disk full?");
  if (json->count() > 0) write_json(json_file, record);
}

void print_error(const std::string& sentence) {
  progress("");
  std::string line;  // one, whatever was typed
  for (const char c : sentence) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  fmt::print(stderr, "{}: {}\n", the_study().name, line);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::bad_alloc&) {
    print_error("there is not enough memory");
  } catch (const std::exception& problem) {
    print_error(problem.what());
  }
  return exit_failure;
}
