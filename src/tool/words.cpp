#include "words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>
#include <vector>

#include "../edit_distance.hpp"

namespace onefold::tool {

namespace {

// From BLAS, NumPy and daily life.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> other_names{{
    {"asum", "norm1"},
    {"l1", "norm1"},
    {"nrm2", "norm2"},
    {"norm", "norm2"},
    {"l2", "norm2"},
    {"amax", "norm_inf"},
    {"absmax", "norm_inf"},
    {"linf", "norm_inf"},
    {"add", "sum"},
    {"total", "sum"},
    {"average", "mean"},
    {"avg", "mean"},
    {"product", "prod"},
    {"mul", "prod"},
    {"minimum", "min"},
    {"maximum", "max"},
    {"inner", "dot"},
    {"list", "variants"},
    {"test", "check"},
    {"iamax", "argmax_magnitude"},
    {"iamin", "argmin_magnitude"},
    {"aminmax", "minmax"},
    {"all_of", "all"},
    {"any_of", "any"},
    {"none_of", "none"},
    {"count_nonzero", "count"},
}};

// In this order: the longer ones first.
constexpr std::array<std::pair<const char*, const char*>, 16> words{{
    {R"(onefold::variants\(\) lists the names)", "'onefold variants' lists them"},
    {R"(: use the call that returns the value|; use the call that returns the value)", ""},
    {R"(openmp\(\) or serial\(\) with host memory)", "--backend openmp or --backend serial"},
    {R"(serial\(\) or openmp\(\))", "--backend serial or --backend openmp"},
    {R"(serial\(\) and openmp\(\) executors)", "--backend serial and --backend openmp"},
    {R"(openmp\(([0-9]+)\))", "--threads $1"},
    {R"(openmp\(threads\))", "--threads"},
    {R"(openmp\(\))", "--backend openmp"},
    {R"(serial\(\))", "--backend serial"},
    {R"(cuda\(([0-9]+)\))", "--device $1"},
    {R"(cuda\(\))", "--backend cuda"},
    {R"(best\(\))", "--backend best"},
    {R"(guarantee::exact)", "--exact"},
    {R"(guarantee::(\w+))", "guarantee $1"},
    {R"(\bblock_size\b)", "--block-size"},
    {R"(\bgrid_size\b)", "--grid-size"},
}};

}  // namespace

std::string suggestion(std::string_view misspelt, std::span<const std::string> names) {
  const auto other = std::ranges::find(other_names, misspelt, [](const auto& row) { return row.first; });
  if (other != other_names.end() && std::ranges::find(names, other->second) != names.end())
    return fmt::format("did you mean {}?", other->second);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string& name : names)
    if (const std::size_t distance = detail::edit_distance(misspelt, name); detail::is_near(distance, misspelt, name))
      if (std::ranges::find(near, std::pair(distance, std::string_view(name))) == near.end()) near.emplace_back(distance, name);
  if (near.empty()) return {};
  std::ranges::stable_sort(near, {}, [](const auto& row) { return row.first; });
  // Where one is nearer than the others, nobody means those.
  std::erase_if(near, [least = near.front().first](const auto& row) { return row.first > least; });
  std::vector<std::string_view> shown;
  for (const auto& row : near)
    if (shown.size() < 3) shown.push_back(row.second);
  return fmt::format("did you mean {}?", fmt::join(shown, " or "));
}

std::string in_words_of_the_tool(std::string_view sentence) {
  std::string said(sentence);
  for (const auto& [libraries, tools] : words) said = std::regex_replace(said, std::regex(libraries), tools);
  return said;
}

}  // namespace onefold::tool
