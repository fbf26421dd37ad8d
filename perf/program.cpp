#include "program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "../src/edit_distance.hpp"
#include "record.hpp"

namespace onefold::perf {

namespace {

// Control characters as \x0a, so that a message stays on one line whatever was typed.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    line += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return line;
}

int fail(std::string_view program, std::string_view sentence) {
  constexpr int exit_failure = 2;
  progress("");
  const std::string line = fmt::format("{}: {}\n", program, one_line(sentence));
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_failure;
}

}  // namespace

int run_program(std::string_view program, const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(program, "there is not enough memory: use fewer elements or a machine with more");
  } catch (const std::exception& problem) {
    return fail(program, problem.what());
  }
}

void check_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("the output could not be written: is the disk full?");
}

std::optional<device_info> usable_gpu(int device) {
  for (const auto& known : backends())
    if (known.where == backend::cuda && known.usable)
      for (const auto& gpu : known.devices)
        if (gpu.number == device) return gpu;
  return std::nullopt;
}

void refuse_without_gpu() { throw std::runtime_error("this study needs a GPU, and none can be used here (see: onefold info)"); }

std::string suggestion(std::string_view typed, const std::vector<std::string>& names, const std::string& otherwise) {
  const auto distance = [&](const std::string& one) { return onefold::detail::edit_distance(typed, one); };
  const auto nearest = std::ranges::min_element(names, {}, distance);
  const bool near = nearest != names.end() && distance(*nearest) <= std::max<std::size_t>(2, typed.size() / 3);
  return near ? ": did you mean " + *nearest + "?" : otherwise;
}

}  // namespace onefold::perf
