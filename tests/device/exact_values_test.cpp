/// @file exact_values_test.cpp  Exact sums of functions as the GPU's kernel makes them (onefold/device/exact_values.cuh), on blocks of host threads that
/// run one after the other: the limbs have the results that serial() gives.

#include "warp_on_host.hpp"

#include "exact_on_host.hpp"

#include <onefold/device/exact_values.cuh>
#include <onefold/onefold.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "../../backends/exact/state.hpp"
#include "../exact/value_contents.hpp"
#include "../support/data.hpp"
#include "../support/gtest_support.hpp"

namespace onefold_test {
namespace {

namespace dt = onefold::detail;
namespace sums_on_device = onefold::device::exact_sums;
using onefold::form;
using onefold::maybe;

constexpr onefold::options exactly_so() {
  onefold::options how;
  how.guarantee = onefold::guarantee::exact;
  return how;
}

// What the kernel asks of a fold.
template <class F>
struct function_fold {
  static constexpr int inputs = 0;
  F from;
};

// Blocks of few warps: so each of them has many turns, of a few thousand values too.
template <form What, class T, int Results>
using any_sum = std::conditional_t<std::is_integral_v<T>, sums_on_device::whole_values_sum<What, T, Results>,
                                   sums_on_device::values_sum<What, T, Results>>;
template <form What, class T, int Results>
struct small_sum : any_sum<What, T, Results> {
  static constexpr int warps = 2;
  static constexpr int threads = warps * onefold::device::warp_size;
};

// The kernel's own work: the sums of all blocks are added to `limbs`.
template <class Sum, int Which, class F>
void add_on_blocks(const F& f, std::uint64_t first, std::uint64_t count, unsigned blocks, dt::exact_limbs* limbs) {
  const function_fold<F> fold{f};
  const dt::exact_values how{{}, first, count};
  for (unsigned block = 0; block < blocks; ++block) {
    std::vector<double> bins(1 + Sum::warps * Sum::bytes_of_warp / sizeof(double), 7.0);  // what was there before
    const auto sums = std::make_unique<sums_on_device::values_sums<Sum>>();
    on_a_block(Sum::warps, [&] {
      sums_on_device::clear(*sums);
      __syncthreads();
      sums_on_device::add_values_of_block<Sum>(fold, how, block, blocks, bins.data(), *sums);
      __syncthreads();
      sums_on_device::hand_over<Sum, Which>(*sums, limbs);
    });
  }
}

// One of the two integers of limbs as those of a state, from a word on. Returns the word behind it.
std::size_t carry_to(std::uint64_t* state, std::size_t word, const long long* limb, int number) {
  std::int64_t carried = 0;
  for (int i = 0; i < number; ++i) {
    const std::int64_t now = limb[i] + carried;
    carried = now >> 32;
    state[word + static_cast<std::size_t>(i / 2)] |= i + 1 < number || i % 2 != 0
                                                         ? (static_cast<std::uint64_t>(now) & 0xffffffffU) << (32 * (i % 2))
                                                         : static_cast<std::uint64_t>(now);
  }
  for (int i = number; i < dt::exact_limbs::most; ++i) EXPECT_EQ(limb[i], 0) << "nothing is added beyond";
  return word + static_cast<std::size_t>(number + 1) / 2;
}

// What the library makes of the limbs of a result.
template <form What, class T, class R>
void conclude(const dt::exact_limbs& of, std::uint64_t count, R* result) {
  const dt::exact::kind_row& kind = dt::exact::kind_of(What, onefold::element_type_of<T>);
  std::uint64_t state[1 + 2 * dt::exact::most_integer_words] = {};
  state[0] = of.flags & dt::exact::has_term ? of.flags & ~dt::exact::has_term : of.flags | dt::exact::has_other_than_minus_zero;
  const std::size_t second = carry_to(state, 1, of.limb[0], kind.limbs[0]);
  if (kind.limbs[1] != 0) carry_to(state, second, of.limb[1], kind.limbs[1]);
  dt::exact::conclude(onefold::element_type_of<T>, What, false, state, count, 0, result);
}

// Means and norms of integers are doubles.
template <class T>
using result_of = std::conditional_t<std::is_integral_v<T>, double, T>;

template <form What, class T, int Results, class F>
std::array<result_of<T>, Results> on_blocks(const F& f, std::uint64_t first, std::uint64_t count, unsigned blocks) {
  std::vector<dt::exact_limbs> limbs(Results);
  add_on_blocks<small_sum<What, T, Results>, 0>(f, first, count, blocks, limbs.data());
  std::array<result_of<T>, Results> results{};
  for (std::size_t k = 0; k < Results; ++k) conclude<What, T>(limbs[k], count, &results[k]);
  return results;
}

template <class T>
std::uint64_t bits_of(T x) {
  if constexpr (sizeof(T) == 8)
    return bits_as<std::uint64_t>(x);
  else
    return bits_as<std::uint32_t>(x);
}

template <form What, class F>
auto on_one_core(std::uint64_t count, const F& f) {
  if constexpr (What == form::sum)
    return onefold::sum(onefold::serial(), count, f, exactly_so());
  else if constexpr (What == form::mean)
    return onefold::mean(onefold::serial(), count, f, exactly_so());
  else if constexpr (What == form::norm1)
    return onefold::norm1(onefold::serial(), count, f, exactly_so());
  else if constexpr (What == form::sum_of_squares)
    return onefold::sum_of_squares(onefold::serial(), count, f, exactly_so());
  else
    return onefold::norm2(onefold::serial(), count, f, exactly_so());
}

template <form What, class T>
void expect_the_sum_of(value_kind kind, std::uint64_t count, unsigned blocks) {
  const std::vector<T> x = values_of_kind<T>(kind, count + 3, count + static_cast<std::uint64_t>(kind));
  const auto at = [&x](std::uint64_t i) { return x[i]; };
  const auto from_there = [&](std::uint64_t i) { return x[i + 3]; };
  EXPECT_EQ(bits_of(on_blocks<What, T, 1>(at, 3, count, blocks)[0]), bits_of(on_one_core<What>(count, from_there)))
      << onefold::name(What) << " of " << count << " " << onefold::name(onefold::element_type_of<T>) << ", kind "
      << static_cast<int>(kind);
}

// Under a sanitizer the threads of a block take ten times as long: there what leads along all ways to memory, and else everything.
std::vector<value_kind> kinds_here() {
#ifdef ONEFOLD_TEST_SANITIZED
  return {value_kind::normal, value_kind::any_bits, value_kind::rising, value_kind::outliers, value_kind::seesaw};
#else
  return {std::begin(value_kinds), std::end(value_kinds)};
#endif
}

template <class T>
class exact_values : public ::testing::Test {};
using types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(exact_values, types);

TYPED_TEST(exact_values, of_a_function_give_what_one_core_gives) {
  for (const value_kind kind : kinds_here())
    for (const std::uint64_t count : {1U, 31U, 512U, 6'003U}) {
      const bool is_few = count < 512;  // which have few ways to go
      if (is_few && kind != value_kind::normal && kind != value_kind::minus_zeros && kind != value_kind::any_bits) continue;
      expect_the_sum_of<form::sum, TypeParam>(kind, count, 2);
      expect_the_sum_of<form::sum_of_squares, TypeParam>(kind, count, 1);
      if (count == 512) {
        expect_the_sum_of<form::norm1, TypeParam>(kind, count, 1);
        expect_the_sum_of<form::norm2, TypeParam>(kind, count, 2);
        expect_the_sum_of<form::mean, TypeParam>(kind, count, 1);
      }
    }
}

template <form What, int Results, class T>
void expect_several(value_kind kind, std::uint64_t count) {
  const std::vector<T> x = values_of_kind<T>(kind, Results * count, 17);
  const auto at = [&x](std::uint64_t i) {
    std::array<T, Results> row;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(Results * i), Results, row.begin());
    return row;
  };
  const auto expected = on_one_core<What>(count, at);
  const auto found = on_blocks<What, T, Results>(at, 0, count, 2);
  for (std::size_t k = 0; k < Results; ++k)
    EXPECT_EQ(bits_of(found[k]), bits_of(expected[k]))
        << onefold::name(What) << ", result " << k << " of " << Results << ", kind " << static_cast<int>(kind);
}

TYPED_TEST(exact_values, with_several_results_give_each_as_it_is_alone) {
  for (const value_kind kind : kinds_here()) {
    if (is_sanitized && kind != value_kind::normal && kind != value_kind::any_bits) continue;
    expect_several<form::sum, 2, TypeParam>(kind, 5'001);
    expect_several<form::sum_of_squares, 3, TypeParam>(kind, 5'001);
    expect_several<form::mean, 5, TypeParam>(kind, 3'301);
    expect_several<form::sum, 16, TypeParam>(kind, 1'301);
    expect_several<form::norm2, 16, TypeParam>(kind, 701);
  }
}

TYPED_TEST(exact_values, that_are_absent_change_nothing) {
  for (const value_kind kind : {value_kind::normal, value_kind::minus_zeros, value_kind::everywhere, value_kind::any_bits})
    for (const std::uint64_t one_of : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1'000'000}}) {
      const std::uint64_t count = 4'003;
      const std::vector<TypeParam> x = values_of_kind<TypeParam>(kind, count, 5);
      const auto at = [&](std::uint64_t i) {
        return i % one_of == one_of - 1 ? maybe<TypeParam>(x[i]) : maybe<TypeParam>(onefold::absent);
      };
      EXPECT_EQ(bits_of(on_blocks<form::sum, TypeParam, 1>(at, 0, count, 1)[0]), bits_of(on_one_core<form::sum>(count, at)));
      EXPECT_EQ(bits_of(on_blocks<form::norm2, TypeParam, 1>(at, 0, count, 1)[0]), bits_of(on_one_core<form::norm2>(count, at)));
    }
}

TYPED_TEST(exact_values, have_the_moments_that_one_core_gives_them) {
  for (const value_kind kind : kinds_here())
    for (const std::uint64_t count : {1U, 3'003U}) {
      const std::vector<TypeParam> x = values_of_kind<TypeParam>(kind, count, 11);
      const auto at = [&x](std::uint64_t i) { return x[i]; };
      dt::exact_limbs limbs{};
      add_on_blocks<small_sum<form::sum, TypeParam, 1>, 0>(at, 0, count, 2, &limbs);
      add_on_blocks<small_sum<form::sum_of_squares, TypeParam, 1>, 1>(at, 0, count, 2, &limbs);
      auto expected = onefold::mean_variance(onefold::serial(), count, at, exactly_so());
      decltype(expected) found{};
      conclude<form::mean_variance, TypeParam>(limbs, count, &found);
      EXPECT_EQ(bits_of(found.mean), bits_of(expected.mean)) << count << " numbers, kind " << static_cast<int>(kind);
      EXPECT_EQ(bits_of(found.variance), bits_of(expected.variance)) << count << " numbers, kind " << static_cast<int>(kind);
    }
}

TYPED_TEST(exact_values, that_are_absent_do_not_count_in_a_mean) {
  for (const value_kind kind : {value_kind::normal, value_kind::everywhere, value_kind::any_bits})
    for (const std::uint64_t one_of : {std::uint64_t{2}, std::uint64_t{1'000'000}}) {
      const std::uint64_t count = 4'003;
      const std::vector<TypeParam> x = values_of_kind<TypeParam>(kind, count, 5);
      const auto at = [&](std::uint64_t i) {
        return i % one_of == one_of - 1 ? maybe<TypeParam>(x[i]) : maybe<TypeParam>(onefold::absent);
      };
      dt::counted_exact_limbs limbs{};
      add_on_blocks<sums_on_device::counted<small_sum<form::mean, TypeParam, 1>>, 0>(at, 0, count, 2, &limbs);
      ASSERT_EQ(limbs.present, count / one_of);
      if (limbs.present == 0) continue;
      TypeParam found{};
      conclude<form::mean, TypeParam>(limbs, limbs.present, &found);
      EXPECT_EQ(bits_of(found), bits_of(on_one_core<form::mean>(count, at))) << static_cast<int>(kind);
    }
}

TYPED_TEST(exact_values, are_asked_for_each_index_once) {
  for (const value_kind kind : {value_kind::normal, value_kind::any_bits, value_kind::rising, value_kind::outliers}) {
    const std::uint64_t count = 5'003;
    const std::vector<TypeParam> x = values_of_kind<TypeParam>(kind, count, 3);
    std::vector<int> asked(count);
    const auto at = [&](std::uint64_t i) {
      ++asked[i];
      return x[i];
    };
    on_blocks<form::sum, TypeParam, 1>(at, 0, count, 2);
    EXPECT_EQ(asked, std::vector<int>(count, 1)) << static_cast<int>(kind);
  }
}

// Integers of 4 and 8 bytes.
template <class T>
class exact_whole_values : public ::testing::Test {
 protected:
  // Of all sizes; the greatest and the least, of which nothing or all cancels; around 0.
  static std::vector<std::vector<T>> contents(std::size_t count) {
    using limits = std::numeric_limits<T>;
    random_numbers random(current_seed());
    std::vector<std::vector<T>> all(4, std::vector<T>(count));
    for (std::size_t i = 0; i < count; ++i) {
      all[0][i] = static_cast<T>(random());
      all[1][i] = random.below(40) == 0 ? limits::max() : limits::min();
      all[2][i] = i % 2 == 0 ? limits::max() : limits::min();
      all[3][i] = static_cast<T>(random.below(7) - 3);
    }
    return all;
  }
  // Of one result that may be absent, and both moments.
  template <class F>
  static void expect_moments(std::uint64_t count, std::uint64_t present, const F& f) {
    using moments = small_sum<form::mean_variance, T, 1>;
    constexpr bool may_be_absent = !std::is_arithmetic_v<decltype(f(std::uint64_t{}))>;
    dt::counted_exact_limbs limbs{};
    add_on_blocks<std::conditional_t<may_be_absent, sums_on_device::counted<moments>, moments>, 0>(f, 0, count, 2, &limbs);
    ASSERT_EQ(limbs.present, may_be_absent ? present : 0);
    const auto expected = onefold::mean_variance(onefold::serial(), count, f, exactly_so());
    auto found = expected;
    found = {-1, -1};
    conclude<form::mean_variance, T>(limbs, present, &found);
    EXPECT_EQ(bits_of(found.mean), bits_of(expected.mean)) << present << " of " << count;
    EXPECT_EQ(bits_of(found.variance), bits_of(expected.variance)) << present << " of " << count;
  }
};
using integers_of_functions = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(exact_whole_values, integers_of_functions);

TYPED_TEST(exact_whole_values, of_a_function_give_what_one_core_gives) {
  for (const std::size_t count : {1U, 31U, 512U, 6'003U})
    for (const std::vector<TypeParam>& x : this->contents(count)) {
      const auto at = [&x](std::uint64_t i) { return x[i]; };
      for (const unsigned blocks : {1U, 3U}) {
        EXPECT_EQ(bits_of(on_blocks<form::mean, TypeParam, 1>(at, 0, count, blocks)[0]),
                  bits_of(on_one_core<form::mean>(count, at)))
            << count;
        EXPECT_EQ(bits_of(on_blocks<form::norm2, TypeParam, 1>(at, 0, count, blocks)[0]),
                  bits_of(on_one_core<form::norm2>(count, at)))
            << count;
      }
      ASSERT_NO_FATAL_FAILURE(this->expect_moments(count, count, at));
    }
}

TYPED_TEST(exact_whole_values, that_are_absent_do_not_count) {
  constexpr std::uint64_t count = 4'003;
  for (const std::vector<TypeParam>& x : this->contents(count))
    for (const std::uint64_t one_of : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1'000}, count}) {
      const auto at = [&](std::uint64_t i) {
        return i % one_of == one_of - 1 ? maybe<TypeParam>(x[i]) : maybe<TypeParam>(onefold::absent);
      };
      ASSERT_NO_FATAL_FAILURE(this->expect_moments(count, count / one_of, at));
      EXPECT_EQ(bits_of(on_blocks<form::norm2, TypeParam, 1>(at, 0, count, 2)[0]), bits_of(on_one_core<form::norm2>(count, at)));
    }
  // Of nothing the limbs are zeros, and say that there was nothing.
  dt::counted_exact_limbs limbs{};
  const auto none = [](std::uint64_t) { return maybe<TypeParam>(onefold::absent); };
  add_on_blocks<sums_on_device::counted<small_sum<form::mean, TypeParam, 1>>, 0>(none, 0, count, 1, &limbs);
  EXPECT_EQ(limbs.present, 0U);
  EXPECT_EQ(limbs.flags & dt::exact::has_term, 0U);
  for (const long long limb : limbs.limb[0]) EXPECT_EQ(limb, 0);
}

template <form What, int Results, class T>
void expect_several_of(const std::vector<T>& x) {
  const std::uint64_t count = x.size() - Results;
  const auto at = [&x](std::uint64_t i) {
    std::array<T, Results> row;
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i), Results, row.begin());
    return row;
  };
  const auto expected = on_one_core<What>(count, at);
  const auto found = on_blocks<What, T, Results>(at, 0, count, 2);
  for (std::size_t k = 0; k < Results; ++k)
    EXPECT_EQ(bits_of(found[k]), bits_of(expected[k])) << onefold::name(What) << ", result " << k << " of " << Results;
}

TYPED_TEST(exact_whole_values, with_several_results_give_each_as_it_is_alone) {
  for (const std::vector<TypeParam>& x : this->contents(2'017)) {
    expect_several_of<form::mean, 2>(x);
    expect_several_of<form::norm2, 3>(x);
    expect_several_of<form::norm2, 5>(x);
    expect_several_of<form::mean, 16>(x);
    expect_several_of<form::norm2, 16>(x);
  }
}

TYPED_TEST(exact_whole_values, are_asked_for_each_index_once) {
  constexpr std::uint64_t count = 5'003;
  std::vector<int> asked(count);
  const auto at = [&](std::uint64_t i) {
    ++asked[i];
    return static_cast<TypeParam>(i);
  };
  on_blocks<form::mean, TypeParam, 1>(at, 0, count, 2);
  EXPECT_EQ(asked, std::vector<int>(count, 1));
  dt::exact_limbs limbs{};
  add_on_blocks<small_sum<form::mean_variance, TypeParam, 1>, 0>(at, 0, count, 2, &limbs);
  EXPECT_EQ(asked, std::vector<int>(count, 2)) << "both moments";
}

}  // namespace
}  // namespace onefold_test
