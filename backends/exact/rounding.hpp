#pragma once
/// @file rounding.hpp  The rounded results of exact integers (docs/exact.md), on the host and on a GPU.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <onefold/detail/host_device.hpp>

#include "state.hpp"

namespace onefold::detail::exact {

using u64 = std::uint64_t;
using u128 = unsigned __int128;

ONEFOLD_HOST_DEVICE inline int leading_zeros(u64 word) noexcept {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(word));
#else
  return __builtin_clzll(word);
#endif
}

// Of others the result needs no sum, and backends need not have one.
ONEFOLD_HOST_DEVICE inline bool is_sum_of_numbers(u64 flags) noexcept {
  return (flags & (has_nan | has_infinity | has_minus_infinity)) == 0;
}

// --- integers of many words ---------------------------------------------------------------------------------------------------------------

// Memory for large integers, which a GPU's threads should not have each for itself.
struct scratch {
  u64 magnitude[most_integer_words];
  u64 difference[2 * most_integer_words + 2];
  u64 square[2 * most_integer_words + 2];
};

// Magnitude and sign of an integer in two's complement.
struct magnitude {
  u64* word;
  int words;  // without zeros at the top
  bool negative;

  ONEFOLD_HOST_DEVICE magnitude(const u64* of, int length, scratch& memory) noexcept
      : word(memory.magnitude), words(length), negative(of[length - 1] >> 63 != 0) {
    u64 carry = negative ? 1 : 0;
    for (int i = 0; i < length; ++i) {
      const u64 w = negative ? ~of[i] : of[i];
      word[i] = w + carry;
      carry = carry != 0 && w == ~u64{0} ? 1 : 0;
    }
    while (words > 0 && word[words - 1] == 0) --words;
  }
};

// The highest words of an integer, all that a rounded result needs to know of it: `word` times 2^unit, and perhaps something below.
template <int Words>
struct leading {
  u64 word[Words] = {};  // of the integer's highest word that is not zero and those below
  int unit;
  bool more = false;

  ONEFOLD_HOST_DEVICE leading(const u64* of, int words, int of_unit) noexcept : unit(of_unit + 64 * (words - Words)) {
    for (int i = 0; i < Words; ++i)
      if (words - Words + i >= 0) word[i] = of[words - Words + i];
    for (int i = 0; i < words - Words; ++i) more = more || of[i] != 0;
  }

  ONEFOLD_HOST_DEVICE void divide_by(u64 divisor) noexcept {
    u64 rest = 0;
    for (int i = Words - 1; i >= 0; --i) {
      const u128 now = u128{rest} << 64 | word[i];
      word[i] = static_cast<u64>(now / divisor);
      rest = static_cast<u64>(now % divisor);
    }
    more = more || rest != 0;
  }
};

// --- rounding ----------------------------------------------------------------------------------------------------------------------------

struct format {
  int precision, least, beyond;  // digits; the exponents of the smallest number and of the first power of two that is none
  std::size_t bytes;
};
constexpr format format_of(element_type type) noexcept {
  switch (type) {
    case element_type::f16:
      return {11, -24, 16, 2};
    case element_type::bf16:
      return {8, -133, 128, 2};
    case element_type::f32:
      return {24, -149, 128, 4};
    default:
      return {53, -1074, 1024, 8};
  }
}

ONEFOLD_HOST_DEVICE inline u64 infinity_of(const format& to) noexcept {
  return static_cast<u64>(to.beyond - 1 - to.least - to.precision + 3) << (to.precision - 1);
}
ONEFOLD_HOST_DEVICE inline u64 nan_of(const format& to) noexcept { return infinity_of(to) | u64{1} << (to.precision - 2); }

