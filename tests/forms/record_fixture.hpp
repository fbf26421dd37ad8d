#pragma once
/// @file record_fixture.hpp  The parameters of the tests of forms with two results: every executor, element type and form, and each width.

#include <string>
#include <vector>

#include "../support/place.hpp"
#include "../support/record_trial.hpp"
#include "../variants/fixture.hpp"

namespace onefold_test {

struct record_case {
  const executor_under_test* on;
  element_type type;
  form what;
  bool wide;
};

/// Every executor with argmin, argmax, minmax and mean_variance of every type, as far as `keep` lets them pass.
[[nodiscard]] std::vector<record_case> record_cases(bool (*keep)(const record_case&) = nullptr);

/// "cuda_f32_mean_variance_wide"
[[nodiscard]] std::string name_of(const testing::TestParamInfo<record_case>& info);
void PrintTo(const record_case& one, std::ostream* out);

class record_test : public dispatching_test, public testing::WithParamInterface<record_case> {
 protected:
  void SetUp() override { start(*GetParam().on); }

  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }
  [[nodiscard]] element_type type() const { return GetParam().type; }
  [[nodiscard]] form what() const { return GetParam().what; }
  [[nodiscard]] bool wide() const { return GetParam().wide; }
  [[nodiscard]] bool needs_an_element() const { return what() == form::argmin || what() == form::argmax; }
  [[nodiscard]] std::size_t tile() const { return 4096 / onefold::size_of(type()); }

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
