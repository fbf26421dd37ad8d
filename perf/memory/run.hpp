#pragma once
/// @file run.hpp  Lists the studies and runs them: what programs need of them, and no study does.

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "study.hpp"

namespace onefold::perf::memory {

/// All studies that this build has, in the lecture's order.
std::span<const study> studies();

/// Runs a study where it can be run, prints its tables and its lesson, and returns them: {"name", "title", "lecture", "lesson", "on": {"gpu":
/// [rows], "cpu": [rows]}}. A row is {"case", "time", "bytes", "operations", "values": [{"name", "number", "unit"}]}. `clock` is null where no
/// GPU can be used; "on" is empty where the study then has nothing to run. Throws std::runtime_error as the study does, and where a time is
/// not positive or a figure not finite.
nlohmann::json run(const study& one, const gpu_clock* clock, const setting& how);

}  // namespace onefold::perf::memory
