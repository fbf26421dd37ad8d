/// @file environment_test.cpp  onefold in other people's processes: each situation in a process of its own.

#include <gtest/gtest.h>

#include <onefold/onefold.hpp>

#include "../support/child.hpp"

namespace onefold_test {
namespace {

using variables = std::vector<std::pair<std::string, std::string>>;

constexpr int limit_seconds = 60;

// Runs one situation of child_main.cpp: it must end by itself, be right, and print nothing at all.
void expect_fine(const std::string& situation, const variables& environment = {}) {
  const auto child = run_child({neighbour("onefold_environment_child"), situation}, environment, limit_seconds);
  EXPECT_FALSE(child.timed_out) << situation << " hung";
  EXPECT_EQ(child.signal, 0) << situation << " was ended by a signal: the library must never abort";
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(child.out, "") << "the library printed to standard output";
  EXPECT_EQ(child.err, "") << "the library printed to standard error, or the situation says what is wrong";
}

constexpr bool is_thread_sanitized() {
#if defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

constexpr bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || is_thread_sanitized();
#else
  return is_thread_sanitized();
#endif
}

bool has_openmp() {
  for (const auto& info : onefold::backends())
    if (info.where == onefold::backend::openmp) return info.built;
  return false;
}

TEST(kokkos, is_started_on_the_first_call_and_ended_at_exit) { expect_fine("kokkos_started_by_onefold"); }
// Kokkos itself warns about threads that are not bound when the application starts it.
const variables no_warning_of_kokkos{{"OMP_PROC_BIND", "false"}};

TEST(kokkos, is_the_applications_when_the_application_started_it) {
  expect_fine("kokkos_started_by_the_application", no_warning_of_kokkos);
}
TEST(kokkos, may_be_ended_by_the_application_though_onefold_started_it) { expect_fine("kokkos_finalised_under_onefold"); }
TEST(kokkos, that_was_ended_before_the_first_call_does_not_abort) {
  expect_fine("kokkos_finalised_before_the_first_call", no_warning_of_kokkos);
}

TEST(a_parallel_region, of_the_application_may_hold_calls) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  expect_fine("nested_in_a_parallel_region");
  expect_fine("nested_in_a_parallel_region", {{"OMP_NUM_THREADS", "1"}});
  expect_fine("nested_in_a_parallel_region", {{"OMP_MAX_ACTIVE_LEVELS", "4"}});
}

TEST(a_host_thread, other_than_the_main_one_is_served_or_told_why_not) { expect_fine("called_from_another_host_thread"); }
TEST(a_host_thread, other_than_the_main_one_may_make_the_first_call) { expect_fine("first_called_from_another_host_thread"); }
TEST(a_host_thread, other_than_the_main_one_is_always_served_by_best) { expect_fine("best_on_another_host_thread"); }
TEST(host_threads, may_make_the_first_call_all_at_once) { expect_fine("many_first_calls_at_once"); }

TEST(the_number_of_threads, is_the_environments) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  for (const char* threads : {"1", "2", "3", "7"}) expect_fine("thread_count_from_the_environment", {{"OMP_NUM_THREADS", threads}});
}

TEST(the_number_of_threads, may_be_less_than_that_of_the_pool) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  for (const char* threads : {"2", "7"}) expect_fine("fewer_threads_than_the_pool", {{"OMP_NUM_THREADS", threads}});
}

TEST(a_tool_of_kokkos, sees_the_work_of_threads) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  expect_fine("a_tool_of_kokkos_sees_the_work", {{"OMP_NUM_THREADS", "4"}, {"KOKKOS_DISABLE_WARNINGS", "true"}});
}

TEST(the_rounding_mode, of_the_caller_is_left_alone) {
  expect_fine("rounding_mode_left_alone");
  expect_fine("rounding_mode_left_alone_by_the_first_call");
}
TEST(the_rounding_mode, of_the_caller_changes_no_bits) { expect_fine("rounding_mode_does_not_matter"); }
TEST(flush_to_zero, of_the_caller_is_left_alone) { expect_fine("flush_to_zero_left_alone"); }
TEST(flush_to_zero, of_the_caller_changes_no_bits) { expect_fine("flush_to_zero_does_not_matter"); }

TEST(a_forked_process, can_exit) {
  if (is_thread_sanitized()) GTEST_SKIP() << "ThreadSanitizer's part of libomp crashes when a forked process ends";
  for (const char* threads : {"1", "4"}) expect_fine("a_forked_process_exits", {{"OMP_NUM_THREADS", threads}});
}
TEST(a_forked_process, works_on_one_thread) {
  if (is_thread_sanitized()) GTEST_SKIP() << "ThreadSanitizer's part of libomp crashes when a forked process ends";
  expect_fine("a_forked_process_computes", {{"OMP_NUM_THREADS", "4"}});
}
TEST(a_forked_process, finds_no_lock_that_the_parent_held) {
  if (is_thread_sanitized()) GTEST_SKIP() << "ThreadSanitizer's part of libomp crashes when a forked process ends";
  expect_fine("forked_while_another_thread_computes", {{"OMP_NUM_THREADS", "4"}});
}

