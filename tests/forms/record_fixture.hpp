#pragma once
/// @file record_fixture.hpp  Tests of forms with two results: calls that return and that store, held against the oracle.

#include <string>

#include "../support/record_trial.hpp"
#include "fixture.hpp"

namespace onefold_test {

class record_test : public form_case_test {
 protected:
  [[nodiscard]] bool needs_an_element() const { return onefold::has_index(what()); }

  [[nodiscard]] record_trial one(std::string data = {}, std::int64_t ddof = 0) const {
    return {where(), what(), type(), wide(), ddof, current_seed(), std::move(data)};
  }
  /// Between red zones that would win an extremum, and make a mean NaN or another number.
  [[nodiscard]] guarded_input guarded(const elements& x) const;
  [[nodiscard]] elements all_of(double value, std::size_t count) const;

  /// Calls what returns and what stores, into guarded memory, for `count` elements from `first` on.
  [[nodiscard]] testing::AssertionResult agrees(const record_trial& asked, guarded_input& x, std::size_t first, std::size_t count,
                                                const record_expectation& expected) const;
  /// To the bit.
  [[nodiscard]] testing::AssertionResult agrees(const record_trial& asked, guarded_input& x, std::size_t first,
                                                std::size_t count) const {
    return agrees(asked, x, first, count, record_by_tree(input_of(asked, x, first, count)));
  }
  [[nodiscard]] testing::AssertionResult agrees(const record_trial& asked, guarded_input& x) const {
    return agrees(asked, x, 0, x.payload().size());
  }
  [[nodiscard]] static record_input input_of(const record_trial& asked, const guarded_input& x, std::size_t first,
                                             std::size_t count) {
    return {asked.what, asked.wide, asked.ddof, &x.payload(), first, count};
  }
};

}  // namespace onefold_test
