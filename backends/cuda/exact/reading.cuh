#pragma once
/// @file reading.cuh  What the kernels of exact sums read: packs of 16 bytes of arrays that lie anywhere, and which of them each warp takes.

#include <cstdint>
#include <cstring>

#include <onefold/device/warp.cuh>
#include <onefold/float16.hpp>

#include "memory.hpp"

namespace onefold::cuda_backend::exact_sums {

using device::warp_size;

/// Whether this is code for compute capability 7.5, which lends a block 64 KiB of shared memory where others lend 96 and more. All else is as it would be without it, so that
/// code for other GPUs is the same.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr bool has_64_kib = true;
#else
inline constexpr bool has_64_kib = false;
#endif
/// Whether for 9.0 and newer ones, which lend a block 227 KiB, or are no GPUs for bins of doubles; others that are lend 163 (8.0).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool has_227_kib = true;
#else
inline constexpr bool has_227_kib = false;
#endif
/// Of 512 threads, on a multiprocessor at a time: 7.5 has room for 1024 threads.
inline constexpr int blocks_of_512 = has_64_kib ? 2 : 3;

/// How many elements a launch has.
__device__ inline std::uint64_t count_of(const exact_launch& how) {
  if (how.count_at == nullptr) return how.count;
  const std::uint64_t here = *how.count_at;
  const std::uint64_t most = how.result.count;
  const std::uint64_t all = (here < most ? here : most) * (how.part == exact_part::all ? 1 : 2);
  if (all <= how.before) return 0;
  return all - how.before < how.count ? all - how.before : how.count;
}

struct pack {
  unsigned of[4];
};
__device__ inline pack load_pack(const pack* from) {
  const int4 bits = __ldcs(reinterpret_cast<const int4*>(from));
  return {static_cast<unsigned>(bits.x), static_cast<unsigned>(bits.y), static_cast<unsigned>(bits.z),
          static_cast<unsigned>(bits.w)};
}

/// Element `c` of a pack, as a double; that of smaller ones as a float.
template <class E>
struct elements_of {
  using value = float;
  static constexpr int count = 16 / static_cast<int>(sizeof(E));
  static __device__ float get(const pack& p, int c) {
    if constexpr (sizeof(E) == 4) {
      return __uint_as_float(p.of[c]);
    } else {
      const auto bits = static_cast<std::uint16_t>(p.of[c / 2] >> (16 * (c % 2)));
      E half;
      memcpy(&half, &bits, sizeof(bits));
      return static_cast<float>(half);
    }
  }
  static __device__ float load(const void* x, std::uint64_t i) { return static_cast<float>(static_cast<const E*>(x)[i]); }
};
template <>
struct elements_of<double> {
  using value = double;
  static constexpr int count = 2;
  static __device__ double get(const pack& p, int c) {
    return __hiloint2double(static_cast<int>(p.of[2 * c + 1]), static_cast<int>(p.of[2 * c]));
  }
  static __device__ double load(const void* x, std::uint64_t i) { return static_cast<const double*>(x)[i]; }
};

/// A pack of an array that lies anywhere: its elements one by one.
template <class E>
__device__ inline pack gather_pack(const void* from) {
  pack found;
  if constexpr (sizeof(E) == 8) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const double x = __ldcs(static_cast<const double*>(from) + c);
      found.of[2 * c] = static_cast<unsigned>(__double2loint(x));
      found.of[2 * c + 1] = static_cast<unsigned>(__double2hiint(x));
    }
  } else if constexpr (sizeof(E) == 4) {
#pragma unroll
    for (int c = 0; c < 4; ++c) found.of[c] = __ldcs(static_cast<const unsigned*>(from) + c);
  } else {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      found.of[c] = __ldcs(static_cast<const unsigned short*>(from) + 2 * c) |
                    static_cast<unsigned>(__ldcs(static_cast<const unsigned short*>(from) + 2 * c + 1)) << 16;
  }
  return found;
}

