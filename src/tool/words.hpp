#pragma once
/// @file words.hpp  The tool's own words: suggestions for names that do not exist, and the library's sentences without its interface.

#include <span>
#include <string>
#include <string_view>

namespace onefold::tool {

/// "did you mean sum or mean?" with the nearest of `names`, at most three; empty where none is near. Names by which other libraries know
/// a form, as asum for norm1, lead to onefold's.
[[nodiscard]] std::string suggestion(std::string_view misspelt, std::span<const std::string> names);

/// A sentence of the library with what its interface is called replaced by what it is called on the command line: "openmp(4)" is
/// "--threads 4" there.
[[nodiscard]] std::string in_words_of_the_tool(std::string_view sentence);

}  // namespace onefold::tool
