#pragma once
/// @file added_words.hpp  The words of an exact state, added as integer sums of any transport add them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace onefold_test {

inline std::vector<std::int64_t> operator+(std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a[i]) + static_cast<std::uint64_t>(b[i]));
  return a;
}
inline std::vector<std::int64_t> operator*(std::vector<std::int64_t> a, std::int64_t times) {
  for (auto& word : a) word = static_cast<std::int64_t>(static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(times));
  return a;
}

}  // namespace onefold_test
