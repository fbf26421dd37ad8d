/// @file main.cpp  GoogleTest on several ranks: all run all tests, rank 0 tells, and the last line counts what all of them have compared.

#include <cstdio>

#include "ranks.hpp"

namespace {

class failures_of_a_rank : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", onefold_test::rank(), result.file_name() == nullptr ? "" : result.file_name(),
                   result.line_number(), result.message());
  }
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  onefold_test::start_tests(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (onefold_test::rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failures_of_a_rank);
  }
  const int failed = RUN_ALL_TESTS();
  const auto& counted = onefold_test::counted();
  uint64_t mine[5] = {counted.made, counted.different, failed != 0 ? 1U : 0U, counted.refused, counted.on_a_gpu}, all[5];
  MPI_Allreduce(mine, all, 5, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (onefold_test::rank() == 0)
    std::printf("%llu results compared with one core's on %d ranks, %llu differences, %llu refused; %llu ranges on a GPU\n",
                static_cast<unsigned long long>(all[0]), onefold_test::ranks(), static_cast<unsigned long long>(all[1]),
                static_cast<unsigned long long>(all[3]), static_cast<unsigned long long>(all[4]));
  const bool has_compared = all[0] != 0;  // a filter that fits nothing, or a refusal of all, is no success
  if (onefold_test::rank() == 0 && !has_compared) std::printf("nothing was compared\n");
  MPI_Finalize();
  return all[2] == 0 && has_compared ? 0 : 1;
}
