#pragma once
/// @file data.hpp  Inputs. Two families: exact data, whose answer no order changes, find every lost, doubled or stray element;
/// adversarial data show how accurate a result is.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "element.hpp"

namespace onefold_test {

/// Whether a sanitizer looks at each access, which takes its time: then fewer cases and smaller arrays will do.
#ifdef ONEFOLD_TEST_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Pseudo-random numbers by index (splitmix64): any element of a sequence without those before it.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] std::uint64_t at(std::uint64_t i) const {
    std::uint64_t z = seed_ + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t operator()() { return at(next_++); }
  /// Below `limit`, which is small beside 2^64.
  std::uint64_t below(std::uint64_t limit) { return (*this)() % limit; }
  /// In [0, 1).
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// What ONEFOLD_SEED says, or 0.
[[nodiscard]] std::uint64_t environment_seed();
/// hash(test name) xor ONEFOLD_SEED: every test its own data, the same in every run until the environment asks for others.
[[nodiscard]] std::uint64_t seed_of(std::string_view test_name);

/// Data whose reduction is exact in every order, and in which every element counts where the operator lets it:
/// integers  all bits random for sum, odd numbers for prod (an odd factor can always be told: it has an inverse)
/// sum       small whole numbers, none of them zero, whose absolute sum fits the significand
/// prod      1 and -1 at random with at most a hundred factors of 2 and 1/2 among them
/// min, max  falling or rising, so that the last element of every prefix decides
[[nodiscard]] elements exact_data(element_type type, operation op, std::size_t count, std::uint64_t seed);

/// Float data that lose accuracy.
enum class hardship {
  cancelling,       ///< pairs that cancel, shuffled, and a small rest
  ill_conditioned,  ///< random exponents and signs, and a last element that brings the sum near zero
  full_range,       ///< every exponent that cannot overflow
  growing,          ///< from small to large: a running sum loses the early ones
  one_huge,         ///< one element that the others vanish beside
};
inline constexpr std::array hardships{hardship::cancelling, hardship::ill_conditioned, hardship::full_range, hardship::growing,
                                      hardship::one_huge};
[[nodiscard]] std::string_view name(hardship kind);
[[nodiscard]] elements hard_sum(element_type type, hardship kind, std::size_t count, std::uint64_t seed);

/// Floats near 1 whose product, of all or of any of them, stays in range.
[[nodiscard]] elements factors_near_one(element_type type, std::size_t count, std::uint64_t seed);

/// Any finite floats, or any integers.
[[nodiscard]] elements any_values(element_type type, std::size_t count, std::uint64_t seed);

/// A value that changes every answer it gets into: NaN, and for integers the winning extremum or a number that no sum misses.
[[nodiscard]] scalar poison(element_type type, operation op);

/// The value that wins a minimum or a maximum against all of exact_data.
[[nodiscard]] scalar winner(element_type type, operation op);

}  // namespace onefold_test
