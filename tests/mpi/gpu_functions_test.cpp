/// @file gpu_functions_test.cpp  Functions and operators of the caller's over ranks have the same bits, whether a rank's values are made by the GPU or by the CPU.

#include "gpu_functions.hpp"

#include "../support/cuda.hpp"
#include "ranks.hpp"

namespace onefold_test {
namespace {

TEST(functions_over_ranks_on_a_gpu, have_the_bits_of_the_cpu) {
  if (!backend_under_test(onefold::backend::cuda).usable) GTEST_SKIP() << "there is no GPU";
  const auto mine = static_cast<std::uint64_t>(rank());
  for (const std::uint64_t count : {std::uint64_t{0}, mine == 0 ? std::uint64_t{5} : std::uint64_t{0}, 3 + mine, std::uint64_t{512},
                                    700 + 77 * mine, std::uint64_t{65'536}, 100'003 + 512 * mine, 1'000'003 + 999 * mine}) {
    SCOPED_TRACE(count);
    for (const both_results& one : functions_over_ranks_on_both_sides(count)) {
      EXPECT_EQ(one.problem, "") << one.call;
      EXPECT_FALSE(one.gpu.empty()) << one.call;
      EXPECT_EQ(one.gpu, one.cpu) << one.call;
    }
  }
}

}  // namespace
}  // namespace onefold_test
