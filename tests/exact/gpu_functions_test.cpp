/// @file gpu_functions_test.cpp  guarantee::exact of functions of the index and of users' maps on cuda(): the bits of serial(), which other tests hold
/// against whole numbers.

#include "gpu_functions.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <onefold/onefold.hpp>

#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

class exact_gpu_functions : public testing::Test {
 protected:
  void SetUp() override {
    const auto gpu = onefold::backends()[static_cast<std::size_t>(onefold::backend::cuda)];
    if (!gpu.usable) GTEST_SKIP() << gpu.detail;
  }
};

template <class Kind>
void expect_same_bits(const std::vector<both_results>& all, Kind kind, std::uint64_t count) {
  for (const both_results& one : all) {
    EXPECT_EQ(one.problem, "") << one.call;
    EXPECT_FALSE(one.gpu.empty()) << one.call;
    EXPECT_EQ(one.gpu, one.cpu) << one.call << ", kind " << static_cast<int>(kind) << ", " << count << " of them";
  }
}

TEST_F(exact_gpu_functions, of_one_result_have_the_bits_of_one_core) {
  for (const value_kind kind : value_kinds)
    for (const std::uint64_t count : {0, 1, 2, 33, 255, 256, 257, 5'000, 100'003})
      expect_same_bits(exact_forms(kind, count), kind, count);
}

TEST_F(exact_gpu_functions, of_large_ranges_have_the_bits_of_one_core) {
  for (const value_kind kind : {value_kind::normal, value_kind::everywhere, value_kind::rising, value_kind::outliers,
                                value_kind::climbing, value_kind::seesaw})
    expect_same_bits(exact_forms(kind, 5'000'017), kind, 5'000'017);  // several turns for each warp of a large GPU
}

TEST_F(exact_gpu_functions, of_several_results_boxes_and_arrays_have_the_bits_of_one_core) {
  for (const value_kind kind : value_kinds)
    for (const std::uint64_t count : {37, 1'000, 50'021}) expect_same_bits(exact_maps(kind, count), kind, count);
  for (const value_kind kind : {value_kind::within_60, value_kind::climbing, value_kind::seesaw})
    expect_same_bits(exact_maps(kind, 3'000'017), kind, 3'000'017);
}

TEST_F(exact_gpu_functions, of_integers_have_the_bits_of_one_core) {
  for (const whole_kind kind : {whole_kind::any, whole_kind::outermost})
    for (const std::uint64_t count : {0, 1, 2, 33, 257, 5'000, 100'003, 3'000'017})
      expect_same_bits(exact_integers(kind, count), kind, count);
}

// As on GPUs of compute capability 8.6, 7.0 and 7.5, and with a warp alone: fewer warps than a block has elsewhere.
TEST_F(exact_gpu_functions, have_the_bits_of_one_core_where_a_block_is_lent_less_shared_memory) {
  constexpr const char* variable = "ONEFOLD_CUDA_SHARED_KIB";
  for (const char* const lent : {"99", "96", "64", "12"}) {
    SCOPED_TRACE(lent);
    setenv(variable, lent, 1);
    for (const value_kind kind : value_kinds) {
      for (const std::uint64_t count : {0, 1, 257, 5'000, 100'003}) expect_same_bits(exact_forms(kind, count), kind, count);
      expect_same_bits(exact_maps(kind, 10'007), kind, 10'007);
    }
    for (const value_kind kind : {value_kind::normal, value_kind::everywhere, value_kind::seesaw})
      expect_same_bits(exact_forms(kind, 5'000'017), kind, 5'000'017);
    unsetenv(variable);
  }
}

TEST_F(exact_gpu_functions, call_the_function_once_for_each_index) {
  for (const int calls : calls_for_each_index(300'007)) ASSERT_EQ(calls, 2);  // by two sums
}

TEST_F(exact_gpu_functions, run_on_streams_in_graphs_and_with_workspaces) {
  const auto all = captured_exact_sums(200'003);
  ASSERT_EQ(all.size(), 5U);
  for (std::size_t k = 1; k < all.size(); ++k) EXPECT_EQ(all[k], all[0]) << k;
}

TEST_F(exact_gpu_functions, say_what_ran) {
  const exact_run ran = report_of_exact_sum(10'000);
  EXPECT_EQ(ran.implementation, "superaccumulator");
  EXPECT_EQ(ran.launches, 2);
}

TEST_F(exact_gpu_functions, refuse_other_forms_and_arrays_of_the_host) {
  const auto all = refused_exact_calls();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_NE(all[0].find("guarantee::exact cannot be given"), std::string::npos) << all[0];
  EXPECT_NE(all[1].find("the input is host memory"), std::string::npos) << all[1];
}

}  // namespace
}  // namespace onefold_test
