#pragma once
/// @file lane_sums.hpp  The rows of tree v1's tiles, added where the function that gives their elements is compiled: in the caller's translation unit, so that
/// a sixteenth of the values is stored, and with his flags, which must change no bit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <onefold/detail/apart.hpp>
#include <onefold/order.hpp>

namespace onefold {
namespace detail {

// Flags may let a compiler regroup additions, fuse a product of f's into one of ours, and take -0 for +0 (-ffast-math; -ffp-contract=fast is g++'s default).
// So ours is one fused operation, value * 1 + sum with a 1 that no compiler knows: it is rounded once, as the addition is, and nothing gets into it or out
// of it. Where the machine that is compiled for has no such operation values are stored (block_callback).
#if defined(__FP_FAST_FMA) || (defined(__clang__) && defined(__FMA__))
inline constexpr bool can_add_rows = true;
#else
inline constexpr bool can_add_rows = false;
#endif

/// sum + value
///
/// @param one  1, unknown to the compiler
inline float add_as_fused(float sum, float value, float one) noexcept { return __builtin_fmaf(value, one, sum); }
inline double add_as_fused(double sum, double value, double one) noexcept { return __builtin_fma(value, one, sum); }

/// Result R of what a function gives.
template <std::size_t R, class T>
T result_of(T value) {
  return value;
}
template <std::size_t R, class T, std::size_t K>
T result_of(const std::array<T, K>& values) {
  return values[R];
}

/// Stores the sums of the lanes of the tiles that f(first) .. f(first + count - 1) fill: for each result a row for each tile, of Es. Lanes without elements
/// have -0, which changes no sum.
///
/// Value  what f gives: an E, or a std::array of as many Es as there are results
template <class Value, class F, std::size_t... R, class... E>
ONEFOLD_APART void add_rows(std::index_sequence<R...>, F& f, std::uint64_t first, std::uint64_t count, E* __restrict... lanes) {
  using element = std::common_type_t<E...>;
  constexpr std::uint64_t width = order::lanes<element>;
  const volatile element hidden = 1;
  const element one = hidden;
  for (std::uint64_t to = 0; count > 0; to += width) {
    const std::uint64_t tile = count < order::tile_elements<element> ? count : order::tile_elements<element>;
    for (std::uint64_t lane = 0; lane < width; ++lane) ((lanes[to + lane] = -element(0)), ...);
    std::uint64_t done = 0;
    // Two rows at a time: with four, sums in caches take up to a tenth less, and from memory a fifth more.
    for (; done + 2 * width <= tile; done += 2 * width)
      for (std::uint64_t lane = 0; lane < width; ++lane) {
        const Value upper = f(first + done + lane);
        const Value lower = f(first + done + width + lane);
        ((lanes[to + lane] = add_as_fused(add_as_fused(lanes[to + lane], result_of<R>(upper), one), result_of<R>(lower), one)),
         ...);
      }
    for (; done < tile; ++done) {
      const Value here = f(first + done);
      const std::uint64_t lane = to + done % width;
      ((lanes[lane] = add_as_fused(lanes[lane], result_of<R>(here), one)), ...);
    }
    first += tile;
    count -= tile;
  }
}

}  // namespace detail
}  // namespace onefold
