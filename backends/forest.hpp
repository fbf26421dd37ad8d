#pragma once
/// @file forest.hpp  A run of neighbouring nodes as the few subtrees of tree v1 that it is made of, and how they grow together.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace onefold::detail {

/// The maximal complete subtrees over a run of nodes of one level, pushed from left to right. The run begins with a subtree's first node, so
/// that there is at most one subtree of each height. What a node is, is data: its size, and how two of them side by side become one.
class forest {
 public:
  /// In place, as cpu_fold::level.
  using level_up = int (*)(void* context, void* states, std::uint64_t count);

  static constexpr int most_nodes = 56;  // 2^64 bytes are 2^52 tiles
  static constexpr std::size_t memory_bytes(std::uint32_t state_bytes) { return std::size_t{most_nodes} * state_bytes; }

  /// @param memory  memory_bytes(state_bytes) bytes, aligned for a state
  forest(void* memory, std::uint32_t state_bytes, level_up level, void* context)
      : memory_(static_cast<std::byte*>(memory)), bytes_(state_bytes), level_(level), context_(context) {}
  forest& operator=(const forest&) = delete;
  ~forest() = default;

  /// A copy of `other` in memory of its own: to close it, while the run goes on.
  forest(const forest& other, void* memory) : forest(other) {
    memory_ = static_cast<std::byte*>(memory);
    std::memcpy(memory_, other.memory_, static_cast<std::size_t>(size_) * bytes_);
  }

  /// Takes the next node. A right sibling is combined with the left one, level after level. Returns what a failing function of the fold has.
  int push(const void* state) {
    std::memcpy(at(size_++), state, bytes_);
    for (std::uint64_t index = pushed_++; index % 2 == 1; index /= 2)
      if (const int failed = join(); failed != 0) return failed;
    return 0;
  }

  /// Makes one of all: a node without a right sibling passes through to the level where it is one itself. Requires a node, and is the last
  /// call. The root is at memory's beginning then.
  int close() {
    while (size_ > 1)
      if (const int failed = join(); failed != 0) return failed;
    return 0;
  }

 private:
  forest(const forest&) = default;
  [[nodiscard]] std::byte* at(int node) const { return memory_ + static_cast<std::size_t>(node) * bytes_; }
  int join() { return --size_, level_(context_, at(size_ - 1), 2); }

  std::byte* memory_;
  std::uint32_t bytes_;
  level_up level_;
  void* context_;
  int size_ = 0;
  std::uint64_t pushed_ = 0;
};

}  // namespace onefold::detail
