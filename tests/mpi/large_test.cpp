/// @file large_test.cpp  More elements over ranks than 32 bits count: none is lost, and their places are told.

#include "../support/repeated_array.hpp"
#include "../support/zero_pages.hpp"
#include "ranks.hpp"

namespace onefold_test {
namespace {

constexpr uint64_t two_32 = uint64_t{1} << 32;

class beyond_32_bits : public testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "a sanitizer looks at each of 2^32 elements";
    if (ranks() != 2) GTEST_SKIP() << "2^32 elements are asked for on two ranks alone";
  }
  // Whether all ranks have what they need.
  static bool is_on_all(bool is_here) {
    int mine = is_here ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
  }
  const onefold::options exactly_ = [] {
    onefold::options how;
    how.guarantee = onefold::guarantee::exact;
    return how;
  }();
};

// The second rank's range begins there, within a tile.
TEST_F(beyond_32_bits, places_are_told) {
  const uint64_t count = rank() == 0 ? two_32 + 777 : 9'000;
  const zero_pages memory(count);
  if (!is_on_all(memory.is_there())) GTEST_SKIP() << "there is no address space for an array of 4 GiB";
  const layout rows(MPI_COMM_WORLD, count);
  const auto here = rows.on(onefold::serial());
  EXPECT_EQ(rows.total(), two_32 + 9'777);
  EXPECT_EQ(rows.begin(), rank() == 0 ? 0 : two_32 + 777);
  auto* const x = memory.as<std::int8_t>();
  if (rank() == 0) x[two_32 + 5] = -3;
  if (rank() == 1) x[8'000] = 4;
  const auto both = onefold::argminmax(here, x, count);
  expect_same(both.min.index, two_32 + 5, "the least one's place, on the first rank");
  expect_same(both.max.index, two_32 + 8'777, "the greatest one's place, on the second");
  expect_same(both.min.value, std::int8_t{-3}, "the least one");
  expect_same(both.max.value, std::int8_t{4}, "the greatest one");
  EXPECT_EQ(rows.rank_of(both.min.index), 0);
  EXPECT_EQ(rows.rank_of(both.max.index), 1);
  EXPECT_EQ(rows.holds(both.max.index), rank() == 1);
  if (rank() == 1) x[8'000] = 0;
  // Of elements that are all the same the first one, of the first rank; behind the one above on the second.
  const auto most = onefold::mpi::start(onefold::argmin_magnitude, here, x, count).wait();
  expect_same(most.index, uint64_t{0}, "the first of all");
}

TEST_F(beyond_32_bits, counts_are_told) {
  const uint64_t count = two_32 / 2 + (rank() == 0 ? 777 : 4'000);
  const std::vector<std::int8_t> piece(repeated_array::bytes_of_piece, 1);
  const repeated_array ones(piece.data(), count / piece.size() + 1);
  if (!is_on_all(ones.is_there())) GTEST_SKIP() << "there is no address space for an array of 2 GiB";
  const layout rows(MPI_COMM_WORLD, count);
  const auto here = rows.on(onefold::serial());
  uint64_t counted = 0, exactly_counted = 0;
  double mean = 0;
  onefold::mpi::batch work(here);
  work.add<form::count>(ones.as<std::int8_t>(), count, &counted).run();
  work = onefold::mpi::batch(here);
  work.add<form::count>(ones.as<std::int8_t>(), count, &exactly_counted)
      .add(onefold::mean, ones.as<std::int8_t>(), count, &mean)
      .run(exactly_);
  expect_same(counted, two_32 + 4'777, "elements");
  expect_same(exactly_counted, two_32 + 4'777, "elements, with the exact guarantee");
  expect_same(mean, 1.0, "mean");
}

}  // namespace
}  // namespace onefold_test
