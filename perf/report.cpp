#include "report.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "record.hpp"

namespace onefold::perf {

namespace {

// One word for a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word.append("'\\''");
    else
      word.push_back(c);
  }
  word.push_back('\'');
  return word;
}

struct answer {
  bool ran;          ///< there is a Python with matplotlib, and it was told this
  int status;        ///< what it ended with
  std::string said;  ///< on standard output and error
};

// Runs a Python that has matplotlib; one ahead of the system's on the PATH may be without it.
answer run_with_matplotlib(const std::string& arguments) {
  constexpr int there_is_none = 99;
  const std::string command = fmt::format(
      "for python in python3 /usr/bin/python3; do \"$python\" -c 'import matplotlib' 2>/dev/null && exec \"$python\" {} 2>&1; "
      "done; exit {}",
      arguments, there_is_none);
  std::FILE* const pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("a python3 cannot be started");
  answer got{true, 0, {}};
  std::array<char, 4096> some{};
  while (const std::size_t bytes = std::fread(some.data(), 1, some.size(), pipe)) got.said.append(some.data(), bytes);
  const int status = pclose(pipe);
  got.status = WIFEXITED(status) ? WEXITSTATUS(status) : there_is_none - 1;
  got.ran = got.status != there_is_none;
  return got;
}

constexpr const char* needs_matplotlib = " needs a python3 with matplotlib (Debian: python3-matplotlib), and there is none";

std::string script(const char* name) { return quoted(fmt::format("{}/{}", ONEFOLD_PERF_REPORT_FOLDER, name)); }

// What a script says of its failure: its last line, without its name.
std::string last_line(std::string said) {
  while (!said.empty() && said.back() == '\n') said.pop_back();
  const auto begin = said.rfind('\n');
  std::string line = begin == std::string::npos ? said : said.substr(begin + 1);
  const auto name_end = line.find(".py: ");
  return name_end == std::string::npos ? line : line.substr(name_end + 5);
}

}  // namespace

void check_plot(const std::string& picture) {
  if (!picture.ends_with(".png") && !picture.ends_with(".svg"))
    throw std::runtime_error(picture + ": --plot draws PNG or SVG: name a file that ends in .png or .svg");
  check_writable(picture);
  if (!run_with_matplotlib("-c ''").ran) throw std::runtime_error(std::string("--plot") + needs_matplotlib);
}

void plot(const std::string& record, const std::string& picture) {
  const answer got = run_with_matplotlib(fmt::format("{} {} {}", script("ladder.py"), quoted(record), quoted(picture)));
  if (got.status != 0)
    throw std::runtime_error(
        fmt::format("{}: the chart could not be drawn: {}; the figures are in {}", picture, last_line(got.said), record));
}

void make_report(const std::vector<std::string>& records, const std::string& folder, const std::string& picture) {
  std::string arguments = fmt::format("{} --out {}", script("report.py"), quoted(folder));
  for (const std::string& record : records) arguments += fmt::format(" {}", quoted(record));
  if (!picture.empty()) arguments += fmt::format(" --picture {}", quoted(picture));
  const answer got = run_with_matplotlib(arguments);
  if (!got.ran) throw std::runtime_error(std::string("report") + needs_matplotlib);
  if (got.status != 0) throw std::runtime_error(last_line(got.said));
  fmt::print("{}", got.said);
}

}  // namespace onefold::perf
