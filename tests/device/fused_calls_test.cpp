/// @file fused_calls_test.cpp  The same function, the same bits: on the GPU and on the CPU.

#include "fused_calls.hpp"

#include <onefold/onefold.hpp>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

class calls_with_functions : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    const auto gpu = onefold::backends()[static_cast<std::size_t>(onefold::backend::cuda)];
    if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  }
};

TEST_P(calls_with_functions, have_the_bits_of_the_cpu_on_the_gpu) {
  for (const both_results& one : fused_calls(GetParam())) {
    EXPECT_EQ(one.problem, "") << one.call;
    EXPECT_FALSE(one.gpu.empty()) << one.call;
    EXPECT_EQ(one.gpu, one.cpu) << one.call;
  }
}

TEST_P(calls_with_functions, can_be_captured) {
  const auto bits = captured_sums(GetParam());
  ASSERT_EQ(bits.size(), 4U);
  for (const auto one : bits) EXPECT_EQ(one, bits.front());
}

TEST_P(calls_with_functions, are_refused_where_they_mean_nothing) {
  const auto all = refused_calls();
  EXPECT_EQ(all.size(), 11U);
  for (const refused_call& one : all)
    EXPECT_NE(one.sentence.find(one.expected), std::string::npos) << one.call << ": " << one.sentence;
}

TEST_P(calls_with_functions, go_where_their_arrays_lie_on_best) {
  if (GetParam() == 0) GTEST_SKIP() << "no elements lie nowhere";
  const auto ran = best_of_device_memory(GetParam());
  EXPECT_EQ(ran.backend, "cuda");
  EXPECT_TRUE(ran.same_bits);
}

INSTANTIATE_TEST_SUITE_P(sizes, calls_with_functions,
                         testing::Values(0, 1, 2, 31, 33, 511, 512, 513, 1023, 1025, 2048, 16384, 16385, 131077, 1000003));

}  // namespace
}  // namespace onefold_test
