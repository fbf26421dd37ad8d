#pragma once
/// @file another_type.hpp  A float of two bytes that the library does not have, as one in float16.hpp is made: 6 bits of exponent, 10 binary digits.
/// tests/build/another_type puts it ahead of every source.

#include <cstdint>
#include <cstring>

namespace onefold {

struct six_bits_of_exponent {
  six_bits_of_exponent() = default;
  explicit six_bits_of_exponent(float value) noexcept {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    const std::uint32_t sign = bits >> 16 & 0x8000U, size = bits & 0x7fffffffU;
    std::uint32_t rounded = 0;
    if (size > 0x7f800000U) {
      representation = 0x7f00U;
      return;
    }
    if (size >= 0x4f800000U) {  // 2^32
      rounded = 0x7e00U;
    } else if (size < 0x30800000U) {  // below 2^-30: added to 2^-16, whose last digit is the least one
      const std::uint32_t of_sum = 0x37800000U;
      float sum;
      std::memcpy(&sum, &size, sizeof(sum));
      sum += 0x1p-16F;
      std::memcpy(&rounded, &sum, sizeof(rounded));
      rounded -= of_sum;
    } else {
      const std::uint32_t rebased = size - (96U << 23);
      rounded = (rebased + 0x1fffU + (rebased >> 14 & 1U)) >> 14;
    }
    representation = static_cast<std::uint16_t>(sign | rounded);
  }
  operator float() const noexcept {
    const std::uint32_t size = representation & 0x7fffU;
    float value = static_cast<float>(size) * 0x1p-39F;
    std::uint32_t bits = size >= 0x7e00U ? 0x7f800000U | (size & 0x1ffU) << 14 : (size << 14) + (96U << 23);
    if (size < 0x200U) std::memcpy(&bits, &value, sizeof(bits));
    bits |= (representation & 0x8000U) << 16;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static six_bits_of_exponent from_bits(std::uint16_t bits) noexcept {
    six_bits_of_exponent made;
    made.representation = bits;
    return made;
  }
  [[nodiscard]] std::uint16_t bits() const noexcept { return representation; }

  std::uint16_t representation;
};

}  // namespace onefold
