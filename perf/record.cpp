#include "record.hpp"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "onefold_commit.hpp"
#include "studies.hpp"

namespace onefold::perf {

namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string driver_file_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line;
}

constexpr const char* unfinished_suffix = ".part";

// A pipe or a device is written to, and not replaced by a file.
bool is_special(const std::string& path) { return std::filesystem::exists(path) && !std::filesystem::is_regular_file(path); }

}  // namespace

nlohmann::json provenance(const std::vector<std::string>& command, const device_info* gpu) {
  utsname system{};
  uname(&system);
  char now[32];
  const std::time_t seconds = std::time(nullptr);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this program has one thread here
  std::strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&seconds));
  nlohmann::json record{{"onefold", ONEFOLD_VERSION_STRING},
                        {"commit", ONEFOLD_COMMIT},
                        {"command", command},
                        {"time", now},
                        {"system", std::string(system.sysname) + " " + system.release},
                        {"cpu", cpu_model()},
                        {"compiler", __VERSION__}};
  for (const auto& known : backends()) record["backends"][std::string(name(known.where))] = known.detail;
  if (gpu != nullptr)
    record["gpu"] = {
        {"name", gpu->name},
        {"compute_capability", std::to_string(gpu->compute_capability[0]) + "." + std::to_string(gpu->compute_capability[1])},
        {"multiprocessors", gpu->multiprocessors},
        {"memory_bytes", gpu->memory_bytes},
        {"l2_bytes", gpu->l2_bytes},
        {"driver", driver_file_version()}};
  return record;
}

nlohmann::json heading(const char* study, const study_options& how, const device_info* gpu) {
  nlohmann::json record = provenance(how.command, gpu);
  record["study"] = study;
  record["type"] = name(how.type);
  record["op"] = name(how.op);
  return record;
}

double gigabytes_per_second(std::uint64_t bytes, double seconds) { return static_cast<double>(bytes) / seconds * 1e-9; }

std::string ratio_text(double base, double value) { return base > 0 ? fmt::format("{:.3f}", base / value) : "-"; }

void progress(const std::string& what) {
  static const bool somebody_looks = isatty(STDERR_FILENO) == 1;
  if (somebody_looks) fmt::print(stderr, "\r\033[K{}", what);
}

nlohmann::json to_json(const samples& times) {
  nlohmann::json all{{"median_s", times.median()},
                     {"spread", times.spread()},
                     {"min_s", times.seconds.front()},
                     {"max_s", times.seconds.back()},
                     {"count", times.seconds.size()}};
  if (times.noisy()) all["noisy"] = true;
  return all;
}

void warn(nlohmann::json& record, const std::string& warning) {
  if (warning.empty()) return;
  fmt::print("{}\n", warning);
  record["warnings"].push_back(warning);
}

void check_writable(const std::string& path) {
  const auto refuse = [&](const char* why) { throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, why)); };
  if (path.empty()) throw std::runtime_error("a file's name is empty");
  if (std::filesystem::is_directory(path)) refuse("it is a folder");
  if (is_special(path)) return;
  const std::string unfinished = path + unfinished_suffix;
  if (!std::ofstream(unfinished)) refuse(std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): one thread here
  std::filesystem::remove(unfinished);
}

void write_json(const std::string& path, const nlohmann::json& record) {
  const std::string into = is_special(path) ? path : path + unfinished_suffix;
  std::ofstream file(into);
  file << record.dump(1) << "\n";
  file.close();
  if (file && into != path) std::filesystem::rename(into, path);
  if (file) return;
  if (into != path) std::filesystem::remove(into);
  throw std::runtime_error(path + ": cannot be written: is the disk full?");
}

}  // namespace onefold::perf
