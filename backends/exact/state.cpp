#include "state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include <onefold/error.hpp>

#include "../forms.hpp"

namespace onefold::detail::exact {

namespace {

using u64 = std::uint64_t;
using u128 = unsigned __int128;

// --- the words of docs/exact.md ---------------------------------------------------------------------------------------------------------

constexpr u64 prime = (u64{1} << 31) - 1;
constexpr std::int64_t most_states = std::int64_t{1} << 31;
constexpr std::int64_t most_elements = std::int64_t{1} << 62;
enum word : int { first = 0, states = 1, elements = 2, nans = 3, others = 6, check = 7 };

u64 remainder_of(std::int64_t w) noexcept {
  const std::int64_t rest = w % static_cast<std::int64_t>(prime);
  return static_cast<u64>(rest < 0 ? rest + static_cast<std::int64_t>(prime) : rest);
}

constexpr auto factors = [] {
  std::array<u64, most_words> all{};
  u64 factor = 1;
  for (u64& each : all) each = factor = factor * 48271 % prime;
  return all;
}();

u64 check_of(const kind_row& kind, const std::int64_t* words) noexcept {
  u128 sum = 0;
  for (std::size_t i = 0; i < kind.words(); ++i)
    if (i != check) sum += u128{factors[i]} * remainder_of(words[i]);
  return static_cast<u64>(sum % prime);
}

[[noreturn]] void refuse(const char* why) {
  throw error(errc::invalid_argument, std::string("these words are no state of this form and element type: ") + why);
}

// Of others the result needs no sum, and backends need not have one.
bool is_sum_of_numbers(u64 flags) noexcept { return (flags & (has_nan | has_infinity | has_minus_infinity)) == 0; }

bool is_between(std::int64_t w, std::int64_t least, std::int64_t most) noexcept { return least <= w && w <= most; }

// --- integers of many words ---------------------------------------------------------------------------------------------------------------

// Magnitude and sign of an integer in two's complement.
struct magnitude {
  std::array<u64, most_integer_words> word;
  int words = 0;  // without zeros at the top
  bool negative = false;

  magnitude(const u64* of, int length) noexcept : words(length), negative(of[length - 1] >> 63 != 0) {
    u64 carry = negative ? 1 : 0;
    for (int i = 0; i < length; ++i) {
      const u64 w = negative ? ~of[i] : of[i];
      word[static_cast<std::size_t>(i)] = w + carry;
      carry = carry != 0 && w == ~u64{0} ? 1 : 0;
    }
    while (words > 0 && word[static_cast<std::size_t>(words) - 1] == 0) --words;
  }
};

// The highest words of an integer, all that a rounded result needs to know of it: `word` times 2^unit, and perhaps something below.
template <int Words>
struct leading {
  u64 word[Words] = {};  // of the integer's highest word that is not zero and those below
  int unit;
  bool more = false;

  leading(const u64* of, int words, int of_unit) noexcept : unit(of_unit + 64 * (words - Words)) {
    for (int i = 0; i < Words; ++i)
      if (words - Words + i >= 0) word[i] = of[words - Words + i];
    for (int i = 0; i < words - Words; ++i) more = more || of[i] != 0;
  }

