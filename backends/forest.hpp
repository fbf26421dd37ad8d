#pragma once
/// @file forest.hpp  A run of neighbouring tiles as the few subtrees of tree v1 that it is made of, and how they grow together.

#include <cstdint>

namespace onefold::detail {

/// The maximal complete subtrees over a run of tiles that has been pushed from left to right: at most two for each level, whatever the
/// run's length.
template <class Fold>
class forest {
 public:
  using value_type = typename Fold::accumulator;
  struct node {
    value_type value;
    std::uint64_t index;  ///< among the nodes of its level
    int level;            ///< 0: tiles
  };

  /// Takes the node that follows the run so far. A right sibling is combined with the left one, if that is here, level after level.
  void push(value_type value, int level, std::uint64_t index) {
    while (size_ > 0 && index % 2 == 1 && nodes_[size_ - 1].level == level) {
      value = Fold::combine(nodes_[--size_].value, value);
      index /= 2;
      ++level;
    }
    nodes_[size_++] = {value, index, level};
  }

  /// The root's value, for a run that begins with a subtree's first tile and ends with its last one, or with the last one of all: a node
  /// without a right sibling passes through to the level where it is one itself. Requires a node.
  [[nodiscard]] value_type root() const {
    value_type value = nodes_[size_ - 1].value;
    for (int i = size_ - 2; i >= 0; --i) value = Fold::combine(nodes_[i].value, value);
    return value;
  }

 private:
  static constexpr int most_nodes = 2 * 56;  // 2^64 bytes are 2^52 tiles
  int size_ = 0;
  node nodes_[most_nodes];
};

}  // namespace onefold::detail