/// Elements of y for the imaginary part of a dot. Element i is the one beside it, with the other sign where i is odd. `first` is where a pack of the first
/// array begins; `is_odd` whether with an odd element.
template <class E>
__device__ inline E turned_element(const E* y, std::uint64_t i) {
  return i % 2 == 0 ? y[i + 1] : -y[i - 1];
}
template <class E>
__device__ inline pack turned_pack(const E* first, bool is_odd, bool gathers) {
  constexpr unsigned sign = 0x80000000U;
  if (is_odd) {  // pairs lie across packs
    if constexpr (sizeof(E) == 8) {
      const double before = __ldcs(first - 1);
      const double behind = __ldcs(first + 2);
      return {static_cast<unsigned>(__double2loint(before)), static_cast<unsigned>(__double2hiint(before)) ^ sign,
              static_cast<unsigned>(__double2loint(behind)), static_cast<unsigned>(__double2hiint(behind))};
    } else {
      const auto bits = [&](int i) { return __float_as_uint(__ldcs(first + i)); };
      return {bits(-1) ^ sign, bits(2), bits(1) ^ sign, bits(4)};
    }
  }
  const pack p = gathers ? gather_pack<E>(first) : load_pack(reinterpret_cast<const pack*>(first));
  if constexpr (sizeof(E) == 8)
    return {p.of[2], p.of[3], p.of[0], p.of[1] ^ sign};
  else
    return {p.of[1], p.of[0] ^ sign, p.of[3], p.of[2] ^ sign};
}

/// How the elements are given to the warps: units of `Packs` packs for each thread, one warp after the other; what lies ahead of the first 16-byte boundary
/// and behind the last unit, one warp takes element by element.
template <class E, int Packs>
struct shares {
  static constexpr int of_pack = elements_of<E>::count;
  static constexpr int of_unit = Packs * warp_size * of_pack;

  std::uint64_t head;
  std::uint64_t units;
  unsigned edge;  ///< elements outside of the units

  ONEFOLD_HOST_DEVICE shares(const void* x, std::uint64_t count) {
    const auto behind = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(x) % 16);
    head = behind == 0 ? 0 : (16 - behind) / sizeof(E);
    if (head > count) head = count;
    units = (count - head) / of_unit;
    edge = static_cast<unsigned>(count - units * of_unit);
  }
  /// Element i of those outside of the units.
  [[nodiscard]] __device__ std::uint64_t at_edge(std::uint64_t i) const { return i < head ? i : i + units * of_unit; }
};

/// The packs that a thread takes of a unit of one array, which begins at `body`.
template <int Packs>
__device__ inline void load_packs(const pack* body, std::uint64_t unit, unsigned warp_lane, pack (&into)[Packs]) {
#pragma unroll
  for (int k = 0; k < Packs; ++k) into[k] = load_pack(body + (unit * Packs + static_cast<unsigned>(k)) * warp_size + warp_lane);
}

/// Those of the arrays that Terms has.
template <class Terms>
struct turn_of {
  using E = typename Terms::type;
  static constexpr int packs = Terms::packs;
  static constexpr bool has_y = Terms::arrays == 2;
  pack x[packs];
  pack y[has_y ? packs : 1];

  /// `is_odd`: whether the bodies begin with an odd element; `gathers`: whether that of y may be off a pack's boundary.
  __device__ void load(const E* x_body, const E* y_body, bool is_odd, bool gathers, std::uint64_t unit, unsigned warp_lane) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const std::uint64_t at = ((unit * packs + static_cast<unsigned>(k)) * warp_size + warp_lane) * elements_of<E>::count;
      x[k] = load_pack(reinterpret_cast<const pack*>(x_body + at));
      if constexpr (Terms::turns)
        y[k] = turned_pack(y_body + at, is_odd, gathers);
      else if constexpr (has_y)
        y[k] = gathers ? gather_pack<E>(y_body + at) : load_pack(reinterpret_cast<const pack*>(y_body + at));
    }
  }
};

}  // namespace onefold::cuda_backend::exact_sums
