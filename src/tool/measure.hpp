#pragma once
/// @file measure.hpp  Runs one reduction of an array through onefold and times it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <onefold/executor.hpp>
#include <onefold/options.hpp>
#include <onefold/types.hpp>

#include "any_form.hpp"
#include "input_file.hpp"

namespace onefold::tool {

/// What to run.
struct job {
  onefold::form form;
  bool wide;  ///< accumulated in accumulator_type(type, true)
  executor where;
  options how;               ///< its report is ignored: outcome::ran has it
  int repeat = 0;            ///< 0: one run, timed as it comes; N: an untimed run, then N timed ones
  std::int64_t ddof = 0;     ///< of mean_variance
  bool keeps_state = false;  ///< under guarantee::exact: outcome::state is asked for
  /// Not none: outcome::range is asked for, of elements of which the first has this index in the whole array.
  std::optional<std::uint64_t> begin = std::nullopt;
};

/// What came out.
struct outcome {
  /// Of the last run. None where a state was asked for of elements that are no whole array (any_range::result).
  std::optional<result_bits> bits;
  report ran;                   ///< of the last run
  std::vector<double> seconds;  ///< wall time of each timed run, the host's wait included and the reading of pieces not; ascending
  bool warm;                    ///< an untimed run came first
  std::size_t distinct_values;  ///< different results, bit for bit, among the timed runs
  std::optional<double> copy_seconds;     ///< wall time of the copies to the GPU, which no run includes
  bool copies_are_timed;                  ///< the elements went through the GPU in pieces, and the run includes their copies
  std::optional<result_bits> fixed_bits;  ///< under guarantee::exact: what the default gives, reduced once more and not timed
  std::vector<std::int64_t> state;        ///< the words of the exact state, where they were asked for
  std::vector<std::byte> range;           ///< the bytes of the range's state, where that was asked for

  [[nodiscard]] double median_seconds() const noexcept;
};

/// Starts the backend (untimed), copies the data to the GPU where it runs there, reduces and times. More than whole_bytes that are reduced once
/// are not held on the GPU but go through it, so that there may be more of them than it has memory.
///
/// @param second  dot's second input, of the type and count of the first; else null
/// Errors   onefold::error, as reduce(); input_error where the elements come in pieces.
[[nodiscard]] outcome measure(const input_array& input, const input_array* second, const job& what);

}  // namespace onefold::tool
