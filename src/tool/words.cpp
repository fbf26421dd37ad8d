#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// In this order: the longer ones first. '#' stands for a number and '@' for a word, which are kept.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> words{{
    {"onefold::variants() lists the names", "'onefold variants' lists them"},
    {": use the call that returns the value", ""},
    {"; use the call that returns the value", ""},
    {"openmp() or serial() with host memory", "--backend openmp or --backend serial"},
    {"serial() or openmp()", "--backend serial or --backend openmp"},
    {"serial() and openmp() executors", "--backend serial and --backend openmp"},
    {"openmp(#)", "--threads #"},
    {"openmp(threads)", "--threads"},
    {"openmp()", "--backend openmp"},
    {"serial()", "--backend serial"},
    {"cuda(#)", "--device #"},
    {"cuda()", "--backend cuda"},
    {"best()", "--backend best"},
    {"guarantee::exact", "--exact"},
    {"guarantee::@", "guarantee @"},
    {"block_size", "--block-size"},
    {"grid_size", "--grid-size"},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// How much of the text the pattern takes from `begin` on: nothing where it is not there, or begins or ends within a word.
std::size_t length_of_match(std::string_view text, std::size_t begin, std::string_view pattern, std::string_view& kept) {
  std::size_t at = begin;
  for (const char c : pattern) {
    const std::size_t first = at;
    if (c == '#' || c == '@') {
      while (at < text.size() && (c == '#' ? is_digit(text[at]) : is_of_word(text[at]))) ++at;
      kept = text.substr(first, at - first);
    } else if (at < text.size() && text[at] == c) {
      ++at;
    }
    if (at == first) return 0;
  }
  const auto cuts_word = [&](std::size_t place) {
    return place > 0 && place < text.size() && is_of_word(text[place - 1]) && is_of_word(text[place]);
  };
  return cuts_word(begin) || cuts_word(at) ? 0 : at - begin;
}

std::string replaced(std::string_view text, std::string_view pattern, std::string_view by) {
  std::string said;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view kept;
    if (const std::size_t length = length_of_match(text, at, pattern, kept)) {
      for (const char c : by)
        if (c == '#' || c == '@')
          said += kept;
        else
          said += c;
      at += length;
    } else {
      said += text[at++];
    }
  }
  return said;
}

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
  std::string shown(near.front().second);
  for (std::size_t i = 1; i < std::min<std::size_t>(near.size(), 3); ++i) shown.append(" or ").append(near[i].second);
  return fmt::format("did you mean {}?", shown);
}

std::string in_words_of_the_tool(std::string_view sentence) {
  std::string said(sentence);
  for (const auto& [libraries, tools] : words) said = replaced(said, libraries, tools);
  return said;
}

}  // namespace onefold::tool
