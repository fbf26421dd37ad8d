#include "run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../record.hpp"

namespace onefold::perf::memory {

#define ONEFOLD_STUDY(name) extern const study name;
#include "studies.def"
#undef ONEFOLD_STUDY

namespace {

constexpr double large_spread = 0.03;  // from here on the table shows it

void demand_figures(const study& one, const row& of) {
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(fmt::format("{}, {}: {}", one.name, of.name, why)); };
  if (of.time.seconds.empty() && of.values.empty()) refuse("there is neither a time nor a figure");
  for (const double seconds : of.time.seconds)
    if (!std::isfinite(seconds) || seconds <= 0) refuse(fmt::format("a time is {} s", seconds));
  for (const value& figure : of.values)
    if (!std::isfinite(figure.number)) refuse(fmt::format("{} is {}", figure.name, figure.number));
}

nlohmann::json to_json(const row& of) {
  nlohmann::json line{{"case", of.name}, {"values", nlohmann::json::array()}};
  if (!of.time.seconds.empty()) line["time"] = perf::to_json(of.time);
  if (of.bytes > 0) line["bytes"] = of.bytes;
  if (of.operations > 0) line["operations"] = of.operations;
  for (const value& figure : of.values)
    line["values"].push_back({{"name", figure.name}, {"number", figure.number}, {"unit", figure.unit}});
  return line;
}

std::string number_text(double number) {
  if (std::floor(number) == number && std::abs(number) < 1e6) return fmt::format("{:.0f}", number);
  return std::abs(number) >= 100 && std::abs(number) < 1e6 ? fmt::format("{:.1f}", number) : fmt::format("{:.4g}", number);
}

std::string heading_of(const value& figure) { return figure.unit.empty() ? figure.name : figure.name + ", " + figure.unit; }

std::string value_text(const row& of, const std::string& heading) {
  const auto found = std::ranges::find(of.values, heading, heading_of);
  return found == of.values.end() ? "-" : number_text(found->number);
}

// The table as text, cell by cell; a column that no row has anything for is left out.
std::vector<std::vector<std::string>> table_of(const std::vector<row>& rows) {
  std::vector<std::vector<std::string>> columns;
  const auto add = [&](const std::string& heading, auto cell_of) {
    std::vector<std::string> column{heading};
    for (const row& of : rows) column.push_back(cell_of(of));
    if (std::any_of(column.begin() + 1, column.end(), [](const std::string& cell) { return cell != "-"; }))
      columns.push_back(column);
  };
  const auto per_nanosecond = [](const row& of, std::uint64_t what) {
    return of.time.seconds.empty() || what == 0 ? "-" : number_text(static_cast<double>(what) / of.time.median() * 1e-9);
  };
  add("case", [](const row& of) { return of.name; });
  add("time, us", [](const row& of) { return of.time.seconds.empty() ? "-" : number_text(of.time.median() * 1e6); });
  add("+-, %", [](const row& of) {
    return of.time.seconds.empty() || of.time.spread() < large_spread ? "-" : fmt::format("{:.0f}", of.time.spread() * 100);
  });
  add("GB/s", [&](const row& of) { return per_nanosecond(of, of.bytes); });
  add("G operations/s", [&](const row& of) { return per_nanosecond(of, of.operations); });
  std::vector<std::string> headings;
  for (const row& of : rows)
    for (const value& figure : of.values)
      if (std::ranges::find(headings, heading_of(figure)) == headings.end()) headings.push_back(heading_of(figure));
  for (const std::string& heading : headings) add(heading, [&](const row& of) { return value_text(of, heading); });
  return columns;
}

void print_table(const std::vector<row>& rows) {
  const auto columns = table_of(rows);
  for (std::size_t line = 0; line <= rows.size(); ++line) {
    for (const auto& column : columns) {
      const auto width = std::ranges::max(column, {}, [](const std::string& cell) { return cell.size(); }).size();
      const bool first = &column == &columns.front();
      fmt::print("{}{:{}}{}", first ? "" : "  ", first ? column[line] : "", first ? width : width - column[line].size(),
                 first ? "" : column[line]);
    }
    fmt::print("\n");
  }
}

// A paragraph in lines of at most 100 columns.
void print_paragraph(std::string_view text) {
  constexpr std::size_t widest = 100;
  while (text.size() > widest) {
    const std::size_t end = std::min(text.rfind(' ', widest), text.size());
    fmt::print("{}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  fmt::print("{}\n\n", text);
}

nlohmann::json tabulate(const study& one, const char* where, const std::vector<row>& rows) {
  progress("");
  if (rows.empty()) throw std::runtime_error(fmt::format("{}: no case was run", one.name));
  nlohmann::json lines = nlohmann::json::array();
  for (const row& of : rows) {
    demand_figures(one, of);
    lines.push_back(to_json(of));
  }
  fmt::print("\n{}\n\n", where);
  print_table(rows);
  return lines;
}

}  // namespace

std::span<const study> studies() {
  static const std::array all{
#define ONEFOLD_STUDY(name) name,
#include "studies.def"
#undef ONEFOLD_STUDY
  };
  return all;
}

nlohmann::json run(const study& one, const gpu_clock* clock, const setting& how) {
  nlohmann::json record{
      {"name", one.name}, {"title", one.title}, {"lecture", one.lecture}, {"lesson", one.lesson}, {"on", nlohmann::json::object()}};
  fmt::print("{}: {}\n", one.name, one.title);
  if (one.on_gpu != nullptr && clock != nullptr) {
    progress(fmt::format("{}, on the GPU", one.name));
    record["on"]["gpu"] = tabulate(one, "On the GPU:", one.on_gpu(*clock, how));
  }
  if (one.on_cpu != nullptr) {
    progress(fmt::format("{}, on the CPU", one.name));
    record["on"]["cpu"] = tabulate(one, "On the CPU:", one.on_cpu(how));
  }
  if (record["on"].empty()) fmt::print("Needs a GPU, and none can be used here (see: onefold info).\n");
  fmt::print("\nThe lecture: ");
  print_paragraph(one.lecture);
  print_paragraph(one.lesson);
  return record;
}

samples time_on_cpu(const std::function<void(std::size_t)>& work, int repeats) {
  using clock = std::chrono::steady_clock;
  constexpr double shortest_s = 1e-4;  // so much work between two looks at the clock
  constexpr double budget_s = 1.0;     // slow work is repeated less often, but three times
  std::size_t turn = 0;
  const auto time_of = [&](int calls) {
    const auto begin = clock::now();
    for (int call = 0; call < calls; ++call) work(turn++);
    return std::chrono::duration<double>(clock::now() - begin).count() / calls;
  };
  time_of(1);  // touches the memory for the first time
  const double estimate_s = std::max(time_of(1), 1e-9);
  const int calls = std::max(1, static_cast<int>(shortest_s / estimate_s));
  const int fitting = static_cast<int>(std::min(budget_s / (estimate_s * calls), 1e6));
  samples all;
  for (int repeat = 0; repeat < std::clamp(fitting, std::min(3, repeats), repeats); ++repeat) all.seconds.push_back(time_of(calls));
  std::ranges::sort(all.seconds);
  return all;
}

}  // namespace onefold::perf::memory
