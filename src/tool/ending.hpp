#pragma once
/// @file ending.hpp  How the tool ends when something goes wrong: with one line and status 2, whoever ends it and however little memory there is.

#include <string_view>

namespace onefold::tool {

inline constexpr int failure = 2;  ///< the exit status of every error
inline constexpr const char* out_of_memory = "there is not enough memory: use a smaller file or a machine with more";

/// Writes "onefold: sentence" to standard error, control characters as \x0a and the like so that it is one line. Does not allocate.
void print_error(std::string_view sentence) noexcept;

/// From here on a crash is a crash, and no sign of too little memory; a file that may not grow is an error of whoever writes it; and no file takes the number of a
/// standard stream that is closed.
void main_begins() noexcept;

/// Marks the end as the tool's own; returns the status, for main() to return. However else the process may end, its status is `failure`:
/// libgomp, for one, calls exit(1) where it can have no threads or no memory, and 1 would say that a check has found a difference.
int end_with(int status) noexcept;

}  // namespace onefold::tool