// The bits of the number nearest to word * 2^unit, ties to even. `more`: something that is not zero lies below, and then there are at least two
// digits more than the format has.
ONEFOLD_HOST_DEVICE inline u64 rounded(const u64* word, int words, int unit, bool more, const format& to) noexcept {
  while (words > 0 && word[words - 1] == 0) --words;
  if (words == 0) return 0;
  const int highest = 64 * words - 1 - leading_zeros(word[words - 1]);
  if (highest + unit >= to.beyond) return infinity_of(to);
  const int lowest = std::max(highest + unit - to.precision + 1, to.least);  // exponent of the last digit that is kept
  const int cut = lowest - unit;
  u64 digits = 0;
  if (cut <= 0) {
    digits = word[0] << -cut;
  } else {
    const int at = cut / 64;
    const int bit = cut % 64;
    if (at < words) digits = word[at] >> bit;
    if (bit != 0 && at + 1 < words) digits |= word[at + 1] << (64 - bit);
    const int below = cut - 1;
    const bool half = below / 64 < words && (word[below / 64] >> below % 64 & 1) != 0;
    for (int i = 0; i < std::min(below / 64, words); ++i) more = more || word[i] != 0;
    if (below / 64 < words) more = more || (word[below / 64] & ((u64{1} << below % 64) - 1)) != 0;
    if (half && (more || (digits & 1) != 0)) ++digits;
  }
  // The leading digit, which formats do not store, counts as one more of the exponent; so does a carry.
  return std::min((static_cast<u64>(lowest - to.least) << (to.precision - 1)) + digits, infinity_of(to));
}

ONEFOLD_HOST_DEVICE inline void put(u64 bits, const format& to, void* result) noexcept {
  if (to.bytes == 8) {
    memcpy(result, &bits, 8);
  } else if (to.bytes == 4) {
    const auto shorter = static_cast<std::uint32_t>(bits);
    memcpy(result, &shorter, 4);
  } else {
    const auto shorter = static_cast<std::uint16_t>(bits);
    memcpy(result, &shorter, 2);
  }
}
ONEFOLD_HOST_DEVICE inline u64 signed_bits(u64 bits, bool negative, const format& to) noexcept {
  return bits | static_cast<u64>(negative) << (8 * to.bytes - 1);
}

// Of terms that are no numbers or infinite the result, or none.
ONEFOLD_HOST_DEVICE inline bool is_special(u64 flags, const format& to, u64& bits) noexcept {
  const bool up = (flags & has_infinity) != 0;
  const bool down = (flags & has_minus_infinity) != 0;
  if ((flags & has_nan) != 0 || (up && down))
    bits = nan_of(to);
  else if (up || down)
    bits = signed_bits(infinity_of(to), down, to);
  else
    return false;
  return true;
}

// The sum, divided by `divisor`.
ONEFOLD_HOST_DEVICE inline u64 bits_of_sum(u64 flags, const u64* sum, int words, int unit, u64 divisor, const format& to,
                                           scratch& memory) noexcept {
  u64 bits = 0;
  if (is_special(flags, to, bits)) return bits;
  const magnitude of(sum, words, memory);
  if (of.words == 0) return signed_bits(0, (flags & has_other_than_minus_zero) == 0, to);
  if (divisor == 1) return signed_bits(rounded(of.word, of.words, unit, false, to), of.negative, to);
  leading<3> top(of.word, of.words, unit);  // 129 bits at least, of which 64 are left
  top.divide_by(divisor);
  return signed_bits(rounded(top.word, 3, top.unit, top.more, to), of.negative, to);
}

// The largest integer whose square is not above x.
ONEFOLD_HOST_DEVICE inline u64 root_of(u128 x) noexcept {
  u64 root = 0;
  for (u64 digit = u64{1} << 63; digit != 0; digit >>= 1)
    if (u128{root | digit} * (root | digit) <= x) root |= digit;
  return root;
}

ONEFOLD_HOST_DEVICE inline u64 bits_of_root(u64 flags, const u64* sum, int words, int unit, const format& to,
                                            scratch& memory) noexcept {
  u64 bits = 0;
  const magnitude of(sum, words, memory);
  if (of.negative || (flags & has_minus_infinity) != 0) return nan_of(to);  // no squares: words of a dot
  if (is_special(flags, to, bits)) return bits;
  if (of.words == 0) return 0;
  // 127 or 128 bits, and an even exponent.
  leading<3> top(of.word, of.words, unit);
  const int zeros = leading_zeros(top.word[2]) / 2 * 2;
  const auto shifted = [&](int i) { return zeros == 0 ? top.word[i] : top.word[i] << zeros | top.word[i - 1] >> (64 - zeros); };
  const u128 radicand = u128{shifted(2)} << 64 | shifted(1);
  const u64 root = root_of(radicand);
  const bool more = top.more || top.word[0] << zeros != 0 || u128{root} * root != radicand;
  const u64 words_of_root[2] = {root, 0};
  return rounded(words_of_root, 1, (top.unit + 64 - zeros) / 2, more, to);
}

