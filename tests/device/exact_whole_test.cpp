/// @file exact_whole_test.cpp  Exact sums of integers and of their squares as the GPU's kernel makes them (backends/cuda/exact/whole.cuh), on blocks of host
/// threads that run one after the other: limbs are those of the states that serial() makes.

#include "warp_on_host.hpp"

#include "exact_on_host.hpp"

#include "../../backends/cuda/exact/whole.cuh"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../support/data.hpp"
#include "../support/gtest_support.hpp"
#include "exact_sums_of_blocks.hpp"

namespace onefold_test {
namespace {

namespace sums_on_device = onefold::cuda_backend::exact_sums;
using onefold::form;

constexpr int threads = 64;
constexpr int packs = 4;

template <form What, class T>
sum_of_blocks on_blocks(const T* x, std::uint64_t count, unsigned blocks) {
  using sum_of_thread = sums_on_device::whole_sum<T, What == form::norm2>;
  const cb::exact_launch how = launch_over(x, nullptr, count, cb::exact_part::all, false);
  sum_of_blocks found;
  for (unsigned block = 0; block < blocks; ++block)
    on_a_block(threads / 32, [&] {
      sum_of_thread sum;
      sum.clear();
      sums_on_device::add_whole<sum_of_thread, packs>(how, block, blocks, threads, sum);
      sum.flush(onefold::detail::exact::kind_of(What, onefold::element_type_of<T>).scale[0], found.limbs.data());
    });
  found.flags = onefold::detail::exact::has_other_than_minus_zero;
  return found;
}

// Both sums of one read.
template <class T>
std::array<sum_of_blocks, 2> moments_on_blocks(const T* x, std::uint64_t count, unsigned blocks) {
  using sum_of_thread = sums_on_device::whole_moments<T>;
  const cb::exact_launch how = launch_over(x, nullptr, count, cb::exact_part::all, false);
  std::array<sum_of_blocks, 2> found;
  for (unsigned block = 0; block < blocks; ++block)
    on_a_block(threads / 32, [&] {
      sum_of_thread sum;
      sum.clear();
      sums_on_device::add_whole<sum_of_thread, packs>(how, block, blocks, threads, sum);
      const auto& kind = onefold::detail::exact::kind_of(form::mean_variance, onefold::element_type_of<T>);
      sum.elements.flush(kind.scale[0], found[0].limbs.data());
      sum.squares.flush(kind.scale[1], found[1].limbs.data());
    });
  for (sum_of_blocks& one : found) one.flags = onefold::detail::exact::has_other_than_minus_zero;
  return found;
}

template <class T>
class exact_whole : public ::testing::Test {
 protected:
  static void expect_right(const std::vector<T>& x, std::size_t at, std::uint64_t count, unsigned blocks, const std::string& what) {
    const auto said = what + ", " + std::to_string(count) + " from " + std::to_string(at) + " on";
    ASSERT_EQ(difference<form::mean>(on_blocks<form::mean>(x.data() + at, count, blocks), x.data() + at, x.data() + at, count), "")
        << "mean of " << said;
    ASSERT_EQ(difference<form::norm2>(on_blocks<form::norm2>(x.data() + at, count, blocks), x.data() + at, x.data() + at, count),
              "")
        << "norm2 of " << said;
    const auto [elements, squares] = moments_on_blocks(x.data() + at, count, blocks);
    ASSERT_EQ(difference<form::mean>(elements, x.data() + at, x.data() + at, count), "") << "the first of both moments of " << said;
    ASSERT_EQ(difference<form::norm2>(squares, x.data() + at, x.data() + at, count), "")
        << "the second of both moments of " << said;
  }
  static void expect_right_of_any_size(const std::vector<T>& x, const std::string& what) {
    for (const std::uint64_t count : {1U, 2U, 31U, 300U, 4'097U})
      for (const std::size_t at : {0U, 1U, 3U}) ASSERT_NO_FATAL_FAILURE(expect_right(x, at, count, 1, what));
    ASSERT_NO_FATAL_FAILURE(expect_right(x, 1, x.size() - 1, 3, what));
  }
};
using types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                               std::uint64_t>;
TYPED_TEST_SUITE(exact_whole, types);

TYPED_TEST(exact_whole, sums_have_the_limbs_that_one_core_makes) {
  random_numbers random(current_seed());
  std::vector<TypeParam> x(40'007);
  for (TypeParam& one : x) one = static_cast<TypeParam>(random());
  ASSERT_NO_FATAL_FAILURE(this->expect_right_of_any_size(x, "any bits"));
  for (TypeParam& one : x) one = static_cast<TypeParam>(random() % 7);
  ASSERT_NO_FATAL_FAILURE(this->expect_right_of_any_size(x, "small ones"));
}

// Nothing cancels, and all pieces are as great as they get.
TYPED_TEST(exact_whole, sums_take_the_least_and_the_greatest) {
  using limits = std::numeric_limits<TypeParam>;
  for (const TypeParam value : {limits::min(), limits::max(), static_cast<TypeParam>(limits::max() - 1), static_cast<TypeParam>(-1),
                                static_cast<TypeParam>(1), static_cast<TypeParam>(0)}) {
    const std::vector<TypeParam> x(30'001, value);
    ASSERT_NO_FATAL_FAILURE(this->expect_right_of_any_size(x, "nothing but " + std::to_string(value)));
  }
}

// As many as a thread may have, of digits that are all ones: what a warp adds up then is less than 2^57.
TYPED_TEST(exact_whole, sums_of_a_thread_fit_those_of_a_warp) {
  using squares = sums_on_device::whole_sum<TypeParam, true>;
  using elements = sums_on_device::whole_sum<TypeParam, false>;
  const auto greatest = static_cast<double>(squares::most_of_thread) * 3 * 0xffffffffU;
  EXPECT_LT(greatest * 32, 0x1p57);
  squares one_square{};
  elements one_element{};
  one_square.add(std::numeric_limits<TypeParam>::max());
  one_element.add(std::numeric_limits<TypeParam>::max());
  for (const long long piece : one_square.piece)
    EXPECT_LE(static_cast<double>(piece) * static_cast<double>(squares::most_of_thread), greatest);
  for (const long long piece : one_element.piece)
    EXPECT_LE(static_cast<double>(piece) * static_cast<double>(elements::most_of_thread), greatest);
}

}  // namespace
}  // namespace onefold_test