TEST(exit, may_be_called_inside_a_parallel_region) {
  expect_fine("exit_by_the_first_thread_of_a_region", {{"OMP_NUM_THREADS", "4"}});
  expect_fine("exit_by_the_second_thread_of_a_region", {{"OMP_NUM_THREADS", "4"}});
}
TEST(exit, may_be_called_while_other_threads_compute) {
#ifdef __clang__
  GTEST_SKIP() << "libomp takes itself down at exit, and aborts where another thread is inside of it";
#endif
  expect_fine("exit_while_other_threads_compute", {{"OMP_NUM_THREADS", "4"}});
}

TEST(the_first_call, may_be_inside_a_parallel_region) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  for (const char* threads : {"1", "4"}) expect_fine("the_first_call_is_inside_a_parallel_region", {{"OMP_NUM_THREADS", threads}});
}

TEST(kokkos, is_not_started_with_variables_that_it_would_abort_for) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  for (const auto& [variable, value] : variables{{"KOKKOS_NUM_THREADS", "0"},
                                                 {"KOKKOS_NUM_THREADS", "-1"},
                                                 {"KOKKOS_NUM_THREADS", "many"},
                                                 {"KOKKOS_NUM_THREADS", "2x"},
                                                 {"KOKKOS_NUM_THREADS", "99999999999999999999"},
                                                 {"KOKKOS_NUM_THREADS", ""},
                                                 {"KOKKOS_DEVICE_ID", "-1"},
                                                 {"KOKKOS_DEVICE_ID", "first"},
                                                 {"KOKKOS_DISABLE_WARNINGS", "perhaps"},
                                                 {"KOKKOS_PRINT_CONFIGURATION", "perhaps"},
                                                 {"KOKKOS_TUNE_INTERNALS", "perhaps"},
                                                 {"KOKKOS_MAP_DEVICE_ID_BY", "size"}}) {
    SCOPED_TRACE(variable + "=" + value);
    expect_fine("kokkos_dislikes_the_environment", {{variable, value}, {"ONEFOLD_TEST_VARIABLE", variable}});
  }
  expect_fine("kokkos_dislikes_the_environment", {{"KOKKOS_TOOLS_LIBS", "/nowhere/a.so"},
                                                  {"KOKKOS_PROFILE_LIBRARY", "/nowhere/b.so"},
                                                  {"ONEFOLD_TEST_VARIABLE", "KOKKOS_PROFILE_LIBRARY"}});
}
TEST(kokkos, is_started_with_the_settings_of_the_environment) {
  expect_fine("kokkos_likes_the_environment", {{"KOKKOS_NUM_THREADS", "2"}});
  expect_fine("kokkos_likes_the_environment", {{"KOKKOS_DISABLE_WARNINGS", "Yes"}, {"KOKKOS_PRINT_CONFIGURATION", "true"}});
}

TEST(host_threads, that_call_in_turn_all_have_all_threads) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  expect_fine("host_threads_call_in_turn", {{"OMP_NUM_THREADS", "4"}});
}
TEST(host_threads, share_one_team) { expect_fine("host_threads_share_one_team", {{"OMP_NUM_THREADS", "8"}}); }

TEST(more_threads, than_openmp_has_are_onefolds_own) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  expect_fine("more_threads_than_openmps", {{"OMP_NUM_THREADS", "2"}});
}

TEST(a_system_that_refuses_threads, is_an_error_and_not_the_end) {
  if (!has_openmp()) GTEST_SKIP() << "built without the openmp backend";
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer takes the address space that the test limits";
  expect_fine("the_system_refuses_threads", {{"OMP_NUM_THREADS", "64"}});
}

TEST(one_core, for_all_threads_is_no_disaster) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer's times say nothing";
  expect_fine("one_core_for_all_threads", {{"OMP_NUM_THREADS", "2"}});
}

TEST(memory, that_comes_when_it_is_read_is_read_by_all_threads) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer has handlers of its own";
  expect_fine("memory_comes_when_it_is_read", {{"OMP_NUM_THREADS", "2"}});
}
TEST(a_thread, that_is_cancelled_ends_behind_its_call) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers' runtimes do not like threads that are cancelled";
  for (const char* threads : {"1", "3"}) expect_fine("a_thread_is_cancelled", {{"OMP_NUM_THREADS", threads}});
}
TEST(a_thread, needs_no_large_stack) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer needs a larger one";
  expect_fine("a_thread_has_a_small_stack");
}
TEST(an_instruction_set, that_is_unknown_or_not_here_is_refused_and_never_replaced) {
  expect_fine("an_unknown_instruction_set", {{"ONEFOLD_INSTRUCTION_SET", "avx9"}});
  for (const char* name : {"baseline", "avx2", "avx512", "portable"})
    expect_fine("an_instruction_set_by_name", {{"ONEFOLD_INSTRUCTION_SET", name}});
  expect_fine("no_instruction_set_by_name", {{"ONEFOLD_INSTRUCTION_SET", ""}});
}

TEST(a_machine_without_a_gpu, is_told_so_and_keeps_its_cpus) { expect_fine("without_a_gpu", {{"CUDA_VISIBLE_DEVICES", ""}}); }

TEST(a_driver, that_is_loaded_late_is_found) { expect_fine("a_driver_that_is_loaded_late"); }

TEST(the_library, prints_nothing) {
  expect_fine("silent");
  expect_fine("silent", {{"CUDA_VISIBLE_DEVICES", ""}});
  expect_fine("silent", {{"OMP_NUM_THREADS", "7"}});  // more than there are processors: Kokkos would say so
}

}  // namespace
}  // namespace onefold_test
