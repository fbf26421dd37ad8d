/// @file exact_pieces_test.cpp  Exact sums of doubles and of products as the GPU's kernel without doubles makes them (backends/cuda/exact/pieces.cuh), on blocks of
/// host threads that run one after the other: limbs and flags are those of the states that serial() makes.

#include "warp_on_host.hpp"

#include "exact_on_host.hpp"

#include "../../backends/cuda/exact/pieces.cuh"

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
using sums_on_device::element_terms;
using sums_on_device::product_terms;

constexpr int threads = 64;

template <class Terms>
sum_of_blocks on_blocks(const typename Terms::type* x, const typename Terms::type* y, std::uint64_t count, exact_part part,
                        bool absolute, unsigned blocks) {
  using column_of_thread = sums_on_device::piece_column<Terms, threads>;
  const cb::exact_launch how = launch_over(x, y, count, part, absolute);
  sum_of_blocks found;
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<long long> bins(column_of_thread::bins * threads, 7);  // what was there before
    on_a_block(threads / 32, [&] {
      column_of_thread column{bins.data() + threadIdx.x, 7};
      column.clear();
      __syncthreads();
      sums_on_device::add_pieces(how, block, blocks, column);
      __syncwarp();
      column.flush(found.limbs.data());
      found.flags |= column.flags;
    });
  }
  return found;
}

template <class T>
class exact_pieces : public ::testing::Test {
 protected:
  using products = product_terms<T, false>;
  using squares = product_terms<T, true>;

  static std::vector<T> contents(value_kind kind, std::size_t count, std::uint64_t seed) {
    return contents_of<T>(kind, count, seed);
  }
  void expect_right(const std::vector<T>& x, const std::vector<T>& y, std::size_t at_x, std::size_t at_y, std::uint64_t count,
                    unsigned blocks, const std::string& what) {
    const T *const a = x.data() + at_x, *const b = y.data() + at_y;
    const auto said = [&](const char* form) {
      return what + ", " + form + " of " + std::to_string(count) + " from " + std::to_string(at_x) + " and " +
             std::to_string(at_y) + " on";
    };
    if constexpr (sizeof(T) == 8) {
      using elements = element_terms<T>;
      ASSERT_EQ(difference<form::sum>(on_blocks<elements>(a, nullptr, count, exact_part::all, false, blocks), a, a, count), "")
          << said("sum");
      ASSERT_EQ(difference<form::norm1>(on_blocks<elements>(a, nullptr, count, exact_part::all, true, blocks), a, a, count), "")
          << said("norm1");
    }
    ASSERT_EQ(difference<form::sum_of_squares>(on_blocks<squares>(a, nullptr, count, exact_part::all, false, blocks), a, a, count),
              "")
        << said("squares");
    ASSERT_EQ(difference<form::dot>(on_blocks<products>(a, b, count, exact_part::all, false, blocks), a, b, count), "")
        << said("dot");
  }
  // Of complex numbers: the parts of a sum, and the imaginary part of a dot.
  void expect_right_parts(const std::vector<T>& x, const std::vector<T>& y, std::size_t at_x, std::size_t at_y, std::uint64_t count,
                          const std::string& what) {
    const T *const a = x.data() + at_x, *const b = y.data() + at_y;
    if constexpr (sizeof(T) == 8)
      for (const exact_part part : {exact_part::even, exact_part::odd}) {
        std::vector<T> own;
        for (std::uint64_t i = part == exact_part::odd ? 1 : 0; i < count; i += 2) own.push_back(a[i]);
        ASSERT_EQ(difference<form::sum>(on_blocks<element_terms<T>>(a, nullptr, count, part, false, 1), own.data(), own.data(),
                                        own.size()),
                  "")
            << what << ", part " << static_cast<int>(part);
      }
    std::vector<T> turned(count);
    for (std::uint64_t i = 0; i < count; ++i) turned[i] = i % 2 == 0 ? b[i + 1] : T(-b[i - 1]);
    ASSERT_EQ(difference<form::dot>(on_blocks<product_terms<T, false, true>>(a, b, count, exact_part::all, false, 1), a,
                                    turned.data(), count),
              "")
        << what << ", turned";
  }
};
using types = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(exact_pieces, types);

TYPED_TEST(exact_pieces, have_the_states_that_one_core_makes) {
  for (const value_kind kind : value_kinds) {
    const std::string what = "kind " + std::to_string(static_cast<int>(kind));
    const auto x = this->contents(kind, 6'100, static_cast<std::uint64_t>(kind));
    const auto y =
        this->contents(kind == value_kind::normal ? value_kind::within_60 : kind, 6'100, static_cast<std::uint64_t>(kind) + 100);
    const auto z = this->contents(value_kind::any_bits, 6'100, static_cast<std::uint64_t>(kind) + 200);
    for (const std::uint64_t count : {1U, 31U, 300U}) ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, 0, 0, count, 1, what));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, 1, 1, 6'000, 2, what));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, z, 3, 0, 6'000, 1, what));
  }
}

TYPED_TEST(exact_pieces, are_parts_of_complex_numbers) {
  if constexpr (sizeof(TypeParam) >= 4)
    for (const value_kind kind : value_kinds) {
      const std::string what = "kind " + std::to_string(static_cast<int>(kind));
      const auto x = this->contents(kind, 2'100, static_cast<std::uint64_t>(kind));
      const auto y = this->contents(kind, 2'100, static_cast<std::uint64_t>(kind) + 100);
      ASSERT_NO_FATAL_FAILURE(this->expect_right_parts(x, y, 0, 0, 2'000, what));
      ASSERT_NO_FATAL_FAILURE(this->expect_right_parts(x, y, 1, 0, 2'000, what));
      ASSERT_NO_FATAL_FAILURE(this->expect_right_parts(x, y, 2, 1, 2'000, what));
    }
}

// Every exponent, with digits that are all ones, and one alone.
TYPED_TEST(exact_pieces, take_every_exponent) {
  using limits = std::numeric_limits<std::conditional_t<sizeof(TypeParam) == 8, double, float>>;
  if constexpr (sizeof(TypeParam) >= 4) {
    std::vector<TypeParam> x;
    for (int e = limits::min_exponent - limits::digits; e < limits::max_exponent; ++e)
      for (const double digits : {1.0, 2 - 1.5 * static_cast<double>(limits::epsilon())}) {
        x.push_back(static_cast<TypeParam>(std::ldexp(digits, e)));
        x.push_back(static_cast<TypeParam>(-std::ldexp(digits, e) / 3));
      }
    const std::vector<TypeParam> y(x.rbegin(), x.rend());
    for (std::size_t i = 0; i < x.size(); i += sizeof(TypeParam) == 8 ? 47 : 5)
      ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, i, i, 1, 1, "element " + std::to_string(i)));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, 0, 0, x.size(), 1, "all"));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, x, 0, 0, x.size(), 1, "all, and themselves"));
  }
}

}  // namespace
}  // namespace onefold_test
