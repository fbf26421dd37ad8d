#pragma once
/// @file edit_distance.hpp  How far two names are apart, for "did you mean".

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace onefold::detail {

/// Levenshtein distance: insertions, deletions and substitutions that turn one name into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

/// Whether `name` may be what was meant with `misspelt`.
inline bool is_near(std::size_t distance, std::string_view misspelt, std::string_view name) {
  return distance <= std::max<std::size_t>(2, std::min(misspelt.size(), name.size()) / 3);
}

}  // namespace onefold::detail