// (n Q - S S) / (n degrees).
ONEFOLD_HOST_DEVICE inline u64 bits_of_variance(u64 flags, const u64* sum, int sum_words, const u64* squares, int square_words,
                                                int unit, u64 count, u64 degrees, const format& to, scratch& memory) noexcept {
  if (!is_sum_of_numbers(flags) || degrees == 0) return nan_of(to);
  const magnitude s(sum, sum_words, memory);
  while (square_words > 0 && squares[square_words - 1] == 0) --square_words;
  // Below, both are zeros for some words: S S for twice as many as S.
  int skipped = 0;
  while (skipped < s.words && s.word[skipped] == 0) ++skipped;
  for (int i = 0; i < 2 * skipped && i < square_words; ++i)
    if (squares[i] != 0) skipped = i / 2;
  const u64* const s_word = s.word + skipped;
  const int s_words = s.words - skipped;
  squares += static_cast<std::ptrdiff_t>(2) * skipped;
  square_words = std::max(square_words - 2 * skipped, 0);
  unit += 128 * skipped;
  const int most = std::max(square_words + 1, 2 * s_words);
  u64* const difference = memory.difference;
  u64* const square = memory.square;
  for (int i = 0; i < most; ++i) difference[i] = square[i] = 0;
  u64 carry = 0;
  for (int i = 0; i < square_words; ++i) {
    const u128 product = u128{squares[i]} * count + carry;
    difference[i] = static_cast<u64>(product);
    carry = static_cast<u64>(product >> 64);
  }
  difference[square_words] = carry;
  for (int i = 0; i < s_words; ++i) {
    carry = 0;
    for (int j = 0; j < s_words; ++j) {
      const u128 product = u128{s_word[i]} * s_word[j] + square[i + j] + carry;
      square[i + j] = static_cast<u64>(product);
      carry = static_cast<u64>(product >> 64);
    }
    square[i + s_words] = carry;
  }
  u64 borrow = 0;
  for (int i = 0; i < most; ++i) {
    const u128 less = u128{square[i]} + borrow;
    borrow = difference[i] < less ? 1 : 0;
    difference[i] -= static_cast<u64>(less);
  }
  int words = most;
  while (words > 0 && difference[words - 1] == 0) --words;
  if (words == 0) return 0;
  leading<4> top(difference, words, unit);
  top.divide_by(count);
  top.divide_by(degrees);
  return rounded(top.word, 4, top.unit, top.more, to);
}

/// What a state is rounded to.
struct rounding {
  format to;
  form what;
  int words[2];  ///< of the integers of the two sums
  int unit[2];   ///< their exponents
  u64 count;     ///< of elements, not 0
  u64 degrees;   ///< of freedom; 0 where there is no variance
};
rounding rounding_of(element_type type, form what, bool wide, u64 count, std::int64_t ddof) noexcept;

/// Stores the result of a state, as a backend's memory has it.
ONEFOLD_HOST_DEVICE inline void round_state(const rounding& how, const u64* state, scratch& memory, void* result) noexcept {
  const int words = how.words[0];
  if (how.what == form::norm2) return put(bits_of_root(state[0], state + 1, words, how.unit[0], how.to, memory), how.to, result);
  const bool is_mean = how.what == form::mean || how.what == form::mean_variance;
  put(bits_of_sum(state[0], state + 1, words, how.unit[0], is_mean ? how.count : 1, how.to, memory), how.to, result);
  if (how.what != form::mean_variance) return;
  put(bits_of_variance(state[0], state + 1, words, state + 1 + words, how.words[1], how.unit[1], how.count, how.degrees, how.to,
                       memory),
      how.to, static_cast<unsigned char*>(result) + how.to.bytes);
}

}  // namespace onefold::detail::exact
