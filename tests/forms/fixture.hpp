#pragma once
/// @file fixture.hpp  The parameters of the forms' tests: every executor, element type and form, and each width of accumulation.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../support/form_trial.hpp"
#include "../support/place.hpp"
#include "../variants/fixture.hpp"

namespace onefold_test {

struct form_case {
  const executor_under_test* on;
  element_type type;
  form what;
  bool wide;
};

/// Every executor with every form of every type, in its own type and, where there is that, in a wider one, as far as `keep` lets them
/// pass: the forms with one result, and those with two.
[[nodiscard]] std::vector<form_case> form_cases(bool (*keep)(const form_case&) = nullptr);
[[nodiscard]] std::vector<form_case> record_cases(bool (*keep)(const form_case&) = nullptr);

/// "cuda_f32_dot_wide"
[[nodiscard]] std::string name_of(const testing::TestParamInfo<form_case>& info);
void PrintTo(const form_case& one, std::ostream* out);

/// 1 and on: around rows, tiles, groups of 16 tiles and levels of the tree, and some that are none of these.
[[nodiscard]] std::vector<std::size_t> telling_sizes(std::size_t tile);

/// Two inputs between red zones: y is there for dot alone.
class guarded_inputs {
 public:
  guarded_inputs(memory kind, form what, const elements& x, const elements& y);
  /// The inputs of `count` elements from these places on. Forgets those before.
  struct window {
    const void* x;
    const void* y;
    form_input of;
  };
  [[nodiscard]] window at(std::size_t first_x, std::size_t first_y, std::size_t count, bool wide);
  [[nodiscard]] window all(bool wide) { return at(0, 0, x_.payload().size(), wide); }
  void put_x(std::size_t i, const scalar& value) { x_.put(i, value); }
  void put_y(std::size_t i, const scalar& value) {
    if (y_) y_->put(i, value);
  }
  [[nodiscard]] const elements& x() const { return x_.payload(); }
  [[nodiscard]] const elements* y() const { return y_ ? &y_->payload() : nullptr; }
  [[nodiscard]] bool unchanged() const { return x_.unchanged() && (!y_ || y_->unchanged()); }

 private:
  form what_;
  guarded_input x_;
  std::optional<guarded_input> y_;
};

class form_case_test : public dispatching_test, public testing::WithParamInterface<form_case> {
 protected:
  void SetUp() override { start(*GetParam().on); }

  [[nodiscard]] const onefold::executor& where() const { return GetParam().on->where; }
  [[nodiscard]] element_type type() const { return GetParam().type; }
  [[nodiscard]] form what() const { return GetParam().what; }
  [[nodiscard]] bool wide() const { return GetParam().wide; }
  [[nodiscard]] std::size_t tile() const { return 4096 / onefold::size_of(type()); }
};

/// Of a form with one result.
class form_test : public form_case_test {
 protected:
  [[nodiscard]] bool two_inputs() const { return what() == form::dot; }
  [[nodiscard]] element_type result() const { return result_type_of(what(), type(), wide()); }

  [[nodiscard]] form_trial one(std::string data = {}) const {
    return {where(), what(), type(), wide(), current_seed(), std::move(data)};
  }
  [[nodiscard]] guarded_inputs exact_inputs(std::size_t count) const {
    return {memory_for(where()), what(), exact_form_data(type(), what(), count, current_seed(), 0),
            exact_form_data(type(), what(), count, current_seed(), 1)};
  }
  [[nodiscard]] guarded_inputs inputs(const elements& x, const elements& y) const { return {memory_for(where()), what(), x, y}; }

  /// Makes the call that returns, and checks value and report.
  [[nodiscard]] testing::AssertionResult gives(const form_trial& asked, const guarded_inputs::window& in,
                                               const expectation& expected) const;
  /// The same with the call that stores, into an output with guarded surroundings.
  [[nodiscard]] testing::AssertionResult stores(const form_trial& asked, const guarded_inputs::window& in,
                                                const expectation& expected) const;
};

inline void PrintTo(const executor_under_test* one, std::ostream* out) { *out << one->label; }

/// A test on one executor that takes its forms and types as it likes, instantiated with each_of_the_executors() and label_of_executor.
class executor_test : public dispatching_test, public testing::WithParamInterface<const executor_under_test*> {
 protected:
  void SetUp() override { start(*GetParam()); }
  [[nodiscard]] const onefold::executor& where() const { return GetParam()->where; }
};
[[nodiscard]] std::vector<const executor_under_test*> each_of_the_executors();
/// Those whose calls take other ways than those of executors(): best(), and two threads of OpenMP's where there are as many.
[[nodiscard]] std::vector<const executor_under_test*> further_executors();
/// "cuda_"
[[nodiscard]] std::string label_of_executor(const testing::TestParamInfo<const executor_under_test*>& info);

/// A test on the GPU that takes its forms and types as it likes.
class cuda_form_test : public dispatching_test {
 protected:
  void SetUp() override {
    for (const auto& known : executors())
      if (known.label == "cuda") return start(known);
    GTEST_SKIP() << "built without the cuda backend";
  }
};

}  // namespace onefold_test
