/// @file exact_floats_test.cpp  Exact sums of floats as the GPU's kernel without doubles makes them (backends/cuda/exact/floats.cuh), on blocks of host threads that
/// run one after the other: limbs and flags are those of the states that serial() makes.

#include "warp_on_host.hpp"

#include "exact_on_host.hpp"

#include "../../backends/cuda/exact/floats.cuh"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <onefold/onefold.hpp>

#include "../exact/value_contents.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "exact_sums_of_blocks.hpp"

namespace onefold_test {
namespace {

namespace sums_on_device = onefold::cuda_backend::exact_sums;
using cb::exact_part;
using onefold::bfloat16;
using onefold::float16;
using onefold::form;

// As few warps as have a thread for each of the bins' numbers.
constexpr int threads = 160;
constexpr int column_words = sums_on_device::float_bins * threads;

// What the kernel does, but for what it has in common with the one whose bins are doubles: a launch's end.
template <class T>
sum_of_blocks on_blocks(const T* x, std::uint64_t count, exact_part part, bool absolute, unsigned blocks) {
  const cb::exact_launch how = launch_over(x, nullptr, count, part, absolute);
  sum_of_blocks found;
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<long long> bins(column_words, 7);  // what was there before
    const std::vector<int> bases(threads / 32);
    on_a_block(threads / 32, [&] {
      sums_on_device::integer_column<threads> column{bins.data() + threadIdx.x, 7};
      column.clear();
      __syncthreads();
      sums_on_device::add_floats<T>(how, block, blocks, column);
      __syncwarp();
      sums_on_device::sum_bins_of_warp<sums_on_device::float_bins, threads>(column.bin, 0, sums_on_device::float_quantum);
      __syncthreads();
      sums_on_device::add_bins_of_block<sums_on_device::float_bins, threads>(
          bins.data(), bases.data(), sums_on_device::float_quantum, -149, found.limbs.data());
      found.flags |= column.flags;
    });
  }
  return found;
}

template <class T>
class exact_floats : public ::testing::Test {
 protected:
  void expect_right(const std::vector<T>& x, std::size_t offset, std::uint64_t count, unsigned blocks, const std::string& what) {
    const T* const first = x.data() + offset;
    ASSERT_EQ((difference<form::sum>(on_blocks(first, count, exact_part::all, false, blocks), first, first, count)), "")
        << what << ", sum of " << count << " from " << offset << " on";
    ASSERT_EQ((difference<form::norm1>(on_blocks(first, count, exact_part::all, true, blocks), first, first, count)), "")
        << what << ", norm1 of " << count << " from " << offset << " on";
  }
  void expect_right_parts(const std::vector<T>& x, std::size_t offset, std::uint64_t count, unsigned blocks,
                          const std::string& what) {
    for (const exact_part part : {exact_part::even, exact_part::odd}) {
      std::vector<T> own;
      for (std::uint64_t i = part == exact_part::odd ? 1 : 0; i < count; i += 2) own.push_back(x[offset + i]);
      ASSERT_EQ(
          (difference<form::sum>(on_blocks(x.data() + offset, count, part, false, blocks), own.data(), own.data(), own.size())), "")
          << what << ", part " << static_cast<int>(part) << " of " << count << " from " << offset << " on";
    }
  }
};
using types = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(exact_floats, types);

TYPED_TEST(exact_floats, have_the_states_that_one_core_makes) {
  for (const value_kind kind : value_kinds) {
    const std::string what = "kind " + std::to_string(static_cast<int>(kind));
    const auto x = contents_of<TypeParam>(kind, 20'000, static_cast<std::uint64_t>(kind));
    for (const std::uint64_t count : {1U, 31U, 257U, 2'600U}) ASSERT_NO_FATAL_FAILURE(this->expect_right(x, 0, count, 1, what));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, 1, 19'997, 1, what));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, 3, 19'990, 2, what));
  }
}

TYPED_TEST(exact_floats, are_parts_of_complex_numbers) {
  if constexpr (sizeof(TypeParam) == 4)
    for (const value_kind kind : value_kinds) {
      const std::string what = "kind " + std::to_string(static_cast<int>(kind));
      const auto x = contents_of<TypeParam>(kind, 12'000, static_cast<std::uint64_t>(kind) + 50);
      ASSERT_NO_FATAL_FAILURE(this->expect_right_parts(x, 0, 11'998, 1, what));
      ASSERT_NO_FATAL_FAILURE(this->expect_right_parts(x, 1, 11'998, 2, what));
    }
}

TYPED_TEST(exact_floats, see_what_is_no_number_among_others_that_are_close) {
  for (const float other :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
    for (const std::size_t at : {0, 1, 6, 777, 1'999}) {
      auto x = contents_of<TypeParam>(value_kind::normal, 2'000, at);
      x[at] = TypeParam(other);
      ASSERT_NO_FATAL_FAILURE(this->expect_right(x, 0, x.size(), 1, std::to_string(other) + " at " + std::to_string(at)));
      x[x.size() - 1 - at] = TypeParam(-other);
      ASSERT_NO_FATAL_FAILURE(
          this->expect_right(x, 0, x.size(), 1, "both of " + std::to_string(other) + " at " + std::to_string(at)));
    }
}

// Each exponent with one that lies just as far below it as two sums take, and a little less and more: with digits that are all ones, of one sign, so
// that no sum of as many is greater, and rests are as great as they get.
TYPED_TEST(exact_floats, are_exact_at_the_ends_of_what_two_sums_take) {
  constexpr int smallest = std::is_same_v<TypeParam, float16> ? -24 : std::is_same_v<TypeParam, bfloat16> ? -133 : -149;
  constexpr int greatest = std::is_same_v<TypeParam, float16> ? 15 : 127;
  using two = sums_on_device::float_sums_of_two<32 / static_cast<int>(sizeof(TypeParam)), onefold::detail::digits_of<TypeParam>>;
  constexpr int digits = onefold::detail::digits_of<TypeParam>;
  const float ones = 2 - std::ldexp(1.0F, 1 - digits);
  std::size_t tried = 0;
  for (int exponent = smallest; exponent <= greatest; ++exponent) {
    if (is_sanitized && exponent % 5 != 0) continue;
    if (exponent % 5 != 0 && exponent > smallest + 40 && exponent < greatest - 12) continue;  // all where bins and numbers end
    for (const int below : {two::most_spread - 1, two::most_spread, two::most_spread + 1}) {
      if (exponent - below < smallest) continue;
      for (const float sign : {1.0F, -1.0F}) {
        std::vector<TypeParam> x(600);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const float value = std::ldexp(ones, i % 7 == 0 ? exponent - below : exponent);
          x[i] = TypeParam(std::isfinite(static_cast<float>(TypeParam(value))) ? sign * value : sign);
        }
        ASSERT_NO_FATAL_FAILURE(this->expect_right(
            x, 0, x.size(), 1, "exponent " + std::to_string(exponent) + ", others by " + std::to_string(below) + " below"));
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 0U);
}

}  // namespace
}  // namespace onefold_test
