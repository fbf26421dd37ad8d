#pragma once
/// @file form_trial.hpp  One call of a form under test: made through the public function objects, counted, and described in full when it
/// fails.

#include <cstdint>
#include <optional>
#include <string>

#include "form_oracle.hpp"
#include "trial.hpp"

namespace onefold_test {

/// One call, with everything that a failure must print.
struct form_trial {
  onefold::executor where = onefold::serial();
  form what = form::sum;
  element_type type = element_type::f32;
  bool wide = false;
  std::uint64_t seed = 0;  ///< that the data came from
  std::string data = {};   ///< in words
};

/// onefold::dot(where, x, y, count [, accumulate_as<double>], options) and its like; y is for dot alone.
[[nodiscard]] outcome reduce(const form_trial& one, const void* x, const void* y, std::uint64_t count,
                             onefold::workspace* own = nullptr);
/// onefold::dot_into(where, x, y, count, output [, accumulate_as<double>], options) and its like.
onefold::report reduce_into(const form_trial& one, const void* x, const void* y, std::uint64_t count, void* output,
                            onefold::workspace* own = nullptr);

/// Everything about a wrong answer: what ran, on what, expected, got, bound, and the command that repeats it.
[[nodiscard]] std::string describe(const form_trial& one, std::uint64_t count, const onefold::report& ran,
                                   const expectation& expected, const scalar& got);

/// What is wrong with the report, or nothing: fixed_order must have run.
[[nodiscard]] std::optional<std::string> not_as_asked(const form_trial& one, std::uint64_t count, const onefold::report& ran);

}  // namespace onefold_test
