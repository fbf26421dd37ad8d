#pragma once
/// @file study.hpp  What a study of seed 001 is: one question about memory or instructions, asked of a GPU, of a CPU, or of both.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../samples.hpp"

namespace onefold::perf {
class gpu_clock;
}

namespace onefold::perf::memory {

/// How a study is run.
struct setting {
  int repeats = 30;    ///< timed calls, at most
  bool small = false;  ///< arrays as small as a test can bear: every check is made, and the figures mean nothing
};

/// A figure beside the time: `{"threads in flight", 66.7, "%"}`.
struct value {
  std::string name;
  double number;
  std::string unit;
};

/// One line of a study's table. Its result has been checked before it was timed.
struct row {
  std::string name;                ///< "misaligned by 4 bytes"
  samples time;                    ///< of one call; empty where the line is of figures alone
  std::uint64_t bytes = 0;         ///< that the call must move, each once; 0 where that says nothing
  std::uint64_t operations = 0;    ///< that the call must do; 0 where that says nothing
  std::vector<value> values = {};  ///< further figures
};

/// One study. The functions throw std::runtime_error where a result is wrong, before anything of it is timed.
struct study {
  std::string_view name;     ///< one word: the program's name too
  std::string_view title;    ///< what is asked
  std::string_view lecture;  ///< what seed 001 measured or says, with its machine
  std::string_view lesson;   ///< a paragraph: what holds today
  std::vector<row> (*on_gpu)(const gpu_clock& clock, const setting& how) = nullptr;
  std::vector<row> (*on_cpu)(const setting& how) = nullptr;
};

/// All studies that this build has, in the lecture's order.
std::span<const study> studies();

/// Runs a study where it can be run, prints its tables and its lesson, and returns them: {"name", "title", "lecture", "lesson", "on": {"gpu":
/// [rows], "cpu": [rows]}}. A row is {"case", "time", "bytes", "operations", "values": [{"name", "number", "unit"}]}. `clock` is null where no
/// GPU can be used.
nlohmann::json run(const study& one, const gpu_clock* clock, const setting& how);

}  // namespace onefold::perf::memory
