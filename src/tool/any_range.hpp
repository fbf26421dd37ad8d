#pragma once
/// @file any_range.hpp  The state of a range (docs/order.md) of any form of elements of any type, both known at run time only; such states in files,
/// and neighbours among them put together.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <onefold/onefold.h>
#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

#include "any_form.hpp"
#include "range_header.hpp"

namespace onefold::tool {

/// Errors of all functions: onefold::error, as those of range_state; the state then is what it was.
class any_range {
 public:
  /// Of no elements. The first one that is added has the index `begin`.
  any_range(const range_kind& of, std::uint64_t begin);
  /// That bytes() has given. Errors: input_error of parse_range_header() too.
  [[nodiscard]] static any_range from_bytes(std::span<const std::byte> bytes);

  /// Adds elements behind those that are there; y: of dot, else not looked at.
  void add(const executor& where, const void* x, const void* y, std::uint64_t count, const options& how);
  /// Adds those of a state that begins where this one ends.
  void append(const any_range& next);

  /// None where there is none (yet): the range does not begin at 0, or is empty and the form gives an index.
  [[nodiscard]] std::optional<result_bits> result(std::int64_t ddof) const;

  [[nodiscard]] const range_kind& of() const noexcept { return of_; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return onefold_range_begin(state_.get()); }
  [[nodiscard]] std::uint64_t end() const noexcept { return onefold_range_end(state_.get()); }
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  struct deleter {
    void operator()(onefold_range* state) const noexcept { onefold_range_destroy(state); }
  };

  range_kind of_;
  std::unique_ptr<onefold_range, deleter> state_;
};

/// Whether any of the files begins like the state of a range. What cannot be read is left to who reads it.
[[nodiscard]] bool has_range_file(std::span<const std::string> paths);

/// Puts the states of files together, at least one, in whatever order they are named. Holds one of them in memory at a time.
///
/// @param wanted  the form that they must be of, where it is said
/// Errors   input_error "FILE: what is wrong": what cannot be read, is no state of a range or one of something else; ranges that are no neighbours,
///          with the name of the other file too.
[[nodiscard]] any_range merge_ranges(std::span<const std::string> paths, std::optional<form> wanted);

/// Writes the state: its bytes and nothing else. Errors: those of write_file().
void write_range(const std::string& path, std::span<const std::byte> bytes);

}  // namespace onefold::tool
