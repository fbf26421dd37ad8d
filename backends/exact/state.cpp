#include "state.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <onefold/error.hpp>

#include "../float_environment.hpp"
#include "../no_elements.hpp"
#include "rounding.hpp"

namespace onefold::detail::exact {

namespace {

// --- the words of docs/exact.md ---------------------------------------------------------------------------------------------------------

constexpr u64 prime = check_prime;

u64 remainder_of(std::int64_t w) noexcept {
  const std::int64_t rest = w % static_cast<std::int64_t>(prime);
  return static_cast<u64>(rest < 0 ? rest + static_cast<std::int64_t>(prime) : rest);
}

constexpr auto factors = [] {
  std::array<u64, most_words> all{};
  u64 factor = 1;
  for (u64& each : all) each = factor = factor * check_factor % prime;
  return all;
}();

u64 check_of(const kind_row& kind, const std::int64_t* words) noexcept {
  u128 sum = 0;
  for (std::size_t i = 0; i < kind.words(); ++i)
    if (i != word_of_check) sum += u128{factors[i]} * remainder_of(words[i]);
  return static_cast<u64>(sum % prime);
}

[[noreturn]] void refuse(const char* why) {
  throw error(errc::invalid_argument, std::string("these words are no state of this form and element type: ") + why);
}

bool is_between(std::int64_t w, std::int64_t least, std::int64_t most) noexcept { return least <= w && w <= most; }

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
  words[word_of_kind] = first_word + kind.number;
  words[word_of_states] = 1;
  words[word_of_elements] = static_cast<std::int64_t>(count);
  for (int i = word_of_nans; i <= word_of_others; ++i) words[i] = static_cast<std::int64_t>(state[0] >> (i - word_of_nans) & 1);
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
  words[word_of_check] = static_cast<std::int64_t>(check_of(kind, words));
}

std::uint64_t load(const kind_row& kind, const std::int64_t* words, std::uint64_t* state) {
  const std::int64_t m = words[word_of_states];
  std::fill_n(state, 1 + integers_of(kind), 0);
  if (m == 0) {
    for (std::size_t i = 0; i < kind.words(); ++i)
      if (words[i] != 0) refuse("they are those of no state, but not all zeros");
    return 0;
  }
  if (!is_between(m, 1, most_states)) refuse("they were damaged, or added as something else than 64-bit integers");
  if (words[word_of_kind] != m * (first_word + kind.number)) {
    if (words[word_of_kind] % m == 0 && is_between(words[word_of_kind] / m, first_word + 1, first_word + 8))
      refuse("they are those of another form or element type");
    refuse("they were damaged, or are those of another version");
  }
  if (words[word_of_check] < 0 || remainder_of(words[word_of_check]) != check_of(kind, words))
    refuse("they were damaged, or added as something else than 64-bit integers");
  if (!is_between(words[word_of_elements], m, most_elements)) refuse("they have more than 2^62 elements, or none");
  for (int i = word_of_nans; i <= word_of_others; ++i)
    if (!is_between(words[i], 0, m)) refuse("they were damaged");
  constexpr const char* negative = "they tell of absolute values, or squares, that are negative";
  if (is_never_negative(kind.number, 0) && words[word_of_minus_infinities] != 0) refuse(negative);
  std::uint64_t* integer = state + 1;
  const std::int64_t* limb = words + header_words;
  for (int s = 0; s < 2; ++s) {
    const int limbs = kind.limbs[s];
    std::int64_t carry = 0;
    for (int i = 0; i < limbs; ++i) {
      const bool last = i + 1 == limbs;
      const std::int64_t digit = std::int64_t{1} << (last ? 31 : 32);
      if (!is_between(limb[i], last ? -m * digit : 0, m * (digit - 1))) refuse("they were damaged");
      const std::int64_t now = limb[i] + carry;
      carry = now >> 32;
      if (last && !is_between(now, -digit, digit - 1)) refuse("their sum is larger than that of 2^62 elements");
      if (last && now < 0 && is_never_negative(kind.number, s)) refuse(negative);
      const auto bits = static_cast<std::uint64_t>(now) & 0xffffffffU;
      integer[i / 2] |= bits << (32 * (i % 2));
      if (last && i % 2 == 0) integer[i / 2] = static_cast<std::uint64_t>(now);  // with its sign
    }
    integer += integer_words(limbs);
    limb += limbs;
  }
  for (int i = word_of_nans; i <= word_of_others; ++i)
    if (words[i] != 0) state[0] |= std::uint64_t{1} << (i - word_of_nans);
  if (!is_sum_of_numbers(state[0])) std::fill_n(state + 1, integers_of(kind), 0);
  return static_cast<std::uint64_t>(words[word_of_elements]);
}

rounding rounding_of(element_type type, form what, bool wide, std::uint64_t count, std::int64_t ddof) noexcept {
  const kind_row& kind = kind_of(what, type);
  return {format_of(result_type(type, what, wide)), what,  {integer_words(kind.limbs[0]), integer_words(kind.limbs[1])},
          {kind.scale[0], kind.scale[1]},           count, degrees_of(count, ddof)};
}

void conclude(element_type type, form what, bool wide, const std::uint64_t* state, std::uint64_t count, std::int64_t ddof,
              void* result) noexcept {
  if (count == 0) {
    store_empty(type, what, wide, result);
    return;
  }
  const default_float_environment no_traps;  // of integers that become numbers
  scratch memory;
  round_state(rounding_of(type, what, wide, count, ddof), state, memory, result);
}

void conclude_complex_moments(element_type type, bool wide, const std::uint64_t* real, std::uint64_t* imaginary,
                              std::uint64_t count, std::int64_t ddof, void* result) noexcept {
  const rounding how = rounding_of(type, form::mean_variance, wide, count, ddof);
  if (count == 0) {
    for (std::size_t k = 0; k < 3; ++k) put(nan_of(how.to), how.to, static_cast<std::byte*>(result) + k * how.to.bytes);
    return;
  }
  const default_float_environment no_traps;
  scratch memory;
  round_complex_moments(how, real, imaginary, memory, result);
}

}  // namespace onefold::detail::exact
