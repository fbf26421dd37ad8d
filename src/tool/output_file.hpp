#pragma once
/// @file output_file.hpp  Files that the tool writes: whole, or not at all.

#include <string>
#include <string_view>

namespace onefold::tool {

/// Writes a file beside the one that has this name and gives it the name when all is there: whatever goes wrong, a file that had the name is what it
/// was. Of links the file that they lead to is replaced. What is no regular file, a pipe or a device, is written to as it is.
///
/// Errors   input_error "PATH: cannot be written: why".
void write_file(const std::string& path, std::string_view bytes);

}  // namespace onefold::tool
