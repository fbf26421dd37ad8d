/// @file cuda_process_test.cpp  A GPU in other people's processes: their driver contexts, graphs and captures, and threads that wait for each
/// other. Each in a process of its own with a time limit, for what goes wrong here hangs.

#include <gtest/gtest.h>

#include "../support/child.hpp"

namespace onefold_test {
namespace {

void expect_as_it_should_be(const char* situation) {
  constexpr int limit_seconds = 60;
  const auto child = run_child({neighbour("onefold_cuda_process_child"), situation}, {}, limit_seconds);
  if (child.exit_code == 77) GTEST_SKIP() << "this machine has no GPU";
  if (child.exit_code == 78) GTEST_SKIP() << "CUDA gave no new stream the handle of the destroyed one";
  EXPECT_FALSE(child.timed_out) << "hangs";
  EXPECT_EQ(child.signal, 0);
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.out, "");
  EXPECT_EQ(child.err, "");
}

#define ONEFOLD_SITUATION(suite, name) \
  TEST(suite, name) { expect_as_it_should_be(#name); }

ONEFOLD_SITUATION(driver_contexts, a_context_of_the_callers_is_put_back)
ONEFOLD_SITUATION(driver_contexts, a_thread_without_a_context_has_none_afterwards)
ONEFOLD_SITUATION(graphs, graphs_of_two_streams_with_one_handle_run_side_by_side)
ONEFOLD_SITUATION(graphs, graphs_of_one_stream_run_side_by_side)
ONEFOLD_SITUATION(graphs, what_a_graph_has_recorded_is_taken_again_when_it_is_gone)
ONEFOLD_SITUATION(captures, a_relaxed_capture_is_left_alone)
ONEFOLD_SITUATION(captures, a_relaxed_capture_of_another_thread_is_left_alone)
ONEFOLD_SITUATION(captures, a_thread_local_capture_is_left_alone)
ONEFOLD_SITUATION(captures, a_global_capture_is_left_alone)
ONEFOLD_SITUATION(captures, a_global_capture_of_another_thread_is_left_alone)
ONEFOLD_SITUATION(kept_memory, memory_in_use_does_not_wait_for_calls_that_wait)
ONEFOLD_SITUATION(kept_memory, release_memory_waits_for_the_work_that_uses_it)
ONEFOLD_SITUATION(kept_memory, streams_that_come_and_go_do_not_mix_their_memory)

}  // namespace
}  // namespace onefold_test
