#pragma once
/// @file exact_on_host.hpp  For the host, of the device's functions those that exact sums call beside what warp_on_host.hpp has. To be included behind that one, and
/// ahead of all headers of onefold's.

#include <math.h>

#include <cmath>

#include "warp_on_host.hpp"

using std::max;

template <class To, class From>
To bits_as(From from) {
  To to;
  static_assert(sizeof(to) == sizeof(from));
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline long long __double_as_longlong(double x) { return bits_as<long long>(x); }
inline int __double2hiint(double x) { return static_cast<int>(bits_as<std::uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(bits_as<std::uint64_t>(x)); }
inline unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
inline int __float_as_int(float x) { return bits_as<int>(x); }
inline float __uint_as_float(unsigned x) { return bits_as<float>(x); }
inline float __int_as_float(int x) { return bits_as<float>(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double __hiloint2double(int high, int low) {
  return bits_as<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long more) {
  const unsigned long long before = *at;
  *at += more;
  return before;
}
inline unsigned atomicOr(unsigned* at, unsigned more) {
  const unsigned before = *at;
  *at |= more;
  return before;
}
inline int __any_sync(unsigned lanes, bool is_so) {
  unsigned all = is_so ? 1 : 0;
  for (int distance = 16; distance > 0; distance /= 2) all |= __shfl_xor_sync(lanes, all, distance);
  return all != 0 ? 1 : 0;
}
inline int __all_sync(unsigned lanes, bool is_so) { return __any_sync(lanes, !is_so) == 0 ? 1 : 0; }
