/// @file float16_test.cpp  The floats of two bytes: what their bits mean, and the rounding of every float, against a search among all of their
/// values.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <onefold/types.hpp>

#include "../support/data.hpp"

namespace onefold_test {
namespace {

using onefold::bfloat16;
using onefold::float16;

// --- what arrays of the same layout rely on

template <class H>
constexpr bool is_two_plain_bytes =
    sizeof(H) == 2 && alignof(H) == 2 &&
    std::is_trivially_copyable_v<H>&& std::is_standard_layout_v<H>&& std::is_trivially_default_constructible_v<H>;
static_assert(is_two_plain_bytes<float16> && is_two_plain_bytes<bfloat16>);
static_assert(onefold::element_type_of<float16> == onefold::element_type::f16);
static_assert(onefold::element_type_of<bfloat16> == onefold::element_type::bf16);
static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<float, bfloat16>, "what rounds has to be said");
static_assert(std::is_convertible_v<float16, float> && std::is_convertible_v<bfloat16, float>);
static_assert(!std::is_convertible_v<float16, bfloat16>);

// --- the formats, in numbers

template <class H>
struct format;
template <>
struct format<float16> {
  static constexpr int digits = 10, bias = 15;
  static constexpr std::uint16_t infinity = 0x7c00, nan = 0x7e00;
};
template <>
struct format<bfloat16> {
  static constexpr int digits = 7, bias = 127;
  static constexpr std::uint16_t infinity = 0x7f80, nan = 0x7fc0;
};

// What the bits of a number that is not negative mean; of an infinity, what would come behind the largest number.
template <class H>
double size_of_bits(int bits) {
  using F = format<H>;
  const int exponent = bits >> F::digits, fraction = bits & ((1 << F::digits) - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - F::bias - F::digits);
  return std::ldexp((1 << F::digits) + fraction, exponent - F::bias - F::digits);
}

// The nearest by search: of two that are as near, the one with an even last bit.
template <class H>
std::uint16_t nearest(float value) {
  using F = format<H>;
  static const std::vector<double> sizes = [] {
    std::vector<double> all;
    for (int bits = 0; bits <= F::infinity; ++bits) all.push_back(size_of_bits<H>(bits));
    return all;
  }();
  if (std::isnan(value)) return F::nan;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(static_cast<double>(value));
  if (size >= sizes.back()) return sign | F::infinity;
  const auto above = static_cast<std::size_t>(std::ranges::upper_bound(sizes, size) - sizes.begin());
  const std::size_t below = above - 1;
  const double up = sizes[above] - size, down = size - sizes[below];
  const std::size_t chosen = up < down || (up == down && above % 2 == 0) ? above : below;
  return static_cast<std::uint16_t>(sign | chosen);
}

template <class H>
class small_float : public testing::Test {};
using small_floats = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(small_float, small_floats);

TYPED_TEST(small_float, becomes_the_float_of_its_value_and_itself_again) {
  using F = format<TypeParam>;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(half.bits(), bits);
    const float value = half;
    const int size = bits & 0x7fff;
    ASSERT_EQ(std::isnan(value), size > F::infinity) << std::hex << bits;
    const int again = std::isnan(value) ? F::nan : bits;
    ASSERT_EQ(TypeParam(value).bits(), again) << std::hex << bits;
    if (std::isnan(value)) continue;
    const double expected = size == F::infinity ? std::numeric_limits<double>::infinity() : size_of_bits<TypeParam>(size);
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << std::hex << bits;
    ASSERT_EQ(std::fabs(static_cast<double>(value)), expected) << std::hex << bits;
  }
}

// Each number, the one halfway to the next, and the floats beside them.
TYPED_TEST(small_float, is_the_nearest_to_a_float_and_of_two_the_even_one) {
  using F = format<TypeParam>;
  const float far = std::numeric_limits<float>::infinity();
  for (int bits = 0; bits < F::infinity; ++bits) {
    const double low = size_of_bits<TypeParam>(bits), high = size_of_bits<TypeParam>(bits + 1);
    for (const double at : {low, low + (high - low) / 2, low + (high - low) / 4, low + 3 * (high - low) / 4}) {
      const auto middle = static_cast<float>(at);  // exact, but for the smallest of bfloat16
      for (const float value : {std::nextafter(middle, -far), middle, std::nextafter(middle, far)})
        for (const float either : {value, -value})
          ASSERT_EQ(TypeParam(either).bits(), nearest<TypeParam>(either))
              << std::hexfloat << either << " near " << std::hex << bits;
    }
  }
}

TYPED_TEST(small_float, is_that_of_floats_of_any_bits) {
  random_numbers random(16);
  for (int i = 0; i < (is_sanitized ? 50'000 : 1'000'000); ++i) {
    const std::uint64_t r = random();
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(r));
    ASSERT_EQ(TypeParam(value).bits(), nearest<TypeParam>(value)) << std::hexfloat << value;
    // Of the size that the type has numbers of, and around its subnormal ones.
    const auto near_one = std::bit_cast<float>(static_cast<std::uint32_t>((r & 0x807fffffu) | (96 + (r >> 32) % 48) << 23));
    ASSERT_EQ(TypeParam(near_one).bits(), nearest<TypeParam>(near_one)) << std::hexfloat << near_one;
    const auto subnormal = std::bit_cast<float>(static_cast<std::uint32_t>(r & 0x807fffffu));
    ASSERT_EQ(TypeParam(subnormal).bits(), nearest<TypeParam>(subnormal)) << std::hexfloat << subnormal;
  }
}

TYPED_TEST(small_float, of_a_nan_is_one_nan) {
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffc12345u, 0x7f80ffffu})
    EXPECT_EQ(TypeParam(std::bit_cast<float>(bits)).bits(), format<TypeParam>::nan) << std::hex << bits;
}

TEST(float16, overflows_from_halfway_behind_its_largest_number_on) {
  EXPECT_EQ(float16(65504.0f).bits(), 0x7bff);
  EXPECT_EQ(float16(std::nextafter(65520.0f, 0.0f)).bits(), 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(float16(-65520.0f).bits(), 0xfc00);
  EXPECT_EQ(float16(std::numeric_limits<float>::max()).bits(), 0x7c00);
  EXPECT_EQ(float16(0x1p-24f).bits(), 0x0001);
  EXPECT_EQ(float16(0x1p-25f).bits(), 0x0000);
  EXPECT_EQ(float16(std::nextafter(0x1p-25f, 1.0f)).bits(), 0x0001);
  EXPECT_EQ(float16(-0x1p-26f).bits(), 0x8000);
  EXPECT_EQ(float16(0x1.ffcp-15f).bits(), 0x0400) << "a carry into the normal numbers";
}

TEST(bfloat16, overflows_from_halfway_behind_its_largest_number_on) {
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x7f7f7fffu)).bits(), 0x7f7f);
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x7f7f8000u)).bits(), 0x7f80);
  EXPECT_EQ(bfloat16(-std::numeric_limits<float>::max()).bits(), 0xff80);
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x00008000u)).bits(), 0x0000) << "a tie, to even";
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x00018000u)).bits(), 0x0002);
}

}  // namespace
}  // namespace onefold_test
