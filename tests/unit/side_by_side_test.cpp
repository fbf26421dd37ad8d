/// @file side_by_side_test.cpp  Calls at the same time (src/side_by_side.hpp): those that wait have threads, the others the calling one.

#include "../../src/side_by_side.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace onefold_test {
namespace {

using onefold::detail::side_by_side;

std::vector<std::thread::id> threads_of(const std::vector<bool>& waits) {
  std::vector<std::thread::id> found(waits.size());
  side_by_side(
      waits.size(), [&](std::size_t i) { return waits[i]; }, [&](std::size_t i) { found[i] = std::this_thread::get_id(); });
  return found;
}

TEST(side_by_side_calls, that_wait_run_beside_those_that_do_not) {
  // Each of both that wait, and the first that does not, returns when the others have come.
  std::barrier<> meeting(3);
  std::vector<std::size_t> order;
  side_by_side(
      5, [](std::size_t i) { return i == 1 || i == 4; },
      [&](std::size_t i) {
        if (i != 2 && i != 3) meeting.arrive_and_wait();
        if (i != 1 && i != 4) order.push_back(i);
      });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 2, 3}));
}

TEST(side_by_side_calls, are_made_by_the_calling_thread_where_they_do_not_wait) {
  const auto here = std::this_thread::get_id();
  EXPECT_TRUE(threads_of({}).empty());
  EXPECT_EQ(threads_of({false, false}), (std::vector{here, here}));
  EXPECT_EQ(threads_of({true}), (std::vector{here}));
  const auto all = threads_of({true, true, true});
  EXPECT_EQ(all[0], here);
  EXPECT_NE(all[1], here);
  EXPECT_NE(all[2], here);
  const auto mixed = threads_of({true, false, true});
  EXPECT_NE(mixed[0], here);
  EXPECT_EQ(mixed[1], here);
  EXPECT_NE(mixed[2], here);
}

TEST(side_by_side_calls, that_throw_let_the_others_end_and_the_first_is_told) {
  std::atomic<int> ended = 0;
  try {
    side_by_side(
        4, [](std::size_t i) { return i % 2 == 0; },
        [&](std::size_t i) {
          ++ended;
          if (i > 0) throw std::runtime_error(std::to_string(i));
        });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& problem) {
    EXPECT_STREQ(problem.what(), "1");
  }
  EXPECT_EQ(ended, 4);
}

}  // namespace
}  // namespace onefold_test
