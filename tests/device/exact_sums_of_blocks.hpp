#pragma once
/// @file exact_sums_of_blocks.hpp  What blocks on the host have added to limbs, beside the state that serial() makes. To be included behind exact_on_host.hpp.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <onefold/onefold.hpp>

#include "../../backends/cuda/exact/memory.hpp"
#include "../exact/value_contents.hpp"
#include "../support/data.hpp"

namespace onefold_test {

namespace cb = onefold::cuda_backend;

/// What a launch is told of arrays, `y` being the second one of a dot.
inline cb::exact_launch launch_over(const void* x, const void* y, std::uint64_t count, cb::exact_part part, bool absolute) {
  cb::exact_launch how{};
  how.x = x;
  how.y = y;
  how.count = count;
  how.part = part;
  how.absolute = absolute;
  return how;
}

struct sum_of_blocks {
  std::vector<long long> limbs = std::vector<long long>(cb::exact_memory::most);
  unsigned flags = 0;
};

/// "", or what differs from the state that serial() makes of the same elements; `y` is the second array of a dot.
template <onefold::form What, class T>
std::string difference(const sum_of_blocks& found, const T* x, const T* y, std::uint64_t count) {
  onefold::exact_state<What, T> right;
  if constexpr (What == onefold::form::dot)
    right.add(onefold::serial(), x, y, count);
  else
    right.add(onefold::serial(), x, count);
  namespace exact = onefold::detail::exact;
  std::string wrong;
  const auto compare = [&](std::size_t word, std::int64_t got) {
    if (right.words()[word] != got)
      wrong += " word " + std::to_string(word) + " is " + std::to_string(got) + " and not " + std::to_string(right.words()[word]);
  };
  for (std::size_t k = 0; k < 4; ++k) compare(3 + k, found.flags >> k & 1);
  if ((found.flags & (exact::has_nan | exact::has_infinity | exact::has_minus_infinity)) != 0) return wrong;
  const auto limbs = static_cast<std::size_t>(exact::kind_of(What, onefold::element_type_of<T>).limbs[0]);
  std::int64_t carried = 0;
  for (std::size_t i = 0; i < limbs; ++i) {
    const std::int64_t now = found.limbs[i] + carried;
    carried = now >> 32;
    compare(8 + i, i + 1 < limbs ? now & 0xffffffff : now);
  }
  for (std::size_t i = limbs; i < found.limbs.size(); ++i)
    if (found.limbs[i] != 0) wrong += " limb " + std::to_string(i) + " lies beyond";
  return wrong;
}

/// Floats of two bytes too.
template <class T>
std::vector<T> contents_of(value_kind kind, std::size_t count, std::uint64_t seed) {
  if constexpr (sizeof(T) >= 4) {
    return values_of_kind<T>(kind, count, seed);
  } else {
    std::vector<T> x(count);
    if (kind == value_kind::any_bits || kind == value_kind::everywhere) {  // of its own
      random_numbers random(seed);
      for (T& one : x) {
        std::uint16_t bits = 0;
        do {
          bits = static_cast<std::uint16_t>(random() >> 40);
          std::memcpy(&one, &bits, sizeof(bits));
        } while (kind == value_kind::everywhere && !std::isfinite(static_cast<float>(one)));
      }
      return x;
    }
    const std::vector<float> wide = values_of_kind<float>(kind, count, seed);
    for (std::size_t i = 0; i < count; ++i) x[i] = T(wide[i]);
    return x;
  }
}

}  // namespace onefold_test
