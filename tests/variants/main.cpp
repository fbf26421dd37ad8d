/// @file main.cpp  The variants' tests, and behind them one that fails when an executor was tested by nothing.

#include <cstdlib>
#include <iostream>

#include "fixture.hpp"

namespace onefold_test {
namespace {

class every_executor : public testing::Test {
 public:
  void TestBody() override {
    if (std::getenv("GTEST_TOTAL_SHARDS") != nullptr || GTEST_FLAG_GET(shuffle))
      GTEST_SKIP() << "the tests are sharded or shuffled, so that this one is not the last";
    std::uint64_t begun = 0, skipped = 0;
    for (const auto& where : executors()) {
      const auto& [tests, without] = attendance_of(where.label);
      begun += tests;
      skipped += without;
      std::cout << where.label << ": " << tests << " tests, " << without << " skipped, " << dispatches(where.label) << " calls\n";
      if (tests > without) {
        EXPECT_GT(dispatches(where.label), 0u) << where.label << " was tested by nothing";
      }
    }
    EXPECT_GT(begun, 0u) << "no test of a variant was selected";
    if (begun > 0 && begun == skipped) GTEST_SKIP() << "every selected test was skipped";
  }
};

}  // namespace
}  // namespace onefold_test

int main(int argc, char** argv) {
  onefold_test::start_tests(&argc, argv);
  // Registered after GoogleTest has made the parameterised tests, and therefore run after them.
  testing::RegisterTest("every_executor", "was_put_to_work", nullptr, nullptr, __FILE__, __LINE__,
                        []() -> testing::Test* { return new onefold_test::every_executor; });
  return RUN_ALL_TESTS();
}
