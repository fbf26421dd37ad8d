#pragma once
/// @file state_file.hpp  States of guarantee::exact (docs/exact.md) in files, .npy arrays of int64 words, and their sum.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <onefold/types.hpp>

namespace onefold::tool {

/// The forms that have a state. Where nobody says which is meant, a state is taken for that of the first that has such a state.
inline constexpr std::array state_forms{form::sum,  form::norm1,          form::dot,  form::mean_variance,
                                        form::mean, form::sum_of_squares, form::norm2};

/// The sum of states.
struct merged_states {
  element_type type;  ///< f64, c64, c128, or f32 for all smaller floats, which have their states in common
  onefold::form form;
  std::vector<std::int64_t> words;  ///< canonical
  std::uint64_t count;              ///< elements
  std::uint64_t states;             ///< that were added, without empty ones; one file may hold the sum of many
};

/// Adds the states of files, at least one. They say themselves what elements and, up to state_forms, what form they are of.
///
/// @param wanted  the form whose result is asked for
/// Errors   input_error "FILE: what is wrong": what cannot be read, is no state, or belongs to another form or type.
[[nodiscard]] merged_states merge_states(std::span<const std::string> paths, std::optional<form> wanted);

/// Writes the words of a state. Errors: those of write_file().
void write_state(const std::string& path, std::span<const std::int64_t> words);

}  // namespace onefold::tool
