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
  onefold::form form;
  const void* input;  // count elements
  std::uint64_t count;
  void* output;  // one result_type(type, form, wide): in the caller's own memory when waits, else where the executor can write
  bool waits;    // true for the forms that return a value
  const void* second = nullptr;  // dot: its second array, count elements of the same type
  bool wide = false;             // f32 accumulated in f64
  bool best = false;             // asked of best(): threads that come late or not at all are not waited for
  void* tree_value = nullptr;  // not null: fixed_order on the CPU stores its accumulator there too, as it is before the conclusion
};

/// Validates, chooses and runs. Throws onefold::error.
ONEFOLD_EXPORT void run(const request& what, const options& how);

/// Throws onefold::error: the two ranges of a dot product must be equally long.
[[noreturn]] ONEFOLD_EXPORT void throw_different_lengths(std::uint64_t first, std::uint64_t second);

}  // namespace onefold::detail
