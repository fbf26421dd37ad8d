#pragma once
/// @file state.hpp  What guarantee::exact knows of a set of elements, as docs/exact.md specifies it: from the integers that backends compute to
/// the words that are merged, back, and to the rounded result. It knows no backend.

#include <cstddef>
#include <cstdint>

#include <onefold/detail/device_exact.hpp>
#include <onefold/detail/exact_kinds.hpp>
#include <onefold/types.hpp>

namespace onefold::detail::exact {

/// 64-bit words, little-endian, in two's complement: integers, scaled as the kind's sums are. A number of the elements, or pairs, that
/// there were, goes with it where it is needed.
inline constexpr int most_integer_words = 67;
constexpr int integer_words(int limbs) noexcept { return (limbs + 1) / 2; }

/// In the memory of a backend: `flags`, then the integers of a kind's sums side by side.
constexpr int integers_of(const kind_row& kind) noexcept { return integer_words(kind.limbs[0]) + integer_words(kind.limbs[1]); }
constexpr std::size_t bytes_of(const kind_row& kind) noexcept {
  return sizeof(std::uint64_t) * (1 + static_cast<std::size_t>(integers_of(kind)));
}

/// to += from, states as in a backend's memory.
void merge(const kind_row& kind, std::uint64_t* to, const std::uint64_t* from) noexcept;

inline constexpr std::size_t most_words = 210;

/// Which word has what (docs/exact.md), ahead of the limbs; and how much there may be.
inline constexpr int word_of_kind = 0, word_of_states = 1, word_of_elements = 2, word_of_nans = 3, word_of_minus_infinities = 5,
                     word_of_others = 6, word_of_check = 7;
/// word_of_check is a sum in the field of this prime, of all other words with powers of this factor.
inline constexpr std::uint32_t check_prime = (std::uint32_t{1} << 31) - 1, check_factor = 48271;
inline constexpr std::int64_t most_states = std::int64_t{1} << 31;
inline constexpr std::int64_t most_elements = std::int64_t{1} << 62;

/// Whether a sum, the first or the second, of the kind with this number has no terms below zero: absolute values, and the squares of moments.
constexpr bool is_never_negative(int kind, int sum) noexcept { return sum == 0 ? kind == 3 || kind == 4 : kind == 7 || kind == 8; }

/// The canonical words of a state of `count` elements; kind.words() of them.
void store(const kind_row& kind, const std::uint64_t* state, std::uint64_t count, std::int64_t* words) noexcept;

/// The state in words that are canonical or the sum of canonical ones; returns the number of elements. Throws invalid_argument where they are
/// neither.
std::uint64_t load(const kind_row& kind, const std::int64_t* words, std::uint64_t* state);

/// Stores the rounded result of a form, in its own types.
void conclude(element_type type, form what, bool wide, const std::uint64_t* state, std::uint64_t count, std::int64_t ddof,
              void* result) noexcept;
/// The same of mean_variance of complex numbers with parts of this type, from the states of both: three numbers. What was the second state is another one then.
void conclude_complex_moments(element_type type, bool wide, const std::uint64_t* real, std::uint64_t* imaginary,
                              std::uint64_t count, std::int64_t ddof, void* result) noexcept;

}  // namespace onefold::detail::exact
