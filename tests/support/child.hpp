#pragma once
/// @file child.hpp  Runs a program and keeps what it said: for what cannot be undone within one process.

#include <string>
#include <utility>
#include <vector>

namespace onefold_test {

struct child_result {
  int exit_code = -1;  ///< -1 when a signal or the time limit ended it
  int signal = 0;
  bool timed_out = false;
  std::string out, err;  ///< what it wrote to standard output and standard error
  double seconds = 0;
};

/// The program `name` in the folder of the running one.
[[nodiscard]] std::string neighbour(const std::string& name);

/// Runs `arguments` with these variables set on top of the environment, and ends it after `limit_seconds`.
[[nodiscard]] child_result run_child(const std::vector<std::string>& arguments,
                                     const std::vector<std::pair<std::string, std::string>>& environment, int limit_seconds);

}  // namespace onefold_test
