#pragma once
/// @file request.hpp  The erased request: the only struct that crosses from the typed front door into the compiled library.

#include <cstdint>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

namespace onefold::detail {

struct request {
  executor where;
  element_type type;
  operation op;
  const void* input;  // count elements
  std::uint64_t count;
  void* output;  // one element: in the caller's own memory when waits, else where the executor can write
  bool waits;    // true for the forms that return a value
};

/// Validates, chooses and runs. Throws onefold::error.
ONEFOLD_EXPORT void run(const request& what, const options& how);

}  // namespace onefold::detail
