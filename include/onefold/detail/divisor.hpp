#pragma once
/// @file divisor.hpp  Division of indices by a number that stays the same: a product and a shift, where the GPU's own division takes some 70
/// instructions for each element.

#include <cstdint>

#include <onefold/operators.hpp>

namespace onefold {
namespace detail {

/// n / d for all n below 2^63, by the reciprocal ceil(2^p / d) with p = 63 + ceil(log2 d), and for numbers below 2^31 the same in half the
/// width (Granlund and Montgomery 1994). Exact: the reciprocal is too large by less than 2^-p d, which n < 2^63 does not carry to the next integer.
class divisor {
 public:
  divisor() = default;
  /// @param d     from 1 to 2^62
  /// @param most  the largest n that will be divided
  divisor(std::uint64_t d, std::uint64_t most) noexcept
      : d_(d), narrow_(most < (std::uint64_t{1} << 31) && d < (std::uint64_t{1} << 31)) {
    while ((std::uint64_t{1} << shift_) < d) ++shift_;  // ceil(log2 d)
    const int power = (narrow_ ? 31 : 63) + shift_;
    // ceil(2^power / d), by long division: 2^power has up to 126 bits.
    std::uint64_t quotient = 0;
    std::uint64_t rest = 0;
    for (int bit = power; bit >= 0; --bit) {
      const bool carry = rest >> 63 != 0;
      rest = rest << 1 | (bit == power ? 1U : 0U);
      quotient <<= 1;
      if (carry || rest >= d) {
        rest -= d;
        quotient |= 1;
      }
    }
    reciprocal_ = quotient + (rest != 0 ? 1 : 0);
  }

  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t of(std::uint64_t n) const noexcept {
#ifdef __CUDA_ARCH__
    if (d_ == 1) return n;
    if (narrow_) return __umulhi(static_cast<unsigned>(n), static_cast<unsigned>(reciprocal_)) >> (shift_ - 1);
    return __umul64hi(n, reciprocal_) >> (shift_ - 1);
#else
    if (d_ == 1) return n;
    if (narrow_) return ((n * reciprocal_) >> 32) >> (shift_ - 1);
    return high_product(n, reciprocal_) >> (shift_ - 1);
#endif
  }

 private:
  // The upper half of a product of 128 bits.
  static std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t low = 0xffffffffU;
    const std::uint64_t middle = (a >> 32) * (b & low) + (((a & low) * (b & low)) >> 32);
    const std::uint64_t other = (a & low) * (b >> 32) + (middle & low);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
  }

  std::uint64_t d_ = 1;
  std::uint64_t reciprocal_ = 0;
  int shift_ = 0;
  bool narrow_ = false;
};

/// n / d for numbers that lie a few hundred steps behind one below d: an upper half of a product, and no branch, which would keep loads behind it
/// from being on their way together.
///
/// Of a d that is beyond 2^13 the last 2^13 numbers below it are told apart; from those before, no step of these leads to d. Then all is below
/// 2^13 + reach <= 2^14, and ceil(2^30 / d) is exact, since it is too large by less than 1 and n d < 2^30.
class near_divisor {
 public:
  static constexpr std::uint32_t reach = std::uint32_t{1} << 13;  ///< of steps; they are fewer

  /// @param d  from 1 on
  explicit near_divisor(std::uint64_t d) noexcept
      : before_(d > reach ? d - reach : 0),
        reciprocal_(static_cast<std::uint32_t>(((std::uint64_t{1} << 30) + (d - before_) - 1) / (d - before_))) {}

  /// Where n < d is, for quotient().
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t place(std::uint64_t n) const noexcept {
    return n < before_ ? 0 : 4 * static_cast<std::uint32_t>(n - before_);
  }
  /// So many steps on. The sum of both is a place for quotient(), and no more for this.
  [[nodiscard]] static ONEFOLD_HOST_DEVICE constexpr std::uint32_t steps(std::uint32_t count) noexcept { return 4 * count; }
  /// (n + steps) / d
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint32_t quotient(std::uint32_t place) const noexcept {
#ifdef __CUDA_ARCH__
    return __umulhi(place, reciprocal_);
#else
    return static_cast<std::uint32_t>(std::uint64_t{place} * reciprocal_ >> 32);
#endif
  }

 private:
  std::uint64_t before_;
  std::uint32_t reciprocal_;
};

}  // namespace detail
}  // namespace onefold
