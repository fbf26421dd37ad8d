#pragma once
/// @file gtest_support.hpp  GoogleTest around trials: one line in a test, everything in its failure.

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "data.hpp"
#include "trial.hpp"

// GoogleTest prints enumerators as bytes unless it is told their names; it looks beside the type.
namespace onefold {
inline void PrintTo(element_type value, std::ostream* out) { *out << name(value); }
inline void PrintTo(operation value, std::ostream* out) { *out << name(value); }
inline void PrintTo(form value, std::ostream* out) { *out << name(value); }
inline void PrintTo(backend value, std::ostream* out) { *out << name(value); }
inline void PrintTo(finish value, std::ostream* out) { *out << name(value); }
inline void PrintTo(guarantee value, std::ostream* out) { *out << name(value); }
inline void PrintTo(errc value, std::ostream* out) { *out << name(value); }
}  // namespace onefold

namespace onefold_test {

inline void PrintTo(const scalar& value, std::ostream* out) { *out << text(value); }

/// "suite.test" of the running test.
[[nodiscard]] std::string current_test();

/// The seed of the running test.
[[nodiscard]] inline std::uint64_t current_seed() { return seed_of(current_test()); }

/// Whether the value is right and what ran is what was asked for.
[[nodiscard]] testing::AssertionResult is_right(const trial& one, std::uint64_t count, const outcome& got,
                                                const expectation& expected);

/// Calls and checks.
[[nodiscard]] testing::AssertionResult gives(const trial& one, const void* input, std::uint64_t count, const expectation& expected);

/// Whether `call` throws onefold::error with this code and a sentence that holds `words`.
template <class Call>
testing::AssertionResult refuses(onefold::errc code, std::string_view words, Call&& call) {
  try {
    call();
  } catch (const onefold::error& problem) {
    if (problem.code() != code)
      return testing::AssertionFailure() << "refused with " << onefold::name(problem.code()) << " instead of "
                                         << onefold::name(code) << ": " << problem.what();
    if (std::string_view(problem.what()).find(words) == std::string_view::npos)
      return testing::AssertionFailure() << "the sentence does not say \"" << words << "\": " << problem.what();
    return testing::AssertionSuccess();
  } catch (const std::exception& problem) {
    return testing::AssertionFailure() << "threw something else: " << problem.what();
  }
  return testing::AssertionFailure() << "was not refused (" << onefold::name(code) << " expected)";
}

/// Calls work(0) to work(threads - 1) at the same time, the first on this host thread and each other on one of its own. What they return must
/// be empty: otherwise it is a sentence about what is wrong. So is an exception.
void on_host_threads(std::size_t threads, const std::function<std::string(std::size_t)>& work);

/// Starts GoogleTest: the repeat command, and at the end each reason for skipping with the number of tests.
void start_tests(int* argc, char** argv);

}  // namespace onefold_test
