/// @file exponents_test.cpp  Every exponent, pairs of exponents, and so many equal elements of one exponent that whatever holds
/// them must carry.

#include "fixture.hpp"

namespace onefold_test {
namespace {

class exact_exponents : public executor_test {
 protected:
  template <class T>
  static std::uint64_t highest_field() {
    return layout<T>().last_field() - 1;
  }
  // Every exponent, or every few under a sanitizer.
  static constexpr std::uint64_t step = is_sanitized ? 37 : 1;
};

TEST_P(exact_exponents, each_alone) {
  for_each_float([&]<class T> {
    random_numbers random(current_seed());
    std::vector<T> x(201);
    for (std::uint64_t field = 0; field <= highest_field<T>(); field += step) {
      const signs sign = field % 3 == 0 ? signs::plus : signs::both;
      for (T& one : x) one = random_element<T>(random, {field, field}, sign);
      ASSERT_EQ(wrong_results<T>(where(), x.data(), x.size(), exact_elements(std::span<const T>(x))), "")
          << "exponent field " << field;
    }
  });
}

// Those with this distance share a digit of whatever holds the sum, or do not.
TEST_P(exact_exponents, each_with_others_at_some_distance) {
  for_each_float([&]<class T> {
    random_numbers random(current_seed());
    std::vector<T> x(40);
    for (std::uint64_t field = 0; field <= highest_field<T>(); field += 3 * step)
      for (const std::uint64_t distance :
           {1u, 11u, 24u, 25u, 31u, 32u, 33u, 52u, 53u, 54u, 63u, 64u, 65u, 106u, 128u, 300u, 1'000u}) {
        const std::uint64_t other = field + distance;
        if (other > highest_field<T>()) break;
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = random_element<T>(random, i % 2 == 0 ? fields{field, field} : fields{other, other}, signs::both);
        const exact_elements expected{std::span<const T>(x)};
        ASSERT_EQ(scalar_of(exact_value(onefold::sum, where(), x)), expected.result(form::sum)) << field << " and " << other;
        ASSERT_EQ(scalar_of(exact_value(onefold::norm2, where(), x)), expected.result(form::norm2)) << field << " and " << other;
      }
    count_dispatch(where());
  });
}

TEST_P(exact_exponents, each_of_products) {
  for_each_float([&]<class T> {
    random_numbers random(current_seed());
    const std::uint64_t highest = highest_field<T>();
    std::vector<T> x(64), y(64);
    for (std::uint64_t both = 0; both <= 2 * highest; both += step) {
      const std::uint64_t lowest_of_x = both > highest ? both - highest : 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint64_t of_x = lowest_of_x + random.below(std::min(both, highest) - lowest_of_x + 1);
        x[i] = random_element<T>(random, {of_x, of_x}, signs::both);
        y[i] = random_element<T>(random, {both - of_x, both - of_x}, both % 2 == 0 ? signs::both : signs::plus);
      }
      ASSERT_EQ(wrong_dots<T>(where(), x.data(), y.data(), x.size(), exact_pairs(std::span<const T>(x), std::span<const T>(y))), "")
          << "exponent fields that add up to " << both;
    }
  });
}

// The sums of equal elements grow by one digit in two with each doubling, whatever they are held in.
TEST_P(exact_exponents, with_millions_of_equal_elements) {
  const std::size_t n = cases((1 << 21) + 5);
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    const std::uint64_t all_ones = (std::uint64_t{1} << in.stored) - 1, middle = (in.last_field() / 2) << in.stored;
    for (const std::uint64_t bits :
         {middle | all_ones, in.sign() | (middle + (std::uint64_t{5} << in.stored)), in.infinity() - 1, all_ones}) {
      const std::vector<T> x(n, from_bits<T>(bits));
      exact_elements expected(onefold::element_type_of<T>);
      expected.add(bits, n);
      ASSERT_EQ(wrong_results<T>(where(), x.data(), n, expected, 1), "") << "bits " << bits;
      exact_pairs pairs(onefold::element_type_of<T>);
      pairs.add(bits, bits, n);
      ASSERT_EQ(wrong_dots<T>(where(), x.data(), x.data(), n, pairs), "") << "bits " << bits;
    }
  });
}

// Thousands of elements with all digits set, which add up to as much as they can, and some at every distance below them.
TEST_P(exact_exponents, with_full_blocks_and_some_others_below) {
  for_each_float([&]<class T> {
    constexpr float_layout in = layout<T>();
    random_numbers random(current_seed());
    const std::uint64_t all_ones = (std::uint64_t{1} << in.stored) - 1;
    const std::size_t n = is_sanitized ? 1'000 : 8'200;
    for (const bool highest : {false, true})
      for (std::uint64_t distance = 1; distance <= 150; distance += is_sanitized ? 13 : 1) {
        const std::uint64_t field = highest ? highest_field<T>() : std::min<std::uint64_t>(highest_field<T>() / 2, 300);
        if (distance > field) break;
        const std::uint64_t full = field << in.stored | all_ones | (distance % 2 == 0 ? in.sign() : 0);
        exact_elements expected(onefold::element_type_of<T>);
        exact_pairs pairs(onefold::element_type_of<T>);
        std::vector<T> x(n, from_bits<T>(full));
        for (std::size_t i = 13; i < n; i += 101) {
          x[i] = random_element<T>(random, {field - distance, field - distance}, signs::both);
          expected.add(scalar_of(x[i]).bits);
          pairs.add(scalar_of(x[i]).bits, scalar_of(x[i]).bits);
        }
        expected.add(full, n - expected.count());
        pairs.add(full, full, n - pairs.count());
        ASSERT_EQ(wrong_results<T>(where(), x.data(), n, expected), "") << field << " and " << distance << " below";
        ASSERT_EQ(wrong_dots<T>(where(), x.data(), x.data(), n, pairs), "") << field << " and " << distance << " below";
      }
  });
}

// Blocks that cancel blocks, at distances that no one block sees.
TEST_P(exact_exponents, with_halves_that_cancel) {
  for_each_float([&]<class T> {
    for (const std::size_t half : {std::size_t{100}, std::size_t{4'096}, std::size_t{40'000}}) {
      auto x = random_elements<T>(half, spread::whole, signs::both, current_seed() + half);
      for (std::size_t i = 0; i < half; ++i) x.push_back(negated(x[i]));
      x.push_back(from_bits<T>(1));
      EXPECT_EQ(static_cast<double>(exact_value(onefold::sum, where(), x)), static_cast<double>(from_bits<T>(1))) << half;
      EXPECT_EQ(wrong_results<T>(where(), x.data(), x.size(), exact_elements(std::span<const T>(x))), "") << half;
    }
  });
}

ONEFOLD_TEST_EXACT_PLACES_AND_GPU(exact_exponents);

}  // namespace
}  // namespace onefold_test
