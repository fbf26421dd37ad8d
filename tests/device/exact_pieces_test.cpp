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
      column_of_thread column{bins.data() + threadIdx.x, 7, 7};
      column.clear();
      __syncthreads();
      sums_on_device::add_pieces(how, block, blocks, column);
      __syncwarp();
      column.flush(found.limbs.data());
      found.flags |= column.marks();
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
    // With a sanitizer each kind of contents has one of the two, which are more than a window each.
    if (!is_sanitized || static_cast<int>(kind) % 2 == 0) {
      ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, 1, 1, 6'000, 2, what));
    }
    if (!is_sanitized || static_cast<int>(kind) % 2 == 1) {
      ASSERT_NO_FATAL_FAILURE(this->expect_right(x, z, 3, 0, 6'000, 1, what));
    }
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
    for (std::size_t i = 0; i < x.size(); i += (is_sanitized ? 6 : 1) * (sizeof(TypeParam) == 8 ? 47 : 5))
      ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, i, i, 1, 1, "element " + std::to_string(i)));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, y, 0, 0, x.size(), 1, "all"));
    ASSERT_NO_FATAL_FAILURE(this->expect_right(x, x, 0, 0, x.size(), 1, "all, and themselves"));
  }
}

// What a window leaves over (decision 0061): warps stopped anywhere, and a few take the shares of all, and what blocks asked for (0087).
template <class Terms, form What>
void expect_right_left_over(value_kind kind, std::size_t at, bool are_fixed) {
  constexpr int warps_left = 3;
  constexpr unsigned block_warps = 12, blocks = 2, step = blocks * block_warps;
  using column_of_thread = sums_on_device::piece_column<Terms, warps_left * 32>;
  using reader = sums_on_device::piece_reader<Terms>;
  const auto x = contents_of<double>(kind, 40'000, static_cast<std::uint64_t>(kind));
  const auto y = contents_of<double>(value_kind::within_60, 40'000, 7);
  const std::uint64_t count = x.size() - at;
  const cb::exact_launch how = launch_over(x.data() + at, y.data() + at, count, exact_part::all, false);
  const auto given = reader(how).given;
  const auto units = static_cast<unsigned>(given.units);
  ASSERT_GT(units, 3 * step);
  const unsigned fixed = are_fixed ? units : 2 * step;
  unsigned asked = fixed;
  const auto ask = [&] { return are_fixed ? units : asked++; };
  random_numbers random(current_seed());
  sum_of_blocks found;
  std::vector<double> own_x, own_y;  // of the units that are left
  const auto expect = [&](unsigned unit) {
    for (std::uint64_t i = 0; i < given.of_unit; ++i) {
      own_x.push_back(x[at + given.head + unit * given.of_unit + i]);
      own_y.push_back(y[at + given.head + unit * given.of_unit + i]);
    }
  };
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<sums_on_device::stopping_point> stopped;
    for (unsigned w = 0; w < block_warps; ++w) {
      unsigned unit = block * block_warps + w + step * static_cast<unsigned>(random.below(fixed / step + 2));
      if (unit >= fixed) unit = ask();
      unsigned behind = unit + step;
      if (behind >= fixed) behind = ask();
      stopped.push_back({unit, behind});
      for (unsigned u = unit; u < fixed; u += step) expect(u);
      for (const unsigned u : {unit, behind})
        if (u >= fixed && u < units) expect(u);
    }
    std::vector<long long> bins(column_of_thread::bins * warps_left * 32, 7);
    // The block's threads take turns, and those of a warp ask for one unit together.
    const unsigned before = asked;
    std::vector<unsigned> turns(warps_left * 32);
    const auto ask_together = [&] {
      const unsigned turn = turns[threadIdx.x]++;
      return are_fixed || block + 1 < blocks ? units : before + turn * warps_left + threadIdx.x / 32;
    };
    if (!are_fixed && block + 1 == blocks)
      for (unsigned u = before; u < units; ++u) expect(u);
    on_a_block(warps_left, [&] {
      found.flags |= sums_on_device::add_left_over<Terms, warps_left>(how, stopped.data(), block_warps, step, fixed, ask_together,
                                                                      bins.data(), found.limbs.data());
    });
  }
  ASSERT_FALSE(own_x.empty());
  ASSERT_LE(own_x.size(), count);
  ASSERT_EQ(difference<What>(found, own_x.data(), own_y.data(), own_x.size()), "")
      << "kind " << static_cast<int>(kind) << " from " << at << " on";
}

TEST(exact_pieces_left_over, have_the_states_that_one_core_makes) {
  for (const value_kind kind : value_kinds)
    for (const bool are_fixed : {true, false}) {
      const std::size_t at = are_fixed ? 0 : 1;
      ASSERT_NO_FATAL_FAILURE((expect_right_left_over<element_terms<double>, form::sum>(kind, at, are_fixed)));
      ASSERT_NO_FATAL_FAILURE((expect_right_left_over<product_terms<double, true>, form::sum_of_squares>(kind, 1 - at, are_fixed)));
      ASSERT_NO_FATAL_FAILURE((expect_right_left_over<product_terms<double, false>, form::dot>(kind, at, are_fixed)));
    }
}

}  // namespace
}  // namespace onefold_test
