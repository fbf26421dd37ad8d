#include "gtest_support.hpp"

#include <iostream>
#include <map>
#include <thread>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace onefold_test {

namespace {

std::string program;

std::string command() {
  return "ONEFOLD_SEED=" + std::to_string(environment_seed()) + " " + program + " --gtest_filter='" + current_test() + "'";
}

// GoogleTest lists the names of skipped tests; what a reader wants is how many for which reason.
class skip_reasons : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    const auto* result = test.result();
    if (!result->Skipped()) return;
    std::string reason = "no reason given";
    for (int i = 0; i < result->total_part_count(); ++i)
      if (result->GetTestPartResult(i).skipped()) reason = result->GetTestPartResult(i).message();
    ++tests_[reason];
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const auto& [reason, count] : tests_)
      std::cout << "skipped " << count << (count == 1 ? " test: " : " tests: ") << reason << "\n";
  }
  std::map<std::string, int> tests_;
};

}  // namespace

// Asked for by every trial, and by some tests for every element: put together once for each test.
std::string current_test() {
  thread_local const testing::TestInfo* known = nullptr;
  thread_local std::string name;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  if (test != known) name = test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name();
  known = test;
  return name;
}

testing::AssertionResult is_right(const trial& one, std::uint64_t count, const outcome& got, const expectation& expected) {
  if (const auto wrong = disagreement(expected, got.value))
    return testing::AssertionFailure() << *wrong << "\n" << describe(one, count, got.ran, expected, got.value);
  if (const auto wrong = not_as_asked(one, count, got.ran)) return testing::AssertionFailure() << *wrong;
  return testing::AssertionSuccess();
}

testing::AssertionResult gives(const trial& one, const void* input, std::uint64_t count, const expectation& expected) {
  try {
    return is_right(one, count, reduce(one, input, count), expected);
  } catch (const onefold::error& problem) {
    onefold::report none;
    none.variant = one.variant;
    return testing::AssertionFailure() << "threw " << onefold::name(problem.code()) << ": " << problem.what() << "\n"
                                       << describe(one, count, none, expected, expected.value);
  }
}

void on_host_threads(std::size_t threads, const std::function<std::string(std::size_t)>& work) {
  std::vector<std::string> wrong(threads);
  const auto guarded = [&](std::size_t t) {
    try {
      wrong[t] = work(t);
    } catch (const std::exception& problem) {
      wrong[t] = std::string("threw: ") + problem.what();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(guarded, t);
  guarded(0);
  for (auto& thread : others) thread.join();
  for (std::size_t t = 0; t < threads; ++t) EXPECT_EQ(wrong[t], "") << "on host thread " << t;
}

void start_tests(int* argc, char** argv) {
#ifdef __GLIBC__
  // Arrays come and go by the hundred thousand: a tenth of some programs' time was the kernel's, which cleared pages just given back.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  testing::InitGoogleTest(argc, argv);
  program = argv[0];
  set_repeat_command(command);
  testing::UnitTest::GetInstance()->listeners().Append(new skip_reasons);
}

}  // namespace onefold_test
