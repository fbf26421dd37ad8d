#pragma once
/// @file print.hpp  What the tool says, as text for people and as JSON for programs. Makes strings; prints nothing itself.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/catalogue.hpp>
#include <onefold/executor.hpp>
#include <onefold/types.hpp>

#include "golden.hpp"
#include "input_file.hpp"
#include "measure.hpp"

namespace onefold::tool {

/// The shortest decimal text that reads back as the same value, of f16 and bf16 as a float; "inf", "-inf" and "nan" where there is none; "true" or
/// "false".
[[nodiscard]] std::string value_text(scalar value);

/// The bits of the value in hexadecimal, all digits of its type: "0x40490fdb".
[[nodiscard]] std::string bits_text(scalar value);

/// The text with its control characters shown as \x0a, so that it stays on one line whatever a file's name holds.
[[nodiscard]] std::string one_line(std::string_view text);

/// A reduction that is done, for printing.
struct reduction {
  std::string name;  ///< of the file, as the user gave it
  const input_array& input;
  std::string second_name;          ///< of dot's second file; else empty
  const input_array* second_input;  ///< null where there is none
  const job& what;
  const outcome& result;
  std::string saved_state;  ///< the name of the file that has the state; else empty

  /// Of all inputs.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return input.bytes() + (second_input == nullptr ? 0 : second_input->bytes());
  }
};

/// One "name value" line for each fact. Every text here ends with a newline.
[[nodiscard]] std::string reduction_text(const reduction& done);

/// One object. Several results have the names that they have in results.hpp, and their bits those with "_bits" behind. A value is a number where
/// finite, else a string; a float as the double of the same value; of all, any and none true or false. Times in seconds.
/// Of an exact result "fixed_value", "fixed_bits" and "fixed_ulps" are the default's and its distance, null where NaN or infinity has
/// none; of several results "fixed_mean", "fixed_mean_bits" and "fixed_mean_ulps". Where the state of a range is saved "begin" is the index of
/// its first element, and where that has no result its values are null.
[[nodiscard]] std::string reduction_json(const reduction& done);

/// States of files that were put together, for printing.
struct merging {
  std::span<const std::string> files;
  element_type type;  ///< of exact states f32 for all smaller floats too
  onefold::form form;
  bool wide;
  std::int64_t ddof;
  std::optional<result_bits> bits;     ///< none: of a range that has no result
  std::uint64_t count;                 ///< elements
  std::uint64_t states;                ///< see merged_states; of ranges one for each file
  std::optional<std::uint64_t> begin;  ///< of ranges: the index of the first element
  std::string saved_state;             ///< as that of a reduction
};

/// As for a reduction, as far as there are the same facts.
[[nodiscard]] std::string merging_text(const merging& done);
[[nodiscard]] std::string merging_json(const merging& done);

/// A line for each place, the rows that differ, and the number of cases and differences.
[[nodiscard]] std::string check_text(std::span<const golden_outcome> outcomes);

/// One object with the same.
[[nodiscard]] std::string check_json(std::span<const golden_outcome> outcomes);

/// A variant, and the sentence that says why it cannot run here.
struct variant_row {
  const variant_info& variant;
  std::optional<std::string> obstacle;
};

/// A table, the limits of the variants that have some, and what prevents those that cannot run here.
[[nodiscard]] std::string variants_text(std::span<const variant_row> rows);

/// An array of objects.
[[nodiscard]] std::string variants_json(std::span<const variant_row> rows);

/// A table for documents: the same on every machine and in every build.
[[nodiscard]] std::string variants_markdown(std::span<const variant_info> variants);

/// The version, the backends and the devices.
[[nodiscard]] std::string info_text(std::span<const backend_info> backends);

/// One object with the same.
[[nodiscard]] std::string info_json(std::span<const backend_info> backends);

}  // namespace onefold::tool
