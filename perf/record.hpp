#pragma once
/// @file record.hpp  What is kept of a run: machine, driver, commit, command and every figure, as JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "samples.hpp"

namespace onefold::perf {

/// Where, when and with what: host, CPU, GPU, driver, compiler, commit, command, time (UTC).
nlohmann::json provenance(const std::vector<std::string>& command, const device_info* gpu);

/// The fields that every study's record begins with: provenance, the study's name, type and operator.
struct study_options;
nlohmann::json heading(const char* study, const study_options& how, const device_info* gpu);

/// Bytes per nanosecond.
double gigabytes_per_second(std::uint64_t bytes, double seconds);

/// "1.234" for base / value, "-" without a base.
std::string ratio_text(double base, double value);

/// Replaces the progress line on standard error; empty clears it.
void progress(const std::string& what);

/// Prints a warning under the table and keeps it in `record["warnings"]`; an empty one is none.
void warn(nlohmann::json& record, const std::string& warning);

/// {"median_s", "spread", "min_s", "max_s", "count"}, and "noisy": true where samples::noisy().
nlohmann::json to_json(const samples& times);

/// Throws std::runtime_error, with the reason, where no file can be written at `path`: to be asked before anything is measured.
void check_writable(const std::string& path);

/// Writes `record` to `path`, whole or not at all; straight into what is no regular file. Throws std::runtime_error.
void write_json(const std::string& path, const nlohmann::json& record);

}  // namespace onefold::perf
