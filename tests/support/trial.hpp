#pragma once
/// @file trial.hpp  One call under test: made through the public functions, counted, and described in full when it fails.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onefold/onefold.hpp>

#include "element.hpp"
#include "oracle.hpp"

namespace onefold_test {

/// A place where reductions are tested.
struct executor_under_test {
  std::string label;  ///< serial, openmp1, openmp_all, cuda
  onefold::executor where;
  std::optional<std::string> cannot_run;  ///< why, in onefold's own words
};

/// serial(), openmp(1), openmp() and cuda(), as far as they are built.
[[nodiscard]] const std::vector<executor_under_test>& executors();
/// What onefold says of this backend, asked once.
[[nodiscard]] const onefold::backend_info& backend_under_test(onefold::backend where);

/// One call, with everything that a failure must print.
struct trial {
  onefold::executor where = onefold::serial();
  std::string_view variant = {};
  element_type type = element_type::f32;
  operation op = operation::sum;
  onefold::finish how = onefold::finish::automatic;
  int block_size = 0;
  std::int64_t grid_size = 0;
  int width = 0;
  std::uint64_t seed = 0;  ///< that the data came from
  std::string data = {};   ///< in words

  [[nodiscard]] onefold::options options(onefold::report* ran) const;
};

struct outcome {
  scalar value;
  onefold::report ran;
};

/// onefold::reduce(where, input, count, op, options), whose report is written over `before`.
[[nodiscard]] outcome reduce(const trial& one, const void* input, std::uint64_t count, const onefold::report& before = {});
/// onefold::reduce_into(where, input, count, output, op, options).
onefold::report reduce_into(const trial& one, const void* input, std::uint64_t count, void* output);

/// Everything about a wrong answer: what ran, on what, expected, got, bound, and the command that repeats it.
[[nodiscard]] std::string describe(const trial& one, std::uint64_t count, const onefold::report& ran, const expectation& expected,
                                   const scalar& got);

/// What is wrong with the report, or nothing: the named variant must have run, as asked, and nothing else in its place.
[[nodiscard]] std::optional<std::string> not_as_asked(const trial& one, std::uint64_t count, const onefold::report& ran);

/// The command that repeats what is running, for describe(); set by the main programs.
void set_repeat_command(std::string (*command)());
[[nodiscard]] std::string repeat_command();

/// The variant that is native to the executor and stands for a name there: the name's own, on a CPU backend the reference for a CUDA
/// kernel's name, and without a name fixed_order. Null where there is none.
[[nodiscard]] const onefold::variant_info* native_variant(std::string_view name, const onefold::executor& where);

/// Counts a call that came back, for dispatches().
void count_dispatch(const onefold::executor& where);

/// Calls that came back, by executor label; for the test that tests were tested.
[[nodiscard]] std::uint64_t dispatches(std::string_view executor_label);
[[nodiscard]] std::uint64_t dispatches();

/// "serial", "openmp(3)", "cuda(0)", "cuda(0, stream)", "best()".
[[nodiscard]] std::string text(const onefold::executor& where);

}  // namespace onefold_test