  void divide_by(u64 divisor) noexcept {
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

u64 infinity_of(const format& to) noexcept {
  return static_cast<u64>(to.beyond - 1 - to.least - to.precision + 3) << (to.precision - 1);
}
u64 nan_of(const format& to) noexcept { return infinity_of(to) | u64{1} << (to.precision - 2); }

// The bits of the number nearest to word * 2^unit, ties to even. `more`: something that is not zero lies below, and then there are at least two
// digits more than the format has.
u64 rounded(const u64* word, int words, int unit, bool more, const format& to) noexcept {
  while (words > 0 && word[words - 1] == 0) --words;
  if (words == 0) return 0;
  const int highest = 64 * words - 1 - std::countl_zero(word[words - 1]);
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

void put(u64 bits, const format& to, void* result) noexcept {
  if (to.bytes == 8) {
    std::memcpy(result, &bits, 8);
  } else if (to.bytes == 4) {
    const auto shorter = static_cast<std::uint32_t>(bits);
    std::memcpy(result, &shorter, 4);
  } else {
    const auto shorter = static_cast<std::uint16_t>(bits);
    std::memcpy(result, &shorter, 2);
  }
}
u64 signed_bits(u64 bits, bool negative, const format& to) noexcept {
  return bits | static_cast<u64>(negative) << (8 * to.bytes - 1);
}

// Of terms that are no numbers or infinite the result, or none.
bool is_special(u64 flags, const format& to, u64& bits) noexcept {
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
u64 bits_of_sum(u64 flags, const u64* sum, int words, int unit, u64 divisor, const format& to) noexcept {
  u64 bits = 0;
  if (is_special(flags, to, bits)) return bits;
  const magnitude of(sum, words);
  if (of.words == 0) return signed_bits(0, (flags & has_other_than_minus_zero) == 0, to);
  if (divisor == 1) return signed_bits(rounded(of.word.data(), of.words, unit, false, to), of.negative, to);
  leading<3> top(of.word.data(), of.words, unit);  // 129 bits at least, of which 64 are left
  top.divide_by(divisor);
  return signed_bits(rounded(top.word, 3, top.unit, top.more, to), of.negative, to);
}

// The largest integer whose square is not above x.
u64 root_of(u128 x) noexcept {
  u64 root = 0;
  for (u64 digit = u64{1} << 63; digit != 0; digit >>= 1)
    if (u128{root | digit} * (root | digit) <= x) root |= digit;
  return root;
}

u64 bits_of_root(u64 flags, const u64* sum, int words, int unit, const format& to) noexcept {
  u64 bits = 0;
  const magnitude of(sum, words);
  if (of.negative || (flags & has_minus_infinity) != 0) return nan_of(to);  // no squares: words of a dot
  if (is_special(flags, to, bits)) return bits;
  if (of.words == 0) return 0;
  // 127 or 128 bits, and an even exponent.
  leading<3> top(of.word.data(), of.words, unit);
  const int zeros = std::countl_zero(top.word[2]) / 2 * 2;
  const auto shifted = [&](int i) { return zeros == 0 ? top.word[i] : top.word[i] << zeros | top.word[i - 1] >> (64 - zeros); };
  const u128 radicand = u128{shifted(2)} << 64 | shifted(1);
  const u64 root = root_of(radicand);
  const bool more = top.more || top.word[0] << zeros != 0 || u128{root} * root != radicand;
  return rounded(&root, 1, (top.unit + 64 - zeros) / 2, more, to);
}

// (n Q - S S) / (n degrees).
u64 bits_of_variance(u64 flags, const u64* sum, int sum_words, const u64* squares, int square_words, int unit, u64 count,
                     u64 degrees, const format& to) noexcept {
  if (!is_sum_of_numbers(flags) || degrees == 0) return nan_of(to);
  constexpr int most = 2 * most_integer_words + 2;
  u64 difference[most] = {};
  u64 carry = 0;
  for (int i = 0; i < square_words; ++i) {
    const u128 product = u128{squares[i]} * count + carry;
    difference[i] = static_cast<u64>(product);
    carry = static_cast<u64>(product >> 64);
  }
  difference[square_words] = carry;
  const magnitude s(sum, sum_words);
  u64 square[most] = {};
  for (int i = 0; i < s.words; ++i) {
    carry = 0;
    for (int j = 0; j < s.words; ++j) {
      const u128 product = u128{s.word[static_cast<std::size_t>(i)]} * s.word[static_cast<std::size_t>(j)] + square[i + j] + carry;
      square[i + j] = static_cast<u64>(product);
      carry = static_cast<u64>(product >> 64);
    }
    square[i + s.words] = carry;
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

void add(u64* to, const u64* from, int words) noexcept {
  u64 carry = 0;
  for (int i = 0; i < words; ++i) {
    const u128 sum = u128{to[i]} + from[i] + carry;
    to[i] = static_cast<u64>(sum);
    carry = static_cast<u64>(sum >> 64);
  }
}

}  // namespace

void merge(const kind_row& kind, std::uint64_t* to, const std::uint64_t* from) noexcept {
  to[0] |= from[0];
  const int first_words = integer_words(kind.limbs[0]);
  add(to + 1, from + 1, first_words);
  if (kind.limbs[1] > 0) add(to + 1 + first_words, from + 1 + first_words, integer_words(kind.limbs[1]));
}

void store(const kind_row& kind, const std::uint64_t* state, std::uint64_t count, std::int64_t* words) noexcept {
  std::fill_n(words, kind.words(), 0);
  if (count == 0) return;
  words[first] = first_word + kind.number;
  words[states] = 1;
  words[elements] = static_cast<std::int64_t>(count);
  for (int i = nans; i <= others; ++i) words[i] = static_cast<std::int64_t>(state[0] >> (i - nans) & 1);
  const std::uint64_t* integer = state + 1;
  std::int64_t* limb = words + header_words;
  for (const int limbs : kind.limbs) {
    for (int i = 0; i < limbs && is_sum_of_numbers(state[0]); ++i) {
      const auto bits = static_cast<std::uint32_t>(integer[i / 2] >> (32 * (i % 2)));
      limb[i] = i + 1 < limbs ? static_cast<std::int64_t>(bits) : static_cast<std::int64_t>(static_cast<std::int32_t>(bits));
    }
    integer += integer_words(limbs);
    limb += limbs;
  }
  words[check] = static_cast<std::int64_t>(check_of(kind, words));
}

std::uint64_t load(const kind_row& kind, const std::int64_t* words, std::uint64_t* state) {
  const std::int64_t m = words[states];
  std::fill_n(state, 1 + integers_of(kind), 0);
  if (m == 0) {
    for (std::size_t i = 0; i < kind.words(); ++i)
      if (words[i] != 0) refuse("they are those of no state, but not all zeros");
    return 0;
  }
  if (!is_between(m, 1, most_states)) refuse("they were damaged, or added as something else than 64-bit integers");
  if (words[first] != m * (first_word + kind.number)) {
    if (words[first] % m == 0 && is_between(words[first] / m, first_word + 1, first_word + 8))
      refuse("they are those of another form or element type");
    refuse("they were damaged, or are those of another version");
  }
  if (words[check] < 0 || remainder_of(words[check]) != check_of(kind, words))
    refuse("they were damaged, or added as something else than 64-bit integers");
  if (!is_between(words[elements], m, most_elements)) refuse("they have more than 2^62 elements, or none");
  for (int i = nans; i <= others; ++i)
    if (!is_between(words[i], 0, m)) refuse("they were damaged");
  std::uint64_t* integer = state + 1;
  const std::int64_t* limb = words + header_words;
  for (const int limbs : kind.limbs) {
    std::int64_t carry = 0;
    for (int i = 0; i < limbs; ++i) {
      const bool last = i + 1 == limbs;
      const std::int64_t digit = std::int64_t{1} << (last ? 31 : 32);
      if (!is_between(limb[i], last ? -m * digit : 0, m * (digit - 1))) refuse("they were damaged");
      const std::int64_t now = limb[i] + carry;
      carry = now >> 32;
      if (last && !is_between(now, -digit, digit - 1)) refuse("their sum is larger than that of 2^62 elements");
      const auto bits = static_cast<std::uint64_t>(now) & 0xffffffffU;
      integer[i / 2] |= bits << (32 * (i % 2));
      if (last && i % 2 == 0) integer[i / 2] = static_cast<std::uint64_t>(now);  // with its sign
    }
    integer += integer_words(limbs);
    limb += limbs;
  }
  for (int i = nans; i <= others; ++i)
    if (words[i] != 0) state[0] |= std::uint64_t{1} << (i - nans);
  if (!is_sum_of_numbers(state[0])) std::fill_n(state + 1, integers_of(kind), 0);
  return static_cast<std::uint64_t>(words[elements]);
}

void conclude(element_type type, form what, bool wide, const std::uint64_t* state, std::uint64_t count, std::int64_t ddof,
              void* result) noexcept {
  if (count == 0) {
    store_empty(type, what, wide, result);
    return;
  }
  const kind_row& kind = kind_of(what, type);
  const format to = format_of(result_type(type, what, wide));
  const int words = integer_words(kind.limbs[0]);
  if (what == form::norm2) return put(bits_of_root(state[0], state + 1, words, kind.unit[0], to), to, result);
  const bool is_mean = what == form::mean || what == form::mean_variance;
  put(bits_of_sum(state[0], state + 1, words, kind.unit[0], is_mean ? count : 1, to), to, result);
  if (what != form::mean_variance) return;
  // Both fit 63 bits, their difference the 64 of an unsigned one.
  const bool has_variance = ddof < 0 || count > static_cast<std::uint64_t>(ddof);
  const std::uint64_t degrees = has_variance ? count - static_cast<std::uint64_t>(ddof) : 0;
  put(bits_of_variance(state[0], state + 1, words, state + 1 + words, integer_words(kind.limbs[1]), kind.unit[1], count, degrees,
                       to),
      to, static_cast<std::byte*>(result) + to.bytes);
}

}  // namespace onefold::detail::exact
