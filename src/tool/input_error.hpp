#pragma once
/// @file input_error.hpp  The exception for a file that cannot be reduced.

#include <stdexcept>

namespace onefold::tool {

/// Says in one sentence what is wrong with a file and what to do. The parsers leave the file's name out; open_input() puts it in
/// front.
class input_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace onefold::tool
