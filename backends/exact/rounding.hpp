#pragma once
/// @file rounding.hpp  The rounded results of exact integers (docs/exact.md), on the host and on a GPU.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <onefold/detail/host_device.hpp>

#include "state.hpp"

namespace onefold::detail::exact {

using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

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

// The highest words of an integer's magnitude, all that a rounded result needs to know of it: `word` times 2^scale, and perhaps something below. What lies
// in registers is found there: a GPU has one thread that does this while all others wait.
template <int Words>
struct leading {
  u64 word[Words] = {};  // of the highest word that is not zero and those below
  int scale;
  bool more = false;
  bool negative;

  // Of an integer in two's complement, or of one that is not negative.
  ONEFOLD_HOST_DEVICE leading(const u64* of, int length, int of_scale, bool is_negative) noexcept
      : scale(of_scale), negative(is_negative) {
    const u64 sign = negative ? ~u64{0} : 0;
    int lowest = 0;
    while (lowest < length && of[lowest] == 0) ++lowest;
    if (lowest == length) return;
    int highest = length - 1;
    while (highest > lowest && of[highest] == sign) --highest;
    // The magnitude of a negative one has the complements of all words above the lowest.
    for (int i = 0; i < Words; ++i) {
      const int at = highest - (Words - 1) + i;
      if (at >= lowest) word[i] = at == lowest && negative ? ~of[at] + 1 : of[at] ^ sign;
    }
    scale += 64 * (highest - (Words - 1));
    more = lowest < highest - (Words - 1);
  }
  // The same of one that has few words, all of which stay in registers.
  template <int All>
  ONEFOLD_HOST_DEVICE leading(const u64 (&of)[All], int of_scale) noexcept
      : scale(of_scale + 64 * (All - Words)), negative(of[All - 1] >> 63 != 0) {
    u64 all[All];
    u64 carry = negative ? 1 : 0;
    for (int i = 0; i < All; ++i) {
      all[i] = (negative ? ~of[i] : of[i]) + carry;
      carry = all[i] < carry ? 1 : 0;
    }
    for (int k = 1; k < All; ++k) {
      if (all[All - 1] != 0) break;
      for (int i = All - 1; i > 0; --i) all[i] = all[i - 1];
      all[0] = 0;
      scale -= 64;
    }
    for (int i = 0; i < Words; ++i) word[i] = all[i + All - Words];
    for (int i = 0; i < All - Words; ++i) more = more || all[i] != 0;
  }

