#pragma once
/// @file study.hpp  What a study of seed 001 is: one question about memory or instructions, asked of a GPU, of a CPU, or of both.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../samples.hpp"

namespace onefold::perf {
class gpu_clock;  // ../gpu_clock.hpp
}

namespace onefold::perf::memory {

/// How a study is run.
struct setting {
  int repeats = 30;    ///< timed calls, at most
  bool small = false;  ///< arrays as small as a test can bear: every check is made, and the figures mean nothing
  bool quick = false;  ///< less of what takes long, with figures that mean something
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

/// Time on the host's clock of `work(turn)`. Short work is repeated until the clock can tell; the first turns warm up and do not count.
samples time_on_cpu(const std::function<void(std::size_t turn)>& work, int repeats);

/// Throws std::runtime_error where got[i] is not expected(i): "permuted is wrong: element 17 is 3 where 4 is expected".
template <class T, class Expected>
void verify(std::string_view what, std::span<const T> got, Expected&& expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T wanted = static_cast<T>(expected(i));
    if (!(got[i] == wanted))
      throw std::runtime_error(std::string(what) + " is wrong: element " + std::to_string(i) + " is " + std::to_string(got[i]) +
                               " where " + std::to_string(wanted) + " is expected");
  }
}

}  // namespace onefold::perf::memory
