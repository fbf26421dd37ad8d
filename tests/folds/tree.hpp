#pragma once
/// @file tree.hpp  Tree v1 once more, as docs/order.md says it, over lanes and nodes of any kind. Slow, and meant to be read beside that page.

#include <cstdint>
#include <optional>
#include <vector>

namespace onefold_test {

/// @param lanes    L
/// @param lane_of  lane_of(first, rows): the node of the elements first, first + L, .., `rows` of them
/// @param combine  (+)
/// Requires n > 0.
template <class Node, class LaneOf, class Combine>
Node tree_v1(std::uint64_t n, std::uint64_t lanes, const LaneOf& lane_of, const Combine& combine) {
  const auto meet = [&](const std::optional<Node>& a, const std::optional<Node>& b) -> std::optional<Node> {
    if (!a) return b;
    if (!b) return a;
    return combine(*a, *b);
  };
  std::vector<Node> level;
  for (std::uint64_t tile = 0; tile < n; tile += 16 * lanes) {
    const std::uint64_t end = tile + 16 * lanes < n ? tile + 16 * lanes : n;
    std::vector<std::optional<Node>> lane(lanes);
    for (std::uint64_t j = 0; j < lanes && tile + j < end; ++j)
      lane[j] = lane_of(tile + j, static_cast<int>((end - tile - j + lanes - 1) / lanes));
    for (std::uint64_t h = lanes / 2; h > 0; h /= 2)
      for (std::uint64_t j = 0; j < h; ++j) lane[j] = meet(lane[j], lane[j + h]);
    level.push_back(*lane[0]);
  }
  while (level.size() > 1) {
    std::vector<Node> above;
    for (std::size_t i = 0; i < level.size(); i += 2)
      above.push_back(i + 1 < level.size() ? combine(level[i], level[i + 1]) : level[i]);
    level = above;
  }
  return level[0];
}

}  // namespace onefold_test
