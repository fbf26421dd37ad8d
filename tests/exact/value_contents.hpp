#pragma once
/// @file value_contents.hpp  Numbers that lead the kernels of exact sums of functions along all their ways, for host and GPU tests. C++17.

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace onefold_test {

enum class value_kind {
  normal,      ///< between -1 and 1
  within_60,   ///< exponents on either side of 0 ..
  within_250,  ///< .. of floats all that they have
  everywhere,  ///< all exponents of finite numbers
  any_bits,    ///< infinities and NaN among them
  infinities,  ///< few, all of one sign
  zeros,
  minus_zeros,
  subnormal,
  greatest,  ///< which overflow unless they cancel
  late,      ///< zeros at first, then 1
  rising,    ///< stretches, each of which lies far above the one before
  falling,
  outliers,  ///< one of a thousand is anywhere
  climbing,  ///< of one sign, and soon a few thousand times the first: running sums are left by their carries
  seesaw,    ///< large ones that cancel two rows of a warp later, so that running sums leave their place and come back
  specks     ///< zeros and numbers that are all but zero among others
};
inline constexpr value_kind value_kinds[] = {
    value_kind::normal,     value_kind::within_60, value_kind::within_250,  value_kind::everywhere, value_kind::any_bits,
    value_kind::infinities, value_kind::zeros,     value_kind::minus_zeros, value_kind::subnormal,  value_kind::greatest,
    value_kind::late,       value_kind::rising,    value_kind::falling,     value_kind::outliers,   value_kind::climbing,
    value_kind::seesaw,     value_kind::specks};

template <class T>
std::vector<T> values_of_kind(value_kind kind, std::size_t count, std::uint64_t seed) {
  using bits_type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr int digits = sizeof(T) == 8 ? 52 : 23;
  constexpr int last = sizeof(T) == 8 ? 2047 : 255;  // the exponent field of infinities
  constexpr int one = last / 2;
  std::uint64_t state = seed * 2 + 1;
  const auto random = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state ^ state >> 29) * 0xbf58476d1ce4e5b9U;
  };
  const auto below = [&](std::uint64_t limit) { return static_cast<int>((random() >> 20) % limit); };
  const auto made = [&](bool negative, int field, std::uint64_t fraction) {
    const auto bits =
        static_cast<bits_type>(static_cast<bits_type>(negative) << (8 * sizeof(T) - 1) | static_cast<bits_type>(field) << digits |
                               static_cast<bits_type>(fraction >> (64 - digits)));
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  };
  const auto around = [&](int middle, int reach) {
    const int low = middle - reach < 0 ? 0 : middle - reach;
    const int high = middle + reach >= last ? last - 1 : middle + reach;
    const bool negative = below(2) != 0;
    const int field = low + below(static_cast<std::uint64_t>(high - low + 1));
    return made(negative, field, random());
  };
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto stretch = static_cast<int>(8 * i / count);
    switch (kind) {
      case value_kind::normal:
        all[i] = around(one - 4, 3);
        break;
      case value_kind::within_60:
        all[i] = around(one, 60);
        break;
      case value_kind::within_250:
        all[i] = around(one, 250);
        break;
      case value_kind::everywhere:
        all[i] = around(one, last);
        break;
      case value_kind::any_bits: {
        const bool negative = below(2) != 0;
        const int field = below(static_cast<std::uint64_t>(last) + 1);
        all[i] = made(negative, field, random());
        break;
      }
      case value_kind::infinities:
        all[i] = below(500) == 0 ? made(seed % 2 != 0, last, 0) : around(one, 3);
        break;
      case value_kind::zeros:
        all[i] = made(below(2) != 0, 0, 0);
        break;
      case value_kind::minus_zeros:
        all[i] = made(true, 0, 0);
        break;
      case value_kind::subnormal:
        all[i] = made(below(2) != 0, 0, random());
        break;
      case value_kind::greatest:
        all[i] = made(i % 2 != 0, last - 1 - below(2), ~std::uint64_t{0});
        break;
      case value_kind::late:
        all[i] = stretch < 5 ? made(below(3) != 0, 0, 0) : around(one, 3);
        break;
      case value_kind::rising:
        all[i] = around((2 * stretch + 1) * last / 16, 4);
        break;
      case value_kind::falling:
        all[i] = around((15 - 2 * stretch) * last / 16, 4);
        break;
      case value_kind::outliers:
        all[i] = below(1000) == 0 ? around(one, last) : around(one, 3);
        break;
      case value_kind::climbing:
        all[i] = made(seed % 2 != 0, one + (stretch == 0 ? 0 : below(12)), random());
        break;
      case value_kind::seesaw: {
        const auto row = i / 32;
        if (row % 4 == 1)
          all[i] = around(one + 40, 35);
        else
          all[i] = row % 4 == 3 ? -all[i - 64] : around(one, 3);
        break;
      }
      case value_kind::specks:
        all[i] = below(4) == 0 ? made(below(2) != 0, 0, below(2) == 0 ? 0 : random() >> 20) : around(one, 3);
        break;
    }
  }
  return all;
}

}  // namespace onefold_test
