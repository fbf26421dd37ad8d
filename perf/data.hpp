#pragma once
/// @file data.hpp  The timed arrays' contents, the same on host and device, chosen so that every order of combination gives the same bits.

#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define ONEFOLD_PERF_HOST_DEVICE __host__ __device__
#else
#define ONEFOLD_PERF_HOST_DEVICE
#endif

namespace onefold::perf {

/// A well mixed 64-bit number from an index (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
ONEFOLD_PERF_HOST_DEVICE constexpr std::uint64_t mixed(std::uint64_t i) {
  std::uint64_t z = i + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Element i. Small integers around zero for sum, min and max: partial sums stay near sqrt(n), so a float holds them exactly. 1 and -1
/// (1 and 3 without a sign) for prod.
template <class T>
ONEFOLD_PERF_HOST_DEVICE constexpr T element_at(std::uint64_t i, bool for_product) {
  const std::uint64_t bits = mixed(i);
  if constexpr (std::is_class_v<T>) {  // float16 and bfloat16
    return T(static_cast<float>(static_cast<int>(bits % 7) - 3));
  } else {
    if (for_product) {
      if (bits % 2 == 0) return T(1);
      return std::is_signed_v<T> ? T(-1) : T(3);
    }
    return static_cast<T>(static_cast<T>(bits % 7) - (std::is_signed_v<T> ? T(3) : T(0)));
  }
}

}  // namespace onefold::perf
