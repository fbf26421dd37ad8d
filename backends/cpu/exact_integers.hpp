#pragma once
/// @file exact_integers.hpp  Sums of integers, and of their squares, added to the integers of exact states of doubles: a whole number is a multiple of
/// any of their scales. Compiled once, for every machine: what it does, all of them do in the same registers.

#include <cstdint>
#include <type_traits>

#include <onefold/detail/exact_kinds.hpp>

#include "kernels/exact_table.hpp"

namespace onefold::cpu {

namespace exact_integers {

using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

// The sums of what a form adds: what they are scaled by is a power of two, and their words have two limbs each.
constexpr const detail::exact::kind_row& of_elements = detail::exact::kind_of(form::mean, element_type::f64);
constexpr const detail::exact::kind_row& of_squares = detail::exact::kind_of(form::norm2, element_type::f64);

// Adds the value, of two's complement, whose sign goes on to the last word.
template <int Words>
void add_to(const detail::exact::kind_row& sum_of, const u64 (&value)[Words], u64* integer) noexcept {
  const int bit = -sum_of.scale[0], words = sum_of.limbs[0] / 2;
  const int shift = bit % 64;
  const u64 sign = value[Words - 1] >> 63 != 0 ? ~u64{0} : 0;
  const auto word_of = [&](int i) { return i < 0 ? 0 : i < Words ? value[i] : sign; };
  u64 carry = 0;
  for (int i = 0; bit / 64 + i < words; ++i) {
    const u64 shifted = shift == 0 ? word_of(i) : word_of(i) << shift | word_of(i - 1) >> (64 - shift);
    const u128 sum = u128{integer[bit / 64 + i]} + shifted + carry;
    integer[bit / 64 + i] = static_cast<u64>(sum);
    carry = static_cast<u64>(sum >> 64);
  }
}

template <class T>
void add_elements(const void* x, const void*, u64 count, bool, u64* flags, u64* integer) {
  static_assert(most_exact_elements <= u64{1} << 31, "sums of shorter integers fit 64 bits, and longer ones' 128");
  const auto* const at = static_cast<const T*>(x);
  std::conditional_t<sizeof(T) < sizeof(u64), std::int64_t, i128> sum = 0;
  for (u64 i = 0; i < count; ++i) sum += at[i];
  const auto wide = static_cast<u128>(static_cast<i128>(sum));
  add_to<2>(of_elements, {static_cast<u64>(wide), static_cast<u64>(wide >> 64)}, integer);
  if (count > 0) *flags |= exact_other_than_minus_zero;  // no integer is -0
}

template <class T>
void add_squares(const void* x, const void*, u64 count, bool, u64* flags, u64* integer) {
  const auto* const at = static_cast<const T*>(x);
  u128 low = 0;   // of the squares' lower halves, and
  u128 high = 0;  // of their upper ones, which are worth 2^64 each
  if constexpr (sizeof(T) < sizeof(std::uint32_t)) {
    u64 sum = 0;
    for (u64 i = 0; i < count; ++i) sum += static_cast<u64>(std::int64_t{at[i]} * at[i]);
    low = sum;
  } else if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
    u64 lower = 0;
    u64 upper = 0;
    for (u64 i = 0; i < count; ++i) {
      const auto extended = static_cast<u64>(std::int64_t{at[i]});  // whose square is right modulo 2^64, and below it
      const u64 square = extended * extended;
      lower += square & 0xffffffff;
      upper += square >> 32;
    }
    low = lower + (u128{upper} << 32);
  } else {
    for (u64 i = 0; i < count; ++i) {
      using product = std::conditional_t<std::is_signed_v<T>, i128, u128>;
      const auto square = static_cast<u128>(product{at[i]} * at[i]);
      low += static_cast<u64>(square);
      high += static_cast<u64>(square >> 64);
    }
  }
  high += low >> 64;
  add_to<3>(of_squares, {static_cast<u64>(low), static_cast<u64>(high), static_cast<u64>(high >> 64)}, integer);
  if (count > 0) *flags |= exact_other_than_minus_zero;
}

template <class T>
inline constexpr exact_row row{add_elements<T>, nullptr, add_squares<T>};

}  // namespace exact_integers

}  // namespace onefold::cpu
