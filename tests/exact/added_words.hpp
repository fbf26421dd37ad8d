#pragma once
/// @file added_words.hpp  The words of an exact state, added as integer sums of any transport add them, and the state that has them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <onefold/exact.hpp>

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

template <onefold::form What, class T>
std::vector<std::int64_t> words_of(const onefold::exact_state<What, T>& state) {
  return {state.words(), state.words() + state.size()};
}
template <onefold::form What, class T>
onefold::exact_state<What, T> with_words(const std::vector<std::int64_t>& all) {
  onefold::exact_state<What, T> made;
  std::copy(all.begin(), all.end(), made.words());
  return made;
}

}  // namespace onefold_test
