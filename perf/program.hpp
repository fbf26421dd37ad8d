#pragma once
/// @file program.hpp  What every program of the suite does in the same way: how it ends, and which GPU it measures on.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/onefold.hpp>

namespace onefold::perf {

/// Runs `work` and gives the process's exit status: what it returns, or 2 and one line on standard error, whatever it throws.
int run_program(std::string_view program, const std::function<int()>& work);

/// Throws std::runtime_error where what was printed has not arrived, as on a full disk.
void check_output();

/// The GPU with this number, or nothing where it cannot be used.
std::optional<device_info> usable_gpu(int device);

/// Throws std::runtime_error: a study needs a GPU, and none can be used.
[[noreturn]] void refuse_without_gpu();

/// ": did you mean ladder?" for a name that is near enough to one of `names`, else `otherwise`.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names, const std::string& otherwise);

}  // namespace onefold::perf
