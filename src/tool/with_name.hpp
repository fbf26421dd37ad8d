#pragma once
/// @file with_name.hpp  A file's name in front of what is said of it.

#include <fmt/format.h>

#include <string>

#include <onefold/error.hpp>

#include "input_error.hpp"

namespace onefold::tool {

/// Calls what reads the file or uses its state: what that says of the file, or the library of the state, is said with its name.
template <class F>
auto with_name(const std::string& path, F&& call) {
  try {
    return call();
  } catch (const input_error& problem) {
    throw input_error(fmt::format("{}: {}", path, problem.what()));
  } catch (const error& problem) {
    if (problem.code() != errc::invalid_argument) throw;  // too little memory, say
    throw input_error(fmt::format("{}: {}", path, problem.what()));
  }
}

}  // namespace onefold::tool
