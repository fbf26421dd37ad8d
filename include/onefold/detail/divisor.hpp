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

/// n / d for all n below d + reach: what a few hundred steps from a place in a row come to. Without branches, which would keep loads behind
/// them from being on their way together.
class near_divisor {
 public:
  /// @param d      from 1 to 2^62
  /// @param reach  at most 2^30, and at most d where d is 2^30 or more
  near_divisor(std::uint64_t d, std::uint64_t reach) noexcept : d_(d), far_(d + reach >= (std::uint64_t{1} << 31)) {
    if (far_) return;
    while ((std::uint64_t{1} << (shift_ - 31)) < d) ++shift_;  // 31 + ceil(log2 d)
    reciprocal_ = static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + d - 1) / d);
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint64_t of(std::uint64_t n) const noexcept {
    const std::uint64_t steps = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)) * reciprocal_) >> shift_;
    return far_ ? (n >= d_ ? 1U : 0U) : steps;
  }

 private:
  std::uint64_t d_;
  std::uint32_t reciprocal_ = 0;
  int shift_ = 31;
  bool far_;
};

}  // namespace detail
}  // namespace onefold
