#pragma once
/// @file float16.hpp  Floats of two bytes, as arrays hold them: IEEE 754 binary16 and bfloat16. Nothing is computed in them; they become floats.
///
/// They need no header of CUDA's and no compiler's support, and have the layout of __half, __nv_bfloat16, _Float16, std::float16_t and
/// std::bfloat16_t, arrays of which the named forms take as they are.
/// Single values are converted to these and back by a cast by way of float: `__half(h)`, `static_cast<std::float16_t>(static_cast<float>(h))`,
/// `float16(of_cuda)`. Between types of one format every number stays what it is; of a NaN the payload may be lost.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <onefold/detail/host_device.hpp>

struct __half;         // NOLINT(clang-diagnostic-reserved-identifier): CUDA's names
struct __nv_bfloat16;  // NOLINT(clang-diagnostic-reserved-identifier)

namespace onefold {

namespace detail {

ONEFOLD_HOST_DEVICE inline std::uint32_t bits_of_float(float value) noexcept {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
ONEFOLD_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) noexcept {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// Exact.
ONEFOLD_HOST_DEVICE inline float float_of_binary16(std::uint16_t half) noexcept {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t size = half & 0x7fffU;
  if (size >= 0x7c00U) return float_of_bits(sign | 0x7f800000U | (size & 0x3ffU) << 13);
  // A subnormal's digits are those of the number above 2^-1 with this unit in the last place, less 2^-1.
  if (size < 0x400U) {
    const std::uint32_t digits = bits_of_float(float_of_bits(0x3f000000U | size) - 0.5F);
    return float_of_bits(sign | digits);
  }
  return float_of_bits(sign | ((size << 13) + (112U << 23)));
#endif
}

// To nearest, ties to even.
ONEFOLD_HOST_DEVICE inline std::uint16_t binary16_of_float(float value) noexcept {
  const std::uint32_t bits = bits_of_float(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) return 0x7e00U;
  if (size >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520 and more
  std::uint32_t rounded = 0;
  if (size < 0x38800000U) {  // below 2^-14
    // So that the unit in the last place is 2^-24, with the digits' own rounding.
    const std::uint32_t shift = 126U - (size >> 23);
    if (shift > 24U + 1U) return sign;
    const std::uint32_t digits = (size & 0x7fffffU) | (size >= 0x800000U ? 0x800000U : 0U);
    const std::uint32_t left = digits & ((1U << shift) - 1U);
    const std::uint32_t half = 1U << (shift - 1U);
    rounded = digits >> shift;
    rounded += left > half || (left == half && (rounded & 1U) != 0) ? 1U : 0U;
  } else {
    const std::uint32_t rebased = size - (112U << 23);
    rounded = (rebased + 0xfffU + (rebased >> 13 & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | rounded);
}

ONEFOLD_HOST_DEVICE inline float float_of_bfloat16(std::uint16_t brain) noexcept {
  return float_of_bits(static_cast<std::uint32_t>(brain) << 16);
}

ONEFOLD_HOST_DEVICE inline std::uint16_t bfloat16_of_float(float value) noexcept {
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fc0U;
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace detail

/// IEEE 754 binary16: 11 binary digits, up to 65504. Converts to float exactly, and from it to nearest, ties to even; every NaN becomes 0x7e00.
struct float16 {
  float16() = default;
  ONEFOLD_HOST_DEVICE explicit float16(float value) noexcept : representation(detail::binary16_of_float(value)) {}
  ONEFOLD_HOST_DEVICE operator float() const noexcept {
    return detail::float_of_binary16(representation);
  }  // NOLINT: as float to double

  /// With these bits.
  ONEFOLD_HOST_DEVICE static float16 from_bits(std::uint16_t bits) noexcept {
    float16 made;
    made.representation = bits;
    return made;
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint16_t bits() const noexcept { return representation; }

  std::uint16_t representation;  ///< the bits, as bits() gives them; public, so that whoever copies bytes into one is not warned
};

/// bfloat16: the upper half of a float, 8 binary digits. Converts to float exactly, and from it to nearest, ties to even; every NaN becomes 0x7fc0.
struct bfloat16 {
  bfloat16() = default;
  ONEFOLD_HOST_DEVICE explicit bfloat16(float value) noexcept : representation(detail::bfloat16_of_float(value)) {}
  ONEFOLD_HOST_DEVICE operator float() const noexcept {
    return detail::float_of_bfloat16(representation);
  }  // NOLINT: as float to double

  /// With these bits.
  ONEFOLD_HOST_DEVICE static bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 made;
    made.representation = bits;
    return made;
  }
  [[nodiscard]] ONEFOLD_HOST_DEVICE std::uint16_t bits() const noexcept { return representation; }

  std::uint16_t representation;  ///< the bits, as bits() gives them; public, so that whoever copies bytes into one is not warned
};

namespace detail {

/// Binary digits of a float of ours, with the leading one; 0 of other types.
template <class T>
inline constexpr int digits_of = 0;
#define ONEFOLD_FLOAT(name, T, digits) \
  template <>                          \
  inline constexpr int digits_of<T> = digits;
#define ONEFOLD_SMALL_FLOAT ONEFOLD_FLOAT
#include <onefold/types.def>

/// The float of two bytes with the layout of T, if T is a compiler's or CUDA's; else T.
template <class T>
struct half_like {
  using type = T;
};
template <>
struct half_like<__half> {
  using type = float16;
};
template <>
struct half_like<__nv_bfloat16> {
  using type = bfloat16;
};
#if defined(__FLT16_MANT_DIG__) && !defined(__CUDACC__) && (defined(__clang__) || __GNUC__ >= 13)
template <>
struct half_like<_Float16> {
  using type = float16;
};
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <>
struct half_like<decltype(0.0bf16)> {
  using type = bfloat16;
};
#endif
template <class T>
using half_like_t = typename half_like<T>::type;

/// A float of two bytes.
template <class T>
inline constexpr bool is_half = digits_of<half_like_t<T>> > 0 && digits_of<half_like_t<T>> < 16;

// An exponent of more than 8 bits has numbers that no float is; with one of less than 3 there is next to no range.
#define ONEFOLD_SMALL_FLOAT(name, T, digits)                       \
  static_assert(sizeof(T) == 2 && (digits) >= 8 && (digits) <= 13, \
                #name " has two bytes, and 3 to 8 of their bits are the exponent");
#include <onefold/types.def>

}  // namespace detail

}  // namespace onefold
