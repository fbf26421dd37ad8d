#pragma once
/// @file record_trial.hpp  One call of a form with two results: made through the public function objects, counted, and described in full when
/// it fails.

#include <cstdint>
#include <string>

#include "form_oracle_records.hpp"
#include "trial.hpp"

namespace onefold_test {

/// One call, with everything that a failure must print.
struct record_trial {
  onefold::executor where = onefold::serial();
  form what = form::argmin;
  element_type type = element_type::f32;
  bool wide = false;
  std::int64_t ddof = 0;
  std::uint64_t seed = 0;  ///< that the data came from
  std::string data = {};   ///< in words
};

struct record_outcome {
  scalar first, second;
  onefold::report ran;
};

/// onefold::argmin(where, x, count, options) and its like.
[[nodiscard]] record_outcome reduce(const record_trial& one, const void* x, std::uint64_t count, onefold::workspace* own = nullptr);

/// onefold::argmin_into(where, x, count, output, options) and its like: what is stored are onefold::result_bytes.
onefold::report reduce_into(const record_trial& one, const void* x, std::uint64_t count, void* output,
                            onefold::workspace* own = nullptr);

/// What was stored.
[[nodiscard]] record_outcome stored(const record_trial& one, const void* bytes);

/// What is wrong with the results, or nothing: everything about the call, and which of the two it is.
[[nodiscard]] std::optional<std::string> disagreement(const record_trial& one, std::uint64_t count,
                                                      const record_expectation& expected, const record_outcome& got);

}  // namespace onefold_test
