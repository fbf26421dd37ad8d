#pragma once
/// @file parts.hpp  Arrays of doubles, and where they are cut, for tests on parts of arrays.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data.hpp"

namespace onefold_test {

/// Between -0.25 and 0.75.
inline std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  const random_numbers random(seed);
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<double>(random.at(i) >> 11) * 0x1p-53 - 0.25;
  return x;
}

/// Where `count` elements are cut into so many parts, some of which may be empty: anywhere.
inline std::vector<std::uint64_t> cuts_of(std::uint64_t count, std::size_t parts, std::uint64_t seed) {
  const random_numbers random(seed);
  std::vector<std::uint64_t> cuts{0, count};
  for (std::size_t i = 1; i < parts; ++i) cuts.push_back(random.at(i) % (count + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace onefold_test
