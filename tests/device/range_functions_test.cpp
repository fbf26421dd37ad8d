/// @file range_functions_test.cpp  States of ranges of functions' values have the same bytes, made by the GPU and by the CPU.

#include "range_functions.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

class states_of_ranges_of_functions : public testing::Test {
 protected:
  void SetUp() override {
    const auto gpu = onefold::backends()[static_cast<std::size_t>(onefold::backend::cuda)];
    if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  }
};

void expect_equal(const std::vector<both_results>& all) {
  for (const both_results& one : all) {
    EXPECT_EQ(one.problem, "") << one.call;
    EXPECT_FALSE(one.gpu.empty()) << one.call;
    EXPECT_EQ(one.gpu, one.cpu) << one.call;
  }
}

TEST_F(states_of_ranges_of_functions, have_the_bytes_of_the_cpu_on_the_gpu) {
  const std::uint64_t far = (std::uint64_t{1} << 40) + 3;
  for (const auto& [begin, count] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 0},
                                                                                         {0, 1},
                                                                                         {0, 511},
                                                                                         {0, 512},
                                                                                         {0, 513},
                                                                                         {0, 5 * 512},
                                                                                         {0, 100'003},
                                                                                         {1, 511},
                                                                                         {511, 2},
                                                                                         {77, 700},
                                                                                         {512, 1024},
                                                                                         {1024, 3072},
                                                                                         {3 * 512, 9000},
                                                                                         {100, 65'536},
                                                                                         {64 * 4096, 70'000},
                                                                                         {31 * 512, 33 * 512},
                                                                                         {5, 1'000'003},
                                                                                         {0, std::uint64_t{1} << 21},
                                                                                         {123'457, 3'000'001},
                                                                                         {far, 40'000}}) {
    SCOPED_TRACE(std::to_string(count) + " values from " + std::to_string(begin));
    expect_equal(states_of_functions(begin, count));
  }
}

TEST_F(states_of_ranges_of_functions, have_the_results_of_one_core_in_any_pieces) {
  for (const int pieces : {1, 2, 3, 7, 16}) {
    SCOPED_TRACE(std::to_string(pieces) + " pieces");
    expect_equal(results_of_pieces(777'777, pieces));
    expect_equal(results_of_pieces(900, pieces));
  }
}

TEST_F(states_of_ranges_of_functions, are_put_together_by_a_kernel_of_the_callers) {
  std::uint64_t compared = 0;
  for (const std::uint64_t total : {0U, 1U, 700U, 5'120U, 40'000U, 777'777U, 1U << 20U})
    for (const int parts : {1, 2, 3, 8, 61, 700}) {
      if (parts > 8 && total > 50'000 && parts != 61) continue;  // a launch or three for each part
      SCOPED_TRACE(std::to_string(total) + " values in " + std::to_string(parts) + " parts");
      const random_numbers random(current_seed() + total + static_cast<std::uint64_t>(parts));
      std::vector<std::uint64_t> borders{0};
      for (int p = 1; p < parts; ++p) {
        std::uint64_t border = random.at(static_cast<std::uint64_t>(p)) % (total + 1);
        if (p % 4 == 1) border = border / 1024 * 1024;
        borders.push_back(border);
      }
      std::sort(borders.begin(), borders.end());
      const auto all = joined_results(borders, total);
      compared += all.size();
      expect_equal(all);
    }
  std::printf("%llu results of images compared\n", static_cast<unsigned long long>(compared));
}

TEST_F(states_of_ranges_of_functions, are_refused_where_they_mean_nothing) {
  const auto all = refused_states();
  EXPECT_GE(all.size(), 9U);
  for (const refused_state& one : all)
    EXPECT_NE(one.sentence.find(one.expected), std::string::npos) << one.call << ": " << one.sentence;
}

TEST(a_state_of_a_function, is_refused_where_there_is_no_gpu) {
  if (onefold::backends()[static_cast<std::size_t>(onefold::backend::cuda)].usable) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(code_without_a_gpu(), "backend_unavailable");
}

}  // namespace
}  // namespace onefold_test
