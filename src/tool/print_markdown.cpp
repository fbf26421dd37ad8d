/// @file print_markdown.cpp  What the tool says to documents.

#include <fmt/format.h>

#include "print.hpp"

namespace onefold::tool {

namespace {

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

std::string variants_markdown(std::span<const variant_info> variants) {
  std::string text = "| variant | seed | idea |\n| --- | --- | --- |\n";
  for (const variant_info& variant : variants)
    text += fmt::format("| `{}` | {} | {} |\n", variant.name, markdown_cell(variant.seed), markdown_cell(variant.summary));
  return text;
}

}  // namespace onefold::tool