  [[nodiscard]] ONEFOLD_HOST_DEVICE bool is_zero() const noexcept { return word[Words - 1] == 0; }

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
// Of a float; of others, that of doubles, in which their means are.
constexpr format format_of(element_type type) noexcept {
  if (!is_float(type)) type = element_type::f64;
  const std::size_t bytes = size_of(type);
  const int precision = digits_of_type(type);
  const int beyond = 1 << (8 * static_cast<int>(bytes) - precision - 1);  // the rest of the bits are the exponent's
  return {precision, 3 - beyond - precision, beyond, bytes};
}
static_assert(format_of(element_type::f32).least == -149 && format_of(element_type::f64).least == -1074);

ONEFOLD_HOST_DEVICE inline u64 infinity_of(const format& to) noexcept {
  return static_cast<u64>(to.beyond - 1 - to.least - to.precision + 3) << (to.precision - 1);
}
ONEFOLD_HOST_DEVICE inline u64 nan_of(const format& to) noexcept { return infinity_of(to) | u64{1} << (to.precision - 2); }

// The bits of the number nearest to word * 2^scale, ties to even. `more`: something that is not zero lies below, and then there are at least two
// digits more than the format has.
template <int Words>
ONEFOLD_HOST_DEVICE inline u64 rounded(const u64 (&word)[Words], int scale, bool more, const format& to) noexcept {
  constexpr int top = Words - 1;
  u64 w[Words];
  for (int i = 0; i < Words; ++i) w[i] = word[i];
  for (int k = 0; k < top; ++k) {
    if (w[top] != 0) break;
    for (int i = top; i > 0; --i) w[i] = w[i - 1];
    w[0] = 0;
    scale -= 64;
  }
  if (w[top] == 0) return 0;
  // 64 digits, of which the first is 1, and whether there are any behind them.
  const int zeros = leading_zeros(w[top]);
  const u64 second = Words > 1 ? w[Words > 1 ? top - 1 : 0] : 0;
  const u64 digits = zeros == 0 ? w[top] : w[top] << zeros | second >> (64 - zeros);
  more = more || second << zeros != 0;
  for (int i = 0; i < top - 1; ++i) more = more || w[i] != 0;

  const int exponent = scale + 64 * top - zeros;  // of the last of them
  const int highest = exponent + 63;
  if (highest >= to.beyond) return infinity_of(to);
  const int lowest = std::max(highest - to.precision + 1, to.least);  // of the last digit that is kept
  const int cut = lowest - exponent;                                  // 11 or more
  u64 kept = cut < 64 ? digits >> cut : 0;
  if (cut <= 64) {
    const bool half = (digits >> (cut - 1) & 1) != 0;
    more = more || (digits & ((u64{1} << (cut - 1)) - 1)) != 0;
    if (half && (more || (kept & 1) != 0)) ++kept;
  }
  // The leading digit, which formats do not store, counts as one more of the exponent; so does a carry.
  return std::min((static_cast<u64>(lowest - to.least) << (to.precision - 1)) + kept, infinity_of(to));
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

// The sum, divided by `divisor`. Of its digits `top` has 129 at least, of which 64 are left.
ONEFOLD_HOST_DEVICE inline u64 bits_of_sum(u64 flags, leading<3> top, u64 divisor, const format& to) noexcept {
  u64 bits = 0;
  if (is_special(flags, to, bits)) return bits;
  if (top.is_zero()) return signed_bits(0, (flags & has_other_than_minus_zero) == 0, to);
  if (divisor != 1) top.divide_by(divisor);
  return signed_bits(rounded(top.word, top.scale, top.more, to), top.negative, to);
}

// The largest integer whose square is not above x, which has 127 or 128 bits. In place of 64 trials, which took a GPU 2 us.
ONEFOLD_HOST_DEVICE inline u64 root_of(u128 x) noexcept {
  const double about = std::sqrt(static_cast<double>(static_cast<u64>(x >> 64)) * 0x1p64);  // but for some 2^11
  u64 root = about < 0x1p64 ? static_cast<u64>(about) : ~u64{0};
  // One of Newton's steps: but for 1.
  const auto less = static_cast<i128>(x - u128{root} * root);
  const auto step = static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(less >> 24)) * 0x1p23 / about);
  root = step > 0 && root > ~u64{0} - static_cast<u64>(step) ? ~u64{0} : root + static_cast<u64>(step);
  while (u128{root} * root > x) --root;
  while (root != ~u64{0} && u128{root + 1} * (root + 1) <= x) ++root;
  return root;
}

ONEFOLD_HOST_DEVICE inline u64 bits_of_root(u64 flags, const leading<3>& top, const format& to) noexcept {
  u64 bits = 0;
  if (top.negative || (flags & has_minus_infinity) != 0) return nan_of(to);  // no squares: words of a dot
  if (is_special(flags, to, bits)) return bits;
  if (top.is_zero()) return 0;
  // 127 or 128 bits, and an even exponent.
  const int zeros = leading_zeros(top.word[2]) / 2 * 2;
  const auto shifted = [&](int i) { return zeros == 0 ? top.word[i] : top.word[i] << zeros | top.word[i - 1] >> (64 - zeros); };
  const u128 radicand = u128{shifted(2)} << 64 | shifted(1);
  const u64 root[1] = {root_of(radicand)};
  const bool more = top.more || top.word[0] << zeros != 0 || u128{root[0]} * root[0] != radicand;
  return rounded(root, (top.scale + 64 - zeros) / 2, more, to);
}

// (n Q - S S) / (n degrees). Of several sums, whose squares are all in Q, the squares of all are taken away.
template <int Sums>
ONEFOLD_HOST_DEVICE inline u64 bits_of_variance(u64 flags, const u64* const (&sums)[Sums], int sum_words, const u64* squares,
                                                int square_words, int scale, u64 count, u64 degrees, const format& to,
                                                scratch& memory) noexcept {
  if (!is_sum_of_numbers(flags) || degrees == 0) return nan_of(to);
  while (square_words > 0 && squares[square_words - 1] == 0) --square_words;
  // Below, all are zeros for some words: Q and S S for twice as many as S.
  const auto is_zero_at = [&](int i) {
    const u64* const two = squares + static_cast<std::ptrdiff_t>(2) * i;
    u64 any = two[0] | (2 * i + 1 < square_words ? two[1] : 0);
    for (const u64* const sum : sums) any |= sum[i];
    return any == 0;
  };
  int skipped = 0;
  while (skipped < sum_words && 2 * skipped < square_words && is_zero_at(skipped)) ++skipped;
  // Above, the sums have words of their signs alone.
  const auto is_sign_at = [&](int i) {
    for (const u64* const sum : sums)
      if (sum[i] != 0 - (sum[i - 1] >> 63)) return false;
    return true;
  };
  while (sum_words > skipped + 1 && is_sign_at(sum_words - 1)) --sum_words;
  squares += static_cast<std::ptrdiff_t>(2) * skipped;
  square_words -= 2 * skipped;
  scale += 128 * skipped;
  const int most = std::max(square_words + 1, 2 * (sum_words - skipped));
  u64* const difference = memory.difference;
  u64* const square = memory.square;
  for (int i = 0; i < most; ++i) difference[i] = 0;
  u64 carry = 0;
  for (int i = 0; i < square_words; ++i) {
    const u128 product = u128{squares[i]} * count + carry;
    difference[i] = static_cast<u64>(product);
    carry = static_cast<u64>(product >> 64);
  }
  difference[square_words] = carry;
  for (const u64* const sum : sums) {
    const magnitude s(sum, sum_words, memory);
    const u64* const s_word = s.word + skipped;
    const int s_words = std::max(s.words - skipped, 0);
    for (int i = 0; i < most; ++i) square[i] = 0;
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
    if (borrow != 0) return nan_of(to);  // no numbers have such sums: somebody made the state up
  }
  leading<4> top(difference, most, scale, false);
  if (top.is_zero()) return 0;
  top.divide_by(count);
  top.divide_by(degrees);
  return rounded(top.word, top.scale, top.more, to);
}

/// What a state is rounded to.
struct rounding {
  format to;
  form what;
  int words[2];  ///< of the integers of the two sums
  int scale[2];  ///< of each sum, as its kind has it
  u64 count;     ///< of elements, not 0
  u64 degrees;   ///< of freedom; 0 where there is no variance
};
/// Of a variance; 0 where there is none. Both fit 63 bits, their difference the 64 of an unsigned number.
ONEFOLD_HOST_DEVICE inline u64 degrees_of(u64 count, std::int64_t ddof) noexcept {
  return ddof < 0 || count > static_cast<u64>(ddof) ? count - static_cast<u64>(ddof) : 0;
}
rounding rounding_of(element_type type, form what, bool wide, u64 count, std::int64_t ddof) noexcept;

/// Stores the result of a state, as a backend's memory has it, of whose first sum `top` are the highest words; nothing else of that is asked for but in a variance.
ONEFOLD_HOST_DEVICE inline void round_state(const rounding& how, const leading<3>& top, const u64* state, scratch& memory,
                                            void* result) noexcept {
  const u64 flags = state[0];
  const bool is_mean = how.what == form::mean || how.what == form::mean_variance;
  put(how.what == form::norm2 ? bits_of_root(flags, top, how.to) : bits_of_sum(flags, top, is_mean ? how.count : 1, how.to), how.to,
      result);
  if (how.what != form::mean_variance) return;
  const int words = how.words[0];
  const u64* const sums[] = {state + 1};
  put(bits_of_variance(flags, sums, words, state + 1 + words, how.words[1], how.scale[1], how.count, how.degrees, how.to, memory),
      how.to, static_cast<unsigned char*>(result) + how.to.bytes);
}
ONEFOLD_HOST_DEVICE inline void round_state(const rounding& how, const u64* state, scratch& memory, void* result) noexcept {
  const int words = how.words[0];
  round_state(how, leading<3>(state + 1, words, how.scale[0], state[words] >> 63 != 0), state, memory, result);
}

/// Stores the mean of complex numbers and their variance, of the states of moments of their real parts and of their imaginary ones. The squares' sum of the
/// latter becomes that of both.
ONEFOLD_HOST_DEVICE inline void round_complex_moments(const rounding& how, const leading<3>& top_of_real, const u64* real,
                                                      const leading<3>& top_of_imaginary, u64* imaginary, scratch& memory,
                                                      void* result) noexcept {
  auto* const to = static_cast<unsigned char*>(result);
  put(bits_of_sum(real[0], top_of_real, how.count, how.to), how.to, to);
  put(bits_of_sum(imaginary[0], top_of_imaginary, how.count, how.to), how.to, to + how.to.bytes);
  const int words = how.words[0];
  u64* const squares = imaginary + 1 + words;
  u64 carry = 0;
  for (int i = 0; i < how.words[1]; ++i) {
    const u128 sum = u128{squares[i]} + real[1 + words + i] + carry;
    squares[i] = static_cast<u64>(sum);
    carry = static_cast<u64>(sum >> 64);
  }
  const u64* const sums[] = {real + 1, imaginary + 1};
  put(bits_of_variance(real[0] | imaginary[0], sums, words, squares, how.words[1], how.scale[1], how.count, how.degrees, how.to,
                       memory),
      how.to, to + 2 * how.to.bytes);
}
ONEFOLD_HOST_DEVICE inline void round_complex_moments(const rounding& how, const u64* real, u64* imaginary, scratch& memory,
                                                      void* result) noexcept {
  const int words = how.words[0];
  const leading<3> top_of_real(real + 1, words, how.scale[0], real[words] >> 63 != 0);
  const leading<3> top_of_imaginary(imaginary + 1, words, how.scale[0], imaginary[words] >> 63 != 0);
  round_complex_moments(how, top_of_real, real, top_of_imaginary, imaginary, memory, result);
}

}  // namespace onefold::detail::exact
